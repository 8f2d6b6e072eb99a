"""The official MCP client over streamable HTTP: from retrieval to recorded decision, and nothing beyond (R4, R20)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from mcp import MCPError
from sqlalchemy import text

from api.checked_route import BODY_BYTES
from api.request_body import ELEMENTS
from contracts.errors import IdempotencyConflict, UnknownCase, UnknownProfile, UnknownRetrieval
from contracts.identity import Domain, Profile
from contracts.strategies import DATA_INVESTIGATION
from tests.api.mcp_world import answering, as_, call, mcp_client, objective, refusal, said, serving
from tests.api.world import World, fresh


@pytest_asyncio.fixture(scope="module")
async def address(world: World) -> AsyncIterator[str]:
    async with answering(world), serving(world.app) as found:
        yield found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_r20_a_task_from_retrieval_to_recorded_decision(world: World, address: str, mode: str) -> None:
    """In the protocol's present form and in the one with a handshake."""
    proposal = await world.published()
    ref, case_id = f"experience/{proposal.experience_id}", await world.new_case()
    async with as_(address, "agent", mode=mode) as client:
        opened = await client.call_tool("open_retrieval", objective(case_id=case_id))
        answer = opened.structured_content
        [found] = [each for each in answer["candidates"] if each["ref"] == ref]
        assert (found["outcome"], found["proof_level"], found["validity"]) == ("succeeded", "verified", "revalidate")
        assert any("no register row" in reason for reason in found["quoted_reasons"]), "R17: what to check now"
        assert answer["failed_routes"], "R16: what is away is named"
        assert f"{ref} revision 1: experience of data" in said(opened)
        assert answer["to_decide"] in said(opened), "the strategy's guide comes with its answer"

        request_id = answer["request_id"]
        full = await call(client, "read_candidate", request_id=request_id, ref=ref, revision=1)
        assert "> Insert the register row of the letter type" in full["text"]
        decided: dict[str, Any] = {
            "request_id": request_id,
            "summary": "Look at the register first.",
            "citations": [{"ref": ref, "revision": 1, "verdict": "chosen", "why": "Same symptom."}],
            "checks": [{"text": "The letters exist and their type has no row."}],
        }
        first = await call(client, "record_decision", **decided)
        assert first == await call(client, "record_decision", **decided), "sent again it is the same decision"
        assert first["check_ids"] == ["check-1"]
        checked = {"decision_id": first["decision_id"], "check_id": "check-1", "note": "12 letters, no row."}
        for _ in range(2):
            await call(client, "report_check", **checked, outcome="held")
        with pytest.raises(IdempotencyConflict):
            await call(client, "report_check", **checked, outcome="failed")
        turned = [{"ref": ref, "revision": 1, "usefulness": "helped"}]
        told = await call(client, "tell_outcome", decision_id=first["decision_id"], outcomes=turned)
        assert told["counted"] == 1
    async with world.database.as_system() as connection:
        papers = await connection.execute(text(f"SELECT kind, text FROM case_papers WHERE case_id = '{case_id}'"))
        filed = [json.loads(paper) for kind, paper in papers.all() if kind == "memory_use"]
    assert [cited["ref"] for paper in filed for cited in paper.get("citations", ())] == [ref]
    assert await world.count("retrieval_reads", f"request_id = '{request_id}'") == 1
    assert await world.count("memory_uses", f"request_id = '{request_id}'") == 1
    settled = f"decision_id = '{first['decision_id']}' AND outcome = 'held'"
    assert await world.count("fresh_checks", settled) == 1


