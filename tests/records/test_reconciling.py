"""Drift between the record and a real index, made by hand, is found, counted and repaired (R9)."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from activities.index.edge import EdgeIndex
from activities.projection import Projector
from activities.reconciling import Reconciler
from activities.records.reconcile_reports import ReconcileReportsTable
from activities.reindexing import Reindexer
from contracts import limits
from contracts.index import IndexChange, Payload, Point, Stored, VectorName
from contracts.labels import Collection
from contracts.outbox import Topic
from contracts.projection import point_id
from contracts.reconcile import ReconcileReport, Standing
from contracts.review import ChangeKind
from tests.records.world import World, draft, new_id
from tests.workflows.outbox_memory import LengthEmbedder


class Noon:
    """`contracts.ports.Clock` that stands still."""

    def now(self) -> datetime:
        """See `contracts.ports.Clock.now`."""
        return datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass
class House:
    """A record, its index, and what keeps them together."""

    world: World
    index: EdgeIndex
    projector: Projector
    reconciler: Reconciler

    async def project(self) -> None:
        while await self.projector.project_batch():
            pass

    async def compare(self, *, repair: bool = False) -> ReconcileReport:
        report = await self.reconciler.reconcile(repair=repair)
        assert report.adds_up, report
        return report

    async def contents(self) -> dict[Collection, list[tuple[str, str]]]:
        """Return ids and payload digests of everything."""
        return {
            each: [(point.id, point.payload.digest()) for point in await self.index.stored(each)] for each in Collection
        }

    async def first(self, collection: Collection, target: str) -> Stored:
        (found,) = await self.index.points_of(collection, [target])
        return found

    async def put(self, collection: Collection, target: str, *points: Point) -> None:
        await self.index.apply([IndexChange(collection, target, points)])


def point(payload: Payload, identity: str) -> Point:
    vectors = {VectorName.TITLE: [1.0, 2.0], VectorName.BODY: [1.0, 3.0]}
    return Point(identity, payload, vectors, "words")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for the index, in memory where there is such a place: creating one syncs some 100 files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="caselore-index-", dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest_asyncio.fixture
async def house(world: World, folder: Path) -> AsyncIterator[House]:
    """Three cases, three published experiences and two that aren't, all projected; pages of two keys."""
    embedder = LengthEmbedder()
    index = EdgeIndex(folder / "index", embedder.model, embedder.dimensions)
    await index.open()
    made = House(
        world,
        index,
        Projector(world.outbox, world.projections, index, embedder),
        Reconciler(world.projections, index, embedder.model, Noon(), page=2),
    )
    for number in range(3):
        await world.published(draft(title=f"T{number}"))
    await world.propose()
    retired = await world.published()
    await world.change(retired, ChangeKind.RETIRE)
    await made.project()
    yield made
    await index.close()


async def ids(house: House) -> list[str]:
    sql = "SELECT experience_id::text FROM revisions WHERE state = 'current' ORDER BY experience_id"
    return [f"experience/{each}" for (each,) in house.world.rows(sql)]


def named(report: ReconcileReport) -> set[tuple[str, Collection | None, Standing]]:
    return {(drift.key, drift.collection, drift.standing) for drift in report.drifts}


async def test_a_projected_record_matches_key_by_key_and_point_by_point(house: House) -> None:
    report = await house.compare()
    assert report.is_clean
    assert report.is_quiet
    counts = {each.collection: each for each in report.indexes}
    assert (counts[Collection.CASES].record_keys, counts[Collection.CASES].matching) == (5, 5)
    for collection in (Collection.ROUTING, Collection.DETAIL):
        found = counts[collection]
        assert (found.record_keys, found.matching, found.index_targets, found.points) == (3, 3, 3, 3)


async def _payload_changed(house: House, key: str) -> set[Any]:
    """Another domain under the same content hash, revision and point id."""
    held = await house.first(Collection.DETAIL, key)
    await house.put(Collection.DETAIL, key, point(held.payload.model_copy(update={"domain": "elsewhere"}), held.id))
    return {(key, Collection.DETAIL, Standing.STALE)}


