"""Sources without revisions that return to an earlier content: a redelivery, or a new state of affairs? (R1)"""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest

from contracts.cases import Delivery, Disposition, Origin, Receipt
from contracts.labels import CaseState
from tests.records.test_arrivals import standing
from tests.records.world import NOON, World, changed, new_id

HOUR = timedelta(hours=1)


async def deliver(world: World, external_id: str, body: str, hour: int) -> Receipt:
    return await world.deliver(external_id, revision=None, body=body, at=NOON + hour * HOUR)


def kept(world: World, case_id: str) -> list[tuple[str, int, str, int]]:
    """Return body, content version, disposition and redeliveries of each arrival, in the order of their coming."""
    return world.rows(
        "SELECT body, content_version, disposition, redeliveries FROM arrivals WHERE case_id = %s"
        " ORDER BY content_version",
        case_id,
    )


async def test_a_source_that_flips_back_leaves_the_case_where_it_stands_now(shared: World) -> None:
    external_id = new_id()
    first = await deliver(shared, external_id, "A", 0)
    await deliver(shared, external_id, "B", 1)
    back = await deliver(shared, external_id, "A", 2)
    assert (back.disposition, back.content_version, back.redelivered) == (Disposition.ATTACHED, 3, False)
    assert back.case_id == first.case_id
    assert back.arrival_id != first.arrival_id
    assert standing(shared, first.case_id)[0] == "A"
    forth = await deliver(shared, external_id, "B", 3)
    assert (forth.disposition, forth.content_version) == (Disposition.ATTACHED, 4)
    assert standing(shared, first.case_id)[0] == "B"
    assert [row[:3] for row in kept(shared, first.case_id)] == [
        ("A", 1, "opened"), ("B", 2, "attached"), ("A", 3, "attached"), ("B", 4, "attached"),
    ]  # fmt: skip
    assert shared.index_events(f"case/{first.case_id}") == 4


async def test_each_delivery_of_a_flip_attaches_once(shared: World) -> None:
    """R1: whichever is repeated, the answer is the first one to it, and only a counter moves."""
    external_id = new_id()
    said = [("A", 0), ("B", 1), ("A", 2), ("B", 3)]
    first = [await deliver(shared, external_id, *each) for each in said]
    before, stands = shared.everything(), standing(shared, first[0].case_id)
    for each, receipt in (*zip(said, first, strict=True), *zip(said, first, strict=True)):
        assert await deliver(shared, external_id, *each) == receipt.model_copy(update={"redelivered": True})
    assert changed(shared.everything(), before) == ["arrivals"]
    assert standing(shared, first[0].case_id) == stands
    assert [row[3] for row in kept(shared, first[0].case_id)] == [2, 2, 2, 2]


@pytest.mark.parametrize("order", [*itertools.permutations([("A", 0), ("B", 1), ("A", 2)])])
async def test_in_any_order_the_last_state_of_affairs_stands(shared: World, order: tuple[tuple[str, int], ...]) -> None:
    """R1: also when the second A came before B, and nothing yet told it from a redelivery."""
    external_id = new_id()
    case_ids = {(await deliver(shared, external_id, *each)).case_id for each in order}
    (case_id,) = case_ids
    assert standing(shared, case_id)[0] == "A"
    assert {row[0] for row in kept(shared, case_id)} == {"A", "B"}


async def test_an_earlier_return_is_history(shared: World) -> None:
    """A, then D; B and the second A came late: nothing of it is lost, and the case stays with D."""
    external_id = new_id()
    case_id = (await deliver(shared, external_id, "A", 0)).case_id
    await deliver(shared, external_id, "D", 9)
    await deliver(shared, external_id, "B", 1)
    late = await deliver(shared, external_id, "A", 2)
    assert (late.disposition, late.redelivered) == (Disposition.LATE, False)
    assert standing(shared, case_id)[0] == "D"
    assert [row[0] for row in kept(shared, case_id)] == ["A", "D", "B", "A"]


async def test_a_later_repeat_of_what_stands_attaches_nothing_and_holds_that_long(shared: World) -> None:
    external_id = new_id()
    first = await deliver(shared, external_id, "A", 0)
    before = shared.everything()
    assert (await deliver(shared, external_id, "A", 5)).arrival_id == first.arrival_id
    assert changed(shared.everything(), before) == ["arrivals", "cases"]
    assert (await deliver(shared, external_id, "B", 3)).disposition is Disposition.LATE
    assert standing(shared, first.case_id) == ("A", -1, 1)
    assert (await deliver(shared, external_id, "C", 6)).disposition is Disposition.ATTACHED


async def test_a_repeat_at_a_time_with_two_contents_is_taken_as_new_when_it_is_later(shared: World) -> None:
    """Which of the two stood then was assumed, so a later delivery of either decides it."""
    external_id = new_id()
    first = await deliver(shared, external_id, "A", 0)
    second = await deliver(shared, external_id, "B", 0)
    assert second.order_assumed
    assert (await deliver(shared, external_id, "A", 0)).arrival_id == first.arrival_id
    again = await deliver(shared, external_id, "A", 1)
    assert (again.disposition, again.redelivered) == (Disposition.ATTACHED, False)
    assert standing(shared, first.case_id)[0] == "A"


async def test_states_that_flip_are_all_in_the_history(shared: World) -> None:
    """R3: closed, open and closed again by one and the same text."""
    external_id = new_id()
    case_id = ""
    for hour, word in enumerate(("resolved", "open", "resolved", "open")):
        delivery = Delivery(
            origin=Origin(tenant_id="acme", source="desk", external_id=external_id),
            delivery_id=new_id(),
            occurred_at=NOON + hour * HOUR,
            received_at=NOON,
            state=word,
        )
        case_id = (await shared.arrivals.receive("ann", delivery)).case_id
    states = shared.rows("SELECT state FROM case_states WHERE case_id = %s ORDER BY seq", case_id)
    assert [state for (state,) in states] == [
        CaseState.COMPLETED, CaseState.OPEN, CaseState.COMPLETED, CaseState.OPEN,
    ]  # fmt: skip
    assert (await shared.cases.get("ann", case_id)).state is CaseState.OPEN


async def test_with_revisions_the_revision_says_what_is_new(shared: World) -> None:
    """R1: the same content under one revision is a redelivery at whatever time."""
    external_id = new_id()
    first = await shared.deliver(external_id, revision=1, body="A")
    await shared.deliver(external_id, revision=2, body="B", at=NOON + HOUR)
    again = await shared.deliver(external_id, revision=1, body="A", at=NOON + 2 * HOUR)
    assert again == first.model_copy(update={"redelivered": True})
    back = await shared.deliver(external_id, revision=3, body="A", at=NOON + 2 * HOUR)
    assert back.disposition is Disposition.ATTACHED
    assert standing(shared, first.case_id)[:2] == ("A", 3)
