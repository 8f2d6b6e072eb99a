"""What admission finds in a draft before people review it (R5, R6)."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.admission import SEVERITIES, CaseEvidence, Check, Finding, Severity, examine_draft, still_holds
from contracts.cases import Effort
from contracts.draft_fields import paths_of, require_path, text_fields
from contracts.errors import InvalidField
from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis, SourceSpan
from contracts.labels import Outcome, ProofLevel, UnitKind
from contracts.masking import PLACEHOLDER, placeholder
from contracts.model import Model
from contracts.personal_data import Certainty, PersonalData, PersonalDataKind

PROVEN = CaseEvidence(papers={"p": 10}, has_execution=True, has_proof=True)


def unit(unit_id: str = "u1", **given: Any) -> KnowledgeUnit:
    values: dict[str, Any] = {
        "id": unit_id,
        "kind": UnitKind.PROPOSITION,
        "text": "The row was missing.",
        "concepts": ("register",),
        "spans": (SourceSpan(paper_id="p", start=0, end=10),),
        "outcome": Outcome.SUCCEEDED,
        "proof_level": ProofLevel.EXECUTED,
    }
    return KnowledgeUnit(**{**values, **given})


def draft(*units: KnowledgeUnit, **given: Any) -> Draft:
    values: dict[str, Any] = {
        "title": "Missing row",
        "domain_id": "data",
        "outcome": Outcome.SUCCEEDED,
        "proof_level": ProofLevel.EXECUTED,
        "synopsis": RoutingSynopsis(request_type="printing", route="data", disposition="added", text="A row."),
        "units": units or (unit(),),
    }
    return Draft(**{**values, **given})


def failed(*units: KnowledgeUnit, **given: Any) -> Draft:
    return draft(*units, outcome=Outcome.FAILED, **given)


def found(text: Draft, evidence: CaseEvidence = PROVEN, **places: list[PersonalData]) -> list[tuple[Check, str]]:
    return [(finding.check, finding.field) for finding in examine_draft(text, evidence, places)]


def test_a_proven_draft_without_personal_data_has_no_finding() -> None:
    assert examine_draft(draft(), PROVEN, {}) == ()


def test_a_span_names_a_paper_of_the_case_and_a_place_in_it() -> None:
    """R5."""
    for span, check, field in (
        (SourceSpan(paper_id="other", start=0, end=1), Check.SPAN_PAPER, "units[1].spans[0].paper_id"),
        (SourceSpan(paper_id="p", start=3, end=11), Check.SPAN_PLACE, "units[1].spans[0].end"),
        (SourceSpan(paper_id="p", start=20, end=21), Check.SPAN_PLACE, "units[1].spans[0].end"),
    ):
        assert found(draft(unit(), unit("u2", spans=(span,)))) == [(check, field)]
        assert SEVERITIES[check] is Severity.MUST_FIX
    assert found(draft(unit(spans=()))) == [(Check.UNIT_SOURCE, "units[0].spans")]
    assert SEVERITIES[Check.UNIT_SOURCE] is Severity.NOTICE


@pytest.mark.parametrize(("has_execution", "has_proof"), [(True, False), (False, True), (False, False)])
def test_a_prescription_needs_execution_and_proof_papers(has_execution: bool, has_proof: bool) -> None:
    """R5."""
    advice = draft(unit(kind=UnitKind.PRESCRIPTION, intent="print again"))
    evidence = CaseEvidence({"p": 10}, has_execution, has_proof)
    assert found(advice, evidence) == [(Check.PRESCRIPTION_PROOF, "units[0].kind")]
    assert found(advice) == []
    assert found(draft(), evidence) == []


@pytest.mark.parametrize(
    "words",
    [
        "It was fixed by a restart.",
        "Resolved with a new key",
        "The fix is to add the row.",
        "A working solution: add it",
        "This solved the printing.",
        "It can be repaired. It could be fixed.",
    ],
)
def test_what_did_not_succeed_is_not_worded_as_a_fix(words: str) -> None:
    """R5: by the unit's own outcome, and elsewhere by the draft's."""
    not_a_fix = unit(outcome=Outcome.FAILED, text=words)
    assert found(failed(not_a_fix)) == [(Check.SUCCESS_WORDING, "units[0].text")]
    assert found(draft(not_a_fix)) == [(Check.SUCCESS_WORDING, "units[0].text")]
    assert (Check.SUCCESS_WORDING, "title") in found(failed(unit(outcome=Outcome.FAILED), title=words))
    assert found(draft(unit(text=words))) == []
    assert SEVERITIES[Check.SUCCESS_WORDING] is Severity.MUST_RESOLVE


@pytest.mark.parametrize(
    "words",
    [
        "It was not fixed by a restart.",
        "Nothing could be fixed by it.",
        "A restart never solved it; the fault came back.",
        "Closed as Won't Fix.",
        "The resolution is open.",
        "A restart didn't fix it, and wasn't resolved by anything else.",
    ],
)
def test_words_that_deny_success_are_no_finding(words: str) -> None:
    assert found(failed(unit(outcome=Outcome.FAILED, text=words))) == []


def test_a_placeholder_is_one_that_the_case_declares() -> None:
    person = placeholder(PersonalDataKind.NAME, 1)
    text = draft(unit(text=f"{person} asked [person 2] about [sic] and [mail 0]."))
    known = CaseEvidence({"p": 10}, True, True, frozenset({person}))
    (finding,) = examine_draft(text, known, {})
    assert finding.check is Check.PLACEHOLDER
    assert finding.severity is Severity.MUST_FIX
    assert text.units[0].text[finding.start : finding.end] == "[person 2]"
    assert len(examine_draft(text, PROVEN, {})) == 2


def test_personal_data_is_listed_with_its_place_and_a_credential_must_go() -> None:
    """R6."""
    name = PersonalData(kind=PersonalDataKind.NAME, certainty=Certainty.LIKELY, start=0, end=4)
    secret = PersonalData(kind=PersonalDataKind.CREDENTIAL, certainty=Certainty.CHECKED, start=2, end=9)
    text = draft(limits=Limits(note="Alex said."))
    findings = examine_draft(text, PROVEN, {"units[0].text": [secret], "limits.note": [name], "title": [name]})
    assert [(each.check, each.field, each.start, each.end) for each in findings] == [
        (Check.PERSONAL_DATA, "title", 0, 4),
        (Check.CREDENTIAL, "units[0].text", 2, 9),
        (Check.PERSONAL_DATA, "limits.note", 0, 4),
    ]
    assert [each.severity for each in findings] == [Severity.MUST_RESOLVE, Severity.MUST_FIX, Severity.MUST_RESOLVE]
    assert "name, likely" in findings[0].message
    assert all(each.accepted for each in findings)


def test_a_finding_holds_no_text_of_the_draft() -> None:
    """R11: a finding is stored and shown; what may have to be erased is not copied into it."""
    canary = "kanarienvogel"
    text = failed(unit(canary, outcome=Outcome.FAILED, text=f"{canary} fixed by {canary}", spans=()), title=canary)
    place = PersonalData(kind=PersonalDataKind.NAME, certainty=Certainty.LIKELY, start=0, end=13)
    findings = examine_draft(text, PROVEN, {field.path: [place] for field in text_fields(text)})
    assert len(findings) > 5
    assert not any(canary in finding.model_dump_json() for finding in findings)


def test_a_findings_id_stays_when_another_unit_goes_and_tells_places_apart() -> None:
    place = PersonalData(kind=PersonalDataKind.NAME, certainty=Certainty.LIKELY, start=0, end=3)
    later = place.model_copy(update={"start": 4, "end": 7})
    both = draft(unit("a"), unit("b"))
    (first, second) = examine_draft(both, PROVEN, {"units[1].text": [place, later]})
    (alone,) = examine_draft(draft(unit("b")), PROVEN, {"units[0].text": [place]})
    (other,) = examine_draft(both, PROVEN, {"units[0].text": [place]})
    assert first.id == alone.id
    assert len({first.id, second.id, other.id}) == 3


def test_a_dismissal_holds_for_the_same_text_only() -> None:
    """R6: looked up by the unit's id, wherever it stands."""
    earlier = draft(unit("a"), unit("b", text="Alex saw it."))
    assert still_holds(earlier, draft(unit("b", text="Alex saw it.")), "units[0].text")
    assert not still_holds(earlier, draft(unit("b", text="Alex saw it")), "units[0].text")
    assert not still_holds(earlier, draft(unit("a", text="Alex saw it.")), "units[0].text")
    assert not still_holds(earlier, draft(), "limits.extra")


