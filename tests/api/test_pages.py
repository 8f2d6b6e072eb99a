"""The pages as a browser gets them: who sees which, forms that are refused, what is pending, static files (R4, R23)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import pytest_asyncio

from api.app import create_app
from api.pages.render import static_tag
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeCommand, ChangeKind, ReviewDecision
from tests.api.sessions_world import Browser, browser, signed_in
from tests.api.world import World, draft, fresh

REVIEW_FIELDS = ("csrf", "decision_id", "stage", "digest", "revision", "seq")


@asynccontextmanager
async def visiting(world: World, who: str, app: Any = None) -> AsyncGenerator[Browser]:
    found = await signed_in(world, who, app=app)
    try:
        yield found
    finally:
        await found.aclose()


@pytest_asyncio.fixture
async def cora(world: World) -> AsyncIterator[Browser]:
    async with visiting(world, "cora") as found:
        yield found


async def stage_of(world: World, experience_id: str) -> Stage:
    async with world.caller("cora") as client:
        return (await client.get_experience(experience_id)).stage


def hidden(page: str, *names: str) -> dict[str, str]:
    """Return hidden fields of a form."""
    found: dict[str, str] = {}
    for name in names:
        match = re.search(rf'name="{name}" value="([^"]*)"', page)
        assert match is not None, name
        found[name] = unescape(match[1])
    return found


async def form_of(found: Browser, experience_id: str, **filled: str) -> dict[str, str]:
    page = (await found.get(f"/reviews/{experience_id}")).text
    return {**hidden(page, *REVIEW_FIELDS), **filled}


async def test_r4_nobody_is_shown_the_way_to_sign_in_and_back(world: World) -> None:
    async with browser(world) as nobody:
        answer = await nobody.get("/experiences?words=row")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/sign-in?next=%2Fexperiences%3Fwords%3Drow"
        page = await nobody.get("/sign-in")
        assert page.status_code == 200
        assert "API key" in page.text


async def test_r4_what_is_out_of_scope_looks_like_what_is_not_there(world: World) -> None:
    case_id = await world.new_case()
    proposal = await world.proposed()
    async with visiting(world, "stranger") as stranger:
        for path in (
            f"/cases/{case_id}",
            f"/reviews/{proposal.experience_id}",
            f"/experiences/{proposal.experience_id}",
            f"/experiences/{proposal.experience_id}/changes/retire",
            f"/retrievals/{fresh()}",
        ):
            theirs, nothing = await stranger.get(path), await stranger.get(re.sub(r"[0-9a-f-]{36}", fresh(), path))
            assert theirs.status_code == nothing.status_code == 404, path
            assert theirs.text == nothing.text, path


async def test_a_form_of_another_session_is_refused_with_a_page(world: World, cora: Browser) -> None:
    proposal = await world.proposed()
    fields = await form_of(cora, proposal.experience_id, verdict="accept")
    answer = await cora.post_form(f"/reviews/{proposal.experience_id}/decision", {**fields, "csrf": "another"})
    assert answer.status_code == 403
    assert answer.headers["content-type"].startswith("text/html")
    assert await stage_of(world, proposal.experience_id) is Stage.CURATOR_REVIEW


@pytest.mark.parametrize("ended", [True, False])
async def test_r22_what_was_typed_outlives_the_session(world: World, cora: Browser, ended: bool) -> None:
    """The session ended while somebody wrote, or a new one began in another tab."""
    proposal = await world.proposed()
    path = f"/reviews/{proposal.experience_id}/decision"
    form = await form_of(cora, proposal.experience_id, verdict="return", comment="Name the <table>.\nAnd the row.")
    if ended:
        cora.cookies.clear()
    else:
        form["csrf"] = "0" * 64
    page = await cora.post_form(path, form)
    assert page.status_code == (401 if ended else 403)
    assert "Name the &lt;table&gt;.\nAnd the row.</textarea>" in page.text
    assert "Load" in page.text or "load" in page.text
    other = await cora.post_form(path, form, Origin="https://evil.example", Sec_Fetch_Site="cross-site")
    assert "Name the" not in other.text, "nobody else's page puts words on ours"
    assert await stage_of(world, proposal.experience_id) is Stage.CURATOR_REVIEW


async def test_r23_what_no_worker_has_taken_yet_is_told_and_looked_at_again(world: World) -> None:
    idle = create_app(world.services_on(f"idle-{fresh()}", patience=timedelta(0), gateway_patience=0.2))
    proposal = await world.proposed(idle)
    async with visiting(world, "cora", idle) as cora:
        fields = await form_of(cora, proposal.experience_id, verdict="accept")
        answer = await cora.post_form(f"/reviews/{proposal.experience_id}/decision", fields)
        assert answer.status_code == 303
        page = await cora.get(answer.headers["location"])
        assert page.status_code == 202
        assert "Saved, and on its way" in page.text
        assert '<meta http-equiv="refresh"' in page.text
        again = await cora.post_form(f"/reviews/{proposal.experience_id}/decision", fields)
        assert again.headers["location"] == answer.headers["location"]
    assert await world.count("review_decisions", f"experience_id = '{proposal.experience_id}'") <= 1


async def test_r7_a_refused_decision_shows_the_review_with_all_that_was_typed(world: World, cora: Browser) -> None:
    proposal = await world.proposed()
    remark = "Which version? <b>\u202e"
    fields = await form_of(
        cora, proposal.experience_id, verdict="return", comment="", **{"comment:units[0].text": remark}
    )
    answer = await cora.post_form(f"/reviews/{proposal.experience_id}/decision", fields)
    assert answer.status_code == 422
    assert "A return or rejection needs a comment." in answer.text
    kept = re.search(r'name="comment:units\[0\].text"[^>]*>([^<]*)</textarea>', answer.text)
    assert kept is not None and unescape(kept[1]) == remark
    assert hidden(answer.text, "decision_id")["decision_id"] == fields["decision_id"]


async def test_r24_an_edit_meanwhile_is_shown_and_the_old_digest_decides_nothing(world: World, cora: Browser) -> None:
    proposal = await world.proposed()
    fields = await form_of(cora, proposal.experience_id, verdict="accept", comment="Fine by me.")
    edited = draft(title="A letter type without its row is never printed")
    async with world.caller("berta") as berta:
        command = ChangeCommand(
            command_id=fresh(),
            experience_id=proposal.experience_id,
            kind=ChangeKind.REVISE,
            reason="The title was too long.",
            draft=edited,
            digest=proposal.draft.digest(),
        )
        await berta.change(command, wait=10)
    answer = await cora.post_form(f"/reviews/{proposal.experience_id}/decision", fields)
    assert answer.status_code == 409
    assert "Somebody changed this meanwhile" in answer.text
    assert "<ins>never</ins>" in answer.text or "never" in answer.text
    assert "Fine by me." in answer.text
    assert hidden(answer.text, "digest")["digest"] == edited.digest()
    assert hidden(answer.text, "decision_id")["decision_id"] != fields["decision_id"]
    assert await stage_of(world, proposal.experience_id) is Stage.CURATOR_REVIEW


async def test_r7_a_unit_is_declined_and_the_rest_goes_on(world: World, cora: Browser) -> None:
    proposal = await world.proposed()
    fields = await form_of(cora, proposal.experience_id, verdict="accept", decline="u2")
    answer = await cora.post_form(f"/reviews/{proposal.experience_id}/decision", fields)
    assert answer.status_code == 303
    async with world.caller("cora") as client:
        view = await client.get_experience(proposal.experience_id)
    assert view.stage is Stage.OWNER_REVIEW
    assert [unit.id for unit in view.revisions[-1].draft.units] == ["u1"]


async def test_r7_a_claim_is_kept_and_given_back(world: World, cora: Browser) -> None:
    proposal = await world.proposed()
    path = f"/reviews/{proposal.experience_id}"
    assert (await cora.post_form(f"{path}/claim", {"csrf": cora.csrf})).status_code == 303
    assert "Leave it to others" in (await cora.get(path)).text
    async with visiting(world, "berta") as berta:
        assert "your decision would be refused until then" in (await berta.get(path)).text
        fields = await form_of(berta, proposal.experience_id, verdict="accept")
        assert (await berta.post_form(f"{path}/decision", fields)).status_code == 409
    assert (await cora.post_form(f"{path}/release", {"csrf": cora.csrf})).status_code == 303
    assert "Keep it for me" in (await cora.get(path)).text


async def test_r4_nobody_is_told_of_retrievals_and_tenants_of_others(world: World) -> None:
    listings = world.services.listings
    assert (await listings.citations("agent", f"experience/{fresh()}")).uses == ()
    assert (await listings.retrievals("guest")) == []
    assert {tenant.id for tenant in await listings.tenants("agent")} == {"north"}
    assert {tenant.id for tenant in await listings.tenants("guest")} == set()


async def test_r4_lists_hold_only_what_their_reader_may_see(world: World) -> None:
    proposal = await world.proposed()
    listings = world.services.listings
    seen: list[str] = []
    after = None
    while True:
        page = await listings.experiences("cora", after=after, limit=3)
        seen += [entry.experience_id for entry in page.entries]
        after = page.after
        if after is None:
            break
    assert proposal.experience_id in seen
    assert len(seen) == len(set(seen))
    assert (await listings.experiences("guest")).entries == ()
    assert (await listings.experiences("stranger")).entries == ()
    found = await listings.experiences("cora", words="100% _ \\")
    assert found.entries == (), "words mean themselves"


@pytest.mark.parametrize("name", ["caselore.css", "caselore.js"])
async def test_static_files_are_kept_for_good_under_the_name_of_their_content(world: World, name: str) -> None:
    async with browser(world) as nobody:
        answer = await nobody.get(f"/static/{name}?v={static_tag(name)}")
        assert "immutable" in answer.headers["cache-control"]
        assert (await nobody.get(f"/static/{name}")).headers["cache-control"] == "no-cache"
        unchanged = await nobody.get(f"/static/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert (await nobody.get("/static/secrets")).status_code == 404


async def test_a_page_that_is_not_there_is_told_by_a_page(world: World, cora: Browser) -> None:
    answer = await cora.get("/nowhere", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "There is no such page." in answer.text
    assert (await cora.get("/v1/nowhere", headers={"Accept": "text/html"})).json()["status"] == 404


async def test_a_decision_of_somebody_who_may_not_is_refused_in_words(world: World) -> None:
    proposal = await world.proposed()
    async with world.caller("cora") as cora:
        await cora.decide(
            ReviewDecision(
                decision_id=fresh(),
                experience_id=proposal.experience_id,
                stage=Stage.CURATOR_REVIEW,
                digest=proposal.draft.digest(),
                verdict=Event.ACCEPT,
            )
        )
    async with visiting(world, "cora") as found:
        page = (await found.get(f"/reviews/{proposal.experience_id}")).text
        assert "It waits for an owner of" in page
        assert 'id="decision"' not in page
