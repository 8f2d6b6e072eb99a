"""Deliveries and their history over HTTP (R1, R22)."""

from __future__ import annotations

import json

from api.checked_route import BODY_BYTES
from tests.api.world import World, delivery, fresh


async def test_r22_a_delivery_with_unstorable_characters_is_taken_and_says_so(world: World) -> None:
    content = json.dumps({**delivery().model_dump(mode="json"), "subject": "a\x00b", "attributes": {"k\x00": "\ud83d"}})
    taken = await world.send("POST", "/v1/arrivals", content=content.encode())
    assert taken.status_code == 201
    found = (await world.send("GET", f"{taken.headers['location']}/arrivals")).json()
    (arrival,) = found["arrivals"]
    assert (arrival["subject"], arrival["attributes"]) == ("a\ufffdb", {"k\ufffd": "\ufffd"})
    assert [change["path"] for change in arrival["cleaned"]] == ["subject", "attributes", "attributes.k\ufffd"]
    raw = (await world.send("GET", f"/v1/contents/{arrival['raw_content_id']}")).json()
    assert raw["text"] == json.dumps(json.loads(content), separators=(",", ":"))
    again = await world.send("POST", "/v1/arrivals", content=content.encode())
    assert (again.status_code, again.json()["redelivered"]) == (200, True)


async def test_r22_a_delivery_may_be_larger_than_other_bodies(world: World) -> None:
    body = "x " * (BODY_BYTES // 2 + 1)
    async with world.caller("agent") as agent:
        receipt = await agent.deliver(delivery(body=body))
        case = await agent.get_case(receipt.case_id)
    assert case.body_bytes == len(body) > case.indexed_bytes
    content = (await world.send("GET", f"/v1/contents/{case.content_id}")).json()
    assert content["text"] == body
    assert (await world.send("GET", f"/v1/contents/{case.content_id}", as_="stranger")).status_code == 404


async def test_r1_a_case_is_found_by_its_origin(world: World) -> None:
    name = f"{fresh()} & co"
    origin = {"tenant_id": "north", "source": "desk", "external_id": name}
    async with world.caller("agent") as agent:
        case_id = (await agent.deliver(delivery(origin=origin))).case_id
    query = f"/v1/cases?tenant_id=north&source=desk&external_id=%20{name.replace('&', '%26')}"
    assert [case["id"] for case in (await world.send("GET", query)).json()] == [case_id]
    assert (await world.send("GET", f"{query}x")).json() == []
    assert (await world.send("GET", f"{query}&state=completed")).json() == []
    assert (await world.send("GET", query, as_="stranger")).json() == []
