"""Each bad request gets its named refusal and leaves nothing behind (R4, R22)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.checked_route import BODY_BYTES, DELIVERY_BYTES
from api.problems import PROBLEM_TYPE, URN
from contracts.errors import NotAuthenticated, every_error
from tests.api.bad_requests import BAD, STATE, Bad, arrival, request
from tests.api.world import World, fresh, key_of, papers, verified


def problem(response: Any) -> tuple[int, str, str]:
    """Return status, type and field of a problem, having checked its form."""
    assert response.headers["content-type"] == PROBLEM_TYPE, response.text
    found = response.json()
    assert set(found) == {"type", "title", "status", "detail", "field", "accepted", "request_id"}
    assert found["request_id"] == response.headers["X-Request-ID"]
    assert found["status"] == response.status_code
    assert found["title"]
    assert found["detail"]
    assert found["type"].removeprefix(URN) in every_error()
    return response.status_code, found["type"].removeprefix(URN), found["field"]


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
async def test_r22_a_bad_request_names_the_field_and_leaves_nothing(world: World, bad: Bad) -> None:
    before = await world.counts()
    content = None if bad.body is None else json.dumps(bad.body).encode()
    response = await world.send(bad.method, bad.path, as_=bad.as_, content=content)
    assert problem(response) == bad.expected, response.text
    assert await world.counts() == before


@pytest.mark.parametrize(
    ("content", "headers", "expected"),
    [
        (b"{", {}, (422, "InvalidField", "body")),
        (b"", {}, (422, "InvalidField", "body")),
        (b"\xff\xfe\xff", {}, (422, "InvalidField", "body")),
        (b"[" * 100_000, {}, (422, "InvalidField", "body")),
        (b'{"revision": NaN}', {}, (422, "InvalidField", "body")),
        (b'{"revision": ' + b"9" * 5_000 + b"}", {}, (422, "InvalidField", "body")),
        (b'{"delivery_id": "\xed\xa0\x80"}', {}, (422, "UnstorableText", "delivery_id")),
        (b"{}", {"Content-Type": "text/plain"}, (422, "InvalidField", "Content-Type")),
        (b" " * (DELIVERY_BYTES + 1), {}, (413, "TextTooLong", "body")),
        (b"{}", {"Content-Length": str(DELIVERY_BYTES + 1)}, (413, "TextTooLong", "body")),
    ],
    ids=["cut", "none", "bytes", "deep", "nan", "digits", "raw surrogate", "plain", "large", "declared large"],
)
async def test_r22_a_body_that_is_no_json_is_a_named_problem(
    world: World, content: bytes, headers: dict[str, str], expected: tuple[int, str, str]
) -> None:
    response = await world.send("POST", "/v1/arrivals", content=content, headers=headers)
    assert problem(response) == expected


async def test_r22_only_deliveries_may_be_that_large(world: World) -> None:
    response = await world.send("POST", "/v1/reviews", content=b" " * (BODY_BYTES + 1))
    assert problem(response) == (413, "TextTooLong", "body")


@pytest.mark.parametrize(
    "header", [None, b"", b"Bearer", b"Bearer ", b"Basic eDp5", b"Bearer clk_wrong", b"Bearer \xe9\xff"]
)
async def test_r13_without_a_good_key_nothing_is_even_read(world: World, header: bytes | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    response = await world.send("POST", "/v1/arrivals", as_=None, content=b"{", headers=headers)
    assert problem(response) == (401, "NotAuthenticated", "Authorization")
    assert response.headers["www-authenticate"].startswith("Bearer")


async def test_a_method_that_a_path_does_not_take(world: World) -> None:
    response = await world.send("DELETE", "/v1/cases")
    assert (response.status_code, response.headers["content-type"]) == (405, PROBLEM_TYPE)
    assert response.headers["allow"] == "GET"


async def test_r4_another_tenants_case_looks_like_none(world: World) -> None:
    theirs = await world.new_case("south", as_="stranger")
    same = {"X-Request-ID": "one-and-the-same"}
    mine = await world.send("GET", f"/v1/cases/{theirs}", headers=same)
    none = await world.send("GET", f"/v1/cases/{fresh()}", headers=same)
    assert mine.status_code == none.status_code == 404
    assert mine.json() == none.json()
    for path, body in (
        (f"/v1/cases/{theirs}/state", STATE),
        (f"/v1/cases/{theirs}/papers", {"papers": [paper.model_dump(mode="json") for paper in papers()]}),
        (f"/v1/cases/{theirs}/result", {"result": verified(theirs)[0].model_dump(mode="json")}),
        ("/v1/retrievals", request(case_id=theirs)),
    ):
        assert problem(await world.send("POST", path, body=body)) == (404, "UnknownCase", "case_id")
    listed = await world.send("GET", "/v1/cases?tenant_id=south")
    assert listed.json() == []


async def test_r4_a_grant_of_one_case_opens_no_others(world: World) -> None:
    case_id = await world.new_case()
    await world.send(
        "PUT", "/v1/principals", as_="admin", body={"principal": {"id": "one", "kind": "agent", "name": "O"}}
    )
    await world.services.identities.accept_key("one", key_of("one"))
    body = {"principal_id": "one", "tenant_id": "north", "case_id": case_id, "purpose": "help"}
    assert (await world.send("PUT", "/v1/grants", as_="admin", body=body)).status_code == 200
    async with world.caller("one") as one:
        assert [case.id for case in await one.list_cases("north")] == [case_id]
    response = await world.send("POST", "/v1/arrivals", as_="one", body=arrival())
    assert problem(response) == (404, "UnknownTenant", "tenant_id")


async def test_r22_a_refused_key_works_for_nobody(world: World) -> None:
    async with world.caller("nobody") as nobody:
        with pytest.raises(NotAuthenticated):
            await nobody.watermarks()
