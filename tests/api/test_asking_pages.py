"""People ask the memory in the pages, and ask further for a reason (R13, R18, R22)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest_asyncio

from api.app import create_app
from contracts.identity import Profile
from contracts.strategies import DATA_INVESTIGATION
from tests.api.answering import answering_retrievals
from tests.api.asked_further import TEMPLATES, answered, with_a_second_domain
from tests.api.sessions_world import Browser, signed_in
from tests.api.test_pages import hidden, visiting
from tests.api.world import World, fresh

QUESTION = "A letter type without its register row is <b>not</b> printed"


@pytest_asyncio.fixture(scope="module", name="asked")
async def fixture_asked(world: World) -> AsyncIterator[World]:
    """`berta` may act as `clerk`; a worker answers."""
    await with_a_second_domain(world)
    await world.services.identities.add_profile(
        Profile(
            id="clerk",
            domain_id="data",
            strategy_id=DATA_INVESTIGATION.id,
            strategy_version=DATA_INVESTIGATION.version,
            principals=("berta",),
        )
    )
    async with answering_retrievals(world) as found:
        yield found


@pytest_asyncio.fixture
async def berta(asked: World) -> AsyncIterator[Browser]:
    async with visiting(asked, "berta") as found:
        yield found


async def question_of(who: Browser, case_id: str = "", **typed: str) -> dict[str, str]:
    """Return a filled form; `typed` takes over from what it holds."""
    page = (await who.get(f"/retrievals/new?case={case_id}" if case_id else "/retrievals/new")).text
    names = ("request_id", "case_id") if case_id else ("request_id",)
    filled = {"profile_id": "clerk", "objective": QUESTION, "purpose": "Find the cause."}
    return {"csrf": who.csrf, **hidden(page, *names), **filled, **typed}


async def test_r13_a_person_asks_and_sees_candidates(asked: World, berta: Browser) -> None:
    proposal = await asked.published()
    form = await question_of(
        berta, version="7.3", object_refs="letter/17\r\n\r\n letter/18 ", not_older_than="2020-02-03"
    )
    answer = await berta.post_form("/retrievals/new", form)
    path = f"/retrievals/{form['request_id']}"
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    assert (await berta.post_form("/retrievals/new", form)).status_code == 303, "the button was pressed twice"
    page = (await berta.get(path)).text
    assert "A letter type without its register row is &lt;b&gt;not&lt;/b&gt; printed" in page
    assert f"/experiences/{proposal.experience_id}" in page
    record = await asked.services.retrieval_history.record("berta", form["request_id"])
    assert (record.profile_id, record.request.version) == ("clerk", "7.3")
    assert record.request.object_refs == ("letter/17", "letter/18")
    assert str(record.request.not_older_than) == "2020-02-03 00:00:00+00:00"
    assert record.request.results is None
    assert QUESTION[:20] in (await berta.get("/retrievals")).text


async def test_r13_a_question_for_a_case_begins_with_what_the_case_knows(asked: World, berta: Browser) -> None:
    case_id = await asked.new_case()
    case = await asked.services.cases.get("berta", case_id)
    assert f"/retrievals/new?case={case_id}" in (await berta.get(f"/cases/{case_id}")).text
    form = await question_of(berta, case_id)
    page = (await berta.get(f"/retrievals/new?case={case_id}")).text
    assert f">{case.title}</textarea>" in page
    assert f'name="product" value="{case.facts.product}"' in page
    assert (await berta.post_form("/retrievals/new", form)).status_code == 303
    record = await asked.services.retrieval_history.record("berta", form["request_id"])
    assert record.request.case_id == case_id
    assert f"/retrievals/{form['request_id']}" in (await berta.get(f"/cases/{case_id}")).text


async def test_r4_a_case_of_another_tenant_tells_nothing_and_is_not_asked_for(asked: World) -> None:
    case_id = await asked.new_case()
    title = (await asked.services.cases.get("berta", case_id)).title
    stranger = await signed_in(asked, "stranger")
    page = (await stranger.get(f"/retrievals/new?case={case_id}")).text
    assert title not in page
    assert "You hold no requesting profile" in page
    form = {"csrf": stranger.csrf, "request_id": fresh(), "profile_id": "clerk", "objective": "o", "purpose": "p"}
    assert (await stranger.post_form("/retrievals/new", form)).status_code == 404
    await stranger.aclose()


async def test_r22_a_refused_question_keeps_what_was_typed(asked: World, berta: Browser) -> None:
    form = await question_of(berta, results="many", environment="production", version="7.3")
    refused = await berta.post_form("/retrievals/new", form)
    assert refused.status_code == 422
    assert "&lt;b&gt;not&lt;/b&gt; printed</textarea>" in refused.text
    assert 'name="environment" value="production"' in refused.text
    assert hidden(refused.text, "request_id")["request_id"] == form["request_id"]
    gone = await berta.post_form("/retrievals/new", {**form, "results": "5", "case_id": fresh()})
    assert gone.status_code == 404
    assert "which you can't see" in gone.text
    assert (await berta.post_form("/retrievals/new", {**form, "results": "5"})).status_code == 303


async def test_r18_a_person_asks_further_for_a_reason(asked: World, berta: Browser) -> None:
    form = await question_of(berta, environment="production")
    await berta.post_form("/retrievals/new", form)
    path = f"/retrievals/{form['request_id']}"
    assert f"{path}/broaden" in (await berta.get(path)).text
    page = (await berta.get(f"{path}/broaden")).text
    assert 'id="drop-environment"' in page
    assert 'id="drop-version"' not in page, "it wasn't stated"
    wider = {"csrf": berta.csrf, **hidden(page, "new_request_id"), "reason": "Nothing here <i>explains</i> it."}
    nothing = await berta.post_form(f"{path}/broaden", wider)
    assert nothing.status_code == 422
    assert "A broadening says what it widens" in nothing.text
    assert "&lt;i&gt;explains&lt;/i&gt; it.</textarea>" in nothing.text
    assert hidden(nothing.text, "new_request_id")["new_request_id"] == wider["new_request_id"]

    filled = {**wider, "domains": TEMPLATES, "dropped": "environment", "results": "50"}
    answer = await berta.post_form(f"{path}/broaden", filled)
    further = f"/retrievals/{wider['new_request_id']}"
    assert (answer.status_code, answer.headers["location"]) == (303, further)
    record = await asked.services.retrieval_history.record("berta", wider["new_request_id"])
    assert (record.request.environment, record.request.results) == ("", 50)
    assert record.answer is not None
    assert record.answer.broadened is not None
    assert record.answer.broadened.request_id == form["request_id"]
    assert record.answer.broadened.widened.domains == (TEMPLATES,)
    assert f'href="{path}"' in (await berta.get(further)).text
    before = (await berta.get(path)).text
    _, _, broadened = before.partition('<h2 id="broadened-title">Broadened by</h2>')
    assert f'href="{further}"' in broadened
    assert "Nothing here &lt;i&gt;explains&lt;/i&gt; it." in broadened
    assert f"also {TEMPLATES}; not held against environment; up to 50 results" in broadened
    assert "Consulted</h2>" not in before
    offered = (await berta.get(f"{further}/broaden")).text
    assert 'name="every_domain"' in offered
    assert f'value="{TEMPLATES}"' not in offered, "it was read"
    assert 'value="data"' not in page, "the profile's own"
    assert f'value="{TEMPLATES}"' in page


async def test_r18_only_who_holds_the_profile_asks_further(asked: World, berta: Browser) -> None:
    case_id = await asked.new_case()
    form = await question_of(berta, case_id)
    await berta.post_form("/retrievals/new", form)
    path = f"/retrievals/{form['request_id']}/broaden"
    async with visiting(asked, "stranger") as stranger:
        assert (await stranger.get(path)).status_code == 404
    request, _ = await answered(asked, case_id=case_id)
    page = (await berta.get(f"/retrievals/{request.request_id}/broaden")).text
    assert "Only who may act as <bdi>investigator</bdi> broadens it" in page
    assert "Ask further" not in page
    sent = {"csrf": berta.csrf, "new_request_id": fresh(), "reason": "r", "every_domain": "yes"}
    assert (await berta.post_form(f"/retrievals/{request.request_id}/broaden", sent)).status_code == 404


async def test_r23_a_question_without_a_worker_is_stored_and_started_again(asked: World) -> None:
    """Its page waits, and a button starts it anew; nobody starts what they can't see."""
    alone = World(asked.database, asked.client, asked.queue, f"nobody-{fresh()}")
    away = create_app(alone.services_on(alone.queue, patience=timedelta(seconds=0.3)))
    async with visiting(asked, "berta", app=away) as berta:
        form = await question_of(berta)
        path = f"/retrievals/{form['request_id']}"
        answer = await berta.post_form("/retrievals/new", form)
        assert (answer.status_code, answer.headers["location"]) == (303, path)
        page = (await berta.get(path)).text
        assert "has no answer yet" in page
        assert f'action="{path}/again"' in page
        assert "/decide" not in page
        assert (await berta.get(f"{path}/decide")).status_code == 503
    async with visiting(asked, "stranger") as stranger:
        assert (await stranger.post_form(f"{path}/again", {"csrf": stranger.csrf})).status_code == 404
    async with answering_retrievals(alone), visiting(asked, "berta", app=alone.app) as berta:
        assert (await berta.post_form(f"{path}/again", {"csrf": berta.csrf})).headers["location"] == path
        assert "has no answer yet" not in (await berta.get(path)).text


async def test_r4_a_retrieval_that_is_not_there_is_not_broadened(asked: World, berta: Browser) -> None:
    for method in ("get", "post"):
        path = f"/retrievals/{fresh()}/broaden"
        answer = await (berta.get(path) if method == "get" else berta.post_form(path, {"csrf": berta.csrf}))
        assert answer.status_code == 404, method
