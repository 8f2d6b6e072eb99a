"""Reconciliation: record and indexes compared key by key and point by point, drift repaired through the outbox (R9).

Two walks, each in pages. The first goes through the points of every index, counts their targets and finds those that
the record doesn't know. The second goes through the record's keys and compares whole payloads. Each counts for
itself, so the sums are a check of both: every target of the first is matching, stale or extra in the second.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from activities.failures import failure_fields
from contracts.errors import CaseloreError
from contracts.index import IndexChange, Stored
from contracts.labels import CandidateKind, Collection
from contracts.ports import Clock
from contracts.projection import collections_of
from contracts.reconcile import (
    NAMED,
    Drift,
    IndexCounts,
    ReconcileReport,
    Standing,
    is_recorded,
    standing,
    wanted,
)
from contracts.reconcile_ports import IndexContents, RecordContents

PAGE = 200
"""Keys or points that are held at once; a key's texts are among what is held."""
_LOOKS = 3
"""A key that drifts is looked at again: it may have moved between the looks at record and index."""

_log = structlog.get_logger()


@dataclass
class _Look:
    """How one key stood when it was looked at."""

    key: str
    standings: Mapping[Collection, Standing]
    wanted_in: frozenset[Collection] = frozenset()
    held_in: frozenset[Collection] = frozenset()
    is_recorded: bool = True
    is_pending: bool = False
    is_readable: bool = True

    @property
    def drifts(self) -> bool:
        return not self.is_pending and (
            not self.is_recorded or any(each is not Standing.MATCHING for each in self.standings.values())
        )


@dataclass
class _Tally:
    """What was counted so far."""

    counts: dict[Collection, Counter[str]] = field(default_factory=lambda: {each: Counter() for each in Collection})
    drifts: list[Drift] = field(default_factory=list[Drift])
    drifting: int = 0
    misrecorded: int = 0
    unreadable: int = 0
    repairs: int = 0
    removed: int = 0

    def name(self, key: str, collection: Collection | None, how: Standing) -> None:
        if len(self.drifts) < NAMED:
            self.drifts.append(Drift(key=key, collection=collection, standing=how))


