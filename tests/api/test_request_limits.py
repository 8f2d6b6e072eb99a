"""However a request is made large, it is refused before it costs much (R22)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.app import create_app
from api.request_body import _STARTS, ELEMENTS, require_few_elements
from contracts.errors import InvalidField
from deploy.http_server import HEAD_BYTES, listening
from tests.api.test_bad_requests import problem
from tests.api.world import World, delivery
from tests.ports import free_ports

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def elements(value: Any) -> int:
    """Return how many values there are, keys, lists and objects included."""
    if isinstance(value, dict):
        return 1 + sum(1 + elements(item) for item in value.values())
    return 1 + sum(map(elements, value)) if isinstance(value, list) else 1


@given(JSON, st.booleans())
def test_r22_what_is_counted_is_what_there_is(value: Any, is_ascii: bool) -> None:
    content = json.dumps(value, ensure_ascii=is_ascii).encode(errors="surrogatepass")
    counted = sum(1 for _ in _STARTS.finditer(content))
    assert elements(value) - 1 <= 2 * counted
    assert counted <= 3 * elements(value)


@pytest.mark.parametrize(
    "content",
    [
        b"[" + b"[]," * ELEMENTS + b"1]",
        b"[" + b'"",' * ELEMENTS + b'""]',
        b'{"a": [' + b"{}," * ELEMENTS + b"1]}",
        b'""' * (ELEMENTS + 1),
    ],
    ids=["lists", "texts", "objects", "no JSON"],
)
async def test_r22_a_body_of_too_many_values_is_refused(world: World, content: bytes) -> None:
    response = await world.send("POST", "/v1/arrivals", content=content)
    assert problem(response) == (422, "InvalidField", "body")
    assert "250,000" in response.json()["accepted"]


@pytest.mark.parametrize("content", [b'"' + b'\\"' * 10_000_000 + b"\\", b'"' + b'\\"' * 10_000_000, b'"' * 2_000_000])
def test_r22_nothing_is_read_twice(content: bytes) -> None:
    try:
        require_few_elements(content)
    except InvalidField as error:
        assert error.field == "body"


async def test_r22_a_long_text_may_hold_what_looks_like_values(world: World) -> None:
    text = '[1, {"a": "b"}], ' * (ELEMENTS // 10)
    response = await world.send("POST", "/v1/arrivals", body=delivery(body=text).model_dump(mode="json"))
    assert response.status_code == 201, response.text


@pytest.mark.parametrize("made", ["query", "header"])
async def test_r22_the_head_of_a_request_is_bounded(world: World, made: str) -> None:
    [port] = free_ports(1)
    long = b"x" * (2 * HEAD_BYTES)
    head = b"GET /health/live?" + long if made == "query" else b"GET /health/live HTTP/1.1\r\nX-Long: " + long
    async with listening(create_app(world.services), "127.0.0.1", port, setting="CASELORE_HTTP_PORT"):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        assert (await asyncio.wait_for(reader.readline(), 10)).startswith(b"HTTP/1.1 400 ")
        writer.close()
