"""Requests, answers, reads, cited decisions and their checks (R13, R20)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import pytest_asyncio

from contracts import limits
from contracts.cases import CaseResult
from contracts.errors import (
    CaseloreError,
    IdempotencyConflict,
    InvalidField,
    NotFound,
    OutsideScope,
    UncitedCandidate,
    UnknownCase,
    UnknownProfile,
    UnknownRetrieval,
    UnknownStrategy,
    UnverifiedResult,
)
from contracts.experience import Draft
from contracts.labels import Outcome, PaperKind, ProofLevel
from contracts.retrieval import Citation, CitationVerdict, FreshCheck
from contracts.review import ChangeKind
from tests.records.asking import NO_RANKINGS, answer, answered, ask, candidate, check_result, citing, request
from tests.records.world import World, changed, draft, new_id


@pytest_asyncio.fixture(scope="module", name="two")
async def fixture_two(shared: World) -> World:
    await shared.tenant("other")
    await shared.principal("bob", "other")
    await shared.profile("data-agent", "bob")
    return shared


async def test_a_request_is_stored_once(two: World) -> None:
    """R13: a repeat is harmless, another request under its id a conflict."""
    asked = request(object_refs=("doc/1",))
    await two.memory.open("ann", asked)
    before = two.everything()
    await two.memory.open("ann", asked)
    for who, changes in (("ann", {"objective": "Something else"}), ("ann", {"results": 3}), ("bob", {})):
        with pytest.raises(IdempotencyConflict):
            await two.memory.open(who, asked.model_copy(update=changes))
    assert changed(two.everything(), before) == []
    await asyncio.gather(*(two.memory.open("ann", twin) for twin in [request()] * 6))


async def test_a_request_states_only_what_its_caller_may(two: World) -> None:
    """R13: profile, version, tenant and case are checked before anything is stored."""
    theirs = await two.open_case(by="bob", tenant="other")
    await two.profile("not-anns", "bob")
    before = two.everything()
    cases: list[tuple[dict[str, Any], type[CaseloreError]]] = [
        ({"profile_id": "not-anns"}, UnknownProfile),
        ({"profile_id": "no such"}, UnknownProfile),
        ({"strategy_version": 9}, UnknownStrategy),
        ({"strategy_version": 2**40}, UnknownStrategy),
        ({"tenant_id": "other"}, OutsideScope),
        ({"tenant_id": "no such"}, OutsideScope),
        ({"case_id": theirs}, UnknownCase),
        ({"case_id": new_id()}, UnknownCase),
    ]
    for fields, error in cases:
        with pytest.raises(error):
            await two.memory.open("ann", request().model_copy(update=fields))
    with pytest.raises(UnknownProfile):
        await two.memory.open("nobody", request())
    assert changed(two.everything(), before) == []


async def test_the_first_stored_answer_wins(two: World) -> None:
    """R20: candidates and all; a later or concurrent run is told the first."""
    refs = [f"experience/{await two.published()}" for _ in range(2)]
    task = await ask(two)
    assert await two.memory.answer("ann", task.request.request_id) is None
    first = answer(task, candidate(1, refs[0]), notes=("first",))
    assert await two.retrievals.save(task, first, NO_RANKINGS) == first
    second = answer(task, candidate(1, refs[1]), candidate(2, refs[0]), notes=("second",))
    assert await two.retrievals.save(task, second, NO_RANKINGS) == first
    assert await two.memory.answer("ann", task.request.request_id) == first
    assert (await two.retrievals.load(task.request.request_id)).answer == first

    task = await ask(two)
    saved = await asyncio.gather(
        *(
            two.retrievals.save(task, answer(task, candidate(1, refs[0]), notes=(str(n),)), NO_RANKINGS)
            for n in range(6)
        )
    )
    assert len({stored.notes for stored in saved}) == 1
    assert two.one("SELECT count(*) FROM retrieval_candidates WHERE request_id = %s", task.request.request_id) == 1


async def test_an_answer_with_two_equal_candidates_is_not_half_stored(two: World) -> None:
    ref = f"experience/{await two.published()}"
    task = await ask(two)
    before = two.everything()
    with pytest.raises(Exception, match="uq_retrieval_candidates_ref"):
        await two.retrievals.save(task, answer(task, candidate(1, ref), candidate(2, ref)), NO_RANKINGS)
    assert changed(two.everything(), before) == []


async def test_reading_a_candidate_records_that_it_was_read(two: World) -> None:
    """R20: its full approved text, once; nothing that the answer doesn't hold."""
    content = draft(title="To read")
    experience_id, case_id = await two.published(content), await two.open_case(body="The case in full.")
    ref = f"experience/{experience_id}"
    task = await answered(two, await ask(two), candidate(1, ref), candidate(2, f"case/{case_id}"))
    request_id = task.request.request_id
    for _ in range(2):
        assert await two.memory.read("ann", request_id, ref, 1) == content
    assert await two.memory.read("ann", request_id, f"case/{case_id}", 1) == "The case in full."
    sql = "SELECT ref, revision FROM retrieval_reads WHERE request_id = %s ORDER BY ref DESC"
    assert two.rows(sql, request_id) == [(ref, 1), (f"case/{case_id}", 1)]
    for other, revision in (
        (ref, 2),
        (ref, 2**40),
        (f"experience/{new_id()}", 1),
        ("", 1),
        ("x" * 201, 1),
        ("\x00", 1),
    ):
        with pytest.raises((UncitedCandidate, CaseloreError)):
            await two.memory.read("ann", request_id, other, revision)
    assert len(two.rows(sql, request_id)) == 2


