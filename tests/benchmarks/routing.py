"""Tickets routed by their neighbours: does the vote of the likest known tickets name the label that people gave?

Tickets of the train split become cases by the product's projection, in the product's index. A ticket asks three
rankings of it, as related work does (its words, its title's vector, the whole text's vector), and
`contracts.neighbours.vote` hears the nearest of each. What the vote hears is chosen by the train split alone, each
train ticket asked against all the others; the test split is asked once, with what was chosen.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from activities.index.edge import EdgeIndex
from contracts.cases import Case, CaseFacts, Origin
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, Scope, VectorName
from contracts.labels import CandidateKind, CaseState, Collection
from contracts.neighbours import Neighbours, vote
from contracts.projection import case_source, whole_text
from tests.benchmarks.duplicate_reports import RememberingEmbedder
from tests.benchmarks.quality_data import Ticket, fill, id_of

LABELS = ("topic_group", "business_service")
ROUTES = ("lexical", "dense_title", "dense_body")
DEPTH = 30
_TENANT = "helpdesk"
_OPENED = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Setting:
    """What the vote hears."""

    lexical: float
    dense_title: float
    dense_body: float
    nearest: int
    sharpness: float

    def __str__(self) -> str:
        weights = ", ".join(f"{route} {getattr(self, route):g}" for route in ROUTES)
        return f"{weights}; {self.nearest} nearest, sharpness {self.sharpness:g}"


SETTINGS = tuple(
    Setting(*each)
    for each in itertools.product((0.5, 1.0, 1.5), (0.0, 0.3, 0.5), (1.0,), (10, 20, 30), (2.0, 4.0, 8.0))
)


def _case(ticket: Ticket) -> Case:
    return Case(
        id=id_of(ticket.id),
        origin=Origin(tenant_id=_TENANT, source="desk", external_id=ticket.id),
        title=ticket.title,
        body=ticket.body,
        state=CaseState.COMPLETED,
        facts=CaseFacts(),
        opened_at=_OPENED,
        revision=1,
    )


class Desk:
    """Known tickets in the index."""

    def __init__(self, index: EdgeIndex, embedder: RememberingEmbedder) -> None:
        self._index = index
        self._embedder = embedder

    async def nearest(self, ticket: Ticket) -> dict[str, list[Hit]]:
        """Return what each route finds that is like a ticket, never the ticket itself."""
        whole = whole_text(ticket.title, ticket.body)
        title, body = self._embedder.embed([ticket.title or whole, whole])
        queries = {
            "lexical": LexicalQuery(whole),
            "dense_title": DenseQuery(title, VectorName.TITLE),
            "dense_body": DenseQuery(body, VectorName.BODY),
        }
        where = Filter(kinds=(CandidateKind.CASE,), not_targets=(f"case/{id_of(ticket.id)}",))
        scope = Scope(tenants=frozenset({_TENANT}))
        return {
            route: await self._index.search(Collection.CASES, query, scope=scope, where=where, limit=DEPTH)
            for route, query in queries.items()
        }


def proposed(found: Mapping[str, Sequence[Hit]], labels: Mapping[str, str], setting: Setting) -> str:
    """Return the label that the vote puts first; "" when no neighbour has one."""
    lists = [Neighbours(found[route], getattr(setting, route)) for route in ROUTES if getattr(setting, route)]
    proposals = vote(lists, labels, nearest=setting.nearest, sharpness=setting.sharpness)
    return proposals[0].label if proposals else ""


Asked = Sequence[tuple[Ticket, Mapping[str, Sequence[Hit]]]]


def right(asked: Asked, name: str, labels: Mapping[str, str], setting: Setting) -> float:
    """Return the share of the labelled tickets whose label the vote puts first."""
    judged = [
        proposed(found, labels, setting) == ticket.labels[name] for ticket, found in asked if name in ticket.labels
    ]
    return sum(judged) / len(judged)


async def measured(tickets: Sequence[Ticket], embedder: RememberingEmbedder) -> dict[str, Any]:
    """Return the share of test tickets routed right, for each label."""
    known = [ticket for ticket in tickets if not ticket.is_scored]
    with tempfile.TemporaryDirectory(prefix="caselore-") as folder:
        index = EdgeIndex(Path(folder), embedder.model, embedder.dimensions)
        await index.open()
        try:
            await fill(index, embedder, [case_source(_case(ticket)) for ticket in known])
            desk = Desk(index, embedder)
            train = [(ticket, await desk.nearest(ticket)) for ticket in known]
            test: list[tuple[Ticket, Mapping[str, Sequence[Hit]]]] = []
            times: list[float] = []
            for ticket in tickets:
                if ticket.is_scored:
                    began = time.perf_counter()
                    test.append((ticket, await desk.nearest(ticket)))
                    times.append(time.perf_counter() - began)
        finally:
            await index.close()
    results: dict[str, Any] = {"known tickets": len(known), "ms for the three rankings": round(median(times) * 1000, 1)}
    for name in LABELS:
        labels = {f"case/{id_of(ticket.id)}": ticket.labels[name] for ticket in known if name in ticket.labels}
        on_train = {setting: right(train, name, labels, setting) for setting in SETTINGS}
        chosen = max(SETTINGS, key=on_train.__getitem__)  # the first of equals
        scored = [pair for pair in test if name in pair[0].labels]
        share = right(scored, name, labels, chosen)
        results[name] = {
            "scored": len(scored),
            "right": round(share * len(scored)),
            "share": round(share, 4),
            "majority": round(max(Counter(t.labels[name] for t, _ in scored).values()) / len(scored), 4),
            "chosen by the train split": str(chosen),
            "share on the train split, each ticket against the others": round(on_train[chosen], 4),
            "train split, every setting": {str(setting): round(on, 4) for setting, on in on_train.items()},
        }
    return results
