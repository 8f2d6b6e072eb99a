"""The reviewer's page with what resembles the draft: near-duplicates and contradictions, listed and never resolved.

The index and full text propose; Postgres, read as the caller, has the last word on what is current (R10). What could
not be looked through is told, so that an empty list never passes for a complete one (R16).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import structlog

from activities.failures import failure_fields
from contracts.articles import ArticleDraft
from contracts.errors import CaseloreError
from contracts.experience import Draft
from contracts.index import DenseQuery, Filter, LexicalQuery, Scope, VectorName
from contracts.keys import label_key
from contracts.labels import CandidateKind, Collection
from contracts.outbox import Watermark
from contracts.ports import Embedder, SearchIndex
from contracts.projection import experience_source
from contracts.resemblance import (
    Resemblance,
    ResemblanceKind,
    common_words,
    contradictions,
    likeness_reasons,
    meaning_of,
)
from contracts.review_sheet import Published, Resemblances, ReviewSheet, ReviewSheetRecords

T = TypeVar("T")

_log = structlog.get_logger()

SEARCHED = (Collection.ROUTING, Collection.DETAIL)
DEPTH = 20
"""Hits of each search that are looked at."""
PHRASED = 100
"""Published experiences with the same intent or concept that are looked at."""
LISTED = 10
"""Of each kind at most."""
_WORDS = 2_000
"""Characters that full text looks for."""


class ReviewDesk:
    """Puts a reviewer's page together.

    Args:
        records: The record.
        index: The search index.
        embedder: Compares meanings.
        seconds: The time limit of each search.
    """

    def __init__(
        self, records: ReviewSheetRecords, index: SearchIndex, embedder: Embedder, *, seconds: float = 3.0
    ) -> None:
        self._records = records
        self._index = index
        self._embedder = embedder
        self._seconds = seconds

    async def sheet(self, principal_id: str, experience_id: str) -> ReviewSheet:
        """Return everything that the review of an experience needs, as far as the caller may see it (R7).

        Raises:
            UnknownExperience: Nothing of it can be seen.
        """
        sheet = await self._records.sheet(principal_id, experience_id)
        if sheet.article is not None:
            found = await self._same_title(sheet, sheet.article)
        elif sheet.draft is not None:
            found = await self._resemblances(principal_id, sheet, sheet.draft)
        else:
            return sheet
        return sheet.model_copy(update={"resemblances": found})

    async def _same_title(self, sheet: ReviewSheet, article: ArticleDraft) -> Resemblances:
        """Return the domain's other articles of the same title or text: one of them may be the canonical one."""
        digest = sheet.digest
        listed = [
            Resemblance(
                kind=ResemblanceKind.NEAR_DUPLICATE,
                ref=f"article/{other.article_id}",
                revision=other.revision,
                title=other.title,
                domain_id=article.domain_id,
                outcome=None,
                score=1.0,
                reasons=("the same text" if other.digest == digest else "the same title",),
            )
            for other in await self._records.articles_of(article.domain_id)
            if other.article_id != sheet.experience_id and label_key(other.title) == label_key(article.title)
        ]
        return Resemblances(listed=tuple(_best(listed)), left_off=max(0, len(listed) - LISTED))

    async def _resemblances(self, principal_id: str, sheet: ReviewSheet, draft: Draft) -> Resemblances:
        # Before the index is read: an event that is projected in between is then in one of the two reads.
        marks = [mark for mark in await self._records.watermarks() if mark.collection in SEARCHED]
        search = _Search(self._seconds)
        found = await self._candidates(sheet, draft, marks, search)
        found.pop(sheet.experience_id, None)
        published = await self._records.published(principal_id, list(found))
        alike = await self._alike(draft, published, search)
        duplicates = [
            _resemblance(ResemblanceKind.NEAR_DUPLICATE, each, score, reasons)
            for each, score, reasons in alike
            if reasons
        ]
        opposed = [
            _resemblance(ResemblanceKind.CONTRADICTION, each, score, reasons)
            for each, score, _ in alike
            if (reasons := contradictions(draft, each.draft))
        ]
        listed = [*_best(duplicates), *_best(opposed)]
        return Resemblances(
            listed=tuple(listed),
            left_off=len(duplicates) + len(opposed) - len(listed),
            watermarks=tuple(marks),
            not_read=(*_behind(marks), *search.failed),
        )

    async def _candidates(
        self, sheet: ReviewSheet, draft: Draft, marks: Sequence[Watermark], search: _Search
    ) -> dict[str, None]:
        """Return the ids of published experience worth a comparison, in the order they were found."""
        entries = experience_source(sheet.experience_id, sheet.tenant_id, sheet.revision, sheet.digest, draft).entries
        texts = {entry.collection: entry for entry in entries}
        where = Filter(kinds=(CandidateKind.EXPERIENCE,), not_targets=(f"experience/{sheet.experience_id}",))
        vectors = await search.read(
            "meanings of the draft",
            lambda: asyncio.to_thread(self._embedder.embed, [draft.title, *(texts[each].body for each in SEARCHED)]),
        )

        def ask(collection: Collection, query: DenseQuery | LexicalQuery) -> Callable[[], Awaitable[list[str]]]:
            async def find() -> list[str]:
                hits = await self._index.search(collection, query, scope=Scope(), where=where, limit=DEPTH)
                return [hit.target.partition("/")[2] for hit in hits]

            return find

        asked: list[Awaitable[list[str] | None]] = []
        for place, collection in enumerate(SEARCHED, start=1):
            words = f"{draft.title}\n{texts[collection].body}"[:_WORDS]
            asked.append(search.read(f"{collection} by words", ask(collection, LexicalQuery(words))))
            if vectors is not None:
                title, body = DenseQuery(vectors[0], VectorName.TITLE), DenseQuery(vectors[place], VectorName.BODY)
                asked.append(search.read(f"{collection} by title", ask(collection, title)))
                asked.append(search.read(f"{collection} by text", ask(collection, body)))
        phrases = list(dict.fromkeys(filter(str.strip, _phrases(draft))))
        asked.append(
            search.read("the record by intent and concept", lambda: self._records.by_phrases(phrases, limit=PHRASED))
        )
        found = [ids for ids in await asyncio.gather(*asked) if ids is not None]
        if search.failed or any(not mark.is_current for mark in marks):
            pending_only = not search.failed
            instead = await search.read(
                "the record by words",
                lambda: self._records.by_text(
                    f"{draft.title} {draft.synopsis.text}"[:_WORDS], limit=DEPTH, pending_only=pending_only
                ),
            )
            found.append(instead or [])
        return dict.fromkeys(each for ids in found for each in ids)

    async def _alike(
        self, draft: Draft, published: Sequence[Published], search: _Search
    ) -> list[tuple[Published, float, tuple[str, ...]]]:
        """Return each with how alike it is, 0 to 1, and why it is a near-duplicate, if it is."""
        texts = [meaning_of(draft), *(meaning_of(each.draft) for each in published)]
        vectors = await search.read(
            "meanings of what was found", lambda: asyncio.to_thread(self._embedder.embed, texts)
        )
        alike: list[tuple[Published, float, tuple[str, ...]]] = []
        for place, each in enumerate(published, start=1):
            meaning = None if vectors is None else _cosine(vectors[0], vectors[place])
            score = max(meaning or 0.0, common_words(draft, each.draft))
            alike.append((each, round(min(score, 1.0), 4), likeness_reasons(draft, each.draft, meaning)))
        return alike


