"""Arrivals, results and effort (R1, R5, R19, R22)."""

import json
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts import limits
from contracts.casefile import parse_line
from contracts.cases import CaseFacts, CaseResult, Delivery, Effort, Origin, Receipt
from contracts.errors import (
    CaseloreError,
    InvalidCaseFile,
    InvalidField,
    TextTooLong,
    UnstorableText,
    UnverifiedResult,
)
from contracts.labels import Outcome, ProofLevel
from deploy.commands.example_case import EXAMPLE

steady = settings(deadline=None)
AT = datetime(2026, 3, 1, tzinfo=UTC)
ORIGIN = Origin(tenant_id="acme", source="desk", external_id="SD-1598")
RESULT, CASE, RUN, PROOF = (f"00000000-0000-4000-8000-00000000000{number}" for number in range(4))
HOURS = ("estimate_hours", "active_hours", "waiting_hours")


def result(outcome: Outcome, level: ProofLevel, execution: str | None, proof: str | None) -> CaseResult:
    return CaseResult(
        id=RESULT,
        case_id=CASE,
        outcome=outcome,
        proof_level=level,
        summary="Row added, document printed.",
        execution_paper_id=execution,
        proof_paper_id=proof,
    )


def delivery(**changes: Any) -> Delivery:
    return Delivery.model_validate(
        {"origin": ORIGIN, "delivery_id": "d-1", "occurred_at": AT, "received_at": AT, **changes}
    )


@pytest.mark.parametrize(
    ("outcome", "level", "execution", "proof"), list(product(Outcome, ProofLevel, (None, RUN), (None, PROOF)))
)
def test_r5_a_result_has_the_papers_of_its_level(
    outcome: Outcome, level: ProofLevel, execution: str | None, proof: str | None
) -> None:
    shown = level in (ProofLevel.EXECUTED, ProofLevel.VERIFIED)
    allowed = (
        (execution is not None or not shown)
        and (proof is not None or level is not ProofLevel.VERIFIED)
        and (shown or outcome is not Outcome.SUCCEEDED)
        and (outcome, level) != (Outcome.UNVERIFIED, ProofLevel.VERIFIED)
    )
    if allowed:
        assert result(outcome, level, execution, proof).outcome is outcome
    else:
        with pytest.raises((UnverifiedResult, InvalidField)) as refusal:
            result(outcome, level, execution, proof)
        assert refusal.value.field in ("execution_paper_id", "proof_paper_id", "proof_level", "outcome")


@pytest.mark.parametrize(
    ("outcome", "level", "execution", "proof", "error", "field"),
    [
        (Outcome.SUCCEEDED, ProofLevel.EXECUTED, None, None, UnverifiedResult, "execution_paper_id"),
        (Outcome.SUCCEEDED, ProofLevel.VERIFIED, None, PROOF, UnverifiedResult, "execution_paper_id"),
        (Outcome.SUCCEEDED, ProofLevel.VERIFIED, RUN, None, UnverifiedResult, "proof_paper_id"),
        (Outcome.SUCCEEDED, ProofLevel.REPORTED, RUN, PROOF, UnverifiedResult, "proof_level"),
        (Outcome.SUCCEEDED, ProofLevel.NONE, None, None, UnverifiedResult, "proof_level"),
        (Outcome.UNVERIFIED, ProofLevel.VERIFIED, RUN, PROOF, InvalidField, "outcome"),
    ],
)
def test_r5_the_refusal_names_what_is_missing(
    outcome: Outcome,
    level: ProofLevel,
    execution: str | None,
    proof: str | None,
    error: type[CaseloreError],
    field: str,
) -> None:
    with pytest.raises(error) as refusal:
        result(outcome, level, execution, proof)
    assert refusal.value.field == field
    assert refusal.value.accepted


def test_proof_levels_are_ranked_weakest_first() -> None:
    ranked = [ProofLevel.NONE, ProofLevel.REPORTED, ProofLevel.EXECUTED, ProofLevel.VERIFIED]
    assert [level.rank for level in ranked] == [0, 1, 2, 3]
    assert sorted(ProofLevel, key=lambda level: level.rank) == ranked


@pytest.mark.parametrize("name", HOURS)
@given(hours=st.floats(0, 1e6))
@steady
def test_r19_hours_are_kept_each_under_its_own_name(name: str, hours: float) -> None:
    effort = Effort.model_validate({name: hours})
    assert {key: getattr(effort, key) for key in HOURS} == {**dict.fromkeys(HOURS), name: hours}


