"""From publication to being found, at whatever size the index has by now.

Further experiences take the way of every other, one by one: delivered, proposed, accepted twice, published and
projected, each in words of its own, so that the projector embeds it. The lag runs from the record's `published_at`,
which is set just before the commit, until searches of both collections return it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from sqlalchemy import text

from contracts.casefile import CaseRecord
from contracts.index import Filter, LexicalQuery, Scope
from contracts.labels import CandidateKind
from contracts.projection import COLLECTIONS
from deploy.cast import Cast
from deploy.importing import experience_id, import_cases
from deploy.runtime import Runtime

LOOK_EVERY = 0.005
"""Seconds between two looks, which a lag may be too long by."""
_PATIENCE = 120.0
_PUBLISHED_AT = text("""
SELECT extract(epoch FROM published_at) FROM revisions WHERE experience_id = CAST(:id AS uuid) AND state = 'current'
""")


def further_cases(cases: Sequence[CaseRecord]) -> Iterator[tuple[str, CaseRecord]]:
    """Yield ever further cases to publish, each with a word that occurs in no other text."""
    published = [case for case in cases if case.experience is not None and not case.experience.reject]
    for number in count():
        word = f"probe{number:07d}"
        yield word, _marked(published[number % len(published)], word)


def _marked(case: CaseRecord, word: str) -> CaseRecord:
    taught = case.experience
    assert taught is not None
    units = tuple(unit.model_copy(update={"text": f"{unit.text} Seen again as {word}."}) for unit in taught.units)
    synopsis = taught.synopsis.model_copy(update={"text": f"{taught.synopsis.text} Seen again as {word}."})
    marked = taught.model_copy(update={"title": f"{taught.title} ({word})", "units": units, "synopsis": synopsis})
    return case.model_copy(update={"external_id": f"{case.external_id}-{word}", "experience": marked})


def lag_figures(lags: Sequence[float | None]) -> dict[str, Any]:
    """Return how many of the published were found, and the middle and longest lag in milliseconds.

    Args:
        lags: Seconds of each; None for one that was not found while somebody waited.
    """
    found = sorted(lag for lag in lags if lag is not None)
    return {
        "published": len(lags),
        "found": len(found),
        "p50_ms": round(1000 * found[len(found) // 2], 1) if found else None,
        "most_ms": round(1000 * found[-1], 1) if found else None,
    }


class Publishing:
    """Publishes further experiences and waits for each.

    Args:
        runtime: Running, with the demo's tenants and domains.
        cast: Who proposes and accepts.
        cases: The demo's, in whose manner the further ones are.
    """

    def __init__(self, runtime: Runtime, cast: Cast, cases: Sequence[CaseRecord]) -> None:
        self._runtime = runtime
        self._cast = cast
        self._further = further_cases(cases)

    async def measured(self, number: int) -> dict[str, Any]:
        """Publish so many, each after the one before was found, and return their lags' figures."""
        return lag_figures([await self._one() for _ in range(number)])

    async def _one(self) -> float | None:
        word, case = next(self._further)
        key = experience_id(case)
        # It looks before there is anything to find: afterwards the projector may have been faster.
        looking = asyncio.create_task(self._found_at(word, f"experience/{key}"))
        try:
            report = await import_cases(self._cast, [case], is_reviewed=True, step=lambda _: None)
            assert report.published == 1, f"{case.external_id} was not published: {report}"
            async with self._runtime.parts.database.as_system() as connection:
                published = float((await connection.execute(_PUBLISHED_AT, {"id": key})).scalar_one())
            await asyncio.wait([looking], timeout=_PATIENCE)
            return looking.result() - published if looking.done() else None
        finally:
            looking.cancel()

    async def _found_at(self, word: str, target: str) -> float:
        for collection in COLLECTIONS[CandidateKind.EXPERIENCE]:
            while True:
                hits = await self._runtime.parts.index.search(
                    collection, LexicalQuery(word), scope=Scope(), where=Filter(), limit=5
                )
                if any(hit.target == target for hit in hits):
                    break
                await asyncio.sleep(LOOK_EVERY)
        return time.time()
