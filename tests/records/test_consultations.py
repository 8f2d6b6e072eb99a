"""Consultations: each side is told its own part, and the reply is evidence (R18, R21)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, ProgrammingError

from activities.consulting import Consulting
from activities.personal_data.finder import RuleFinder
from contracts import limits
from contracts.cases import CaseFacts, CaseResult
from contracts.consultation import ConsultationState, ReplyCitation
from contracts.errors import (
    CaseloreError,
    ConsultationClosed,
    IdempotencyConflict,
    InvalidField,
    NotPermitted,
    UncitedCandidate,
    UnknownConsultation,
    UnknownDomain,
    UnknownProfile,
    UnknownRetrieval,
    UnverifiedResult,
)
from contracts.labels import Outcome, ProofLevel
from contracts.retrieval import RetrievalRequest
from tests.records.asking import answered, ask, candidate, request
from tests.records.broadening import consultation, reply
from tests.records.world import World, changed, new_id

SECRET = "Reason that stays with the asker."


@pytest_asyncio.fixture(scope="module", name="two")
async def fixture_two(shared: World) -> World:
    """`ann` works for acme on data; `dev` is of another tenant and works on development, as does `deb`."""
    await shared.tenant("other")
    await shared.principal("dev", "other")
    await shared.principal("deb", "other")
    await shared.principal("bob", "other")
    await shared.profile("builder", "dev", "deb", strategy="development", domain="development")
    await shared.profile("data-agent", "bob")
    return shared


def consulting(world: World) -> Consulting:
    return Consulting(world.consultations, RuleFinder())


async def consulted(world: World, who: str, consultation_id: str, *refs: str, **fields: Any) -> RetrievalRequest:
    """Let the consulted side answer a retrieval of its own."""
    task = await ask(world, who, "builder", consultation_id=consultation_id, **fields)
    await answered(world, task, *(candidate(n, ref) for n, ref in enumerate(refs, 1)))
    return task.request


async def test_r18_a_question_is_stored_once_and_filed_in_the_case(two: World) -> None:
    case_id = await two.open_case()
    task = await ask(two, case_id=case_id)
    asked = consultation(reason=SECRET)
    view = await two.consultations.ask("ann", task.request.request_id, asked)
    before = two.everything()
    assert await two.consultations.ask("ann", task.request.request_id, asked) == view
    assert changed(two.everything(), before) == []
    assert (view.state, view.reply, view.brief) == (ConsultationState.OPEN, None, asked.brief)
    assert view.asked is not None
    assert (view.asked.request_id, view.asked.case_id) == (task.request.request_id, case_id)
    ((kind, filed),) = two.rows("SELECT kind, text FROM case_papers WHERE case_id = %s", case_id)
    assert (kind, json.loads(filed)["brief"]) == ("memory_use", asked.brief)
    for twin in (asked.model_copy(update={"brief": "Other?"}), asked.model_copy(update={"domain_id": "development "})):
        with pytest.raises((IdempotencyConflict, UnknownDomain)):
            await two.consultations.ask("ann", task.request.request_id, twin)
    assert changed(two.everything(), before) == []


async def test_r21_the_consulted_side_is_told_the_brief_and_nothing_else(two: World) -> None:
    """Neither case, tenant, request, reason nor who asks: not in the view, and not in any table."""
    case_id = await two.open_case()
    task = await ask(two, case_id=case_id)
    asked = consultation(reason=SECRET)
    await two.consultations.ask("ann", task.request.request_id, asked)
    for who in ("dev", "cora"):
        view = await two.consultations.get(who, asked.consultation_id)
        assert (view.brief, view.domain_id, view.asked) == (asked.brief, "development", None)
        assert asked.consultation_id in {each.consultation_id for each in await two.consultations.listed(
            who, state=ConsultationState.OPEN, limit=200)}  # fmt: skip
        told = view.model_dump_json()
        assert not any(hidden in told for hidden in (case_id, task.request.request_id, SECRET, "acme", "ann"))
        async with two.database.as_principal(who) as connection:
            for table in ("consultations", "retrieval_requests", "cases", "case_papers"):
                rows = await connection.execute(text(f"SELECT t::text FROM {table} t"))
                assert not any(asked.consultation_id in row or case_id in row for row in rows.scalars()), table
    for stranger in ("bob", "nobody"):
        with pytest.raises(UnknownConsultation):
            await two.consultations.get(stranger, asked.consultation_id)
        listed = await two.consultations.listed(stranger, state=None, limit=200)
        assert asked.consultation_id not in {each.consultation_id for each in listed}


async def test_r18_being_consulted_is_not_a_grant(two: World) -> None:
    """The consulted side asks with its own profile, from its own domain, in its own scope."""
    case_id = await two.open_case()
    task = await ask(two, case_id=case_id)
    asked = consultation()
    await two.consultations.ask("ann", task.request.request_id, asked)
    own = await ask(two, "dev", "builder", consultation_id=asked.consultation_id)
    assert (own.scope.tenants, own.profile.domain_id) == ({"other"}, "development")
    before = two.everything()
    refusals: list[tuple[str, dict[str, Any], type[CaseloreError]]] = [
        ("dev", {"case_id": case_id}, CaseloreError),
        ("dev", {"tenant_id": "acme"}, CaseloreError),
        ("dev", {"consultation_id": new_id()}, UnknownConsultation),
        ("bob", {"profile_id": "builder"}, UnknownProfile),
        ("bob", {"profile_id": "data-agent"}, UnknownConsultation),
    ]
    for who, fields, error in refusals:
        given = {"profile_id": "builder", "consultation_id": asked.consultation_id, **fields}
        with pytest.raises(error):
            await two.memory.open(who, request().model_copy(update=given))
    assert changed(two.everything(), before) == []
    with pytest.raises(UnknownRetrieval):
        await two.memory.answer("dev", task.request.request_id)


async def test_r18_a_retrieval_for_a_consultation_is_of_the_consulted_domain(two: World) -> None:
    await two.profile("data-too", "dev")
    task = await ask(two)
    asked = consultation()
    await two.consultations.ask("ann", task.request.request_id, asked)
    with pytest.raises(InvalidField, match="profile of domain 'development'"):
        await two.memory.open("dev", request("data-too", consultation_id=asked.consultation_id))


async def test_r18_a_reply_is_evidence_in_the_askers_case(two: World) -> None:
    """Labelled, citing, filed once; no proof of anything (R20), and the asker has read it."""
    ref = f"experience/{await two.published(by='dev', tenant='other')}"
    case_id = await two.open_case()
    task = await ask(two, case_id=case_id)
    asked = consultation()
    await two.consultations.ask("ann", task.request.request_id, asked)
    own = await consulted(two, "dev", asked.consultation_id, ref)
    said = reply(request_id=own.request_id, citations=(ReplyCitation(ref=ref, revision=1, why="The same run."),))
    view = await two.consultations.reply("dev", asked.consultation_id, said)
    before = two.everything()
    assert await two.consultations.reply("dev", asked.consultation_id, said) == view
    assert changed(two.everything(), before) == []

    seen = await two.consultations.get("ann", asked.consultation_id)
    assert seen.reply is not None and seen.reply == view.reply
    assert (seen.state, seen.reply.text, seen.reply.citations) == ("replied", said.text, said.citations)
    assert seen.reply.replied_as == "builder"
    assert "dev" not in seen.reply.model_dump_json().replace("development", "")
    papers = two.rows("SELECT id::text, kind, title, text FROM case_papers WHERE case_id = %s AND kind = 'evidence'",
                      case_id)  # fmt: skip
    ((paper_id, _, title, filed),) = papers
    assert "no grant" in title
    assert json.loads(filed)["citations"] == [{"ref": ref, "revision": 1, "why": "The same run."}]
    for papers_named in ({"execution_paper_id": paper_id},):
        result = CaseResult(
            id=new_id(), case_id=case_id, outcome=Outcome.FAILED, proof_level=ProofLevel.EXECUTED,
            summary="As they say.", **papers_named,
        )  # fmt: skip
        with pytest.raises(UnverifiedResult):
            await two.cases.record_result("ann", result)
    assert two.rows(
        "SELECT actor_id FROM audit WHERE action = 'consult_reply' AND subject = %s",
        f"consultation/{asked.consultation_id}",
    ) == [("dev",)]


async def test_r18_people_of_the_domain_reply_without_a_profile(two: World) -> None:
    """As what they are to it; a question without a case is answered where it was asked."""
    task = await ask(two)
    asked = consultation()
    await two.consultations.ask("ann", task.request.request_id, asked)
    papers = two.one("SELECT count(*) FROM case_papers")
    view = await two.consultations.reply("otto", asked.consultation_id, reply())
    assert view.reply is not None and view.reply.replied_as == "owner"
    assert two.one("SELECT count(*) FROM case_papers") == papers


async def test_r18_the_first_reply_closes_a_consultation(two: World) -> None:
    """Of many at once one is kept, and the others are told."""
    task = await ask(two, case_id=await two.open_case())
    asked = consultation()
    await two.consultations.ask("ann", task.request.request_id, asked)
    replies = [reply(text=f"Number {number}.") for number in range(6)]
    ended = await asyncio.gather(
        *(two.consultations.reply("dev", asked.consultation_id, each) for each in replies), return_exceptions=True
    )
    assert [type(each) for each in ended if isinstance(each, Exception)] == [ConsultationClosed] * 5
    assert two.one("SELECT count(*) FROM case_papers WHERE case_id = %s AND kind = 'evidence'",
                   task.request.case_id) == 1  # fmt: skip
    other = consultation()
    await two.consultations.ask("ann", task.request.request_id, other)
    (kept,) = [each for each in replies if not isinstance(ended[replies.index(each)], Exception)]
    before = two.everything()
    with pytest.raises(IdempotencyConflict):
        await two.consultations.reply("dev", other.consultation_id, kept)
    with pytest.raises(IdempotencyConflict):
        await two.consultations.reply("dev", asked.consultation_id, kept.model_copy(update={"text": "Changed."}))
    assert changed(two.everything(), before) == []


async def test_r18_only_the_domain_replies_and_only_from_its_own_answer(two: World) -> None:
    await two.profile("builder", "ann", strategy="development", domain="development")
    ref, elsewhere = [f"experience/{await two.published()}" for _ in range(2)]
    case = f"case/{await two.open_case(by='dev', tenant='other')}"
    task = await ask(two, case_id=await two.open_case())
    asked, other = consultation(), consultation()
    for each in (asked, other):
        await two.consultations.ask("ann", task.request.request_id, each)
    own = await consulted(two, "dev", asked.consultation_id, ref, case)
    debs = await consulted(two, "deb", asked.consultation_id, ref)
    cited = (ReplyCitation(ref=ref, revision=1),)
    before = two.everything()
    refusals: list[tuple[str, str, dict[str, Any], type[CaseloreError]]] = [
        ("bob", asked.consultation_id, {}, UnknownConsultation),
        ("ann", asked.consultation_id, {}, NotPermitted),  # nobody answers their own question
        ("dev", new_id(), {}, UnknownConsultation),
        ("dev", "no id", {}, UnknownConsultation),
        ("dev", asked.consultation_id, {"citations": cited}, InvalidField),
        ("dev", asked.consultation_id, {"request_id": new_id(), "citations": cited}, UnknownRetrieval),
        ("dev", asked.consultation_id, {"request_id": debs.request_id, "citations": cited}, UnknownRetrieval),
        ("dev", asked.consultation_id, {"request_id": task.request.request_id}, UnknownRetrieval),
        ("dev", other.consultation_id, {"request_id": own.request_id, "citations": cited}, UnknownRetrieval),
        ("dev", asked.consultation_id,
         {"request_id": own.request_id, "citations": (ReplyCitation(ref=elsewhere, revision=1),)}, UncitedCandidate),
        ("dev", asked.consultation_id,
         {"request_id": own.request_id, "citations": (ReplyCitation(ref=ref, revision=2),)}, UncitedCandidate),
        ("dev", asked.consultation_id,
         {"request_id": own.request_id, "citations": (ReplyCitation(ref=case, revision=1),)}, InvalidField),
        ("dev", asked.consultation_id, {"request_id": own.request_id, "citations": cited * 2}, InvalidField),
    ]  # fmt: skip
    for who, consultation_id, fields, error in refusals:
        with pytest.raises(error):
            await two.consultations.reply(who, consultation_id, reply(**fields))
    assert changed(two.everything(), before) == []


async def test_r18_another_domain_is_asked_and_not_without_end(two: World) -> None:
    task = await ask(two)
    before = two.everything()
    for fields, error in (({"domain": "data"}, InvalidField), ({"domain": "no such"}, UnknownDomain)):
        with pytest.raises(error):
            await two.consultations.ask("ann", task.request.request_id, consultation(**fields))
    for request_id in (new_id(), "no id"):
        with pytest.raises(UnknownRetrieval):
            await two.consultations.ask("ann", request_id, consultation())
    with pytest.raises(UnknownRetrieval):
        await two.consultations.ask("dev", task.request.request_id, consultation())
    assert changed(two.everything(), before) == []
    asked = [consultation() for _ in range(limits.CONSULTATIONS)]
    for each in (*asked, asked[0]):
        await two.consultations.ask("ann", task.request.request_id, each)
    with pytest.raises(InvalidField, match="too often"):
        await two.consultations.ask("ann", task.request.request_id, consultation())


async def test_r21_what_crosses_names_nobody(two: World) -> None:
    """R6, R21: briefs and replies hold no personal data, and a brief no handle of case or tenant."""
    facts = CaseFacts(object_refs=("policy/4711-X",))
    receipt = await two.deliver("TICKET-9987", facts=facts)
    task = await ask(two, case_id=receipt.case_id, object_refs=("doc/77-A",))
    before = two.everything()
    for brief in (
        "What does ticket-9987 need?", f"See {receipt.case_id.upper()}.", "Is policy/4711-X odd?",
        "Is doc 77 a odd?", "How does ACME print?", "Ask anna.example@example.org about it.",
        "Call +49 30 901820 about it.",
    ):  # fmt: skip
        with pytest.raises(InvalidField) as refused:
            await consulting(two).ask("ann", task.request.request_id, consultation(brief=brief))
        assert refused.value.field == "brief"
        assert "9987" not in str(refused.value)
    assert changed(two.everything(), before) == []
    asked = consultation()
    await consulting(two).ask("ann", task.request.request_id, asked)
    with pytest.raises(InvalidField, match="mail"):
        await consulting(two).reply("dev", asked.consultation_id, reply(text="Ask anna.example@example.org."))
    assert (await consulting(two).reply("dev", asked.consultation_id, reply())).state is ConsultationState.REPLIED


async def test_r4_no_sql_of_the_application_gets_around_it(two: World) -> None:
    """Nobody asks, replies or files in another's name, or for another domain."""
    task = await ask(two, case_id=await two.open_case())
    asked = consultation()
    await two.consultations.ask("ann", task.request.request_id, asked)
    values = {"id": asked.consultation_id, "request": task.request.request_id}
    before = two.everything()
    for who, sql in (
        ("bob", "INSERT INTO consultations (id, request_id, digest, asked_by)"
                " VALUES (gen_random_uuid(), CAST(:request AS uuid), 'd', 'bob')"),
        ("ann", "INSERT INTO consultations (id, request_id, digest, asked_by)"
                " VALUES (gen_random_uuid(), CAST(:request AS uuid), 'd', 'bob')"),
        ("bob", "INSERT INTO consultation_replies (consultation_id, reply_id, text, digest, paper_id, replied_by,"
                " replied_as) VALUES (CAST(:id AS uuid), gen_random_uuid(), 't', 'd', gen_random_uuid(), 'bob', 'x')"),
        ("dev", "INSERT INTO consultation_replies (consultation_id, reply_id, text, digest, paper_id, replied_by,"
                " replied_as) VALUES (CAST(:id AS uuid), gen_random_uuid(), 't', 'd', gen_random_uuid(), 'deb', 'x')"),
        ("dev", "INSERT INTO consulted_retrievals VALUES (CAST(:request AS uuid), CAST(:id AS uuid))"),
        ("dev", "UPDATE consultation_briefs SET brief = 'b' WHERE consultation_id = CAST(:id AS uuid)"),
        ("ann", "DELETE FROM consultations WHERE id = CAST(:id AS uuid)"),
    ):  # fmt: skip
        with pytest.raises((ProgrammingError, IntegrityError), match=r"row-level security|permission denied"):
            async with two.database.as_principal(who) as connection:
                await connection.execute(text(sql), values)
    for who in ("dev", "ann", "bob", "nobody"):  # there is no reply of theirs that could be filed
        async with two.database.as_principal(who) as connection:
            filed = await connection.execute(text("SELECT app_file_consult_reply(CAST(:id AS uuid), 't', 't', 'd')"),
                                             values)  # fmt: skip
            assert filed.scalar_one() is False
    assert changed(two.everything(), before) == []


