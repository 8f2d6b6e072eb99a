"""Feedback and checks over HTTP and in the pages: read after a grant ended, and with who reported them (R4, R20)."""

from __future__ import annotations

from sqlalchemy import text

from tests.api.asked_further import answered
from tests.api.test_pages import visiting
from tests.api.world import World, fresh
from tests.records.asking import check_result
from tests.records.broadening import feedback


async def expire(world: World, expires_at: str) -> None:
    """Let every grant of `agent` end then."""
    async with world.database.as_system() as connection:
        await connection.execute(text(f"UPDATE grants SET expires_at = {expires_at} WHERE principal_id = 'agent'"))


async def test_r20_feedback_outside_ones_scope_is_left_out_and_new_feedback_is_refused(world: World) -> None:
    request, use = await answered(world, f"experience/{fresh()}", case_id=await world.new_case())
    await world.services.memory_uses.decide("agent", use)
    await world.services.feedbacks.give("berta", feedback(use))
    record, given = f"/v1/retrievals/{request.request_id}/record", f"/v1/decisions/{use.decision_id}/feedback"
    await expire(world, "now() - interval '1 minute'")
    try:
        read = await world.send("GET", record, as_="agent")
        assert (read.status_code, [each["feedback"] for each in read.json()["uses"]]) == (200, [[]])
        listed = await world.send("GET", given, as_="agent")
        assert (listed.status_code, listed.json()) == (200, [])
        refused = await world.send("POST", given, as_="agent", body=feedback(use).model_dump(mode="json"))
        assert (refused.status_code, refused.json()["field"]) == (404, "decision_id")
    finally:
        await expire(world, "NULL")
    assert len((await world.send("GET", given, as_="agent")).json()) == 1


async def test_r20_a_check_shows_who_reported_it(world: World) -> None:
    request, use = await answered(world, f"experience/{fresh()}", case_id=await world.new_case())
    await world.services.memory_uses.decide("agent", use)
    await world.services.memory_uses.settle_check("agent", check_result(use))
    read = await world.send("GET", f"/v1/retrievals/{request.request_id}/record", as_="agent")
    assert [check["settled_by"] for each in read.json()["uses"] for check in each["checks"]] == ["agent"]
    async with visiting(world, "berta") as berta:
        page = (await berta.get(f"/retrievals/{request.request_id}/decisions/{use.decision_id}")).text
    assert " by <bdi>agent</bdi>" in page.split('id="checks-title"')[1].split("</article>")[0]
