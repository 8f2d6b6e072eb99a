"""People decide with citations in the pages, and report how it turned out (R20, R22)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from activities.records.retrievals import RetrievalsTable
from contracts.feedback import CandidateFeedback, Usefulness, UsefulnessCounts
from contracts.identity import Profile
from contracts.retrieval import CheckOutcome, CitationVerdict, RetrievalRequest
from contracts.retrieval_record import UseDone
from contracts.review import ChangeCommand, ChangeKind
from tests.api.asked_further import answered
from tests.api.sessions_world import Browser
from tests.api.test_pages import hidden, visiting
from tests.api.world import World, fresh
from tests.records.asking import NO_RANKINGS, answer, candidate

ONE, TWO = (f"experience/{number * 8}-0000-4000-8000-000000000000" for number in "12")


@pytest_asyncio.fixture
async def berta(world: World) -> AsyncIterator[Browser]:
    async with visiting(world, "berta") as found:
        yield found


async def retrieval(world: World, *refs: str) -> str:
    """Return an answered retrieval that `agent` asked for a case of berta's tenant."""
    request, _ = await answered(world, *refs, case_id=await world.new_case())
    return request.request_id


async def uses_of(world: World, request_id: str) -> tuple[UseDone, ...]:
    return (await world.services.retrieval_history.record("berta", request_id)).uses


async def decided(world: World, who: Browser, request_id: str) -> str:
    """Decide on a retrieval, and return the path of the decision."""
    page = (await who.get(f"/retrievals/{request_id}/decide")).text
    form = {
        "csrf": who.csrf,
        **hidden(page, "decision_id"),
        "summary": "Add the row, if it is <b>absent</b>.",
        "checks": "Is the row absent now?\r\n\r\nIs the letter type the same?",
        f"verdict.{ONE}": "chosen",
        f"why.{ONE}": "The same symptom.",
        f"verdict.{TWO}": "rejected",
        f"why.{TWO}": "Another mechanism.",
    }
    answer = await who.post_form(f"/retrievals/{request_id}/decide", form)
    path = f"/retrievals/{request_id}/decisions/{form['decision_id']}"
    assert (answer.status_code, answer.headers["location"]) == (303, path), answer.text
    again = await who.post_form(f"/retrievals/{request_id}/decide", form)
    assert again.headers["location"] == path, "the button was pressed twice"
    assert len(await uses_of(world, request_id)) == 1
    return path


async def test_r20_a_person_decides_with_citations_and_reports_what_came_of_it(world: World, berta: Browser) -> None:
    request_id = await retrieval(world, ONE, TWO)
    assert f"/retrievals/{request_id}/decide" in (await berta.get(f"/retrievals/{request_id}")).text
    path = await decided(world, berta, request_id)
    (done,) = await uses_of(world, request_id)
    assert [(each.ref, each.revision, each.verdict) for each in done.use.citations] == [
        (ONE, 1, CitationVerdict.CHOSEN), (TWO, 1, CitationVerdict.REJECTED),
    ]  # fmt: skip
    assert [check.text for check in done.checks] == ["Is the row absent now?", "Is the letter type the same?"]
    page = (await berta.get(path)).text
    assert "if it is &lt;b&gt;absent&lt;/b&gt;" in page
    assert path in (await berta.get(f"/retrievals/{request_id}")).text

    held = {"csrf": berta.csrf, "check_id": done.checks[0].check_id, "outcome": "held", "note": "It was absent."}
    assert (await berta.post_form(f"{path}/check", held)).headers["location"] == path
    turned = {
        "csrf": berta.csrf,
        **hidden(page, "feedback_id", "replaces"),
        "usefulness.0": "helped",
        "note.0": "It printed.",
        "usefulness.1": "",
    }
    assert (await berta.post_form(f"{path}/feedback", turned)).headers["location"] == path
    (done,) = await uses_of(world, request_id)
    assert [(check.outcome, check.note) for check in done.checks] == [(CheckOutcome.HELD, "It was absent."), (None, "")]
    (given,) = done.feedback
    assert [(each.ref, each.usefulness, each.note) for each in given.outcomes] == [
        (ONE, Usefulness.HELPED, "It printed.")
    ]
    page = (await berta.get(path)).text
    assert "It was absent." in page
    assert "Said last" in page
    assert hidden(page, "replaces")["replaces"] == given.feedback_id


