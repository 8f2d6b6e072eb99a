"""The id of a request joins its answer, its refusal and the log lines about it (R22)."""

from __future__ import annotations

import pytest
import structlog

from tests.api.world import World

GIVEN = "0b7c3f0e-desk.17"


async def test_r22_a_well_formed_id_is_taken_over_into_answer_refusal_and_log(world: World) -> None:
    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as logged:
        answer = await world.send("GET", "/v1/cases/none?words=secret", headers={"X-Request-ID": GIVEN})
    assert answer.status_code == 422
    assert answer.headers["X-Request-ID"] == answer.json()["request_id"] == GIVEN
    (line,) = [line for line in logged if line["event"] == "request"]
    assert {**line, "milliseconds": 0} == {
        "event": "request",
        "log_level": "info",
        "method": "GET",
        "route": "/v1/cases/{case_id}",
        "status": 422,
        "milliseconds": 0,
        "principal": "agent",
        "request_id": GIVEN,
    }


@pytest.mark.parametrize(
    "sent", ["", "short", "a" * 65, "with space in it", "Frau Sommer", "newline\nhere", "a;b=c-d-e-f"]
)
async def test_any_other_id_is_replaced(world: World, sent: str) -> None:
    answer = await world.send("GET", "/health/live", headers={"X-Request-ID": sent.encode()})
    assert answer.headers["X-Request-ID"] != sent
    assert len(answer.headers["X-Request-ID"]) == 32


async def test_each_request_has_an_id_of_its_own(world: World) -> None:
    ids = {
        (await world.send("GET", path)).headers["X-Request-ID"] for path in ("/health/live", "/health/live", "/none")
    }
    assert len(ids) == 3