class _Search:
    """Runs reads one by one against the clock, and remembers those that failed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.failed: list[str] = []

    async def read(self, name: str, find: Callable[[], Awaitable[T]]) -> T | None:
        """Return what `find` returns; None when it fails or takes too long."""
        try:
            async with asyncio.timeout(self._seconds):
                return await find()
        except TimeoutError:
            why = f"no answer within {self._seconds:g} s"
        except CaseloreError as error:
            why = error.type  # its words may name folders and addresses
        except Exception as error:  # one broken source must not take the page with it
            _log.error("resemblance_read_failed", read=name, **failure_fields(error))
            why = f"unexpected {type(error).__name__}"
        self.failed.append(f"{name}: {why}")
        return None


def _phrases(draft: Draft) -> list[str]:
    return [phrase for unit in draft.units for phrase in (unit.intent, *unit.concepts)]


def _resemblance(kind: ResemblanceKind, other: Published, score: float, reasons: tuple[str, ...]) -> Resemblance:
    return Resemblance(
        kind=kind,
        ref=f"experience/{other.experience_id}",
        revision=other.revision,
        title=other.draft.title,
        domain_id=other.draft.domain_id,
        outcome=other.draft.outcome,
        score=score,
        reasons=reasons,
    )


def _best(found: list[Resemblance]) -> list[Resemblance]:
    return sorted(found, key=lambda each: (-each.score, each.ref))[:LISTED]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(mine * theirs for mine, theirs in zip(one, other, strict=True))  # vectors are unit vectors


def _behind(marks: Sequence[Watermark]) -> list[str]:
    return [
        f"{mark.collection}: {mark.pending} pending events not in the index yet, oldest {mark.lag_seconds:.0f} s;"
        " the record was searched by words for them"
        for mark in marks
        if not mark.is_current
    ]