async def test_r15_earlier_use_is_shown_of_the_reader_s_side_and_of_all_r21(world: World) -> None:
    """What the asker may count is the asker's; what nobody can be told by is everybody's."""
    counts = CandidateFeedback(own=UsefulnessCounts(helped=2, misled=1), everywhere=UsefulnessCounts(helped=9))
    request = RetrievalRequest(
        request_id=fresh(), profile_id="investigator", purpose="p", objective="o", case_id=await world.new_case()
    )
    await world.services.memory_uses.open("agent", request)
    retrievals = RetrievalsTable(world.database)
    task = await retrievals.load(request.request_id)
    shown = [candidate(1, ONE).model_copy(update={"feedback": counts}), candidate(2, TWO)]
    await retrievals.save(task, answer(task, *shown), NO_RANKINGS)
    for reader, said in (
        ("agent", "Earlier use, which moves no rank: helped 2, misled 1; in all organisations: helped 9."),
        ("berta", "Earlier use in all organisations, which moves no rank: helped 9."),
    ):
        async with visiting(world, reader) as browser:
            page = (await browser.get(f"/retrievals/{request.request_id}")).text
        assert f'<p class="quiet">{said}</p>' in page, reader
        assert page.count("Earlier use") == 1, "nothing was said of the other"


async def test_r24_feedback_on_what_somebody_else_said_meanwhile_is_refused_and_kept(
    world: World, berta: Browser
) -> None:
    request_id = await retrieval(world, ONE, TWO)
    path = await decided(world, berta, request_id)
    page = (await berta.get(path)).text
    form = {
        "csrf": berta.csrf,
        **hidden(page, "feedback_id", "replaces"),
        "usefulness.0": "misled",
        "note.0": "It broke.",
    }
    await berta.post_form(f"{path}/feedback", {**form, "feedback_id": fresh(), "usefulness.0": "helped"})
    refused = await berta.post_form(f"{path}/feedback", form)
    assert refused.status_code == 409
    assert "It broke.</textarea>" in refused.text
    latest = hidden(refused.text, "feedback_id", "replaces")
    assert (await berta.post_form(f"{path}/feedback", {**form, **latest})).status_code == 303
    (done,) = await uses_of(world, request_id)
    assert [each.outcomes[0].usefulness for each in done.feedback] == [Usefulness.HELPED, Usefulness.MISLED]


async def test_r22_a_refused_decision_or_report_keeps_what_was_typed(world: World, berta: Browser) -> None:
    request_id = await retrieval(world, ONE, TWO)
    page = (await berta.get(f"/retrievals/{request_id}/decide")).text
    form = {
        "csrf": berta.csrf,
        **hidden(page, "decision_id"),
        "summary": "Add the row.",
        "checks": "Is it absent?",
        f"verdict.{TWO}": "rejected",
        f"why.{TWO}": " ",
    }
    refused = await berta.post_form(f"/retrievals/{request_id}/decide", form)
    assert refused.status_code == 422
    assert "Add the row.</textarea>" in refused.text
    assert "Is it absent?</textarea>" in refused.text
    assert 'value="rejected" selected' in refused.text
    assert hidden(refused.text, "decision_id")["decision_id"] == form["decision_id"]
    assert await uses_of(world, request_id) == ()

    path = await decided(world, berta, request_id)
    for sent, field in (
        ({"check_id": "check-1", "outcome": "maybe", "note": "So so."}, "outcome"),
        ({"check_id": "check-9", "outcome": "held", "note": "So so."}, "check_id"),
    ):
        answer = await berta.post_form(f"{path}/check", {"csrf": berta.csrf, **sent})
        assert answer.status_code in (404, 422), field
    empty = {"csrf": berta.csrf, "feedback_id": fresh(), "replaces": ""}
    assert (await berta.post_form(f"{path}/feedback", empty)).status_code == 422
    settled = {"csrf": berta.csrf, "check_id": "check-1", "outcome": "held", "note": ""}
    assert (await berta.post_form(f"{path}/check", settled)).status_code == 303
    assert (await berta.post_form(f"{path}/check", {**settled, "outcome": "failed"})).status_code == 409
    (done,) = await uses_of(world, request_id)
    assert [check.outcome for check in done.checks] == [CheckOutcome.HELD, None]


