"""Record and indexes compared: what each key should have, what each index holds, and whether the counts add up."""

from __future__ import annotations

from collections.abc import Collection as Group
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts.index import Stored
from contracts.labels import Collection
from contracts.model import Model
from contracts.projection import ProjectionSource

NAMED = 100
"""Keys that a report names at most."""


class Standing(StrEnum):
    """How one key stands in one index."""

    MATCHING = "matching"
    """The index holds exactly what the record says."""
    MISSING = "missing"
    """The record says that it should be there."""
    STALE = "stale"
    """The index holds something else of it: another revision, payload or point."""
    EXTRA = "extra"
    """The record says that nothing should be there."""
    PENDING = "pending"
    """A change of it is on its way: no drift."""


class IndexCounts(Model):
    """The counts of one index. Pending keys are counted on both sides, apart from drift."""

    collection: Collection
    record_keys: int = 0
    """Keys that the record wants in this index."""
    index_targets: int = 0
    """Targets with points in this index, counted by walking its points."""
    points: int = 0
    matching: int = 0
    missing: int = 0
    stale: int = 0
    extra: int = 0
    pending_keys: int = 0
    """Of the record's keys, those with a change on its way."""
    pending_targets: int = 0
    """Of the index's targets, those with a change on its way."""

    @property
    def adds_up(self) -> bool:
        """Whether every key and every target was counted once."""
        return (
            self.record_keys == self.matching + self.missing + self.stale + self.pending_keys
            and self.index_targets == self.matching + self.stale + self.extra + self.pending_targets
        )


class Drift(Model):
    """A key that doesn't stand as it should."""

    key: str
    collection: Collection | None = None
    """Which index; None for the note of what was projected."""
    standing: Standing


class ReconcileReport(Model):
    """What a reconciliation found and asked for; ids and counts only."""

    began_at: datetime
    indexes: tuple[IndexCounts, ...] = ()
    misrecorded: int = 0
    """Keys whose note of what was projected differs from the record."""
    unreadable: int = 0
    """Keys whose record can't be read, so that nothing can be said of them."""
    drifting: int = 0
    """Keys that drift in an index, or are misrecorded."""
    drifts: tuple[Drift, ...] = ()
    """The first of them (`NAMED` at most)."""
    repairs: int = 0
    """Keys for which a fresh projection was asked."""
    removed: int = 0
    """Targets whose points were removed, because no projection would ever look for them there."""
    is_quiet: bool = True
    """Whether the record stood still meanwhile; else the counts may differ by what moved."""
    adds_up: bool = True

    @property
    def is_clean(self) -> bool:
        """Whether nothing drifts."""
        return not (self.drifting or self.unreadable) and (self.adds_up or not self.is_quiet)


class ReconcileSummary(Model):
    """What the workflow's history keeps of a report: counts only."""

    report_id: str
    drifting: int
    repairs: int
    removed: int
    unreadable: int
    adds_up: bool


class StoredReport(Model):
    """A report that was kept."""

    id: str
    began_at: datetime
    ended_at: datetime
    asked_by: str
    """`schedule`, `start`, or who asked."""
    repaired: bool
    report: ReconcileReport


class ReconcileRequest(Model):
    """What an administrator asks for."""

    repair: bool = False
    """Ask for a fresh projection of every key that drifts."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The note of what was projected of a key."""

    revision: int
    content_hash: str
    points: int


def wanted(source: ProjectionSource, collection: Collection, model: str) -> Mapping[str, str]:
    """Return the digests of the payloads that `collection` should hold of a key, by point id."""
    return {
        entry.id: entry.payload.model_copy(update={"model": model}).digest()
        for entry in source.entries
        if entry.collection is collection
    }


def standing(wanted: Mapping[str, str], held: Group[Stored]) -> Standing | None:
    """Return how a key stands in an index; None when it neither is nor should be there."""
    if not wanted:
        return Standing.EXTRA if held else None
    if not held:
        return Standing.MISSING
    return Standing.MATCHING if wanted == {each.id: each.payload.digest() for each in held} else Standing.STALE


def is_recorded(source: ProjectionSource, recorded: Recorded | None) -> bool:
    """Return whether the note of what was projected says what the record says."""
    if not source.entries:
        return recorded is None
    return recorded == Recorded(source.revision, source.content_hash, len(source.entries))
