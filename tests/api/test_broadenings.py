"""Going on from an answer: broaden, consult, reply and say how it turned out, through the API (R18, R20, R21)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from contracts.broadening import Broadening
from contracts.consultation import Consultation, ConsultationState, ConsultReply, ReplyCitation
from contracts.errors import (
    ConsultationClosed,
    IdempotencyConflict,
    InvalidField,
    NotPermitted,
    StaleRevision,
    UnknownConsultation,
    UnknownRetrieval,
)
from contracts.feedback import CandidateOutcome, Feedback, Usefulness, UsefulnessCounts
from contracts.retrieval import Answer, Citation, CitationVerdict, MemoryUse
from contracts.widening import RequestFact
from tests.api.answering import answering_retrievals, asking
from tests.api.asked_further import TEMPLATES, with_a_second_domain
from tests.api.world import World, fresh


@pytest_asyncio.fixture(scope="module", name="answering")
async def fixture_answering(world: World) -> AsyncIterator[World]:
    """The API with a retrieval worker, and a second domain that `agent` works for as well."""
    await with_a_second_domain(world)
    async with answering_retrievals(world) as found:
        yield found


def broadening(**given: Any) -> Broadening:
    values: dict[str, Any] = {"request_id": fresh(), "reason": "Nothing of this domain explains it."}
    return Broadening(**{**values, **given})


def listed(answer: Answer) -> list[tuple[int, str, int, str]]:
    return [(each.rank, each.ref, each.revision, each.validity.state) for each in answer.candidates]


async def decided(world: World, ref: str) -> MemoryUse:
    """Let `agent` find, and decide on, an experience."""
    request = asking(case_id=await world.new_case())
    async with world.caller("agent") as agent:
        await agent.retrieve(request)
        citation = Citation(ref=ref, revision=1, verdict=CitationVerdict.CHOSEN, why="Same symptom.")
        return await agent.record_use(
            MemoryUse(decision_id=fresh(), request_id=request.request_id, summary="Chosen.", citations=(citation,))
        )


async def test_r18_an_agent_of_another_domain_finds_by_broadening(answering: World) -> None:
    """What its own domain doesn't have, in a new answer that says where it comes from; the first one stays."""
    proposal = await answering.published()
    ref = f"experience/{proposal.experience_id}"
    request = asking(profile_id="template-agent", results=10, environment="production")
    asked = broadening(domains=("data",), dropped=(RequestFact.ENVIRONMENT,), results=50)
    async with answering.caller("agent") as agent:
        first = await agent.retrieve(request)
        assert ref not in {each.ref for each in first.candidates}
        assert f"only domain {TEMPLATES} was read" in " ".join(first.not_read)
        wider = await agent.broaden(request.request_id, asked)
        assert ref in {each.ref for each in wider.candidates}
        assert wider.broadened is not None
        assert (wider.broadened.request_id, wider.broadened.reason) == (request.request_id, asked.reason)
        said = f"Broadened from retrieval {request.request_id}: also data;"
        assert any(note.startswith(said) for note in wider.notes)
        assert f"only domain {TEMPLATES}, data was read" in " ".join(wider.not_read)
        assert await agent.broaden(request.request_id, asked) == wider == await agent.get_retrieval(asked.request_id)
        assert await agent.get_retrieval(request.request_id) == first
        with pytest.raises(IdempotencyConflict):
            await agent.broaden(request.request_id, asked.model_copy(update={"reason": "Another."}))


async def test_r18_no_broadening_without_reason_or_of_somebody_else_s_retrieval(answering: World) -> None:
    request = asking()
    async with answering.caller("agent") as agent, answering.caller("stranger") as stranger:
        await agent.retrieve(request)
        before = await answering.counts()
        for body, field in (
            ({"request_id": fresh(), "every_domain": True}, "reason"),
            ({"request_id": fresh(), "every_domain": True, "reason": " "}, "reason"),
            ({"request_id": fresh(), "reason": "r"}, "strategy_id"),
            ({"request_id": fresh(), "reason": "r", "dropped": ["tenant_id"]}, "dropped.0"),
        ):
            response = await answering.send("POST", f"/v1/retrievals/{request.request_id}/broadenings", body=body)
            assert (response.status_code, response.json()["field"]) == (422, field)
        with pytest.raises(UnknownRetrieval):
            await stranger.broaden(request.request_id, broadening(every_domain=True))
        assert await answering.counts() == before


