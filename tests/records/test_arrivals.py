"""Deliveries: attached once, never lost, never held up by a gap (R1, R2, R3)."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from contracts.cases import CaseFacts, Disposition
from contracts.errors import UnknownDomain, UnknownTenant
from tests.records.world import NOON, World, changed, new_id

LATER = NOON + timedelta(hours=1)
_MIXED = (4, 1, 8, 2, 7, 3, 6, 5)


def arrivals(world: World, case_id: str) -> list[tuple[int, int, str, str, int]]:
    """Return revision, content version, disposition, body and redeliveries of the case's arrivals, as they came."""
    return world.rows(
        "SELECT source_revision, content_version, disposition, body, redeliveries FROM arrivals WHERE case_id = %s"
        " ORDER BY source_revision, content_version",
        case_id,
    )


def standing(world: World, case_id: str) -> tuple[str, int | None, int]:
    """Return body, source revision and row version of the case."""
    (row,) = world.rows("SELECT body, source_revision, revision FROM cases WHERE id = %s", case_id)
    return row


async def test_the_first_delivery_opens_a_case_that_is_discoverable_at_once(shared: World) -> None:
    """R3: an open case is found in the registry, and its projection is asked for, before anything was learned."""
    external_id = new_id()
    receipt = await shared.deliver(external_id, facts=CaseFacts(domain_id="data", object_refs=("doc/1",)))
    assert receipt.disposition is Disposition.OPENED
    assert not receipt.redelivered
    case = await shared.cases.get("ann", receipt.case_id)
    assert (case.origin.external_id, case.state, case.facts.object_refs) == (external_id, "open", ("doc/1",))
    assert receipt.case_id in [case.id for case in await shared.cases.listed("ann", tenant_id="acme")]
    assert shared.index_events(f"case/{receipt.case_id}") == 1
    assert shared.rows("SELECT seq, state, changed_by FROM case_states WHERE case_id = %s", receipt.case_id) == [
        (1, "open", "ann")
    ]


async def test_a_redelivery_answers_with_the_first_result_and_attaches_nothing(shared: World) -> None:
    """R1, spec acceptance: duplicate delivery attaches once."""
    external_id = new_id()
    first = await shared.deliver(external_id)
    second = await shared.deliver(external_id, revision=2, body="Second.")
    before = shared.everything()
    for _ in range(2):
        assert await shared.deliver(external_id) == first.model_copy(update={"redelivered": True})
    assert await shared.deliver(external_id, revision=2, body="Second.") == second.model_copy(
        update={"redelivered": True}
    )
    assert changed(shared.everything(), before) == ["arrivals"]
    assert [row[4] for row in arrivals(shared, first.case_id)] == [2, 1]
    assert shared.index_events(f"case/{first.case_id}") == 2


async def test_the_same_revision_with_other_content_is_a_visible_conflict(shared: World) -> None:
    """R1: a new content version, recorded and never lost; the case keeps what it had."""
    external_id = new_id()
    first = await shared.deliver(external_id)
    conflict = await shared.deliver(external_id, body="Something else.")
    assert (conflict.disposition, conflict.content_version) == (Disposition.CONFLICT, 2)
    assert conflict.case_id == first.case_id
    third = await shared.deliver(external_id, subject="Another subject")
    assert (third.disposition, third.content_version) == (Disposition.CONFLICT, 3)
    again = await shared.deliver(external_id, body="Something else.")
    assert (again.redelivered, again.arrival_id) == (True, conflict.arrival_id)
    assert standing(shared, first.case_id)[0] == "The document prints a blank page."
    assert [row[1:4] for row in arrivals(shared, first.case_id)] == [
        (1, "opened", "The document prints a blank page."),
        (2, "conflict", "Something else."),
        (3, "conflict", "The document prints a blank page."),
    ]


async def test_facts_are_content_and_are_kept_with_their_arrival(shared: World) -> None:
    """R1, R22: other facts under one revision are not swallowed as a redelivery."""
    external_id = new_id()
    first = await shared.deliver(external_id, facts=CaseFacts(product="Home"))
    other = await shared.deliver(external_id, facts=CaseFacts(product="Motor"))
    assert other.disposition is Disposition.CONFLICT
    assert (await shared.cases.get("ann", first.case_id)).facts.product == "Home"
    sql = "SELECT facts->>'product' FROM arrivals WHERE id = %s"
    assert shared.one(sql, other.arrival_id) == "Motor"


async def test_the_highest_revision_wins_and_a_late_one_is_history(shared: World) -> None:
    """R1: gaps and disorder never block."""
    external_id = new_id()
    opened = await shared.deliver(external_id, revision=3, body="three")
    late = await shared.deliver(external_id, revision=1, body="one", at=LATER)
    assert late.disposition is Disposition.LATE
    assert standing(shared, opened.case_id)[:2] == ("three", 3)
    attached = await shared.deliver(external_id, revision=7, body="seven")
    assert attached.disposition is Disposition.ATTACHED
    assert (await shared.deliver(external_id, revision=5, body="five")).disposition is Disposition.LATE
    assert standing(shared, opened.case_id) == ("seven", 7, 2)
    assert [(row[0], row[2]) for row in arrivals(shared, opened.case_id)] == [
        (1, "late"), (3, "opened"), (5, "late"), (7, "attached"),
    ]  # fmt: skip