class Reconciler:
    """Compares record and indexes. One reconciliation at a time in a process.

    Args:
        record: What the indexes should hold.
        index: What they hold.
        model: Id of the embedding model, a part of every payload.
        clock: When a report began.
        page: Keys or points of one page.
    """

    def __init__(
        self, record: RecordContents, index: IndexContents, model: str, clock: Clock, *, page: int = PAGE
    ) -> None:
        self._record = record
        self._index = index
        self._model = model
        self._clock = clock
        self._page = page
        self._running = asyncio.Lock()

    async def reconcile(self, *, repair: bool, seen: Callable[[], None] = lambda: None) -> ReconcileReport:
        """Compare everything and return what was found.

        Args:
            repair: Ask for a fresh projection of every key that drifts, and remove points that are where no
                projection would look for them.
            seen: Is called after each page.

        Raises:
            IndexUnavailable: The index can't be read.
        """
        async with self._running:
            began, tally = self._clock.now(), _Tally()
            head, moving = await self._record.movement()
            for collection in Collection:
                await self._walk_index(collection, tally, repair=repair, seen=seen)
            await self._walk_record(tally, repair=repair, seen=seen)
            later, still = await self._record.movement()
            indexes = tuple(IndexCounts(collection=each, **tally.counts[each]) for each in Collection)
            return ReconcileReport(
                began_at=began,
                indexes=indexes,
                misrecorded=tally.misrecorded,
                unreadable=tally.unreadable,
                drifting=tally.drifting,
                drifts=tuple(tally.drifts),
                repairs=tally.repairs,
                removed=tally.removed,
                is_quiet=moving == 0 and later == head + tally.repairs and still <= tally.repairs,
                adds_up=all(each.adds_up for each in indexes),
            )

    async def _walk_index(
        self, collection: Collection, tally: _Tally, *, repair: bool, seen: Callable[[], None]
    ) -> None:
        counts = tally.counts[collection]
        after: str | None = None
        while True:
            page, after = await self._index.page(collection, after, self._page)
            counts["points"] += len(page)
            points = _by_target(await self._index.points_of(collection, {each.payload.target for each in page}))
            first = {target: min(each.id for each in held) for target, held in points.items()}
            # A target counts where its first point is, however many it has and wherever they lie.
            begins = [each.payload.target for each in page if first.get(each.payload.target) == each.id]
            counts["index_targets"] += len(begins)
            astray = [target for target in begins if collection not in _places(target)]
            there = [target for target in begins if collection in _places(target)]
            known, pending = await self._record.known(there), await self._record.pending(there)
            orphans = [target for target in there if target not in known and target not in pending]
            counts["pending_targets"] += sum(target in pending and target not in known for target in there)
            for target in (*astray, *orphans):
                counts["extra"] += 1
                tally.drifting += 1
                tally.name(target, collection, Standing.EXTRA)
            if repair:
                await self._index.apply([IndexChange(collection, target) for target in astray])
                tally.removed += len(astray)
                await self._announce(orphans, tally)
            seen()
            if after is None:
                return

    async def _walk_record(self, tally: _Tally, *, repair: bool, seen: Callable[[], None]) -> None:
        after = ""
        while keys := await self._record.keys_after(after, self._page):
            after = keys[-1]
            looks = await self._settled(keys)
            for look in looks:
                _count(look, tally)
            if repair:
                await self._announce([look.key for look in looks if look.drifts], tally)
            seen()

    async def _settled(self, keys: Sequence[str]) -> list[_Look]:
        """Return how the keys stand, those that drift looked at until two looks agree."""
        looks = {look.key: look for look in await self._look(keys)}
        for _ in range(_LOOKS):
            doubtful = {key: look for key, look in looks.items() if look.drifts and look.is_readable}
            if not doubtful:
                break
            again = {look.key: look for look in await self._look(list(doubtful))}
            looks |= again
            if all(again[key] == look for key, look in doubtful.items()):
                break
        return list(looks.values())

    async def _look(self, keys: Sequence[str]) -> list[_Look]:
        try:
            return await self._look_at(keys)
        except CaseloreError:
            raise
        except Exception as error:
            if len(keys) > 1:  # one key that can't be read must not hide the others
                return [look for key in keys for look in await self._look([key])]
            _log.error("key_unreadable", key=keys[0], **failure_fields(error))
            return [_Look(keys[0], {}, is_readable=False, is_pending=True)]

    async def _look_at(self, keys: Sequence[str]) -> list[_Look]:
        # In this order, and once more at the end: a change is committed with its event, projected, then marked.
        pending = await self._record.pending(keys)
        sources = await self._record.desired(keys)
        recorded = await self._record.recorded_of(keys)
        held = {
            collection: _by_target(
                await self._index.points_of(collection, [key for key in keys if collection in _places(key)])
            )
            for collection in Collection
        }
        pending |= await self._record.pending(keys)
        looks: list[_Look] = []
        for source in sources:
            key = source.key
            should = {each: wanted(source, each, self._model) for each in source.collections}
            found = {each: standing(should[each], held[each].get(key, ())) for each in source.collections}
            looks.append(
                _Look(
                    key,
                    {collection: how for collection, how in found.items() if how is not None},
                    frozenset(each for each in source.collections if should[each]),
                    frozenset(each for each in source.collections if held[each].get(key)),
                    is_recorded(source, recorded.get(key)),
                    key in pending,
                )
            )
        return looks

    async def _announce(self, keys: Sequence[str], tally: _Tally) -> None:
        await self._record.announce(keys)
        tally.repairs += len(keys)


def _count(look: _Look, tally: _Tally) -> None:
    for collection in look.wanted_in:
        tally.counts[collection]["record_keys"] += 1
    if look.is_pending:
        for collection in look.wanted_in:
            tally.counts[collection]["pending_keys"] += 1
        for collection in look.held_in:
            tally.counts[collection]["pending_targets"] += 1
        tally.unreadable += not look.is_readable
        return
    for collection, how in look.standings.items():
        tally.counts[collection][how] += 1
        if how is not Standing.MATCHING:
            tally.name(look.key, collection, how)
    if not look.is_recorded:
        tally.misrecorded += 1
        tally.name(look.key, None, Standing.STALE)
    tally.drifting += look.drifts


def _by_target(points: Iterable[Stored]) -> dict[str, list[Stored]]:
    found: defaultdict[str, list[Stored]] = defaultdict(list)
    for each in points:
        found[each.payload.target].append(each)
    return found


def _places(key: str) -> tuple[Collection, ...]:
    """Return where a key may have points; nowhere when it is none of ours."""
    kind, _, rest = key.partition("/")
    return collections_of(key) if rest and kind in tuple(CandidateKind) else ()
