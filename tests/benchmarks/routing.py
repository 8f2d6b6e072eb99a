"""Tickets routed by their neighbours: does the vote of the likest known tickets name the label that people gave?

Tickets of the train split become cases by the product's projection, in the product's index. A ticket asks it as
related work does, and `contracts.neighbours.vote` hears the nearest that each route finds. What the vote hears is
chosen by the train split alone (`tests.benchmarks.routing_settings`), each train ticket asked against all the others;
the test split is asked once, with what was chosen.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from activities.index.edge import EdgeIndex
from contracts.cases import Case, Origin
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, Scope, VectorName
from contracts.labels import CandidateKind, Collection
from contracts.neighbours import Neighbours, vote
from contracts.projection import case_source, whole_text
from tests.benchmarks.duplicate_reports import RememberingEmbedder
from tests.benchmarks.quality_data import Ticket, closed_case, fill, id_of
from tests.benchmarks.routing_settings import Heard, Setting, chosen

LABELS = ("topic_group", "business_service")
DEPTH = 30
_ROUNDING = 0.002
"""The choice adds in another order than the vote: a tie may fall otherwise."""
_TENANT = "helpdesk"
_OPENED = datetime(2020, 1, 1, tzinfo=UTC)


def _case(ticket: Ticket) -> Case:
    origin = Origin(tenant_id=_TENANT, source="desk", external_id=ticket.id)
    return closed_case(origin, ticket.title, ticket.body, _OPENED)


class Desk:
    """Known tickets in the index."""

    def __init__(self, index: EdgeIndex, embedder: RememberingEmbedder) -> None:
        self._index = index
        self._embedder = embedder

    async def nearest(self, ticket: Ticket) -> dict[str, list[Hit]]:
        """Return what each route finds that is like a ticket, never the ticket itself."""
        whole = whole_text(ticket.title, ticket.body)
        title = ticket.title or whole
        title_vector, whole_vector = self._embedder.embed([title, whole])
        queries = {
            "lexical": LexicalQuery(whole),
            "lexical title": LexicalQuery(title),
            "dense title": DenseQuery(title_vector, VectorName.TITLE),
            "dense whole": DenseQuery(whole_vector, VectorName.BODY),
            "title in whole": DenseQuery(title_vector, VectorName.BODY),
        }
        where = Filter(kinds=(CandidateKind.CASE,), not_targets=(f"case/{id_of(ticket.id)}",))
        scope = Scope(tenants=frozenset({_TENANT}))
        return {
            route: await self._index.search(Collection.CASES, query, scope=scope, where=where, limit=DEPTH)
            for route, query in queries.items()
        }


def proposed(found: Mapping[str, Sequence[Hit]], labels: Mapping[str, str], setting: Setting) -> str:
    """Return the label that the vote puts first; "" when no neighbour has one."""
    lists = [Neighbours(found[route], weight, sharpness) for route, weight, sharpness in setting.heard()]
    proposals = vote(lists, labels, nearest=setting.nearest)
    return proposals[0].label if proposals else ""


async def measured(tickets: Sequence[Ticket], embedder: RememberingEmbedder) -> dict[str, Any]:
    """Return the share of test tickets routed right, for each label."""
    known = [ticket for ticket in tickets if not ticket.is_scored]
    with tempfile.TemporaryDirectory(prefix="caselore-") as folder:
        index = EdgeIndex(Path(folder), embedder.model, embedder.dimensions)
        await index.open()
        try:
            await fill(index, embedder, [case_source(_case(ticket)) for ticket in known])
            desk = Desk(index, embedder)
            train = [await desk.nearest(ticket) for ticket in known]
            test: list[tuple[Ticket, Mapping[str, Sequence[Hit]]]] = []
            times: list[float] = []
            for ticket in tickets:
                if ticket.is_scored:
                    began = time.perf_counter()
                    test.append((ticket, await desk.nearest(ticket)))
                    times.append(time.perf_counter() - began)
        finally:
            await index.close()
    results: dict[str, Any] = {"known tickets": len(known), "ms for the five rankings": round(median(times) * 1000, 1)}
    numbers = {f"case/{id_of(ticket.id)}": number for number, ticket in enumerate(known)}
    heard = Heard(train, numbers, DEPTH)
    for name in LABELS:
        labels = {f"case/{id_of(ticket.id)}": ticket.labels[name] for ticket in known if name in ticket.labels}
        shares = await asyncio.to_thread(heard.shares, [ticket.labels.get(name) for ticket in known])
        setting, on_train = chosen(shares)
        scored = [(ticket, found) for ticket, found in test if name in ticket.labels]
        right = sum(proposed(found, labels, setting) == ticket.labels[name] for ticket, found in scored)
        again = [(ticket, found) for ticket, found in zip(known, train, strict=True) if name in ticket.labels]
        share = sum(proposed(found, labels, setting) == ticket.labels[name] for ticket, found in again) / len(again)
        assert abs(share - on_train) < _ROUNDING, (share, on_train)
        results[name] = {
            "scored": len(scored),
            "right": right,
            "share": round(right / len(scored), 4),
            "majority": round(max(Counter(t.labels[name] for t, _ in scored).values()) / len(scored), 4),
            "chosen by the train split": str(setting),
            "share on the train split, each ticket against the others": round(share, 4),
            "settings tried": int(shares.size),
            "shares on the train split, from the worst to the best setting": [
                round(float(each), 4) for each in (shares.min(), shares.max())
            ],
        }
    return results
