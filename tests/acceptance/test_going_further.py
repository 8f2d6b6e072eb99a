"""Further than one's own domain: broadened with a reason, or asked of those who know; and how it turned out (R18)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.broadening import Broadening
from contracts.consultation import Consultation, ConsultationState, ConsultReply, ReplyCitation
from contracts.errors import NotFound
from contracts.experience import Limits
from contracts.feedback import CandidateOutcome, Feedback, Usefulness, UsefulnessCounts
from contracts.labels import CandidateKind
from contracts.retrieval import (
    CheckOutcome,
    CheckResult,
    Citation,
    CitationVerdict,
    FreshCheck,
    MemoryUse,
    RetrievalRequest,
    ValidityState,
)
from contracts.widening import RequestFact
from tests.acceptance.office import Office, by_ref, fresh, ref_of, running_office, settings_in
from tests.acceptance.samples import case

SYMPTOM = "The quince exporter writes an empty file after midnight."
THEIRS = case(
    "SOUTH-31", "Quince exporter writes an empty file", f"{SYMPTOM} The date rolls over while it is open.",
    tenant="south", domain="development", limits=Limits(version_from="7.0", version_to="7.4"),
)  # fmt: skip
OURS = case("NORTH-41", "Medlar importer", "The medlar importer skips the first line of a file.")


@pytest_asyncio.fixture(scope="module", name="office")
async def fixture_office(folder: Path) -> AsyncIterator[Office]:
    async with running_office(settings_in(folder)) as (_, office):
        await office.publish(THEIRS, OURS)
        yield office


async def test_r18_a_broadened_search_finds_what_the_own_domain_does_not_have(office: Office) -> None:
    """With the reason in the answer; what no longer states its version is to be revalidated, never applicable (R17)."""
    agent = office.agents["north"]
    first = await office.ask(SYMPTOM, version="9.0")
    assert ref_of(THEIRS) not in by_ref(first)
    asked = Broadening(
        request_id=fresh(), reason="No data is missing; the program may be at fault.", domains=("development",),
        dropped=(RequestFact.VERSION,),
    )  # fmt: skip
    wider = await agent.broaden(first.request_id, asked)
    found = by_ref(wider)[ref_of(THEIRS)]
    assert found.owner == "development"
    assert found.validity.state is ValidityState.REVALIDATE
    assert any("version not stated" in reason for reason in found.validity.reasons)
    assert (found.source_case, found.source_origin) == (None, None), "another tenant's: the pattern alone (R21)"
    assert wider.broadened is not None
    assert (wider.broadened.request_id, wider.broadened.reason) == (first.request_id, asked.reason)
    assert not any(each.kind is CandidateKind.CASE and each.source_case != each.ref.removeprefix("case/")
                   for each in wider.candidates)  # fmt: skip
    with pytest.raises(NotFound):
        await office.agents["south"].broaden(first.request_id, asked.model_copy(update={"request_id": fresh()}))


async def test_r18_a_consulted_domain_answers_from_its_own_knowledge(office: Office) -> None:
    """Across tenants: told the brief alone, granted nothing, and its reply is evidence in the case."""
    north, south = office.agents["north"], office.agents["south"]
    case_id = await office.case_id(OURS)
    asking = await office.ask(SYMPTOM, case_id=case_id)
    question = Consultation(
        consultation_id=fresh(), domain_id="development", brief=f"{SYMPTOM} Is that known?", reason="To route it."
    )
    await north.consult(asking.request_id, question)
    [open_one] = [each for each in await south.consultations(state=ConsultationState.OPEN)
                  if each.consultation_id == question.consultation_id]  # fmt: skip
    assert (open_one.brief, open_one.asked) == (question.brief, None)
    with pytest.raises(NotFound):
        await south.get_retrieval(asking.request_id)
    with pytest.raises(NotFound):
        await south.get_case(case_id)
    own = RetrievalRequest(
        request_id=fresh(), profile_id="development-specialist", purpose="consultation", objective=open_one.brief,
        consultation_id=question.consultation_id,
    )  # fmt: skip
    answer = await south.retrieve(own)
    ref = ref_of(THEIRS)
    assert ref in by_ref(answer)
    said = ConsultReply(
        reply_id=fresh(), text="It is known; compare the version first.", request_id=own.request_id,
        citations=(ReplyCitation(ref=ref, revision=1, why="The same mechanism."),),
    )  # fmt: skip
    await south.reply(question.consultation_id, said)
    seen = await north.get_consultation(question.consultation_id)
    assert seen.reply is not None
    assert (seen.reply.text, seen.reply.citations) == (said.text, said.citations)
    papers = (await north.sanitised(case_id)).papers
    assert [paper.kind for paper in papers if paper.title.startswith("Consult reply")] == ["evidence"]
    with pytest.raises(NotFound):
        await south.get_case(case_id)


async def test_r20_how_a_candidate_turned_out_is_shown_and_changes_no_order(office: Office) -> None:
    agent = office.agents["north"]
    question = "The medlar importer skips the first line."
    before = await office.ask(question, case_id=await office.case_id(OURS))
    ref = ref_of(OURS)
    use = MemoryUse(
        decision_id=fresh(),
        request_id=before.request_id,
        summary="Look at the first line.",
        citations=(Citation(ref=ref, revision=1, verdict=CitationVerdict.CHOSEN, why="The same file."),),
        checks=(FreshCheck(check_id="line", text="Is the first line missing?"),),
    )
    await agent.record_use(use)
    await agent.settle_check(
        CheckResult(decision_id=use.decision_id, check_id="line", outcome=CheckOutcome.FAILED, note="It is there.")
    )
    outcome = CandidateOutcome(ref=ref, revision=1, usefulness=Usefulness.MISLED, note="Another cause.")
    await agent.give_feedback(Feedback(feedback_id=fresh(), decision_id=use.decision_id, outcomes=(outcome,)))
    after = await office.ask(question, case_id=await office.case_id(OURS))
    assert [(each.ref, each.rank, each.validity) for each in after.candidates] == [
        (each.ref, each.rank, each.validity) for each in before.candidates
    ]
    assert by_ref(after)[ref].feedback.own == UsefulnessCounts(misled=1)
    other = await office.ask(question, tenant="south")
    assert by_ref(other)[ref].feedback.own == UsefulnessCounts(), "R21: a count would tell whose it is"
    assert by_ref(other)[ref].feedback.everywhere is None
