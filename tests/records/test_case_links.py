"""Links, merges and splits: a principal's decisions, each reversible and none made twice (R2)."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text

from activities.records.case_links import CaseLinksTable
from contracts.cases import CaseLink, CaseLinkKind, Origin
from contracts.errors import (
    AlreadyLinked,
    CaseloreError,
    CaseMerged,
    IdempotencyConflict,
    LinkRemoved,
    NotPermitted,
    SameCase,
    UnknownCase,
    UnknownLink,
)
from contracts.labels import CaseState
from contracts.related import CaseLinkRecord
from tests.records.world import NOON, NOTHINGS_ID, World, changed, new_id

MERGED = CaseLinkKind.MERGED_INTO


@pytest_asyncio.fixture(scope="module", name="office")
async def fixture_office(shared: World) -> World:
    """`ann` and `amy` work for acme, `bob` for other, `both` for the two; `guest` holds single cases."""
    await shared.tenant("other")
    await shared.principal("amy", "acme")
    await shared.principal("bob", "other")
    await shared.principal("both", "acme", "other")
    await shared.principal("guest")
    return shared


def decision(case_id: str, other: str, kind: CaseLinkKind = CaseLinkKind.RELATED, **given: Any) -> CaseLink:
    values: dict[str, Any] = {"id": new_id(), "reason": "One fault.", **given}
    return CaseLink(case_id=case_id, other_case_id=other, kind=kind, **values)


async def link(world: World, *given: Any, by: str = "ann", **fields: Any) -> CaseLinkRecord:
    return await CaseLinksTable(world.database).link(by, decision(*given, **fields))


async def refused(
    world: World, kind: type[CaseloreError], *given: Any, by: str = "ann", **fields: Any
) -> CaseloreError:
    """Ask for a link that must be refused, by name and without a trace."""
    before = world.everything()
    with pytest.raises(kind) as raised:
        await link(world, *given, by=by, **fields)
    assert type(raised.value) is kind
    assert changed(world.everything(), before) == []
    return raised.value


async def onwards(world: World, case_id: str, *, by: str = "ann") -> str | None:
    return (await CaseLinksTable(world.database).of_case(by, case_id)).continues_in


async def cases(world: World, count: int, **given: Any) -> list[str]:
    return [await world.open_case(**given) for _ in range(count)]


async def test_r2_a_link_says_who_when_and_why_and_can_be_removed(office: World) -> None:
    first, second = await cases(office, 2)
    made = await link(office, first, second, reason="Both name invoice 7.")
    assert (made.decided_by, made.reason, made.removed_by) == ("ann", "Both name invoice 7.", None)
    table = CaseLinksTable(office.database)
    for case_id in (first, second):
        assert (await table.of_case("ann", case_id)).links == (made,)

    removed = await table.remove("amy", made.id, "Two invoices after all.")
    assert (removed.removed_by, removed.removal_reason) == ("amy", "Two invoices after all.")
    again = await link(office, first, second)
    assert [each.id for each in (await table.of_case("ann", second)).links] == [made.id, again.id]
    assert await onwards(office, first) is None


async def test_r2_a_merged_case_stays_and_shows_where_its_work_goes_on(office: World) -> None:
    first, second, third = await cases(office, 3)
    before = office.rows("SELECT * FROM cases WHERE id::text = ANY(%s) ORDER BY id", [first, second, third])
    into_second = await link(office, first, second, MERGED)
    await link(office, second, third, MERGED)
    assert [await onwards(office, each) for each in (first, second, third)] == [third, third, None]
    assert office.rows("SELECT * FROM cases WHERE id::text = ANY(%s) ORDER BY id", [first, second, third]) == before

    await CaseLinksTable(office.database).remove("ann", into_second.id, "Another fault.")
    assert [await onwards(office, each) for each in (first, second, third)] == [None, third, None]
    assert (await link(office, first, third, MERGED)).kind is MERGED


async def test_r2_no_case_goes_on_in_itself_or_in_a_merged_one(office: World) -> None:
    first, second, third = await cases(office, 3)
    assert (await refused(office, SameCase, first, first, MERGED)).field == "other_case_id"
    await link(office, first, second, MERGED)
    into_merged = await refused(office, CaseMerged, third, first, MERGED)
    assert (into_merged.field, into_merged.accepted) == ("other_case_id", second)
    merged_twice = await refused(office, CaseMerged, first, third, MERGED)
    assert (merged_twice.field, merged_twice.accepted) == ("case_id", second)
    await link(office, second, third, MERGED)
    round_the_circle = await refused(office, CaseMerged, third, first, MERGED)
    assert round_the_circle.accepted == third


async def test_r2_one_decision_on_two_cases_stands_in_either_direction(office: World) -> None:
    first, second = await cases(office, 2)
    made = await link(office, first, second, CaseLinkKind.DUPLICATE_OF)
    for pair in ((first, second), (second, first)):
        refusal = await refused(office, AlreadyLinked, *pair, CaseLinkKind.DUPLICATE_OF)
        assert made.id in refusal.message
    assert (await link(office, second, first)).kind is CaseLinkKind.RELATED


async def test_r1_the_same_decision_again_gets_its_first_answer(office: World) -> None:
    first, second = await cases(office, 2)
    wanted = decision(first, second, MERGED)
    table = CaseLinksTable(office.database)
    made = await table.link("ann", wanted)
    before = office.everything()
    assert await table.link("ann", wanted) == made
    assert changed(office.everything(), before) == []
    await refused(office, IdempotencyConflict, first, second, MERGED, id=wanted.id, reason="Something else.")
    await refused(office, IdempotencyConflict, first, second, MERGED, id=wanted.id, by="amy")
    removed = await table.remove("ann", made.id, "Split.")
    assert await table.remove("ann", made.id, "Split.") == removed
    for who, reason in (("amy", "Split."), ("ann", "Another reason.")):
        with pytest.raises(LinkRemoved, match="removed by ann"):
            await table.remove(who, made.id, reason)
    assert await table.link("ann", wanted) == removed, "a late repeat doesn't bring the merge back"


async def test_r4_both_cases_are_in_scope_and_of_one_tenant(office: World) -> None:
    [mine, (theirs)] = [await office.open_case(), await office.open_case(by="bob", tenant="other")]
    assert (await refused(office, UnknownCase, mine, theirs)).field == "other_case_id"
    assert (await refused(office, UnknownCase, theirs, mine)).field == "case_id"
    assert (await refused(office, UnknownCase, mine, theirs, by="both")).field == "other_case_id"
    assert (await refused(office, UnknownCase, mine, new_id())).field == "other_case_id"

    other = await office.open_case(by="bob", tenant="other")
    made = await link(office, theirs, other, by="bob")
    with pytest.raises(UnknownLink):
        await CaseLinksTable(office.database).remove("ann", made.id, "Not mine.")
    with pytest.raises(UnknownCase):
        await CaseLinksTable(office.database).of_case("ann", theirs)
    first, second = await cases(office, 2)
    await refused(office, IdempotencyConflict, first, second, id=made.id)


async def test_r4_a_grant_to_single_cases_reads_decisions_between_them_and_makes_none(office: World) -> None:
    first, second, third = await cases(office, 3)
    inside, outside = await link(office, first, second), await link(office, first, third, MERGED)
    for case_id in (first, second):
        await office.grant("guest", "acme", case_id=case_id)
    seen = await CaseLinksTable(office.database).of_case("guest", first)
    assert (seen.links, seen.continues_in) == ((inside,), None)
    await refused(office, NotPermitted, first, second, CaseLinkKind.DUPLICATE_OF, by="guest")
    with pytest.raises(NotPermitted):
        await CaseLinksTable(office.database).remove("guest", inside.id, "Mine now.")
    with pytest.raises(UnknownLink):
        await CaseLinksTable(office.database).remove("guest", outside.id, "Unseen.")


@pytest.mark.parametrize("link_id", ["42", "", NOTHINGS_ID])
async def test_r22_an_id_of_nothing_removes_nothing(office: World, link_id: str) -> None:
    with pytest.raises(UnknownLink):
        await CaseLinksTable(office.database).remove("ann", link_id, "Why not.")


async def test_r24_merges_at_once_never_make_a_circle(office: World) -> None:
    """Each of four cases is merged into the next, all at the same moment, and the last into the first."""
    for _ in range(5):
        ring = await cases(office, 4)
        wanted = [decision(case_id, ring[place - 1], MERGED) for place, case_id in enumerate(ring)]
        wanted += [decision(second, first, MERGED) for first, second in itertools.pairwise(ring)]
        table = CaseLinksTable(office.database)
        outcomes = await asyncio.gather(*(table.link("ann", each) for each in wanted), return_exceptions=True)
        assert {type(each) for each in outcomes} <= {CaseLinkRecord, CaseMerged, AlreadyLinked}
        ends = [await onwards(office, case_id) for case_id in ring]
        assert None in ends, "somewhere the work goes on"
        for case_id, end in zip(ring, ends, strict=True):
            assert end != case_id
            assert end is None or await onwards(office, end) is None


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO case_links (id, tenant_id, case_id, other_case_id, kind, decided_by)"
        " VALUES (gen_random_uuid(), 'acme', CAST(:first AS uuid), CAST(:second AS uuid), 'merged_into', 'ann'),"
        " (gen_random_uuid(), 'acme', CAST(:first AS uuid), CAST(:third AS uuid), 'merged_into', 'ann')",
        "INSERT INTO case_links (id, tenant_id, case_id, other_case_id, kind, decided_by)"
        " VALUES (gen_random_uuid(), 'acme', CAST(:first AS uuid), CAST(:first AS uuid), 'merged_into', 'ann')",
        "INSERT INTO case_links (id, tenant_id, case_id, other_case_id, kind, decided_by, removed_by)"
        " VALUES (gen_random_uuid(), 'acme', CAST(:first AS uuid), CAST(:second AS uuid), 'related', 'ann', 'ann')",
    ],
    ids=["two merges of a case", "into itself", "half a removal"],
)
async def test_r2_the_database_itself_refuses(office: World, sql: str) -> None:
    names = dict(zip(("first", "second", "third"), await cases(office, 3), strict=True))
    bound = {name: value for name, value in names.items() if f":{name} " in sql}
    with pytest.raises(Exception, match="case_links"):
        async with office.database.as_principal("ann") as connection:
            await connection.execute(text(sql), bound)


async def test_r2_a_merged_case_says_where_its_work_goes_on_until_it_is_split(office: World) -> None:
    """R2: in every way to read it, and only to whom may see the other case."""
    first, second, third = await cases(office, 3)
    (origin,) = office.rows("SELECT o.source, o.external_id FROM origins o JOIN cases c ON c.origin_id = o.id"
                            " WHERE c.id = %s", first)  # fmt: skip
    made = await link(office, first, second, MERGED)
    await link(office, second, third, MERGED)

    async def read(by: str) -> list[tuple[str | None, bool]]:
        one = await office.cases.get(by, first)
        listed = [each for each in await office.cases.listed(by, tenant_id="acme", limit=200) if each.id == first]
        of_origin = await office.cases.of_origin(by, Origin(tenant_id="acme", source=origin[0], external_id=origin[1]))
        return [(each.merged_into, each.merged_elsewhere) for each in (one, *listed, of_origin) if each is not None]

    guest = f"guest-{new_id()[:8]}"
    await office.principal(guest)
    await office.grant(guest, "acme", case_id=first)
    assert await read("ann") == [(second, False)] * 3
    assert await read(guest) == [(None, True)] * 3
    await office.grant(guest, "acme", case_id=second)
    assert await read(guest) == [(second, False)] * 3
    assert (await office.cases.get(guest, second)).merged_elsewhere

    unmerged = await office.cases.get("ann", third)
    assert (unmerged.merged_into, unmerged.merged_elsewhere) == (None, False)
    moved = await office.cases.change_state(
        "ann", first, CaseState.COMPLETED, expected_revision=(await office.cases.get("ann", first)).revision, at=NOON
    )
    assert moved.merged_into == second

    await CaseLinksTable(office.database).remove("ann", made.id, "Two faults after all.")
    assert await read("ann") == await read(guest) == [(None, False)] * 3


async def test_r2_other_links_are_no_merge(office: World) -> None:
    first, second = await cases(office, 2)
    await link(office, first, second)
    await link(office, second, first, CaseLinkKind.DUPLICATE_OF)
    for case_id in (first, second):
        case = await office.cases.get("ann", case_id)
        assert (case.merged_into, case.merged_elsewhere) == (None, False)