async def _point_removed(house: House, key: str) -> set[Any]:
    await house.put(Collection.ROUTING, key)
    return {(key, Collection.ROUTING, Standing.MISSING)}


async def _old_revision_restored(house: House, key: str) -> set[Any]:
    """A point of revision 0 beside the current one, as a restored file would bring back."""
    held = await house.first(Collection.DETAIL, key)
    old = held.payload.model_copy(update={"revision": 0, "content_hash": "old"})
    await house.put(
        Collection.DETAIL, key, point(held.payload, held.id), point(old, point_id(Collection.DETAIL, key, 0))
    )
    return {(key, Collection.DETAIL, Standing.STALE)}


async def _orphan_added(house: House, key: str) -> set[Any]:
    held = await house.first(Collection.DETAIL, key)
    orphan = f"experience/{new_id()}"
    await house.put(Collection.DETAIL, orphan, point(held.payload.model_copy(update={"target": orphan}), new_id()))
    return {(orphan, Collection.DETAIL, Standing.EXTRA)}


async def _case_in_another_index(house: House, key: str) -> set[Any]:
    """No projection of a case would ever look into `detail`."""
    case = house.world.one("SELECT 'case/' || id FROM cases LIMIT 1")
    held = await house.first(Collection.CASES, case)
    await house.put(Collection.DETAIL, case, point(held.payload, new_id()))
    return {(case, Collection.DETAIL, Standing.EXTRA)}


async def _no_target_of_ours(house: House, key: str) -> set[Any]:
    held = await house.first(Collection.DETAIL, key)
    await house.put(
        Collection.ROUTING, "weather/1", point(held.payload.model_copy(update={"target": "weather/1"}), new_id())
    )
    return {("weather/1", Collection.ROUTING, Standing.EXTRA)}


async def _withdrawn_one_came_back(house: House, key: str) -> set[Any]:
    held = await house.first(Collection.DETAIL, key)
    retired = house.world.one("SELECT 'experience/' || id FROM experiences WHERE stage = 'retired'")
    await house.put(Collection.DETAIL, retired, point(held.payload.model_copy(update={"target": retired}), new_id()))
    return {(retired, Collection.DETAIL, Standing.EXTRA)}


async def _note_changed(house: House, key: str) -> set[Any]:
    house.world.owner.execute("UPDATE projections SET content_hash = 'other' WHERE key = %s", (key,))
    return {(key, None, Standing.STALE)}


async def _note_lost(house: House, key: str) -> set[Any]:
    house.world.owner.execute("DELETE FROM projections WHERE key = %s", (key,))
    return {(key, None, Standing.STALE)}


@pytest.mark.parametrize(
    "made",
    [
        _payload_changed,
        _point_removed,
        _old_revision_restored,
        _orphan_added,
        _case_in_another_index,
        _no_target_of_ours,
        _withdrawn_one_came_back,
        _note_changed,
        _note_lost,
    ],
)
async def test_drift_made_by_hand_is_found_named_and_repaired(house: House, made: Any) -> None:
    """R9: counts add up at every step, and the index ends up as it was."""
    before, notes = await house.contents(), house.world.rows("SELECT key, revision, content_hash FROM projections")
    expected = await made(house, (await ids(house))[1])
    found = await house.compare()
    assert named(found) == expected
    assert (found.drifting, found.repairs, found.removed) == (1, 0, 0)
    repaired = await house.compare(repair=True)
    assert named(repaired) == expected
    assert repaired.repairs + repaired.removed == 1
    await house.project()
    assert (await house.compare()).is_clean
    assert await house.contents() == before
    assert sorted(house.world.rows("SELECT key, revision, content_hash FROM projections")) == sorted(notes)


async def test_everything_lost_is_all_missing_and_all_repaired(house: House) -> None:
    before = await house.contents()
    for collection in Collection:
        await house.index.drop(collection)
    report = await house.compare(repair=True)
    assert [(each.missing, each.index_targets) for each in report.indexes] == [(5, 0), (3, 0), (3, 0)]
    assert report.repairs == report.drifting == 8
    await house.project()
    assert (await house.compare()).is_clean
    assert await house.contents() == before


