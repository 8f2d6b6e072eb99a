"""People ask other domains, reply and withdraw in the pages; each side sees its own (R18, R21, R22)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from contracts.consultation import Consultation, ConsultationState, ConsultReply
from contracts.identity import RoleInDomain
from contracts.labels import DomainRole
from tests.api.asked_further import TEMPLATES, answered, with_a_second_domain
from tests.api.sessions_world import Browser, signed_in
from tests.api.test_pages import hidden
from tests.api.world import World, fresh

REASON = "A reason that stays with the asking side."


@pytest_asyncio.fixture(scope="module", name="asked")
async def fixture_asked(world: World) -> World:
    """`berta` works for tenant north; `stranger`, of another tenant, curates the domain that she consults."""
    await with_a_second_domain(world)
    role = RoleInDomain(principal_id="stranger", domain_id=TEMPLATES, role=DomainRole.CURATOR)
    await world.services.identities.give_role(role)
    return world


@pytest_asyncio.fixture
async def berta(asked: World) -> AsyncIterator[Browser]:
    found = await signed_in(asked, "berta")
    yield found
    await found.aclose()


@pytest_asyncio.fixture
async def stranger(asked: World) -> AsyncIterator[Browser]:
    found = await signed_in(asked, "stranger")
    yield found
    await found.aclose()


async def question(world: World, brief: str = "Which template wins?") -> str:
    request, _ = await answered(world, case_id=await world.new_case())
    asked = Consultation(consultation_id=fresh(), domain_id=TEMPLATES, brief=brief, reason=REASON)
    await world.services.consulting.ask("berta", request.request_id, asked)
    return asked.consultation_id


async def state_of(world: World, consultation_id: str) -> ConsultationState:
    return (await world.services.consulting.get("berta", consultation_id)).state


async def test_r18_a_question_reaches_the_people_of_the_domain_and_the_reply_its_asker(
    asked: World, berta: Browser, stranger: Browser
) -> None:
    id_ = await question(asked, "Which template wins, <b>and why</b>?")
    assert "of other domains" in (await stranger.get("/")).text
    assert "of other domains" not in (await berta.get("/")).text, "nobody replies to a question of their own"
    listed = (await stranger.get("/consultations")).text
    assert f"/consultations/{id_}" in listed.partition("Waiting for your reply")[2]
    path = f"/consultations/{id_}"
    page = (await stranger.get(path)).text
    assert "Which template wins, &lt;b&gt;and why&lt;/b&gt;?" in page
    assert not any(told in page for told in (REASON, "berta", "north", "/retrievals/", "/cases/"))

    form = {
        "csrf": stranger.csrf,
        **hidden(page, "reply_id"),
        "text": "The longer\r\nselector wins.",
    }
    answer = await stranger.post_form(f"{path}/reply", form)
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    assert (await stranger.post_form(f"{path}/reply", form)).status_code == 303, "the button was pressed twice"
    shown = (await berta.get(path)).text
    assert "The longer\nselector wins." in shown
    assert "evidence, no grant and no conclusion" in shown
    assert REASON in shown
    assert "Send the reply" not in (await stranger.get(path)).text
    assert f"/consultations/{id_}" in (await berta.get("/consultations")).text.partition("Ended lately")[2]


async def test_r18_a_retrieval_shows_what_it_consulted_and_what_came_back(asked: World, berta: Browser) -> None:
    id_ = await question(asked)
    view = await asked.services.consulting.get("berta", id_)
    assert view.asked is not None
    path = f"/retrievals/{view.asked.request_id}"
    page = (await berta.get(path)).text
    assert '<h2 id="consulted-title">Consulted</h2>' in page
    assert f'<a href="/consultations/{id_}">Question to <bdi>{TEMPLATES}</bdi>' in page
    assert "Broadened by" not in page
    await asked.services.consulting.reply("agent", id_, ConsultReply(reply_id=fresh(), text="The <i>longer</i> one."))
    assert "The &lt;i&gt;longer&lt;/i&gt; one." in (await berta.get(path)).text.partition('id="consulted-title"')[2]


async def test_r22_a_refused_reply_keeps_what_was_typed(asked: World, stranger: Browser) -> None:
    id_ = await question(asked)
    path = f"/consultations/{id_}"
    page = (await stranger.get(path)).text
    form = {
        "csrf": stranger.csrf,
        **hidden(page, "reply_id"),
        "text": "Ask anna.example@example.org.",
    }
    refused = await stranger.post_form(f"{path}/reply", form)
    assert refused.status_code == 422
    assert "Ask anna.example@example.org.</textarea>" in refused.text
    assert "personal data" in refused.text
    assert hidden(refused.text, "reply_id")["reply_id"] == form["reply_id"]
    assert await state_of(asked, id_) is ConsultationState.OPEN

    await asked.services.consulting.reply("agent", id_, ConsultReply(reply_id=fresh(), text="I was first."))
    late = await stranger.post_form(f"{path}/reply", {**form, "text": "The longer one."})
    assert late.status_code == 409
    assert "I was first." in late.text
    assert "Somebody has replied" in late.text


async def test_r18_an_asker_withdraws_and_the_other_side_does_not_see_it_any_longer(
    asked: World, berta: Browser, stranger: Browser
) -> None:
    id_ = await question(asked)
    path = f"/consultations/{id_}"
    assert "Withdraw the question" not in (await stranger.get(path)).text
    assert (await stranger.post_form(f"{path}/withdraw", {"csrf": stranger.csrf})).status_code == 403
    assert "Withdraw the question" in (await berta.get(path)).text
    writing = {"csrf": stranger.csrf, **hidden((await stranger.get(path)).text, "reply_id")}
    answer = await berta.post_form(f"{path}/withdraw", {"csrf": berta.csrf})
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    assert await state_of(asked, id_) is ConsultationState.WITHDRAWN
    assert "Withdrawn" in (await berta.get(path)).text
    gone, nothing = await stranger.get(path), await stranger.get(f"/consultations/{fresh()}")
    assert (gone.status_code, gone.text) == (404, nothing.text)
    late = await stranger.post_form(f"{path}/reply", {**writing, "text": "It took me an hour to write."})
    assert late.status_code == 404
    assert "It took me an hour to write." in late.text, "what was typed is not lost (R22)"


async def test_r18_a_person_asks_from_the_page_of_a_retrieval(asked: World, berta: Browser, stranger: Browser) -> None:
    case_id = await asked.new_case()
    request, _ = await answered(asked, case_id=case_id)
    path = f"/retrievals/{request.request_id}/consult"
    assert path in (await berta.get(f"/retrievals/{request.request_id}")).text
    assert (await stranger.get(path)).status_code == 404
    page = (await berta.get(path)).text
    form = {
        "csrf": berta.csrf,
        **hidden(page, "consultation_id"),
        "domain_id": TEMPLATES,
        "brief": f"What of {case_id}?",
        "reason": REASON,
    }
    refused = await berta.post_form(path, form)
    assert refused.status_code == 422
    assert f"What of {case_id}?</textarea>" in refused.text
    assert f'value="{TEMPLATES}" selected' in refused.text
    again = {
        **form,
        **hidden(refused.text, "consultation_id"),
        "brief": "Which one wins?",
    }
    answer = await berta.post_form(path, again)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/consultations/{form['consultation_id']}")
    view = await asked.services.consulting.get("stranger", form["consultation_id"])
    assert (view.brief, view.is_consulted, view.asked) == ("Which one wins?", True, None)


async def test_r4_a_page_of_a_question_is_for_its_two_sides(asked: World) -> None:
    id_ = await question(asked)
    guest = await signed_in(asked, "guest")
    theirs, nothing = await guest.get(f"/consultations/{id_}"), await guest.get(f"/consultations/{fresh()}")
    assert (theirs.status_code, theirs.text) == (404, nothing.text)
    assert "No questions" in (await guest.get("/consultations")).text
    await guest.aclose()
