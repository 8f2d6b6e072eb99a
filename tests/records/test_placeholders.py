"""Numbers of placeholders: stable within a case, worth nothing outside it (R4, R6, R11)."""

from __future__ import annotations

import asyncio

import pytest

from activities.case_text import CaseText
from activities.personal_data.finder import RuleFinder
from activities.records.placeholders import PlaceholdersTable
from contracts import limits
from contracts.cases import Paper
from contracts.errors import UnknownCase
from contracts.labels import PaperKind
from contracts.masking import Value
from contracts.personal_data import PersonalDataKind
from tests.records.world import World, changed, new_id

Kind = PersonalDataKind
MAILS = [Value(kind=Kind.MAIL, normal=f"person{number}@example.org") for number in range(5)]


def person(name: str, *shorter: str) -> Value:
    return Value(kind=Kind.NAME, normal=name, shorter=shorter, parts=tuple(name.split()))


async def numbers(world: World, case_id: str, *values: Value, by: str = "ann") -> list[int]:
    return await PlaceholdersTable(world.database).numbers(by, case_id, values)


async def test_r6_a_value_keeps_its_number_and_new_ones_get_the_next(shared: World) -> None:
    case_id = await shared.open_case()
    assert await numbers(shared, case_id, MAILS[0], MAILS[1]) == [1, 2]
    before = shared.everything()
    assert await numbers(shared, case_id, MAILS[1], MAILS[0]) == [2, 1]
    assert changed(shared.everything(), before) == [], "asking again writes nothing"
    phone = Value(kind=Kind.PHONE, normal="079460958")
    assert await numbers(shared, case_id, MAILS[2], phone, MAILS[1]) == [3, 1, 2]


async def test_r6_callers_at_once_agree(shared: World) -> None:
    case_id = await shared.open_case()
    orders = [MAILS[shift:] + MAILS[:shift] for shift in range(5)] * 2
    answers = await asyncio.gather(*(numbers(shared, case_id, *order) for order in orders))
    given = [
        dict(zip([value.normal for value in order], answer, strict=True))
        for order, answer in zip(orders, answers, strict=True)
    ]
    assert all(each == given[0] for each in given)
    assert sorted(given[0].values()) == [1, 2, 3, 4, 5]
    assert shared.one("SELECT count(*) FROM case_keys WHERE case_id = %s", case_id) == 1


async def test_r6_a_person_known_by_a_shorter_form_is_the_same_one(shared: World) -> None:
    case_id = await shared.open_case()
    assert await numbers(shared, case_id, person("alex")) == [1]
    assert await numbers(shared, case_id, person("alex sample-person", "alex")) == [1]
    assert await numbers(shared, case_id, person("alex elsewhere")) == [2], "a second person of that first name"
    assert await numbers(shared, case_id, person("elsewhere"), person("sample-person")) == [2, 1]


async def test_r6_the_table_holds_no_value_and_two_cases_share_nothing(shared: World) -> None:
    first, second = await shared.open_case(), await shared.open_case()
    for case_id in (first, second):
        await numbers(shared, case_id, MAILS[0], person("robin example"))
    rows = shared.rows("SELECT p::text FROM case_placeholders p")
    assert not any(word in row for (row,) in rows for word in ("person0", "example.org", "robin", "example"))
    sql = "SELECT fingerprint FROM case_placeholders WHERE case_id = %s"
    assert {row for (row,) in shared.rows(sql, first)} & {row for (row,) in shared.rows(sql, second)} == set()


async def test_r11_without_the_key_a_fingerprint_is_not_found_again(shared: World) -> None:
    case_id = await shared.open_case()
    assert await numbers(shared, case_id, MAILS[0]) == [1]
    shared.owner.execute("DELETE FROM case_keys WHERE case_id = %s", (case_id,))
    assert await numbers(shared, case_id, MAILS[0]) == [2]


async def test_r4_a_case_out_of_scope_is_not_there(shared: World) -> None:
    await shared.tenant("other")
    await shared.principal("bob", "other")
    case_id = await shared.open_case()
    await numbers(shared, case_id, MAILS[0])
    before = shared.everything()
    table = PlaceholdersTable(shared.database)
    for case in (case_id, new_id(), "no id"):
        with pytest.raises(UnknownCase):
            await table.texts("bob", case)
        with pytest.raises(UnknownCase):
            await table.numbers("bob", case, MAILS)
    assert changed(shared.everything(), before) == []


async def test_r6_a_guest_of_one_case_gets_its_numbers(shared: World) -> None:
    case_id = await shared.open_case()
    await shared.principal("gina")
    await shared.grant("gina", "acme", case_id=case_id)
    assert await numbers(shared, case_id, MAILS[0], by="gina") == [1]
    assert await numbers(shared, case_id, MAILS[0]) == [1]


async def test_r6_papers_are_masked_with_the_case_and_the_newest_are_taken(shared: World) -> None:
    case_id = await shared.open_case(body="Nothing prints.\n\nRegards\nRobin Example")
    count, phone = limits.SANITISED_PAPERS + 2, "020 7946 0958"
    papers = [
        Paper(id=new_id(), kind=PaperKind.EVIDENCE, title=f"Call {n}", text=f"Robin called from {phone}, tel. {phone}.")
        for n in range(count)
    ]  # fmt: skip
    for paper in papers:
        await shared.cases.add_papers("ann", case_id, [paper])
    answer = await CaseText(PlaceholdersTable(shared.database), RuleFinder()).sanitised("ann", case_id)
    assert answer.text == "Nothing prints.\n\nRegards\n[person 1]"
    assert [paper.title for paper in answer.papers] == [f"Call {n}" for n in range(2, count)]
    assert answer.papers_left_out == 2
    assert {paper.text for paper in answer.papers} == {"[person 1] called from [phone 1], tel. [phone 1]."}
    assert (await shared.cases.get("ann", case_id)).body.endswith("Robin Example"), "the case keeps the original"
