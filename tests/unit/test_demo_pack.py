"""The shipped demo pack: every line is valid, sanitised and claims no more than its case shows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

import pytest
from pydantic import TypeAdapter

from contracts.casefile import CaseFileRecord, CaseRecord, DomainRecord, ExperienceRecord, QuestionRecord, TenantRecord
from contracts.cases import CaseResult
from contracts.experience import Draft
from contracts.labels import Outcome, PaperKind, UnitKind

PACK = Path(__file__).parents[2] / "deploy" / "demo" / "cases.jsonl"
FORMAT_PAGE = Path(__file__).parents[2] / "docs" / "case-file-format.md"
ADAPTER: TypeAdapter[CaseFileRecord] = TypeAdapter(CaseFileRecord)
RECORDS = [ADAPTER.validate_json(line) for line in PACK.read_text(encoding="utf-8").splitlines()]
TENANTS = [record for record in RECORDS if isinstance(record, TenantRecord)]
DOMAINS = [record for record in RECORDS if isinstance(record, DomainRecord)]
CASES = [record for record in RECORDS if isinstance(record, CaseRecord)]
QUESTIONS = [record for record in RECORDS if isinstance(record, QuestionRecord)]

MAIL = re.compile(r"\S@\S")
PHONE = re.compile(r"\+?\d[\d /().-]{7,}\d")
SQL = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|ALTER TABLE)\b")

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.external_id)
each_result = pytest.mark.parametrize("case", [c for c in CASES if c.result], ids=lambda case: case.external_id)


def case_named(external_id: str) -> CaseRecord:
    return next(case for case in CASES if case.external_id == external_id)


def taught(external_id: str) -> ExperienceRecord:
    experience = case_named(external_id).experience
    assert experience is not None
    return experience


def question_named(external_id: str) -> QuestionRecord:
    return next(question for question in QUESTIONS if question.external_id == external_id)


def paper_id(case: CaseRecord, local: str | None) -> str | None:
    return local and str(uuid5(NAMESPACE_OID, f"paper {case.external_id} {local}"))


def result_of(case: CaseRecord) -> CaseResult:
    assert case.result is not None
    return CaseResult(
        id=str(uuid5(NAMESPACE_OID, f"result {case.external_id}")),
        case_id=str(uuid5(NAMESPACE_OID, f"case {case.external_id}")),
        outcome=case.result.outcome,
        proof_level=case.result.proof_level,
        summary=case.result.summary,
        execution_paper_id=paper_id(case, case.result.execution),
        proof_paper_id=paper_id(case, case.result.proof),
        effort=case.result.effort,
    )


def draft_of(case: CaseRecord) -> Draft:
    assert case.result is not None
    assert case.experience is not None
    assert case.facts.domain_id is not None
    return Draft(
        title=case.experience.title,
        domain_id=case.facts.domain_id,
        outcome=case.result.outcome,
        proof_level=case.result.proof_level,
        synopsis=case.experience.synopsis,
        units=case.experience.units,
        limits=case.experience.limits,
        effort=case.result.effort,
    )


def published_texts(case: CaseRecord) -> list[str]:
    """Every text of a case that may leave it: the experience, and the result's summary."""
    texts: list[str] = []
    if case.experience:
        exported = case.experience.model_dump(mode="json", exclude={"units": {"__all__": {"id", "spans"}}})
        texts += _strings(exported)
    if case.result:
        texts += _strings(case.result.model_dump(mode="json", include={"summary", "effort"}))
    return texts


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return []


def test_the_pack_has_its_breadth():
    outcomes = Counter(case.result.outcome.value if case.result else "open" for case in CASES)
    print(dict(outcomes))
    assert [tenant.id for tenant in TENANTS] == ["nordhaven", "alpenrose", "kestrel"]
    assert [domain.id for domain in DOMAINS] == ["root", "data", "configuration", "development", "assessment"]
    assert len(CASES) >= 60
    assert outcomes["open"] >= 8
    assert outcomes[Outcome.SUCCEEDED] >= 35
    assert outcomes[Outcome.FAILED] >= 5
    assert outcomes[Outcome.REJECTED_ROUTE] >= 5
    assert outcomes[Outcome.UNVERIFIED] >= 4
    experiences = [case.experience for case in CASES if case.experience]
    assert len(experiences) >= 45
    assert len([experience for experience in experiences if experience.reject]) == 4
    by_tenant = Counter(case.tenant for case in CASES)
    assert min(by_tenant[tenant.id] for tenant in TENANTS) >= 15
    by_domain = Counter(case.facts.domain_id for case in CASES)
    assert min(by_domain[domain.id] for domain in DOMAINS) >= 4


def test_ids_are_unique_and_known():
    origins = [(record.tenant, record.source, record.external_id) for record in [*CASES, *QUESTIONS]]
    assert len(set(origins)) == len(origins)
    assert {record.tenant for record in [*CASES, *QUESTIONS]} == {tenant.id for tenant in TENANTS}
    assert {record.facts.domain_id for record in [*CASES, *QUESTIONS]} == {domain.id for domain in DOMAINS}
    titles = [case.experience.title for case in CASES if case.experience]
    assert len(set(titles)) == len(titles)