@pytest.mark.parametrize("name", HOURS)
@pytest.mark.parametrize("hours", [-0.1, -1e300, 1e6 + 1, float("inf"), float("-inf"), float("nan"), "many"])
def test_r22_impossible_hours_are_refused_by_name(name: str, hours: object) -> None:
    with pytest.raises(ValidationError) as refusal:
        Effort.model_validate({name: hours})
    assert refusal.value.errors()[0]["loc"] == (name,)


def test_r1_a_delivery_may_come_without_text_or_revision() -> None:
    bare = delivery()
    assert (bare.subject, bare.body, bare.revision) == ("", "", None)


@pytest.mark.parametrize("revision", [0, 1, 2**31 - 1])
def test_r1_revisions_fit_the_database(revision: int) -> None:
    assert delivery(revision=revision).revision == revision


@pytest.mark.parametrize("revision", [-1, 2**31, 1.5, "latest"])
def test_r22_a_revision_that_does_not_fit_is_refused_by_name(revision: object) -> None:
    with pytest.raises(ValidationError) as refusal:
        delivery(revision=revision)
    assert refusal.value.errors()[0]["loc"] == ("revision",)


@pytest.mark.parametrize(
    ("changes", "error", "field"),
    [
        ({"body": "x" * (limits.DELIVERED_BODY + 1)}, TextTooLong, "body"),
        ({"body": "\x00"}, UnstorableText, "body"),
        ({"subject": "\ud83d"}, UnstorableText, "subject"),
        ({"delivery_id": " "}, InvalidField, "delivery_id"),
        ({"origin": {"tenant_id": "acme", "source": "desk", "external_id": ""}}, InvalidField, "external_id"),
        ({"origin": {"tenant_id": "", "source": "desk", "external_id": "1"}}, InvalidField, "tenant_id"),
    ],
)
def test_r22_a_bad_delivery_is_refused_by_field(
    changes: dict[str, Any], error: type[CaseloreError], field: str
) -> None:
    with pytest.raises(error) as refusal:
        delivery(**changes)
    assert refusal.value.field == field


def test_r1_an_external_id_is_any_text_and_kept_exactly() -> None:
    for external_id in ("17", "SD-1598", "sd-1598", " 17", "INC/2026/03 #4", "票-1", "0017"):
        origin = Origin(tenant_id="acme", source="desk", external_id=external_id)
        assert origin.external_id == external_id
    assert Origin(tenant_id="a", source="d", external_id="SD-1") != Origin(
        tenant_id="b", source="d", external_id="SD-1"
    )


def test_facts_count_their_labels() -> None:
    most = tuple(f"ref-{number}" for number in range(limits.LABELS_PER_FIELD))
    assert CaseFacts(object_refs=most).object_refs == most
    with pytest.raises(ValidationError):
        CaseFacts(object_refs=(*most, "one more"))


def test_stored_records_are_frozen_and_ignore_fields_of_later_releases() -> None:
    receipt = Receipt.model_validate({"arrival_id": RESULT, "case_id": CASE, "disposition": "opened", "added_later": 1})
    assert "added_later" not in receipt.model_dump()
    with pytest.raises(ValidationError):
        receipt.case_id = RUN  # pyright: ignore[reportAttributeAccessIssue]


@given(st.floats(0, 1e6))
@steady
def test_r19_an_estimate_is_none_or_one_that_work_can_be_compared_with(hours: float) -> None:
    """Refused where it is recorded, not where it is read: what was recorded before still loads."""
    effort = Effort(estimate_hours=hours)
    if hours == 0 or hours >= limits.ESTIMATE_HOURS:
        effort.check_estimate()
        return
    with pytest.raises(InvalidField) as refusal:
        effort.check_estimate()
    assert refusal.value.field == "effort.estimate_hours"
    assert f"{limits.ESTIMATE_HOURS:g}" in refusal.value.accepted


@pytest.mark.parametrize("estimate", [1e-303, 0.009])
def test_r19_a_line_with_an_estimate_that_nobody_means_is_refused_before_anything_is_sent(estimate: float) -> None:
    line = {**EXAMPLE, "result": {**EXAMPLE["result"], "effort": {"estimate_hours": estimate, "active_hours": 3}}}
    with pytest.raises(InvalidCaseFile) as refusal:
        parse_line(json.dumps(line), 7)
    assert refusal.value.field == "effort.estimate_hours"
    assert parse_line(json.dumps(EXAMPLE), 7)