async def test_r18_a_withdrawn_question_is_seen_by_its_asker_alone(two: World) -> None:
    """Nobody replies to it, nothing is filed, and what was asked stays in the case."""
    case_id = await two.open_case()
    task = await ask(two, case_id=case_id)
    asked = consultation()
    await two.consultations.ask("ann", task.request.request_id, asked)
    own = await consulted(two, "dev", asked.consultation_id)
    papers = two.rows("SELECT id FROM case_papers WHERE case_id = %s", case_id)
    view = await two.consultations.withdraw("ann", asked.consultation_id)
    before = two.everything()
    assert await two.consultations.withdraw("ann", asked.consultation_id) == view
    assert changed(two.everything(), before) == []
    assert (view.state, view.brief, view.reply) == (ConsultationState.WITHDRAWN, asked.brief, None)
    assert view.withdrawn_at is not None
    for who in ("dev", "otto", "cora"):
        for act in (
            two.consultations.get(who, asked.consultation_id),
            two.consultations.reply(who, asked.consultation_id, reply()),
            two.memory.open("dev", request("builder", consultation_id=asked.consultation_id)),
        ):
            with pytest.raises(UnknownConsultation):
                await act
        listed = await two.consultations.listed(who, state=None, limit=200)
        assert asked.consultation_id not in {each.consultation_id for each in listed}
    assert await two.memory.answer("dev", own.request_id) is not None, "its own work stays its own"
    states = {
        state: {each.consultation_id for each in await two.consultations.listed("ann", state=state, limit=200)}
        for state in ConsultationState
    }
    assert [state for state, ids in states.items() if asked.consultation_id in ids] == [ConsultationState.WITHDRAWN]
    assert two.rows("SELECT id FROM case_papers WHERE case_id = %s", case_id) == papers
    assert changed(two.everything(), before) == []
    assert two.rows(
        "SELECT actor_id FROM audit WHERE action = 'consultation_withdrawn' AND subject = %s",
        f"consultation/{asked.consultation_id}",
    ) == [("ann",)]