class _More(Model):
    remarks: tuple[str, ...] = ("kept",)
    by_language: dict[str, str] = {"de": "auch"}  # noqa: RUF012


class _LaterDraft(Draft):
    appendix: _More = _More()


def test_a_field_that_is_added_later_is_examined_without_being_told() -> None:
    later = _LaterDraft.model_validate(draft().model_dump())
    paths = {field.path: field.text for field in text_fields(later)}
    assert paths["appendix.remarks[0]"] == "kept"
    assert paths["appendix.by_language[de]"] == "auch"
    place = PersonalData(kind=PersonalDataKind.NAME, certainty=Certainty.LIKELY, start=0, end=4)
    assert found(later, PROVEN, **{"appendix.remarks[0]": [place]}) == [(Check.PERSONAL_DATA, "appendix.remarks[0]")]


def test_every_text_of_a_draft_is_walked() -> None:
    """R6: whatever string the stored JSON holds is a text that was looked at, or a label of a closed list."""
    whole = draft(
        unit(use_when="Always.", avoid_when="Never.", intent="To print.", limits=Limits(note="n", products=("P",))),
        limits=Limits(systems=("S",), environments=("E",), version_from="1", version_to="2", schema_version="3"),
        effort=Effort(changed_scope="More letters."),
    )
    walked = [field.text for field in text_fields(whole)]
    labels = {label.value for kind in (Outcome, ProofLevel, UnitKind) for label in kind}
    assert sorted(walked) == sorted(
        text for text in _strings(json.loads(whole.model_dump_json())) if text not in labels
    )


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in _strings(each)]