async def test_what_is_on_its_way_is_pending_and_no_drift(house: House) -> None:
    """R9: on the record's side as well as on the index's."""
    (key, *_) = await ids(house)
    await house.world.change(key.partition("/")[2], ChangeKind.RETIRE)
    await house.world.open_case()
    report = await house.compare(repair=True)
    assert report.is_clean
    assert (report.drifting, report.repairs) == (0, 0)
    counts = {each.collection: each for each in report.indexes}
    assert (counts[Collection.CASES].pending_keys, counts[Collection.CASES].pending_targets) == (1, 0)
    assert (counts[Collection.DETAIL].pending_keys, counts[Collection.DETAIL].pending_targets) == (0, 1)
    assert not report.is_quiet
    await house.project()
    assert (await house.compare()).is_clean


async def test_a_dead_event_is_not_on_its_way_its_key_drifts_and_the_repair_serves_it(house: House) -> None:
    """R9: reconciliation is the second way to what an event could not bring about."""
    case_id = await house.world.open_case()
    house.world.owner.execute("UPDATE outbox SET failures = %s WHERE delivered_at IS NULL", (limits.OUTBOX_ATTEMPTS,))
    for event in await house.world.outbox.claim(Topic.INDEX, 10, limits.OUTBOX_LEASE):
        assert await house.world.outbox.postponed(event, "ValueError", may_die=True)
    report = await house.compare(repair=True)
    assert named(report) >= {(f"case/{case_id}", Collection.CASES, Standing.MISSING)}
    await house.project()
    assert (await house.compare()).is_clean
    assert {mark.pending for mark in await house.world.projections.watermarks()} == {0}


async def test_a_key_that_cannot_be_read_is_told_and_hides_no_other(house: House) -> None:
    """R23: nothing can be said of it; the keys beside it are compared and repaired."""
    unreadable, removed, _ = await ids(house)
    owner = house.world.owner
    owner.execute("SET session_replication_role = replica")
    owner.execute("UPDATE revisions SET content = '{}' WHERE experience_id = %s", (unreadable.partition("/")[2],))
    owner.execute("SET session_replication_role = origin")
    await house.put(Collection.DETAIL, removed)
    report = await house.reconciler.reconcile(repair=True)
    assert (report.unreadable, report.drifting, report.repairs) == (1, 1, 1)
    assert not report.is_clean
    assert named(report) == {(removed, Collection.DETAIL, Standing.MISSING)}


async def test_the_repair_at_a_start_is_the_same_comparison(house: House) -> None:
    """R9: a payload that was changed under its hash is found at a start too, and held events are let go."""
    reindexer = Reindexer(house.world.projections, house.index, house.reconciler)
    assert (await reindexer.repair()).keys == 0
    await _payload_changed(house, (await ids(house))[0])
    assert (await reindexer.repair()).keys == 1
    await house.project()
    assert (await house.compare()).is_clean
    assert (await reindexer.rebuild()).keys == 8
    await house.project()
    assert (await house.compare()).is_clean


async def test_a_walk_holds_no_more_than_its_page(house: House) -> None:
    """R9: of keys and of points, however many there are."""
    seen: list[int] = []
    desired = house.world.projections.desired

    async def counted(keys: Sequence[str]) -> Any:
        seen.append(len(keys))
        return await desired(keys)

    house.world.projections.desired = counted
    pages: list[None] = []
    await house.reconciler.reconcile(repair=False, seen=lambda: pages.append(None))
    assert max(seen) == 2
    assert sum(seen) == 8
    assert len(pages) >= 4 + 3 + 2 + 2


async def test_reports_are_kept_newest_first_and_not_for_ever(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.records.reconcile_reports.KEPT", 3)
    reports = ReconcileReportsTable(house.world.database)
    report = await house.compare()
    kept = [
        await reports.keep(
            report.model_copy(update={"began_at": datetime(2026, 3, day, tzinfo=UTC)}), asked_by="ann", repaired=False
        )
        for day in range(1, 6)
    ]
    newest = await reports.newest(10)
    assert [each.id for each in newest] == kept[:1:-1]
    assert (newest[0].report.indexes, newest[0].asked_by) == (report.indexes, "ann")
