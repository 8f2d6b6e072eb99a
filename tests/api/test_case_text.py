"""A case's texts with personal data masked, through the API (R4, R6)."""

from __future__ import annotations

import pytest

from contracts.cases import Paper
from contracts.errors import UnknownCase
from contracts.labels import PaperKind
from tests.api.world import World, delivery, fresh

BODY = (
    "The mandate was refused after the upgrade from 10.14.2.0 to 10.17.1.0.\n\n"
    "Kind regards\nAlex Sample-Person\nTel. +44 20 7946 0958\nalex.sample-person@example.org"
)
PERSONAL = ("Alex Sample-Person", "+44 20 7946 0958", "alex.sample-person@example.org")


async def test_r6_a_case_is_read_masked_with_each_place_of_the_original(world: World) -> None:
    async with world.caller("agent") as agent:
        case_id = (await agent.deliver(delivery(subject="Alex cannot print", body=BODY))).case_id
        await agent.file_papers(
            case_id, [Paper(id=fresh(), kind=PaperKind.EVIDENCE, title="Call", text="Sample-Person says it prints.")]
        )
        read = await agent.sanitised(case_id)
        case = await agent.get_case(case_id)
    assert read.title == "[person 1] cannot print"
    assert read.text == (
        "The mandate was refused after the upgrade from 10.14.2.0 to 10.17.1.0.\n\n"
        "Kind regards\n[person 1]\nTel. [phone 1]\n[mail 1]"
    )
    [paper] = read.papers
    assert (paper.kind, paper.text) == (PaperKind.EVIDENCE, "[person 1] says it prints.")
    assert case.body == BODY, "the case keeps the original"
    originals = [BODY[place.start : place.end] for place in read.places if place.field == "text"]
    assert tuple(originals) == PERSONAL
    assert [place.placeholder for place in read.places] == [
        "[person 1]", "[person 1]", "[phone 1]", "[mail 1]", "[person 1]",
    ]  # fmt: skip
    assert {place.field for place in read.places} == {"title", "text", f"papers.{paper.id}.text"}


async def test_r6_placeholders_are_the_same_in_the_next_revision(world: World) -> None:
    first = delivery(body=BODY)
    second = first.model_copy(
        update={
            "revision": 2,
            "delivery_id": fresh(),
            "body": "Hi Robin,\nAlex is out, write to ALEX.sample-person@example.org",
        }
    )
    async with world.caller("agent") as agent:
        case_id = (await agent.deliver(first)).case_id
        await agent.sanitised(case_id)
        await agent.deliver(second)
        read = await agent.sanitised(case_id)
        again = await agent.sanitised(case_id)
    assert read.text.startswith("Hi [person 2],") and read.text.endswith("[mail 1]")
    assert again == read


async def test_r4_who_may_not_see_the_case_sees_no_masked_text_either(world: World) -> None:
    case_id = await world.new_case()
    for name in ("stranger", "guest"):
        async with world.caller(name) as caller:
            with pytest.raises(UnknownCase):
                await caller.sanitised(case_id)
    answer = await world.send("GET", "/v1/cases/nothing/sanitised")
    assert (answer.status_code, answer.json()["field"]) == (422, "case_id")


async def test_r6_a_masked_answer_holds_nothing_personal(world: World) -> None:
    async with world.caller("agent") as agent:
        case_id = (await agent.deliver(delivery(body=BODY))).case_id
    answer = await world.send("GET", f"/v1/cases/{case_id}/sanitised")
    assert answer.status_code == 200
    assert not any(value in answer.text for value in PERSONAL)