async def test_what_was_withdrawn_since_the_answer_is_not_read(two: World) -> None:
    """R10: from the moment of the commit, also by those who hold an older answer."""
    experience_id = await two.published()
    ref = f"experience/{experience_id}"
    task = await answered(two, await ask(two), candidate(1, ref))
    await two.change(experience_id, ChangeKind.RETIRE)
    with pytest.raises(UncitedCandidate, match="withdrawn"):
        await two.memory.read("ann", task.request.request_id, ref, 1)
    corrected = await two.published()
    ref = f"experience/{corrected}"
    task = await answered(two, await ask(two), candidate(1, ref))
    await two.change(corrected, ChangeKind.CORRECT, by="ann", draft=draft(title="Second"))
    await two.decide(corrected, "cora")
    await two.decide(corrected, "otto")
    with pytest.raises(UncitedCandidate, match="Accepted: 2"):
        await two.memory.read("ann", task.request.request_id, ref, 1)


async def test_a_read_across_tenants_is_without_places_in_papers(two: World) -> None:
    """R21."""
    ref = f"experience/{await two.published(by='bob', tenant='other')}"
    task = await answered(two, await ask(two), candidate(1, ref))
    text = await two.memory.read("ann", task.request.request_id, ref, 1)
    assert isinstance(text, Draft)
    assert [unit.spans for unit in text.units] == [()]


async def test_a_decision_is_stored_with_its_citations_and_filed_in_the_case(two: World) -> None:
    """R20: verdicts, fresh checks and a memory-use paper, once."""
    refs = [f"experience/{await two.published()}" for _ in range(2)]
    case_id = await two.open_case()
    task = await answered(two, await ask(two, case_id=case_id), *(candidate(n, ref) for n, ref in enumerate(refs, 1)))
    use = citing(task, *refs)
    await two.memory.decide("ann", use)
    before = two.everything()
    await two.memory.decide("ann", use)
    assert changed(two.everything(), before) == []
    assert two.rows(
        "SELECT ref, verdict FROM retrieval_verdicts WHERE decision_id = %s ORDER BY verdict", use.decision_id
    ) == [(refs[0], "chosen"), (refs[1], "rejected")]
    assert two.rows("SELECT check_id, outcome FROM fresh_checks WHERE decision_id = %s", use.decision_id) == [
        ("row", None)
    ]
    ((kind, text, author),) = two.rows("SELECT kind, text, author_id FROM case_papers WHERE case_id = %s", case_id)
    filed = json.loads(text)
    assert (kind, author, filed["strategy"]) == ("memory_use", "ann", "data-investigation v1")
    assert [(cited["ref"], cited["verdict"]) for cited in filed["citations"]] == [
        (refs[0], "chosen"), (refs[1], "rejected"),
    ]  # fmt: skip

    other = citing(task, refs[0], decision_id=use.decision_id)
    with pytest.raises(IdempotencyConflict):
        await two.memory.decide("ann", other)
    assert changed(two.everything(), before) == []


async def test_a_memory_use_paper_proves_nothing(two: World) -> None:
    """R20: it can't be cited as execution or proof, and nobody files one by hand."""
    ref = f"experience/{await two.published()}"
    case_id = await two.open_case()
    task = await answered(two, await ask(two, case_id=case_id), candidate(1, ref))
    await two.memory.decide("ann", citing(task, ref))
    paper_id = two.one("SELECT id::text FROM case_papers WHERE case_id = %s", case_id)
    result = CaseResult(
        id=new_id(),
        case_id=case_id,
        outcome=Outcome.FAILED,
        proof_level=ProofLevel.EXECUTED,
        summary="As the memory says.",
        execution_paper_id=paper_id,
    )
    before = two.everything()
    with pytest.raises(UnverifiedResult):
        await two.cases.record_result("ann", result)
    assert changed(two.everything(), before) == []
    assert two.one("SELECT kind FROM case_papers WHERE id = %s", paper_id) == PaperKind.MEMORY_USE


async def test_only_candidates_of_the_answer_are_cited(two: World) -> None:
    """R20: neither another experience nor another revision; nothing of the decision is kept."""
    ref, other = [f"experience/{await two.published()}" for _ in range(2)]
    task = await answered(two, await ask(two, case_id=await two.open_case()), candidate(1, ref))
    elsewhere = await answered(two, await ask(two), candidate(1, other))
    before = two.everything()
    for use in (
        citing(task, other),
        citing(task, ref, other),
        citing(task, ref, revision=2),
        citing(task, ref, revision=2**40),
        citing(elsewhere, ref),
    ):
        with pytest.raises(UncitedCandidate):
            await two.memory.decide("ann", use)
    doubled: list[dict[str, Any]] = [
        {"citations": citing(task, ref).citations * 2}, {"checks": citing(task, ref).checks * 2},
    ]  # fmt: skip
    for twins in doubled:
        with pytest.raises(InvalidField):
            await two.memory.decide("ann", citing(task, ref, **twins))
    assert changed(two.everything(), before) == []