def test_a_path_names_a_field_of_the_draft_or_is_refused_with_those_there_are() -> None:
    text = draft(unit(), unit("u2"))
    for path in ("title", "units", "units[1]", "units[1].text", "synopsis.text", "units[0].spans[0].end", "effort"):
        require_path(text, path, field="comments[0].field")
    for path in ("", "Title", "units[2].text", "units[u2].text", "synopsis", "limits.nothing"):
        if path in paths_of(text):
            continue
        with pytest.raises(InvalidField) as refused:
            require_path(text, path, field="comments[0].field")
        assert refused.value.field == "comments[0].field"
        assert "title" in refused.value.accepted


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=80))
def test_wording_and_placeholders_are_found_in_any_text_at_their_places(text: str) -> None:
    words = f"{text} fixed by [person 7]"
    for finding in examine_draft(failed(unit(outcome=Outcome.FAILED, text=words)), PROVEN, {}):
        quoted = words[finding.start : finding.end]
        assert PLACEHOLDER.fullmatch(quoted) or finding.check is not Check.PLACEHOLDER
        assert quoted.strip()


def test_every_check_says_what_is_the_matter_and_what_to_do() -> None:
    assert set(SEVERITIES) == set(Check)
    for check in Check:
        finding = Finding(id="x", check=check, field="title")
        assert finding.message.endswith(".")
        assert finding.accepted
        again = Finding.model_validate_json(finding.model_dump_json())
        assert again == finding
    assert isinstance(Check.CREDENTIAL, Enum)
