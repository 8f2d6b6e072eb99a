"""States, hours, flags and kept texts of deliveries (R1, R3, R19, R22)."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any, cast

import pytest

from activities.intake import Intake
from activities.mail.newly_written import newly_written
from activities.records.arrival_history import ArrivalHistoryTable
from contracts import limits
from contracts.arrival_views import ArrivalHistory
from contracts.cases import BodyFormat, Delivery, Disposition, Origin, Receipt
from contracts.errors import InvalidField, UnknownCase, UnknownContent, UnstorableText
from contracts.labels import CaseState
from tests.records.world import NOON, World, changed, new_id


def delivery(external_id: str, **given: Any) -> Delivery:
    values: dict[str, Any] = {
        "origin": Origin(tenant_id="acme", source="desk", external_id=external_id),
        "revision": 1,
        "delivery_id": new_id(),
        "occurred_at": NOON,
        "received_at": NOON,
    }
    return Delivery(**{**values, **given})


def intake(world: World) -> Intake:
    return Intake(world.arrivals, newly_written)


async def history(world: World, receipt: Receipt, by: str = "ann") -> ArrivalHistory:
    return await ArrivalHistoryTable(world.database).read(by, receipt.case_id)


def after(hours: float) -> Any:
    return NOON + timedelta(hours=hours)


async def test_in_any_order_the_highest_revision_gives_the_state_and_the_hours_add_up(shared: World) -> None:
    """R1, R19: 2 h open, 3 h waiting, 1 h open, then resolved; with gaps, and shuffled."""
    words = [(1, "new", 0), (3, "Awaiting User Info", 2), (6, "in_progress", 5), (7, "resolved", 6)]
    for seed in range(8):
        order = random.Random(seed).sample(words, len(words))
        external_id, receipt = new_id(), None
        for revision, word, hour in order:
            receipt = await shared.arrivals.receive(
                "ann", delivery(external_id, revision=revision, state=word, occurred_at=after(hour))
            )
        assert receipt is not None
        case = await shared.cases.get("ann", receipt.case_id)
        assert (case.state, case.source_state, case.opened_at) == (CaseState.COMPLETED, "resolved", NOON), order
        found = await history(shared, receipt)
        assert (found.hours.active, found.hours.waiting, found.hours.is_running) == (3, 3, False), order
        assert (found.gaps.missing, found.total) == ((2, 4, 5), 4)


async def test_a_waiting_case_says_on_whom(shared: World) -> None:
    receipt = await shared.arrivals.receive("ann", delivery(new_id(), state="Awaiting Vendor"))
    case = await shared.cases.get("ann", receipt.case_id)
    assert (case.state, case.waiting_on) == (CaseState.WAITING, "vendor")


async def test_a_delivery_without_a_state_leaves_it(shared: World) -> None:
    external_id = new_id()
    receipt = await shared.arrivals.receive("ann", delivery(external_id, state="on hold"))
    await shared.arrivals.receive("ann", delivery(external_id, revision=2, body="More."))
    case = await shared.cases.get("ann", receipt.case_id)
    assert (case.state, case.source_state, case.waiting_on) == (CaseState.WAITING, "on hold", "on hold")


async def test_equal_times_without_revision_keep_the_finished_state_and_say_so(shared: World) -> None:
    external_id = new_id()
    await shared.arrivals.receive("ann", delivery(external_id, revision=None, state="resolved"))
    receipt = await shared.arrivals.receive("ann", delivery(external_id, revision=None, state="in_progress"))
    assert (receipt.disposition, receipt.order_assumed) == (Disposition.LATE, True)
    case = await shared.cases.get("ann", receipt.case_id)
    assert (case.source_state, case.order_assumed) == ("resolved", True)
    found = await history(shared, receipt)
    assert (found.order_assumed, found.hours.is_running) == (True, False)


async def test_a_conflict_changes_neither_text_nor_state(shared: World) -> None:
    external_id = new_id()
    first = await shared.arrivals.receive("ann", delivery(external_id, state="new", body="One."))
    before = await shared.cases.get("ann", first.case_id)
    other = await shared.arrivals.receive("ann", delivery(external_id, state="resolved", body="One."))
    assert other.disposition is Disposition.CONFLICT
    assert await shared.cases.get("ann", first.case_id) == before
    found = await history(shared, first)
    assert [(each.source_state, each.disposition) for each in found.arrivals] == [
        ("new", "opened"), ("resolved", "conflict"),
    ]  # fmt: skip
    assert (found.conflicts, len(found.states)) == (1, 1)


@pytest.mark.parametrize(
    "other", [{"state": "new"}, {"attributes": {"a": 1}}, {"body_format": BodyFormat.HTML}, {"subject": "s"}]
)
async def test_every_part_of_the_content_counts(shared: World, other: dict[str, Any]) -> None:
    external_id = new_id()
    await shared.arrivals.receive("ann", delivery(external_id, body="x"))
    receipt = await shared.arrivals.receive("ann", delivery(external_id, body="x", **other))
    assert receipt.disposition is Disposition.CONFLICT
    times = {"occurred_at": after(1), "received_at": after(2)}
    assert (await shared.arrivals.receive("ann", delivery(external_id, body="x\r\n", **times))).redelivered


async def test_a_delivery_id_used_again_is_taken_and_flagged(shared: World) -> None:
    external_id = new_id()
    await shared.arrivals.receive("ann", delivery(external_id, delivery_id="d"))
    again = await shared.arrivals.receive("ann", delivery(external_id, delivery_id="d"))
    assert (again.redelivered, again.delivery_id_reused) == (True, False)
    second = await shared.arrivals.receive("ann", delivery(external_id, delivery_id="d", revision=2))
    assert (second.disposition, second.delivery_id_reused) == (Disposition.ATTACHED, True)
    assert [each.delivery_id_reused for each in (await history(shared, second)).arrivals] == [False, True]


async def test_spellings_of_one_origin_meet_and_the_sent_one_is_kept(shared: World) -> None:
    """R1: blanks around and the Unicode form; nothing else."""
    mark = new_id()
    first = await shared.arrivals.receive("ann", delivery(f"Caf\u00e9 {mark}"))
    second = await shared.arrivals.receive("ann", delivery(f" Cafe\u0301 {mark}\u00a0", revision=2))
    assert first.case_id == second.case_id
    assert [each.external_id for each in (await history(shared, first)).arrivals] == [
        f"Caf\u00e9 {mark}", f" Cafe\u0301 {mark}\u00a0",
    ]  # fmt: skip
    origin = Origin(tenant_id="acme", source=" desk ", external_id=f"Cafe\u0301 {mark}")
    found = await shared.cases.of_origin("ann", origin)
    assert found is not None
    assert found.id == first.case_id
    assert await shared.cases.of_origin("cora", origin) is None


async def test_a_body_over_the_limit_is_kept_whole_by_reference(shared: World) -> None:
    """R22: nothing is cut in silence."""
    body = "é" * limits.BODY + "the end"
    receipt = await intake(shared).receive("ann", delivery(new_id(), body=body))
    case = await shared.cases.get("ann", receipt.case_id)
    assert (len(case.body), case.body_bytes, case.indexed_bytes) == (limits.BODY, len(body.encode()), 200_000)
    assert case.content_id is not None
    table = ArrivalHistoryTable(shared.database)
    assert (await table.content("ann", case.content_id)).text == body
    with pytest.raises(UnknownContent):
        await table.content("cora", case.content_id)
    with pytest.raises(UnknownCase):
        await history(shared, receipt, by="cora")


async def test_the_newly_written_part_is_what_searches_see(shared: World) -> None:
    body = "Fails again.\n\nOn Tue, 3 Feb 2026 at 09:00, Ann <ann@example.org> wrote:\n> Zebra stripes."
    receipt = await intake(shared).receive("ann", delivery(new_id(), body=body))
    case = await shared.cases.get("ann", receipt.case_id)
    assert (case.body, case.written) == (body, "Fails again.")
    (source,) = await shared.projections.desired([f"case/{case.id}"])
    assert [entry.body for entry in source.entries] == ["Fails again."]
    hits = "SELECT count(*) FROM cases WHERE id = %s AND search @@ plainto_tsquery('simple', %s)"
    assert [shared.one(hits, case.id, word) for word in ("again", "zebra")] == [1, 0]


async def test_what_was_cleaned_is_recorded_and_its_raw_form_kept(shared: World) -> None:
    posted = delivery(new_id(), body="a").model_dump(mode="json") | {"body": "a\x00b\ud83d", "attributes": {"k\x00": 1}}
    receipt = await intake(shared).receive_posted("ann", cast("dict[str, Any]", posted))
    (arrival,) = (await history(shared, receipt)).arrivals
    assert (arrival.body, arrival.attributes) == ("a\ufffdb\ufffd", {"k\ufffd": 1})
    assert [change.path for change in arrival.cleaned] == ["body", "attributes"]
    assert arrival.raw_content_id is not None
    raw = await ArrivalHistoryTable(shared.database).content("ann", arrival.raw_content_id)
    assert '"a\\u0000b\\ud83d"' in raw.text
    assert (await intake(shared).receive_posted("ann", cast("dict[str, Any]", posted))).redelivered


async def test_ids_are_refused_and_never_cleaned(shared: World) -> None:
    before = shared.everything()
    good = delivery("x").model_dump(mode="json")
    for bad in ({"delivery_id": "a\x00"}, {"origin": {"tenant_id": "acme", "source": "s", "external_id": "\ud800"}}):
        with pytest.raises(UnstorableText):
            await intake(shared).receive_posted("ann", cast("dict[str, Any]", good | bad))
    with pytest.raises(InvalidField, match="bodi"):
        await intake(shared).receive_posted("ann", good | {"bodi": ""})
    assert changed(shared.everything(), before) == []