async def test_the_longest_decision_is_filed_too(two: World) -> None:
    """R20, R22: every field at its limit; the paper is shortened and says so, the record keeps every word."""
    refs = [f"experience/{new_id()}" for _ in range(limits.RESULTS)]
    case_id = await two.open_case()
    task = await answered(two, await ask(two, case_id=case_id), *(candidate(n, ref) for n, ref in enumerate(refs, 1)))
    why = '\\"\n' * (limits.PARAGRAPH // 3 - 1) + "x"
    use = citing(
        task,
        citations=tuple(Citation(ref=ref, revision=1, verdict=CitationVerdict.NOT_APPLICABLE, why=why) for ref in refs),
        checks=tuple(FreshCheck(check_id=str(n), text=why) for n in range(limits.CITATIONS)),
        summary=why,
    )
    await two.memory.decide("ann", use)
    text = two.one("SELECT text FROM case_papers WHERE case_id = %s", case_id)
    assert len(text) <= limits.BODY
    assert "Shortened" in json.loads(text)["note"]
    assert two.one("SELECT min(length(why)) FROM retrieval_verdicts WHERE decision_id = %s", use.decision_id) == len(
        why
    )


async def test_a_check_is_settled_once(two: World) -> None:
    """R20: the same result again is harmless, another one a conflict that changes nothing."""
    ref = f"experience/{await two.published()}"
    task = await answered(two, await ask(two), candidate(1, ref))
    use = citing(task, ref)
    await two.memory.decide("ann", use)
    await two.memory.settle_check("ann", check_result(use, "failed", "The row is there."))
    await two.memory.settle_check("ann", check_result(use, "failed", "The row is there."))
    for outcome, note in (("held", "The row is there."), ("failed", "Other words.")):
        with pytest.raises(IdempotencyConflict):
            await two.memory.settle_check("ann", check_result(use, outcome, note))
    sql = "SELECT outcome, note, settled_at IS NOT NULL FROM fresh_checks WHERE decision_id = %s"
    assert two.rows(sql, use.decision_id) == [("failed", "The row is there.", True)]
    for missing in (check_result(use).model_copy(update={"check_id": "none"}), check_result(citing(task, ref))):
        with pytest.raises(UnknownRetrieval):
            await two.memory.settle_check("ann", missing)


async def test_a_check_s_result_is_filed_in_the_case_and_proves_nothing(two: World) -> None:
    """R20: once, beside the decision; a check that held is no proof of a repair."""
    ref = f"experience/{await two.published()}"
    case_id = await two.open_case()
    task = await answered(two, await ask(two, case_id=case_id), candidate(1, ref))
    use = citing(task, ref)
    await two.memory.decide("ann", use)
    await two.memory.settle_check("ann", check_result(use, "held", "The row is absent."))
    await two.memory.settle_check("ann", check_result(use, "held", "The row is absent."))
    sql = "SELECT id::text, kind, text FROM case_papers WHERE case_id = %s AND title LIKE '%%check held'"
    ((paper_id, kind, text),) = two.rows(sql, case_id)
    filed = json.loads(text)
    assert (kind, filed["outcome"], filed["note"], filed["check"]) == (
        "memory_use", "held", "The row is absent.", use.checks[0].text,
    )  # fmt: skip
    result = CaseResult(
        id=new_id(),
        case_id=case_id,
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
        summary="The check held.",
        execution_paper_id=paper_id,
        proof_paper_id=paper_id,
    )
    with pytest.raises(UnverifiedResult):
        await two.cases.record_result("ann", result)


async def test_a_retrieval_of_another_tenant_is_unknown(two: World) -> None:
    """R4, R20: in every way in, as if it weren't there."""
    ref = f"experience/{await two.published()}"
    task = await answered(two, await ask(two, case_id=await two.open_case()), candidate(1, ref))
    request_id = task.request.request_id
    use = citing(task, ref)
    await two.memory.decide("ann", use)
    before = two.everything()
    for wanted in (request_id, new_id(), "no id", ""):
        with pytest.raises(UnknownRetrieval):
            await two.memory.answer("bob", wanted)
        with pytest.raises(UnknownRetrieval):
            await two.memory.read("bob", wanted, ref, 1)
    with pytest.raises(UnknownRetrieval):
        await two.memory.decide("bob", citing(task, ref))
    with pytest.raises(UnknownRetrieval):
        await two.memory.settle_check("bob", check_result(use))
    with pytest.raises(NotFound):
        await two.memory.answer("nobody", request_id)
    assert changed(two.everything(), before) == []