async def test_r18_another_domain_is_consulted_and_replies_with_evidence(answering: World) -> None:
    """`berta` asks for the work of the agent's case; `agent`, who works for the other domain too, replies."""
    ref = f"experience/{(await answering.published()).experience_id}"
    case_id = await answering.new_case()
    request = asking(case_id=case_id)
    asked = Consultation(
        consultation_id=fresh(), domain_id=TEMPLATES, brief="Why is a letter type without its row not printed?",
        reason="It decides where the work goes.",
    )  # fmt: skip
    async with (
        answering.caller("agent") as agent,
        answering.caller("berta") as berta,
        answering.caller("stranger") as stranger,
    ):
        await agent.retrieve(request)
        view = await berta.consult(request.request_id, asked)
        assert await berta.consult(request.request_id, asked) == view
        assert (view.state, view.asked and view.asked.case_id) == (ConsultationState.OPEN, case_id)
        assert asked.consultation_id in {
            each.consultation_id for each in await agent.consultations(state=ConsultationState.OPEN, limit=200)
        }
        with pytest.raises(UnknownConsultation):
            await stranger.get_consultation(asked.consultation_id)

        own = asking(profile_id="template-agent", consultation_id=asked.consultation_id)
        await agent.retrieve(own)
        wider = broadening(every_domain=True)
        answer = await agent.broaden(own.request_id, wider)
        assert ref in {each.ref for each in answer.candidates}
        reply = ConsultReply(
            reply_id=fresh(), text="The run skips it.", request_id=wider.request_id,
            citations=(ReplyCitation(ref=ref, revision=1),),
        )  # fmt: skip
        with pytest.raises(NotPermitted):
            await berta.reply(asked.consultation_id, ConsultReply(reply_id=fresh(), text="Mine."))
        with pytest.raises(InvalidField, match="personal data"):
            await agent.reply(asked.consultation_id, ConsultReply(reply_id=fresh(), text="Ask anna@example.org."))
        replied = await agent.reply(asked.consultation_id, reply)
        assert await agent.reply(asked.consultation_id, reply) == replied
        with pytest.raises(ConsultationClosed):
            await agent.reply(asked.consultation_id, ConsultReply(reply_id=fresh(), text="Once more."))
        seen = await berta.get_consultation(asked.consultation_id)
        assert seen.reply is not None and (seen.state, seen.reply.text) == ("replied", "The run skips it.")
    assert await answering.count("case_papers", f"case_id = '{case_id}' AND kind = 'evidence'") == 1


async def test_r20_feedback_is_shown_and_moves_nothing(answering: World) -> None:
    """The order of an answer is the same before and after a candidate was said to mislead, over and over."""
    refs = [f"experience/{(await answering.published()).experience_id}" for _ in range(2)]
    async with answering.caller("agent") as agent:
        uses = {ref: [await decided(answering, ref) for _ in range(3)] for ref in refs}
        before = await agent.retrieve(asking(results=50))
        places = {each.ref: each for each in before.candidates}
        assert set(refs) <= set(places)
        first_ref = min(refs, key=lambda ref: places[ref].rank)
        outcome = CandidateOutcome(ref=first_ref, revision=1, usefulness=Usefulness.MISLED, note="Another cause.")
        first_use, second_use, use = uses[first_ref]
        for each in (first_use, second_use):
            await agent.give_feedback(Feedback(feedback_id=fresh(), decision_id=each.decision_id, outcomes=(outcome,)))
        said = Feedback(feedback_id=fresh(), decision_id=use.decision_id, outcomes=(outcome,))
        given = await agent.give_feedback(said)
        assert await agent.give_feedback(said) == given
        with pytest.raises(StaleRevision):
            await agent.give_feedback(said.model_copy(update={"feedback_id": fresh()}))
        later = Feedback(
            feedback_id=fresh(), decision_id=use.decision_id, replaces=said.feedback_id,
            outcomes=(outcome.model_copy(update={"usefulness": Usefulness.HELPED}),),
        )  # fmt: skip
        await agent.give_feedback(later)
        assert [each.feedback_id for each in await agent.feedback(use.decision_id)] == [
            said.feedback_id, later.feedback_id,
        ]  # fmt: skip
        after = await agent.retrieve(asking(results=50))
        assert listed(after) == listed(before)
        counts = {each.ref: each.feedback for each in after.candidates}
        assert counts[first_ref].own == UsefulnessCounts(helped=1, misled=2)
        assert counts[first_ref].everywhere is None, "R21: one tenant said it"
        other = next(ref for ref in refs if ref != first_ref)
        assert counts[other].own == UsefulnessCounts()
    async with answering.caller("stranger") as stranger:
        with pytest.raises(UnknownRetrieval):
            await stranger.feedback(use.decision_id)


async def test_r22_path_and_body_name_one_decision(answering: World) -> None:
    outcome = {"ref": f"experience/{fresh()}", "revision": 1, "usefulness": "helped"}
    body = {"feedback_id": fresh(), "decision_id": fresh(), "outcomes": [outcome]}
    response = await answering.send("POST", f"/v1/decisions/{fresh()}/feedback", body=body)
    assert (response.status_code, response.json()["field"]) == (422, "decision_id")
