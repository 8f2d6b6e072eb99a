"""The look for related work can use an index, under the policies of the role that runs it (R4)."""

from __future__ import annotations

from typing import Any

import pytest

from activities.records import case_links, related
from tests.records.test_query_plans import CASE_ID, SEED, whole_scans
from tests.records.world import World

ALLOWED: dict[str, Any] = {
    "tenants": ["acme"], "cases": [CASE_ID], "case_id": CASE_ID, "tenant_id": "acme", "before": None, "limit": 50,
    "refs": ["doc/X-7", "X-9"], "external_id": "X-7", "words": "blank page", "ids": [CASE_ID],
}  # fmt: skip
AS_CALLER = {"linked": related._LINKED.text, "heads": related._HEADS.text, "way": case_links._WAY.text}
AS_SYSTEM = {
    "named": related._NAMED.text,
    "naming": related._NAMING.text,
    "objects": related._OBJECTS.text,
    "text": related._TEXT.format(allowed=related._ALLOWED, pending=""),
    "pending": related._TEXT.format(allowed=related._ALLOWED, pending=related._PENDING),
}


@pytest.fixture(scope="module", name="full")
def fixture_full(shared: World) -> World:
    for statement in SEED.split(";\n"):
        shared.owner.execute(statement.encode())
    return shared


@pytest.mark.parametrize("name", AS_CALLER)
async def test_what_a_caller_asks_is_found_by_an_index(full: World, name: str) -> None:
    assert await whole_scans(full, AS_CALLER[name], ALLOWED, as_caller=True) == []


@pytest.mark.parametrize("name", AS_SYSTEM)
async def test_what_runs_inside_the_derived_scope_is_found_by_an_index(full: World, name: str) -> None:
    assert await whole_scans(full, AS_SYSTEM[name], ALLOWED, as_caller=False) == []