async def test_deliveries_without_a_revision_go_by_their_time(shared: World) -> None:
    """R1: a missing revision never blocks."""
    external_id = new_id()
    opened = await shared.deliver(external_id, revision=None, body="first")
    assert (await shared.deliver(external_id, revision=None, body="first", at=LATER)).redelivered
    newer = await shared.deliver(external_id, revision=None, body="second", at=LATER)
    assert (newer.disposition, newer.content_version) == (Disposition.ATTACHED, 2)
    older = await shared.deliver(external_id, revision=None, body="before", at=NOON - timedelta(days=1))
    assert older.disposition is Disposition.LATE
    assert standing(shared, opened.case_id)[0] == "second"


async def test_a_delivery_without_revision_does_not_let_a_lower_revision_win(shared: World) -> None:
    """R1: the highest revision that was seen stays the mark, whatever came without one."""
    external_id = new_id()
    opened = await shared.deliver(external_id, revision=5, body="five")
    assert (await shared.deliver(external_id, revision=None, body="mail", at=LATER)).disposition is Disposition.ATTACHED
    assert (await shared.deliver(external_id, revision=3, body="three", at=LATER)).disposition is Disposition.LATE
    assert standing(shared, opened.case_id)[:2] == ("mail", 5)


async def test_new_facts_replace_the_case_facts_and_none_leave_them(shared: World) -> None:
    external_id = new_id()
    opened = await shared.deliver(external_id, facts=CaseFacts(product="Home", symptom_tags=("blank", "late")))
    await shared.deliver(external_id, revision=2, subject="", body="More.")
    case = await shared.cases.get("ann", opened.case_id)
    assert (case.facts.product, case.facts.symptom_tags, case.title) == ("Home", ("blank", "late"), "Blank page")
    await shared.deliver(external_id, revision=3, facts=CaseFacts(product="Motor"))
    case = await shared.cases.get("ann", opened.case_id)
    assert (case.facts.product, case.facts.symptom_tags) == ("Motor", ())


async def test_similar_requests_stay_separate_cases(shared: World) -> None:
    """R2, spec acceptance: equal words, two identities, two cases; also one id in two sources or tenants."""
    await shared.tenant("twin")
    await shared.principal("ann", "twin")
    external_id = new_id()
    receipts = [
        await shared.deliver(external_id),
        await shared.deliver(f"{external_id}\u200b"),
        await shared.deliver(external_id.upper()),
        await shared.deliver(external_id, tenant="twin"),
    ]
    assert len({receipt.case_id for receipt in receipts}) == 4
    assert {receipt.disposition for receipt in receipts} == {Disposition.OPENED}


async def test_a_tenant_outside_the_grants_is_unknown(shared: World) -> None:
    """R4: whether it exists or not, and also for a grant to one case of it."""
    await shared.tenant("foreign")
    await shared.principal("fay", "foreign")
    case_id = await shared.open_case(by="fay", tenant="foreign")
    await shared.principal("guest")
    await shared.grant("guest", "foreign", case_id=case_id)
    before = shared.everything()
    for who, tenant in (("ann", "foreign"), ("ann", "no such"), ("nobody", "acme"), ("guest", "foreign")):
        with pytest.raises(UnknownTenant):
            await shared.deliver(new_id(), by=who, tenant=tenant)
    assert changed(shared.everything(), before) == []


async def test_an_unknown_domain_leaves_nothing_behind(shared: World) -> None:
    """R22: refused by name, with no origin half-written."""
    before = shared.everything()
    with pytest.raises(UnknownDomain, match="data, development"):
        await shared.deliver(new_id(), facts=CaseFacts(domain_id="kitchen"))
    assert changed(shared.everything(), before) == []


async def test_eight_deliveries_at_once_open_one_case_with_one_arrival(shared: World) -> None:
    """R1, R24."""
    external_id = new_id()
    receipts = await asyncio.gather(*(shared.deliver(external_id) for _ in range(8)))
    assert len({receipt.arrival_id for receipt in receipts}) == 1
    assert sorted(receipt.redelivered for receipt in receipts) == [False] + [True] * 7
    (case_id,) = {receipt.case_id for receipt in receipts}
    assert [row[4] for row in arrivals(shared, case_id)] == [7]
    assert shared.index_events(f"case/{case_id}") == 1
    receipts = await asyncio.gather(*(shared.deliver(external_id, revision=2, body="Next.") for _ in range(8)))
    assert len({receipt.arrival_id for receipt in receipts}) == 1
    assert [row[4] for row in arrivals(shared, case_id)] == [7, 7]


async def test_revisions_delivered_at_once_end_with_the_highest(shared: World) -> None:
    """R1, R24: whatever order they are taken in, for a new case and for one that is open."""
    for opened_before in (False, True, True, True):
        external_id = new_id()
        if opened_before:
            await shared.deliver(external_id, revision=0)
        receipts = await asyncio.gather(
            *(
                shared.deliver(external_id, revision=number, body=f"text {number}")
                for number in (4, 1, 8, 2, 7, 3, 6, 5)
            )
        )
        (case_id,) = {receipt.case_id for receipt in receipts}
        assert standing(shared, case_id)[:2] == ("text 8", 8)
        assert len(arrivals(shared, case_id)) == 8 + opened_before
        assert sum(receipt.disposition is Disposition.OPENED for receipt in receipts) == 1 - opened_before
