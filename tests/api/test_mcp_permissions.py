"""Every tool with every kind of caller; what is another's looks like what isn't there (R4, R13)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client, MCPError

from api.mcp.server import TOOLS
from contracts.identity import Domain, Profile
from contracts.sign_in import Ability, KeyToIssue
from contracts.strategies import DATA_INVESTIGATION
from tests.api.mcp_world import answering, as_, call, mcp_client, objective, refusal, said, serving
from tests.api.world import World, fresh, key_of

ROLES = ("agent", "spare", "guest", "stranger", "cora", "otto", "admin")
"""agent holds the task; spare answers for another domain; the others have nothing to do with it."""
NOT_THEIRS = {
    "open_retrieval": "UnknownProfile",
    "read_candidate": "UnknownRetrieval",
    "broaden_retrieval": "UnknownRetrieval",
    "consult_domain": "UnknownRetrieval",
    "see_consultations": "UnknownConsultation",
    "reply_to_consultation": "UnknownConsultation",
    "withdraw_consultation": "UnknownConsultation",
    "record_decision": "UnknownRetrieval",
    "report_check": "UnknownRetrieval",
    "tell_outcome": "UnknownRetrieval",
    "propose_experience": "UnverifiedResult",
}
"""What somebody is told who doesn't hold what a tool needs."""
REFUSED: Mapping[str, Mapping[str, str]] = {
    "agent": {"reply_to_consultation": "NotPermitted"},
    "spare": {**NOT_THEIRS, "see_consultations": "", "reply_to_consultation": ""},
    **dict.fromkeys(("guest", "stranger", "cora", "otto", "admin"), NOT_THEIRS),
}
"""By role and tool: the refusal; a tool that is left out, or has none, is allowed."""


@dataclass(frozen=True)
class Task:
    """An agent's task, and arguments for each tool that speak of it."""

    address: str
    arguments: Mapping[str, Mapping[str, Any]]

    def elsewhere(self, tool: str) -> dict[str, Any]:
        """Return the tool's arguments with an id that nobody has in place of the task's."""
        given = dict(self.arguments[tool])
        name = next(
            name
            for name in ("consultation_id", "decision_id", "result_id", "request_id", "profile_id")
            if name in given
        )
        return {**given, name: fresh()}


@pytest_asyncio.fixture(scope="module")
async def task(world: World) -> AsyncIterator[Task]:
    async with answering(world), serving(world.app) as address:
        ref = f"experience/{(await world.published()).experience_id}"
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
        async with as_(address, "agent") as agent:
            case_id = await world.new_case()
            request_id = (await call(agent, "open_retrieval", **objective(case_id=case_id)))["request_id"]
            decided = {
                "request_id": request_id,
                "summary": "Look first.",
                "citations": [{"ref": ref, "revision": 1, "verdict": "chosen", "why": "Same symptom."}],
                "checks": [{"text": "Rows are there."}],
            }
            decision = await call(agent, "record_decision", **decided)
            question = {
                "request_id": request_id,
                "domain_id": "configuration",
                "brief": "Which setting?",
                "reason": "r",
            }
            asked = await call(agent, "consult_domain", **question)
            other = await call(agent, "consult_domain", **{**question, "brief": "Which other setting?"})
            withdrawn = {"consultation_id": other["consultations"][0]["consultation_id"]}
            await call(agent, "withdraw_consultation", **withdrawn)
        statement = {"kind": "proposition", "text": "Rows decide.", "concepts": ["register"]}
        consultation = {"consultation_id": asked["consultations"][0]["consultation_id"]}
        yield Task(
            address,
            {
                "open_retrieval": objective(),
                "read_candidate": {"request_id": request_id, "ref": ref, "revision": 1},
                "broaden_retrieval": {"request_id": request_id, "reason": "Too few.", "every_domain": True},
                "consult_domain": question,
                "see_consultations": consultation,
                "reply_to_consultation": {**consultation, "text": "None."},
                "withdraw_consultation": withdrawn,
                "record_decision": decided,
                "report_check": {"decision_id": decision["decision_id"], "check_id": "check-1", "outcome": "held"},
                "tell_outcome": {
                    "decision_id": decision["decision_id"],
                    "outcomes": [{"ref": ref, "revision": 1, "usefulness": "helped"}],
                },
                "propose_experience": {
                    "result_id": await world.new_result(),
                    "title": "Rows decide",
                    "domain_id": "data",
                    "outcome": "succeeded",
                    "proof_level": "verified",
                    "request_type": "printing",
                    "route": "data",
                    "disposition": "inserted",
                    "synopsis": "Rows decide what is printed.",
                    "statements": [statement],
                },
            },
        )


