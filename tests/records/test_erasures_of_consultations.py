"""What was asked further, of other domains and about how it turned out, is erased with its case (R11, R18)."""

from __future__ import annotations

import asyncio
import json

import pytest
import pytest_asyncio

from contracts.consultation import ConsultationState, ReplyCitation
from contracts.erased_text import ERASED
from contracts.erasure import ErasureState
from contracts.errors import UnknownConsultation
from tests.records.asking import NO_RANKINGS, answer, answered, ask, candidate, check_result, citing
from tests.records.broadening import broadening, consultation, feedback, reply
from tests.records.test_erasures import CANARY, Office
from tests.records.world import World


@pytest_asyncio.fixture(name="office")
async def fixture_office(world: World) -> Office:
    """`ann` works for acme on data, `dev` for another tenant on development."""
    await world.tenant("other")
    await world.principal("dev", "other")
    await world.profile("builder", "dev", strategy="development", domain="development")
    return Office(world)


async def test_r11_a_case_takes_with_it_what_was_broadened_consulted_and_said(world: World, office: Office) -> None:
    """Also what the consulted domain of another tenant looked for and answered; the next case keeps its own."""
    ref = f"experience/{await world.published()}"
    for case_id in (await world.open_case(), await world.open_case()):
        task = await answered(world, await ask(world, case_id=case_id), candidate(1, ref))
        wider = broadening(reason=f"{CANARY} asks for it.", every_domain=True)
        await world.broadenings.open("ann", task.request.request_id, wider)
        broadened = await world.retrievals.load(wider.request_id)
        await world.retrievals.save(broadened, answer(broadened, broadened=broadened.broadened), NO_RANKINGS)
        words = {"brief": f"What of {CANARY}?", "reason": f"{CANARY} is unclear."}
        with_retrieval, without = consultation(**words), consultation(**words)
        for asked in (with_retrieval, without):
            await world.consultations.ask("ann", task.request.request_id, asked)
        own = await ask(
            world, "dev", "builder", consultation_id=with_retrieval.consultation_id, objective=f"About {CANARY}"
        )
        await answered(world, own, candidate(1, ref))
        cited = (ReplyCitation(ref=ref, revision=1, why=f"{CANARY} again."),)
        said = reply(text=f"{CANARY} is known.", request_id=own.request.request_id, citations=cited)
        await world.consultations.reply("dev", with_retrieval.consultation_id, said)
        await world.consultations.reply("otto", without.consultation_id, reply(text=f"{CANARY}, no."))
        use = citing(task, ref)
        await world.memory.decide("ann", use)
        await world.memory.settle_check("ann", check_result(use, "held", f"{CANARY} it is."))
        outcomes = tuple(each.model_copy(update={"note": CANARY}) for each in feedback(use).outcomes)
        await world.feedbacks.give("ann", feedback(use, outcomes=outcomes))
    tables = (
        "broadenings", "case_papers", "consultation_briefs", "consultation_citations", "consultation_replies",
        "consultations", "feedback_outcomes", "fresh_checks", "retrieval_requests",
    )  # fmt: skip
    before = sorted(office.holding())
    assert sorted(set(before)) == sorted(tables)

    receipt = await office.erase(case_id=case_id)

    assert receipt.state is ErasureState.DONE
    assert sorted(office.holding() * 2) == before, "one of two cases is left, whole"
    view = await world.consultations.get("dev", with_retrieval.consultation_id)
    assert view.reply is not None and (view.brief, view.reply.text) == (ERASED, ERASED)
    erased = await world.retrievals.load(wider.request_id)
    assert erased.broadened is not None and erased.broadened.widened == wider.widening()
    assert erased.answer is not None and erased.answer.broadened is not None
    assert erased.broadened.reason == erased.answer.broadened.reason == ERASED


async def test_r11_papers_of_replies_say_that_what_they_cite_was_erased(world: World, office: Office) -> None:
    """In the case of another tenant too, whose own words stay."""
    ref = f"experience/{await world.published(by='dev', tenant='other')}"
    case_id = await world.open_case()
    task = await answered(world, await ask(world, case_id=case_id), candidate(1, ref))
    asked = consultation()
    await world.consultations.ask("ann", task.request.request_id, asked)
    own = await answered(
        world, await ask(world, "dev", "builder", consultation_id=asked.consultation_id), candidate(1, ref)
    )
    cited = (ReplyCitation(ref=ref, revision=1, why="It is known."),)
    said = reply(request_id=own.request.request_id, citations=cited)
    await world.consultations.reply("dev", asked.consultation_id, said)
    source = world.one("SELECT case_id::text FROM experiences WHERE id = %s", ref.partition("/")[2])

    await office.erase(case_id=source, tenant_id="other")

    text = world.one("SELECT text FROM case_papers WHERE case_id = %s AND kind = 'evidence'", case_id)
    assert json.loads(text)["citations"] == [{"ref": ref, "revision": 1, "why": "It is known.", "erased": True}]
    view = await world.consultations.get("ann", asked.consultation_id)
    assert view.reply is not None and view.reply.citations == (ReplyCitation(ref=ref, revision=1, why=ERASED),)


async def test_r11_nothing_is_filed_in_a_case_that_is_no_more(world: World, office: Office) -> None:
    """An open question ends with its case; one of another case stays."""
    asked = {await world.open_case(): consultation(), await world.open_case(): consultation()}
    for case_id, question in asked.items():
        task = await ask(world, case_id=case_id)
        await world.consultations.ask("ann", task.request.request_id, question)
    erased, kept = asked
    await office.erase(case_id=erased)

    with pytest.raises(UnknownConsultation):
        await world.consultations.reply("dev", asked[erased].consultation_id, reply(text=CANARY))
    await world.consultations.reply("dev", asked[kept].consultation_id, reply(text="Known."))
    view = await world.consultations.get("ann", asked[erased].consultation_id)
    assert (view.state, view.brief) == (ConsultationState.WITHDRAWN, ERASED)
    assert office.holding() == []


async def test_r11_a_reply_during_the_erasure_is_filed_and_erased_or_refused(world: World, office: Office) -> None:
    for _ in range(4):
        case_id = await world.open_case()
        task = await ask(world, case_id=case_id)
        question = consultation()
        await world.consultations.ask("ann", task.request.request_id, question)
        said, _ = await asyncio.gather(
            world.consultations.reply("dev", question.consultation_id, reply(text=CANARY)),
            office.erase(case_id=case_id),
            return_exceptions=True,
        )
        assert not isinstance(said, BaseException) or isinstance(said, UnknownConsultation)
        assert office.holding() == []
