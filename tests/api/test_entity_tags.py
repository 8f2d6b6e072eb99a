"""What a reader knows costs no text, and a write names what was read (R24; RFC 9110, 13)."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.lifecycle import Stage
from contracts.review import ChangeCommand, ChangeKind
from tests.api.test_bad_requests import problem
from tests.api.world import NOW, World, accepting, draft, fresh

WAITING = {"state": "waiting", "waiting_on": "the customer", "at": NOW.isoformat()}


async def test_what_is_current_is_not_sent_again(world: World) -> None:
    path = f"/v1/cases/{await world.new_case()}"
    first = await world.send("GET", path)
    tag = first.headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = await world.send("GET", path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert "content-type" not in again.headers
    other = await world.send("GET", path, headers={"If-None-Match": '"other"'})
    assert (other.status_code, other.json()) == (200, first.json())

    changed = await world.send("POST", f"{path}/state", body={**WAITING, "expected_revision": 1})
    assert changed.status_code == 200
    now = await world.send("GET", path, headers={"If-None-Match": tag})
    assert now.status_code == 200
    assert now.headers["ETag"] != tag


async def test_r4_a_tag_opens_nothing(world: World) -> None:
    path = f"/v1/cases/{await world.new_case()}"
    tag = (await world.send("GET", path)).headers["ETag"]
    for known in (tag, "*"):
        response = await world.send("GET", path, as_="stranger", headers={"If-None-Match": known})
        assert problem(response) == (404, "UnknownCase", "case_id")
        assert "ETag" not in response.headers


async def test_r24_if_match_is_the_expected_revision(world: World) -> None:
    path = f"/v1/cases/{await world.new_case()}"
    tag = (await world.send("GET", path)).headers["ETag"]

    async def move(body: dict[str, Any], if_match: str) -> Any:
        return await world.send("POST", f"{path}/state", body=body, headers={"If-Match": if_match})

    moved = await move(WAITING, tag)
    assert (moved.status_code, moved.json()["revision"]) == (200, 2)
    assert (await move(WAITING, tag)).json() == moved.json()  # the same change again

    late = await move({**WAITING, "waiting_on": "somebody else"}, tag)
    assert problem(late) == (412, "StaleRevision", "If-Match")
    assert late.json()["accepted"] == '"2"'
    assert (await world.send("GET", path)).json()["waiting_on"] == "the customer"
    assert problem(await move({**WAITING, "expected_revision": 2}, tag)) == (422, "InvalidField", "expected_revision")
    for nonsense in ("2", '"2", "3"', 'W/"2"', '"2', '""'):
        assert problem(await move(WAITING, nonsense)) == (422, "InvalidField", "If-Match")
    assert problem(await move(WAITING, "*")) == (422, "InvalidField", "expected_revision")
    opened = await move({"state": "open", "at": WAITING["at"]}, late.json()["accepted"])
    assert opened.json()["revision"] == 3

    stale = await world.send("POST", f"{path}/state", body={**WAITING, "expected_revision": 1, "waiting_on": "x"})
    assert problem(stale) == (409, "StaleRevision", "expected_revision")


async def test_r7_the_tag_of_a_review_sheet_binds_a_decision_to_its_text(world: World) -> None:
    proposal = await world.proposed()
    sheet = await world.send("GET", f"/v1/reviews/{proposal.experience_id}", as_="cora")
    assert sheet.headers["ETag"].startswith(f'"{proposal.draft.digest()}-')
    body = accepting(proposal, Stage.CURATOR_REVIEW).model_dump(mode="json", exclude={"digest"})

    other = await world.send("POST", "/v1/reviews", as_="cora", body=body, headers={"If-Match": f'"{"0" * 64}"'})
    assert problem(other) == (412, "StaleDigest", "If-Match")
    assert other.json()["accepted"] == f'"{proposal.draft.digest()}"'
    good = await world.send(
        "POST",
        "/v1/reviews",
        as_="cora",
        body={**body, "decision_id": fresh()},
        headers={"If-Match": sheet.headers["ETag"]},
    )
    assert (good.status_code, good.json()["outcome"]) == (200, "owner_review")


@pytest.mark.parametrize("is_current", [True, False])
async def test_r24_the_tag_of_an_experience_binds_a_correction_to_its_published_text(
    world: World, is_current: bool
) -> None:
    proposal = await world.published()
    read = await world.send("GET", f"/v1/experiences/{proposal.experience_id}", as_="otto")
    tag = read.headers["ETag"] if is_current else f'"{"0" * 64}"'
    correct = ChangeCommand(
        command_id=fresh(),
        experience_id=proposal.experience_id,
        kind=ChangeKind.CORRECT,
        reason="It was another row.",
        draft=draft(title="Another row was missing"),
    )
    body = correct.model_dump(mode="json", exclude={"digest"})
    response = await world.send("POST", "/v1/changes?wait=30", as_="agent", body=body, headers={"If-Match": tag})
    if is_current:
        assert (response.status_code, response.json()["outcome"]) == (200, "curator_review")
    else:
        assert problem(response) == (412, "StaleDigest", "If-Match")