def test_questions_come_last_and_every_profile_asks():
    assert RECORDS[-10:] == QUESTIONS
    assert {question.profile for question in QUESTIONS} == {
        "root-support",
        "data-specialist",
        "configuration-specialist",
        "development-specialist",
        "effort-assessor",
    }


@each_case
def test_papers_are_of_a_cases_own_kinds_and_times_are_absolute(case: CaseRecord):
    ids = [paper.id for paper in case.papers]
    assert len(set(ids)) == len(ids)
    assert all(paper.text.strip() and paper.kind is not PaperKind.MEMORY_USE for paper in case.papers)
    assert case.occurred_at.tzinfo is not None
    words = " ".join([case.body, *(paper.text for paper in case.papers)]).split()
    assert 80 <= len(words) <= 250


@each_result
def test_a_result_is_carried_by_papers_of_its_line(case: CaseRecord):
    assert case.result is not None
    assert result_of(case).outcome is case.result.outcome
    kinds = {paper.id: paper.kind for paper in case.papers}
    if case.result.execution is not None:
        assert kinds[case.result.execution] is PaperKind.EXECUTION
    if case.result.proof is not None:
        assert kinds[case.result.proof] is PaperKind.PROOF


@each_case
def test_an_experience_claims_no_more_than_its_result(case: CaseRecord):
    if case.experience is None:
        return
    assert case.result is not None
    draft_of(case).check_against(result_of(case))


@each_case
def test_spans_lie_in_the_papers_and_quote_something(case: CaseRecord):
    if case.experience is None:
        return
    texts = {paper.id: paper.text for paper in case.papers}
    for unit in case.experience.units:
        assert unit.spans
        for span in unit.spans:
            text = texts[span.paper_id]
            assert span.end <= len(text)
            quoted = text[span.start : span.end]
            assert quoted == quoted.strip() != ""
            assert not text[span.start - 1 : span.start].isalnum() or span.start == 0
            assert not text[span.end : span.end + 1].isalnum()


@each_case
def test_what_may_leave_the_case_names_nobody(case: CaseRecord):
    handles = {record.external_id for record in [*CASES, *QUESTIONS]} | {
        ref for c in CASES for ref in c.facts.object_refs
    }
    for text in published_texts(case):
        assert not MAIL.search(text)
        assert not PHONE.search(text)
        assert not SQL.search(text)
        assert not any(tenant.id in text.lower() for tenant in TENANTS)
        assert not any(handle in text for handle in handles)


def test_assessments_keep_active_hours_and_waiting_apart():
    assessed = [case.result for case in CASES if case.facts.domain_id == "assessment" and case.result]
    measured = [result.effort for result in assessed if result.effort and result.effort.active_hours is not None]
    assert len(measured) >= 5
    assert all(effort.estimate_hours is not None and effort.waiting_hours is not None for effort in measured)
    assert any(effort.changed_scope for effort in measured)


def test_units_say_when_not_to_use_them():
    units = [unit for case in CASES if case.experience and not case.experience.reject for unit in case.experience.units]
    prescriptions = [unit for unit in units if unit.kind is UnitKind.PRESCRIPTION]
    assert len(prescriptions) >= 30
    assert all(unit.use_when and unit.avoid_when for unit in prescriptions)
    assert any(case.experience.limits.version_to for case in CASES if case.experience)


def test_look_alikes_have_mechanisms_of_their_own():
    """One complaint, three mechanisms: a lost row, a renewal that was never created, a stale rendering."""
    row, renewal, stale = taught("NH-1041"), taught("KW-3102"), taught("AR-2014")
    assert row.synopsis.request_type == renewal.synopsis.request_type == "document not found"
    assert len({experience.limits.systems for experience in (row, renewal, stale)}) == 3
    concepts = [
        set(unit.concepts) for experience in (row, renewal, stale) for unit in experience.units if unit.concepts
    ]
    assert not concepts[0] & concepts[1]


def test_questions_are_of_the_kinds_they_are_meant_to_be():
    elsewhere = question_named("KW-4001")
    assert case_named("NH-1041").tenant != elsewhere.tenant
    assert taught("NH-1041").limits.version_from <= elsewhere.facts.version <= taught("NH-1041").limits.version_to
    look_alike = question_named("NH-4002")
    assert look_alike.facts.system in taught("KW-3102").limits.systems
    assert look_alike.facts.system not in taught("NH-1041").limits.systems
    outside = question_named("AR-4003")
    assert outside.facts.system in taught("AR-2014").limits.systems
    assert outside.facts.version > taught("AR-2014").limits.version_to
    known = " ".join(text for case in CASES for text in [case.subject, case.body, *published_texts(case)]).lower()
    assert "wallboard" in question_named("KW-4010").body
    assert not re.search("wallboard|switchboard|presence|absent since", known)


def test_the_examples_of_the_format_page_hold():
    blocks = re.findall(r"```json\n(.*?)```", FORMAT_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    minimal, full = (ADAPTER.validate_json(block) for block in blocks)
    assert isinstance(minimal, CaseRecord)
    assert isinstance(full, CaseRecord)
    draft_of(full).check_against(result_of(full))
    test_spans_lie_in_the_papers_and_quote_something(full)
