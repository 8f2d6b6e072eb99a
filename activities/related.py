"""Related work of a case: what was decided, what the facts say, and what is alike, each entry with its reasons (R2).

The index and full text propose; Postgres, read as the caller, has the last word on every entry (R4).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from activities.related_domains import went_to
from activities.related_routes import ROUTES, Likeness, Ranked
from contracts.errors import InvalidField
from contracts.fusion import Fused, Ranking, fuse
from contracts.nearness import Nearness, nearer_first
from contracts.outbox import Watermark
from contracts.ports import Embedder, SearchIndex
from contracts.related import (
    Bond,
    CaseHead,
    Reason,
    RelatedAnswer,
    RelatedCase,
    RelatedRecords,
    Relation,
    RouteRank,
)
from contracts.retrieval import RouteState

RRF_K = 5
"""Small: the first few of a route say far more than the rest."""
NEARNESS = Nearness(strength=4.0, days=100.0)
"""Chosen with weights and `RRF_K` on known duplicates of two public projects, of nearly equal settings the mildest;
`tests.benchmarks.related` tells what each project finds with what the other one alone would choose."""
MOST = 50
"""Cases of one answer at most."""
_DAY = timedelta(days=1)
_SUREST_FIRST = {relation: place for place, relation in enumerate(Relation)}


class RelatedWork:
    """Lists related cases; it never links or merges any.

    Args:
        records: The record.
        index: The search index.
        embedder: Makes the case's vectors.
        routes: What is asked about likeness, with the weights.
        rrf_k: Flattens the advantage of a route's first ranks.
        nearness: How much the time between two cases counts among those that are alike.
        seconds: The time limit of each route.
    """

    def __init__(
        self,
        records: RelatedRecords,
        index: SearchIndex,
        embedder: Embedder,
        *,
        routes: Sequence[Ranked] = ROUTES,
        rrf_k: int = RRF_K,
        nearness: Nearness = NEARNESS,
        seconds: float = 1.5,
    ) -> None:
        self._records = records
        self._rrf_k = rrf_k
        self._nearness = nearness
        self._likeness = Likeness(records, index, embedder, routes, seconds)

    async def related(
        self, principal_id: str, case_id: str, *, limit: int = 10, include_later: bool = False
    ) -> RelatedAnswer:
        """Return the cases to look at beside this one, the surest first.

        Args:
            principal_id: Who asks; its grants are the scope.
            case_id: The case.
            limit: How many at most, 1 to `MOST`. Links come first; other facts leave half of the rest to likeness.
            include_later: Whether cases opened after this one count too.

        Raises:
            UnknownCase: There is none in the caller's scope.
            InvalidField: The limit is none that can be met.
        """
        if not 1 <= limit <= MOST:
            raise InvalidField("The limit is out of range.", field="limit", accepted=f"1 to {MOST}")
        task = await self._records.task(principal_id, case_id, include_later=include_later)
        # Before the index is read: an event that is projected in between is then in one of the two reads.
        watermark = await self._records.watermark()
        linked, by_facts, ranked = await asyncio.gather(
            self._records.linked(task), self._records.by_facts(task, MOST), self._likeness.read(task, watermark)
        )
        fused = fuse([Ranking(each.name, each.found, each.weight) for each in ranked], self._rrf_k)
        found = {task.case.id, *(bond.case_id for bond in (*linked, *by_facts)), *(each.target for each in fused)}
        heads = await self._records.heads(task, sorted(found))
        apart = {case: abs(head.opened_at - task.case.opened_at) for case, head in heads.items()}
        reasons = _reasons(linked, by_facts, nearer_first(fused, apart, self._nearness), ranked, apart)
        seen = {found: why for found, why in reasons.items() if found in heads}
        listed = _chosen(seen, limit)
        return RelatedAnswer(
            case_id=task.case.id,
            continues_in=heads[task.case.id].continues_in if task.case.id in heads else None,
            cases=tuple(_entry(rank, heads[found], seen[found]) for rank, found in enumerate(listed, start=1)),
            includes_later=include_later,
            watermark=watermark,
            reads=tuple(each.report() for each in ranked),
            not_read=(*_behind(watermark), *_ended_early(ranked)),
            left_off=sum(_relation(why) is not Relation.SIMILAR for found, why in seen.items() if found not in listed),
            went_to=went_to(ranked, heads),
        )


def _reasons(
    linked: Sequence[Bond],
    by_facts: Sequence[Bond],
    fused: Sequence[Fused],
    ranked: Sequence[Ranked],
    apart: Mapping[str, timedelta],
) -> dict[str, list[Reason]]:
    """Return every reason for each found case, the surest first; cases in the order of the list."""
    found: dict[str, list[Reason]] = {}
    for bond in (*linked, *by_facts):
        found.setdefault(bond.case_id, []).append(bond.reason)
    by_name = {each.name: each for each in ranked}
    for item in fused:
        places = tuple(
            RouteRank(route=by_name[place.ranking].route, asked=by_name[place.ranking].asked, rank=place.rank)
            for place in item.places
        )
        days = round(apart[item.target] / _DAY, 1) if item.target in apart else None
        reason = Reason(relation=Relation.SIMILAR, ranks=places, days_apart=days)
        found.setdefault(item.target, []).append(reason)
    return dict(sorted(found.items(), key=lambda entry: _SUREST_FIRST[_relation(entry[1])]))  # stable within each


def _relation(reasons: Sequence[Reason]) -> Relation:
    return min((reason.relation for reason in reasons), key=_SUREST_FIRST.__getitem__)


def _chosen(seen: dict[str, list[Reason]], limit: int) -> list[str]:
    """Return what the list has room for: an object that hundreds of cases name leaves half of it to the others."""
    by_relation: dict[Relation, list[str]] = {relation: [] for relation in Relation}
    for found, reasons in seen.items():
        by_relation[_relation(reasons)].append(found)
    linked = by_relation[Relation.LINKED][:limit]
    facts = by_relation[Relation.SAME_REQUEST] + by_relation[Relation.SAME_OBJECT]
    similar = by_relation[Relation.SIMILAR]
    left = limit - len(linked)
    for_facts = max(left - left // 2, left - len(similar))
    listed = [*linked, *facts[:for_facts]]
    return [*listed, *similar[: limit - len(listed)]]


def _entry(rank: int, head: CaseHead, reasons: Sequence[Reason]) -> RelatedCase:
    return RelatedCase(
        rank=rank,
        case_id=head.case_id,
        origin=head.origin,
        title=head.title,
        state=head.state,
        opened_at=head.opened_at,
        continues_in=head.continues_in,
        relation=_relation(reasons),
        reasons=tuple(reasons),
    )


def _behind(watermark: Watermark) -> list[str]:
    if watermark.is_current:
        return []
    return [f"cases: pending events not in the index yet: {watermark.pending}, oldest {watermark.lag_seconds:.0f} s"]


def _ended_early(ranked: Iterable[Ranked]) -> list[str]:
    return [
        f"cases by {each.route} of the {each.asked}: {each.why}" for each in ranked if each.state is not RouteState.OK
    ]