async def outcomes(client: Client, task: Task, tools: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for tool in tools:
        result = await client.call_tool(tool, dict(task.arguments[tool]))
        found[tool] = refusal(result).type if result.is_error else ""
    return found


def test_every_tool_is_in_the_matrix() -> None:
    assert {tool.name for tool in TOOLS} == set(NOT_THEIRS)
    assert set(ROLES) == set(REFUSED)


@pytest.mark.parametrize("role", ROLES)
async def test_r13_every_tool_with_every_role(world: World, task: Task, role: str) -> None:
    before = await world.counts()
    expected = {tool: REFUSED[role].get(tool, "") for tool in NOT_THEIRS}
    async with as_(task.address, role) as client:
        assert await outcomes(client, task, expected) == expected
    if all(expected.values()):
        assert await world.counts() == before, "what is refused leaves nothing behind"


@pytest.mark.parametrize("role", ["guest", "stranger", "cora", "admin"])
async def test_r4_what_is_anothers_looks_like_what_is_not_there(task: Task, role: str) -> None:
    async with as_(task.address, role) as client:
        for tool in NOT_THEIRS:
            theirs = await client.call_tool(tool, dict(task.arguments[tool]))
            nothing = await client.call_tool(tool, task.elsewhere(tool))
            assert theirs.is_error and nothing.is_error, tool
            if tool != "open_retrieval":  # which names what was asked for
                assert said(theirs) == said(nothing), tool


@pytest.mark.parametrize(
    ("abilities", "refused"),
    [
        ((Ability.RETRIEVE,), {"read_candidate", "see_consultations", "propose_experience"}),
        ((Ability.RETRIEVE, Ability.READ), {"propose_experience"}),
        ((Ability.RETRIEVE, Ability.PROPOSE), {"read_candidate", "see_consultations"}),
    ],
)
async def test_r13_a_narrowed_key_is_good_for_what_it_says(
    world: World, task: Task, abilities: tuple[Ability, ...], refused: set[str]
) -> None:
    wanted = KeyToIssue(id=fresh(), principal_id="agent", label="Narrowed", abilities=abilities)
    key = (await world.services.sign_in.keys.issue("admin", wanted)).api_key
    expected = {tool: "OutsideKey" if tool in refused else REFUSED["agent"].get(tool, "") for tool in NOT_THEIRS}
    async with mcp_client(task.address, key) as client:
        assert await outcomes(client, task, expected) == expected


async def test_r13_a_key_within_another_tenant_sees_nothing_of_the_task(world: World, task: Task) -> None:
    wanted = KeyToIssue(id=fresh(), principal_id="agent", label="Elsewhere", tenants=("south",))
    async with mcp_client(task.address, (await world.services.sign_in.keys.issue("admin", wanted)).api_key) as client:
        read = await client.call_tool("read_candidate", dict(task.arguments["read_candidate"]))
        proposed = await client.call_tool("propose_experience", dict(task.arguments["propose_experience"]))
    assert read.is_error
    assert proposed.is_error


@pytest.mark.parametrize("ability", sorted(set(Ability) - {Ability.RETRIEVE}))
async def test_r13_a_key_that_is_not_good_for_retrieval_gets_no_tool(
    world: World, task: Task, ability: Ability
) -> None:
    wanted = KeyToIssue(id=fresh(), principal_id="agent", label="Narrowed", abilities=(ability,))
    key = (await world.services.sign_in.keys.issue("admin", wanted)).api_key
    with pytest.raises((MCPError, ExceptionGroup)):
        async with mcp_client(task.address, key) as client:
            await client.list_tools()
    refused = await world.send("POST", "/mcp", as_=None, body={}, headers={"Authorization": f"Bearer {key}"})
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:caselore:error:OutsideKey")
    assert key_of("agent") not in refused.text
