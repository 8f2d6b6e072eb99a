"""Answered retrievals, decisions and consultations in the record, as requests about them need them."""

from __future__ import annotations

from typing import Any

from activities.records.retrievals import RetrievalsTable
from contracts.consultation import Consultation
from contracts.experience import Proposal
from contracts.identity import Domain, Profile
from contracts.lifecycle import Stage
from contracts.retrieval import MemoryUse, RetrievalRequest
from contracts.strategies import DATA_INVESTIGATION
from tests.api.world import World, accepting, draft, fresh
from tests.records.asking import NO_RANKINGS, answer, candidate, citing

TEMPLATES = "configuration"
"""A domain that others consult; `agent` works for it with a profile of its own."""


async def with_a_second_domain(world: World) -> None:
    """Add the domain that is consulted."""
    identities = world.services.identities
    await identities.add_domain(Domain(id=TEMPLATES, name="Configuration"))
    await identities.add_profile(
        Profile(
            id="template-agent",
            domain_id=TEMPLATES,
            strategy_id=DATA_INVESTIGATION.id,
            strategy_version=DATA_INVESTIGATION.version,
            principals=("agent",),
        )
    )


async def publish(world: World, experience_id: str) -> None:
    """Publish an experience of this id, unless it is: what isn't current can't be chosen (R10)."""
    if await world.count("experiences", f"id = '{experience_id}'"):
        return
    proposal = Proposal(experience_id=experience_id, result_id=await world.new_result(), draft=draft())
    async with world.caller("agent") as agent, world.caller("cora") as cora, world.caller("otto") as otto:
        await agent.propose(proposal)
        await cora.decide(accepting(proposal, Stage.CURATOR_REVIEW))
        await otto.decide(accepting(proposal, Stage.OWNER_REVIEW))


async def answered(world: World, *refs: str, **fields: Any) -> tuple[RetrievalRequest, MemoryUse]:
    """Store an answered retrieval of `agent`, and return it with a decision that could be made on it.

    The experiences that `refs` name are published first.
    """
    for ref in refs:
        await publish(world, ref.partition("/")[2])
    values: dict[str, Any] = {
        "request_id": fresh(), "profile_id": "investigator", "purpose": "p", "objective": "o", **fields,
    }  # fmt: skip
    request = RetrievalRequest(**values)
    await world.services.memory_uses.open("agent", request)
    retrievals = RetrievalsTable(world.database)
    task = await retrievals.load(request.request_id)
    candidates = [candidate(rank, ref) for rank, ref in enumerate(refs, start=1)]
    await retrievals.save(task, answer(task, *candidates), NO_RANKINGS)
    return request, citing(task, *refs)


async def asked_further(world: World, path: str) -> dict[str, str]:
    """Return the real things that a request to broaden, consult, reply or give feedback speaks of."""
    await with_a_second_domain(world)
    experience = fresh()
    ref = f"experience/{experience}"
    request, use = await answered(world, ref, environment="production", case_id=await world.new_case())
    real = {"retrieval": request.request_id, "experience": experience}
    if path.endswith("/reply"):
        asked = Consultation(consultation_id=fresh(), domain_id=TEMPLATES, brief="What is it?", reason="To know.")
        await world.services.consulting.ask("berta", request.request_id, asked)
        own, _ = await answered(world, ref, profile_id="template-agent", consultation_id=asked.consultation_id)
        return real | {"retrieval": own.request_id, "consultation": asked.consultation_id}
    if path.endswith("/feedback"):
        await world.services.memory_uses.decide("agent", use)
        return real | {"use": use.decision_id}
    return real