async def asked_by_berta(world: World, *refs: str) -> str:
    """Return an answered retrieval of berta's own: who reads a candidate is recorded of its asker."""
    await world.services.identities.add_profile(
        Profile(
            id="bertas", domain_id="data", strategy_id="data-investigation", strategy_version=1, principals=("berta",)
        )
    )
    asked = RetrievalRequest(request_id=fresh(), profile_id="bertas", purpose="p", objective="o")
    await world.services.memory_uses.open("berta", asked)
    table = RetrievalsTable(world.database)
    task = await table.load(asked.request_id)
    found = [candidate(rank, ref) for rank, ref in enumerate(refs, start=1)]
    await table.save(task, answer(task, *found), NO_RANKINGS)
    return asked.request_id


async def test_r20_a_person_reads_a_candidate_in_full_and_that_is_recorded(world: World, berta: Browser) -> None:
    """R10, R20: the asker alone has the button; what was withdrawn since has none, and is not to be chosen."""
    one, two = await world.published(), await world.published()
    refs = [f"experience/{each.experience_id}" for each in (one, two)]
    case_id = await world.new_case()
    request_id = await asked_by_berta(world, *refs, f"case/{case_id}")
    path = f"/retrievals/{request_id}"
    page = (await berta.get(path)).text
    assert page.count(f'action="{path}/read"') == 3
    assert "read in full" not in page
    for ref, shown in ((refs[0], f"/experiences/{one.experience_id}"), (f"case/{case_id}", f"/cases/{case_id}")):
        form = {"csrf": berta.csrf, "ref": ref, "revision": "1"}
        answered = await berta.post_form(f"{path}/read", form)
        assert (answered.status_code, answered.headers["location"]) == (303, shown)
        assert (await berta.get(shown)).status_code == 200
    record = await world.services.retrieval_history.record("berta", request_id)
    assert [(each.ref, each.revision) for each in record.reads] == [(refs[0], 1), (f"case/{case_id}", 1)]
    assert (await berta.get(path)).text.count("read in full") == 2
    assert (await berta.post_form(f"{path}/read", {"ref": refs[1], "revision": "1"})).status_code == 403, "no token"
    for wrong, status in (({"ref": refs[1], "revision": "9"}, 422), ({"ref": "", "revision": "x"}, 422)):
        assert (await berta.post_form(f"{path}/read", {"csrf": berta.csrf, **wrong})).status_code == status

    retiring = ChangeCommand(
        command_id=fresh(), experience_id=two.experience_id, kind=ChangeKind.RETIRE, reason="It no longer holds."
    )
    async with world.caller("otto") as otto:
        assert (await otto.change(retiring, wait=10)).outcome == "retired"
    page = (await berta.get(path)).text
    assert "withdrawn since" in page
    assert page.count("The register row was missing.") == 2, "of three candidates"
    assert page.count(f'action="{path}/read"') == 2
    deciding = (await berta.get(f"{path}/decide")).text
    assert "withdrawn since" in deciding
    assert deciding.count('<option value="chosen">') == 2
    assert deciding.count('<option value="rejected">') == 3
    refused = await berta.post_form(f"{path}/read", {"csrf": berta.csrf, "ref": refs[1], "revision": "1"})
    assert refused.status_code == 422
    assert "withdrawn" in refused.text
    async with visiting(world, "stranger") as stranger:
        form = {"csrf": stranger.csrf, "ref": refs[0], "revision": "1"}
        assert (await stranger.post_form(f"{path}/read", form)).status_code == 404

    theirs = await retrieval(world, ONE)
    assert "/read" not in (await berta.get(f"/retrievals/{theirs}")).text, "asked by somebody else"


async def test_r4_a_decision_is_for_who_sees_its_retrieval(world: World, berta: Browser) -> None:
    request_id = await retrieval(world, ONE, TWO)
    path = await decided(world, berta, request_id)
    other = await retrieval(world, ONE)
    crossed = path.replace(request_id, other)
    assert (await berta.get(crossed)).status_code == 404, "a decision of another retrieval"
    async with visiting(world, "stranger") as stranger:
        for method, where in (
            ("get", path),
            ("get", f"/retrievals/{request_id}/decide"),
            ("post", f"/retrievals/{request_id}/decide"),
            ("post", f"{path}/check"),
            ("post", f"{path}/feedback"),
        ):
            form = {"csrf": stranger.csrf, "summary": "s", "check_id": "check-1", "outcome": "held"}
            answer = await (stranger.get(where) if method == "get" else stranger.post_form(where, form))
            assert answer.status_code == 404, where