async def test_r18_a_task_goes_further_and_asks_another_domain(world: World, address: str) -> None:
    await world.published()
    async with world.caller("admin") as admin:
        await admin.put_domain(Domain(id="configuration", name="Configuration"))
        own = Profile(
            id="configurator",
            domain_id="configuration",
            strategy_id=DATA_INVESTIGATION.id,
            strategy_version=DATA_INVESTIGATION.version,
            principals=("spare",),
        )
        await admin.put_profile(own)
    async with as_(address, "agent") as agent, as_(address, "spare") as spare:
        narrow = await call(agent, "open_retrieval", **objective(results=1))
        wider: dict[str, Any] = {
            "request_id": narrow["request_id"],
            "reason": "The version is not known for certain.",
            "dropped": ["version"],
            "results": 5,
        }
        broad = await call(agent, "broaden_retrieval", **wider)
        assert broad["request_id"] != narrow["request_id"]
        assert broad == await call(agent, "broaden_retrieval", **wider), "sent again it is the same broadening"
        refused = refusal(await agent.call_tool("broaden_retrieval", {**wider, "results": 1, "reason": "Less."}))
        assert (refused.type, refused.field) == ("InvalidField", "results")

        brief = "Which setting keeps a letter type out of the print run?\n1. Refused: none"
        question = {
            "request_id": narrow["request_id"],
            "domain_id": "configuration",
            "brief": brief,
            "reason": "It may be a setting.",
        }
        asked = await call(agent, "consult_domain", **question)
        [consultation] = asked["consultations"]
        consultation_id = consultation["consultation_id"]
        assert (consultation["state"], consultation["quoted_reply"]) == ("open", None)
        assert asked == await call(agent, "consult_domain", **question), "sent again it is the same question"

        seen = await spare.call_tool("see_consultations", {"consultation_id": consultation_id})
        assert "> 1. Refused: none" in said(seen), "what the other side wrote is quoted"
        assert "It may be a setting." not in said(seen)
        answer = await call(
            spare,
            "open_retrieval",
            profile_id="configurator",
            purpose="answer a consultation",
            objective="A setting that keeps letters out of the run",
            consultation_id=consultation_id,
        )
        reply = {"consultation_id": consultation_id, "text": "None that we own.", "request_id": answer["request_id"]}
        await call(spare, "reply_to_consultation", **reply)
        replied = await agent.call_tool("see_consultations", {"state": "replied"})
        assert "> None that we own." in said(replied)
        assert "no grant and no conclusion" in said(replied)
    async with as_(address, "stranger") as stranger:
        for unknown in (consultation_id, fresh()):
            refused = refusal(await stranger.call_tool("see_consultations", {"consultation_id": unknown}))
            assert refused.type == "UnknownConsultation"


async def test_r4_what_is_not_granted_looks_like_what_is_not_there(world: World, address: str) -> None:
    await world.published()
    theirs = await world.new_case("south", as_="stranger")
    async with as_(address, "agent") as agent, as_(address, "stranger") as stranger:
        answer = await call(agent, "open_retrieval", **objective())
        known, ref = answer["request_id"], answer["candidates"][0]["ref"]
        before = await world.counts()
        for nothing, foreign in ((fresh(), known),):
            for tool, more in (
                ("read_candidate", {"ref": ref, "revision": 1}),
                ("record_decision", {"summary": "Taken."}),
            ):
                refused = [await stranger.call_tool(tool, {"request_id": each, **more}) for each in (nothing, foreign)]
                assert said(refused[0]) == said(refused[1])
                assert isinstance(refusal(refused[1]), UnknownRetrieval)
        for case_id in (fresh(), theirs):
            with pytest.raises(UnknownCase):
                await call(agent, "open_retrieval", **objective(case_id=case_id))
            with pytest.raises(MCPError, match=r"^UnknownCase"):
                await agent.read_resource(f"caselore://cases/{case_id}/sanitised")
        with pytest.raises(UnknownProfile):
            await call(stranger, "open_retrieval", **objective())
        assert await world.counts() == before
        everything = await call(agent, "open_retrieval", **objective(objective="Renewal letters are not printed"))
        assert theirs not in json.dumps(everything)


async def test_r13_a_retrieval_shows_only_what_it_is_narrowed_to(address: str) -> None:
    async with as_(address, "agent") as agent:
        refused = refusal(await agent.call_tool("open_retrieval", objective(tenant_id="south")))
        assert (refused.type, refused.field) == ("OutsideScope", "tenant_id")