async def test_r18_only_the_asker_withdraws_and_only_what_is_open(two: World) -> None:
    task = await ask(two, case_id=await two.open_case())
    asked, replied = consultation(), consultation()
    for each in (asked, replied):
        await two.consultations.ask("ann", task.request.request_id, each)
    await two.consultations.reply("dev", replied.consultation_id, reply())
    before = two.everything()
    refusals: list[tuple[str, str, type[CaseloreError]]] = [
        ("dev", asked.consultation_id, NotPermitted),
        ("bob", asked.consultation_id, UnknownConsultation),
        ("nobody", asked.consultation_id, UnknownConsultation),
        ("ann", new_id(), UnknownConsultation),
        ("ann", "no id", UnknownConsultation),
        ("ann", replied.consultation_id, ConsultationClosed),
    ]
    for who, consultation_id, error in refusals:
        with pytest.raises(error):
            await two.consultations.withdraw(who, consultation_id)
    for who in ("dev", "bob"):
        with pytest.raises((ProgrammingError, IntegrityError), match="row-level security"):
            async with two.database.as_principal(who) as connection:
                await connection.execute(
                    text("INSERT INTO consultation_withdrawals VALUES (CAST(:id AS uuid))"),
                    {"id": asked.consultation_id},
                )
    assert changed(two.everything(), before) == []


async def test_r24_a_reply_and_a_withdrawal_at_once_leave_one_of_them(two: World) -> None:
    task = await ask(two, case_id=await two.open_case())
    for _ in range(8):
        asked = consultation()
        await two.consultations.ask("ann", task.request.request_id, asked)
        ended = await asyncio.gather(
            two.consultations.reply("dev", asked.consultation_id, reply()),
            two.consultations.withdraw("ann", asked.consultation_id),
            return_exceptions=True,
        )
        refused = [each for each in ended if isinstance(each, BaseException)]
        assert [type(each) in (ConsultationClosed, UnknownConsultation) for each in refused] == [True]
        both = two.one(
            "SELECT count(*) FROM consultation_replies y JOIN consultation_withdrawals w USING (consultation_id)"
            " WHERE consultation_id = %s",
            asked.consultation_id,
        )
        assert both == 0
