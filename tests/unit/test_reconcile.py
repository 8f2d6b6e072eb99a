"""How a key stands in an index, and when counts add up (R9)."""

from __future__ import annotations

from datetime import UTC, datetime

from contracts.index import Stored
from contracts.labels import Collection
from contracts.projection import ProjectionSource, experience_source
from contracts.reconcile import IndexCounts, ReconcileReport, Recorded, Standing, is_recorded, standing, wanted
from tests.workflows.outbox_memory import draft

ID = "8a8f6f0e-0000-4000-8000-000000000000"
MODEL = "length@1"


def source(title: str | None = "Pump", revision: int = 2) -> ProjectionSource:
    text = None if title is None else draft(title)
    return experience_source(ID, "acme", revision, "" if text is None else text.digest(), text)


def stored(of: ProjectionSource, collection: Collection = Collection.DETAIL) -> list[Stored]:
    return [
        Stored(each.id, each.payload.model_copy(update={"model": MODEL}))
        for each in of.entries
        if each.collection is collection
    ]


def how(of: ProjectionSource, held: list[Stored]) -> Standing | None:
    return standing(wanted(of, Collection.DETAIL, MODEL), held)


def test_r9_a_key_matches_only_with_exactly_its_points_and_whole_payloads() -> None:
    (point,) = stored(source())
    assert how(source(), [point]) is Standing.MATCHING
    under_the_same_hash = Stored(point.id, point.payload.model_copy(update={"domain": "elsewhere"}))
    assert how(source(), [under_the_same_hash]) is Standing.STALE
    other_model = Stored(point.id, point.payload.model_copy(update={"model": "other"}))
    assert how(source(), [other_model]) is Standing.STALE
    former = stored(source("Pump", revision=1))
    assert how(source(), former) is Standing.STALE
    assert how(source(), [point, *former]) is Standing.STALE
    assert how(source(), []) is Standing.MISSING
    assert how(source(None), [point]) is Standing.EXTRA
    assert how(source(None), []) is None


def test_r9_the_note_of_what_was_projected_must_say_the_same() -> None:
    said = source()
    right = Recorded(said.revision, said.content_hash, 2)
    assert is_recorded(said, right)
    assert not is_recorded(said, None)
    assert not is_recorded(said, Recorded(said.revision, said.content_hash, 1))
    assert not is_recorded(said, Recorded(1, said.content_hash, 2))
    assert not is_recorded(source(None), right)
    assert is_recorded(source(None), None)


def test_r9_counts_add_up_on_both_sides() -> None:
    good = IndexCounts(
        collection=Collection.CASES, record_keys=10, matching=5, missing=2, stale=1, pending_keys=2,
        index_targets=9, extra=2, pending_targets=1,
    )  # fmt: skip
    assert good.adds_up
    assert not good.model_copy(update={"record_keys": 11}).adds_up
    assert not good.model_copy(update={"index_targets": 8}).adds_up


def test_r9_a_report_is_clean_only_without_drift_and_with_good_sums() -> None:
    report = ReconcileReport(began_at=datetime(2026, 3, 2, tzinfo=UTC))
    assert report.is_clean
    for changes in ({"drifting": 1}, {"unreadable": 1}, {"adds_up": False}):
        assert not report.model_copy(update=changes).is_clean
    assert report.model_copy(update={"adds_up": False, "is_quiet": False}).is_clean
