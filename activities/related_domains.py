"""Where the nearest cases went: how many of them each domain had, for whoever classifies the case (R15, R20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from activities.related_routes import Ranked
from contracts.neighbours import Neighbours, vote
from contracts.related import Asked, CaseHead, WentTo
from contracts.strategy import Route

VOICES: Mapping[tuple[Route, Asked], tuple[float, float]] = {
    (Route.LEXICAL, Asked.WHOLE): (1.0, 2.0),
    (Route.LEXICAL, Asked.TITLE): (0.3, 2.0),
    (Route.DENSE_TITLE, Asked.TITLE): (0.3, 4.0),
    (Route.DENSE_BODY, Asked.WHOLE): (1.0, 4.0),
}
"""Weight and sharpness of each route that is heard, chosen by the train split of public tickets
(`tests.benchmarks.routing`)."""
NEAREST = 20
"""Of each route that are heard."""
_NAMED = 5


def went_to(ranked: Sequence[Ranked], heads: Mapping[str, CaseHead]) -> tuple[WentTo, ...]:
    """Return the domains of the nearest cases, by descending share, then by id.

    Args:
        ranked: What each route found; what the record found in an index's stead has no scores and isn't heard.
        heads: Every found case that the caller may see; others aren't counted.
    """
    lists = [
        Neighbours(each.hits, *VOICES[each.route, each.asked]) for each in ranked if (each.route, each.asked) in VOICES
    ]
    domains = {f"case/{case}": head.domain_id for case, head in heads.items() if head.domain_id}
    return tuple(
        WentTo(
            domain_id=each.label,
            cases=len(each.targets),
            share=round(each.share, 3),
            case_ids=tuple(target.partition("/")[2] for target in each.targets[:_NAMED]),
        )
        for each in vote(lists, domains, nearest=NEAREST)
    )