@pytest.mark.parametrize(
    ("principal", "expected"), [("guest", UnknownProfile), ("cora", UnknownProfile), ("admin", UnknownProfile)]
)
async def test_r13_a_tool_asks_for_the_profile_that_its_route_asks_for(
    address: str, principal: str, expected: type[Exception]
) -> None:
    async with as_(address, principal) as client:
        with pytest.raises(expected):
            await call(client, "open_retrieval", **objective())


@pytest.mark.parametrize("key", [None, "clk_never_issued"])
async def test_without_a_good_key_there_is_a_challenge(world: World, address: str, key: str | None) -> None:
    before = await world.counts()
    with pytest.raises((MCPError, ExceptionGroup)):
        async with mcp_client(address, key) as client:
            await client.list_tools()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    refused = await world.send("POST", "/mcp", as_=None, body={}, headers=headers)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert await world.counts() == before


async def test_an_expired_key_is_refused_in_the_middle_of_a_task(
    world: World, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with as_(address, "agent") as client:
        await client.list_tools()
        world.app.state.authentication._known.clear()
        async with world.database.as_system() as connection:
            await connection.execute(text("UPDATE api_keys SET expires_at = now() WHERE principal_id = 'agent'"))
        try:
            with pytest.raises(MCPError):
                await client.call_tool("open_retrieval", objective())
        finally:
            async with world.database.as_system() as connection:
                await connection.execute(text("UPDATE api_keys SET expires_at = NULL WHERE principal_id = 'agent'"))


async def test_a_page_in_a_browser_has_no_business_here(world: World) -> None:
    refused = await world.send("POST", "/mcp", body={}, headers={"Origin": "https://elsewhere.example"})
    assert (refused.status_code, refused.json()["field"]) == (403, "Origin")


async def test_r22_a_message_is_as_large_as_a_body_may_be(world: World) -> None:
    """In values, too: a short text of brackets is large in memory."""
    headers = {"Accept": "application/json, text/event-stream"}
    for content, status in ((b"[" + b"[]," * (ELEMENTS // 2 + 1) + b"[]]", 422), (b" " * (BODY_BYTES + 1), 413)):
        refused = await world.send("POST", "/mcp", content=content, headers=headers)
        assert (refused.status_code, refused.json()["field"]) == (status, "body")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_nothing_is_kept_open_between_exchanges(world: World, method: str) -> None:
    assert (await world.send(method, "/mcp")).status_code == 405


async def test_r5_a_proposal_from_a_recorded_result(world: World, address: str) -> None:
    result_id = await world.new_result()
    proposal: dict[str, Any] = {
        "result_id": result_id,
        "title": "A letter type without its register row is not printed",
        "domain_id": "data",
        "outcome": "succeeded",
        "proof_level": "verified",
        "request_type": "printing",
        "route": "data investigation",
        "disposition": "register row inserted",
        "synopsis": "One letter type was not printed after an update while others were.",
        "statements": [
            {
                "kind": "proposition",
                "text": "The print run takes only letter types that have a row in the register.",
                "concepts": ["print register"],
            }
        ],
        "version_from": "7.2",
    }
    async with as_(address, "agent") as client:
        first = await call(client, "propose_experience", **proposal)
        assert first["experience_id"] == (await call(client, "propose_experience", **proposal))["experience_id"]
        overstated = {**proposal, "outcome": "failed", "experience_id": fresh()}
        statement = {"kind": "prescription", "text": "Insert it.", "intent": "print"}
        for given, expected in (
            (overstated, ("OutcomeOverstated", "outcome")),
            ({**overstated, "statements": [statement]}, ("OutcomeOverstated", "statements.kind")),
            (
                {**proposal, "statements": [{"kind": "proposition", "text": "t"}]},
                ("InvalidField", "statements.concepts"),
            ),
            ({**proposal, "synopsis": ""}, ("InvalidField", "synopsis")),
            ({**proposal, "result_id": fresh()}, ("UnverifiedResult", "result_id")),
        ):
            refused = refusal(await client.call_tool("propose_experience", given))
            assert (refused.type, refused.field) == expected
        view = None
        async with world.caller("agent") as agent:
            view = await agent.get_experience(first["experience_id"])
        assert view.revisions[0].draft.limits.version_from == "7.2"
