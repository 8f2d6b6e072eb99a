"""Orders, and what is left of records whose text went (R11)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts.erased_records import (
    erased_answer,
    erased_candidate,
    erased_command,
    erased_draft,
    erased_nearest,
    erased_request,
    marked_citations,
)
from contracts.erased_text import ERASED
from contracts.erasure import ErasureRequest, ErasureTarget
from contracts.errors import CaseloreError
from contracts.experience import Draft
from contracts.retrieval import RetrievalRequest
from contracts.review import ChangeCommand, ReviewDecision

ID = "0d5bb3a4-5e0c-4e0e-9a45-6a2f3f0f8a11"
ORDER: dict[str, Any] = {"erasure_id": ID, "tenant_id": "north", "reason": "Request 7"}
CANARY = "canarybird"
DRAFT: dict[str, Any] = {
    "title": CANARY,
    "domain_id": "data",
    "outcome": "failed",
    "proof_level": "executed",
    "synopsis": {"request_type": CANARY, "route": CANARY, "disposition": CANARY, "text": CANARY},
    "units": [
        {"id": CANARY, "kind": "proposition", "text": CANARY, "concepts": [CANARY], "outcome": "failed",
         "proof_level": "executed"}
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "at_fault"),
    [
        ({}, "case_id"),
        ({"case_id": ID, "subject": ["Anna Example"]}, "case_id"),
        ({"subject": ["ab"]}, "subject"),
        ({"subject": ["Anna\x00"]}, "subject"),
        ({"subject": ["x" * 301]}, "subject"),
        ({"subject": ["Anna Example"], "keep_published": True}, "keep_published"),
        ({"subject": ["Anna Example"], "reason": "Mail of ANNA  EXAMPLE"}, "reason"),
    ],
)
def test_r22_an_order_that_cannot_be_meant_is_refused(fields: dict[str, Any], at_fault: str) -> None:
    with pytest.raises(CaseloreError) as refused:
        ErasureRequest.model_validate({**ORDER, **fields})
    assert refused.value.field == at_fault
    assert refused.value.accepted


def test_a_subject_has_twenty_values_at_most_and_none_is_shown() -> None:
    with pytest.raises(ValueError, match="20"):
        ErasureTarget(tenant_id="north", subject=tuple(f"value {number}" for number in range(21)))
    assert "Anna" not in repr(ErasureTarget(tenant_id="north", subject=("Anna Example",)))


def test_what_is_left_of_a_record_reads_as_before_and_says_nothing() -> None:
    left = erased_draft(DRAFT)
    assert (Draft.model_validate(left).title, left["outcome"], left["domain_id"]) == (ERASED, "failed", "data")
    decision = {
        "decision_id": ID, "experience_id": ID, "stage": "curator_review", "digest": "d", "verdict": "return",
        "comment": CANARY, "comments": [{"field": CANARY, "text": CANARY}],
    }  # fmt: skip
    assert ReviewDecision.model_validate(erased_command(decision)).comment == ERASED
    change = {"command_id": ID, "experience_id": ID, "kind": "correct", "reason": CANARY, "draft": DRAFT}
    assert ChangeCommand.model_validate(erased_command(change)).reason == ERASED
    request = {
        "request_id": ID, "profile_id": "p", "purpose": CANARY, "objective": CANARY, "product": CANARY,
        "origin": {"source": "desk", "external_id": CANARY}, "object_refs": [CANARY], "tokens": 500,
    }  # fmt: skip
    assert RetrievalRequest.model_validate(erased_request(request)).tokens == 500
    answer = {
        "notes": [CANARY], "not_read": [CANARY], "routes": [{"why": CANARY}], "abstained": True,
        "nearest": [{"ref": f"experience/{ID}", "revision": 1, "why": [CANARY]}],
    }  # fmt: skip
    candidate = {
        "ref": f"case/{ID}", "title": CANARY, "extract": CANARY, "limits": {"note": CANARY}, "revision": 3,
        "source_origin": {"source": "desk", "external_id": CANARY}, "validity": {"state": "ok", "reasons": [CANARY]},
        "effort": {"active_hours": 3.0, "changed_scope": CANARY, "comparison": "scope_changed"},
        "reason": [
            {"route": "lexical", "collection": "detail", "rank": 1, "fields": ["text"]},
            {"route": "concept_links", "collection": "detail", "rank": 1, "fields": [f"concept: {CANARY}"]},
        ],
    }  # fmt: skip
    everything = [left, erased_command(decision), erased_command(change), erased_request(request)]
    everything += [erased_answer(answer), erased_candidate(candidate)]
    assert CANARY not in json.dumps(everything)
    assert erased_candidate(candidate)["revision"] == 3
    assert erased_candidate(candidate)["effort"]["active_hours"] == 3.0
    assert [match["fields"] for match in erased_candidate(candidate)["reason"]] == [["text"], ["concept"]]
    pairs = ((erased_command, decision), (erased_request, request), (erased_answer, answer))
    for erase, record in (*pairs, (erased_candidate, candidate)):
        assert erase(erase(record)) == erase(record)


def test_an_answer_says_nothing_of_what_was_erased_and_came_near() -> None:
    gone, left = ({"ref": f"experience/{number}", "revision": 1, "why": ["not for it"]} for number in (1, 2))
    answer = {"abstained": True, "nearest": [gone, left]}
    assert erased_nearest(answer, ["experience/1"])["nearest"] == [{**gone, "why": [ERASED]}, left]


def test_a_paper_says_which_of_what_it_cites_was_erased() -> None:
    paper = json.dumps({"summary": "s", "citations": [{"ref": "case/1", "why": "w"}, {"ref": "case/2", "why": "w"}]})
    marked = json.loads(marked_citations(paper, ["case/1"], words=True))
    assert marked["citations"] == [{"ref": "case/1", "why": ERASED, "erased": True}, {"ref": "case/2", "why": "w"}]
    assert json.loads(marked_citations(paper, ["case/1"], words=False))["citations"][0]["why"] == "w"
    once = marked_citations(paper, ["case/1"], words=True)
    assert marked_citations(once, ["case/1"], words=True) == once
    assert marked_citations("no JSON", ["case/1"], words=True) == "no JSON"
    assert marked_citations(paper, ["case/3"], words=True) == paper
