"""One example for each request body, as the OpenAPI document shows it; together they tell one case."""

from __future__ import annotations

from typing import Any

from fastapi.openapi.models import Example

CASE_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a01"
EXECUTION_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a02"
PROOF_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a03"
RESULT_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a04"
EXPERIENCE_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a05"
DECISION_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a06"
COMMAND_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a07"
RETRIEVAL_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a08"
USE_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a09"
LINK_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a0a"
OTHER_CASE_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a0b"
OTHER_EXPERIENCE_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a0c"
DELEGATION_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a0d"
_REF = f"experience/{EXPERIENCE_ID}"
_DIGEST = "0f343b0931126a20f133d67c2b018a3b5f0e2d2d2c5b0f3c5b8d5f6f0a4b521d"


def _example(summary: str, value: dict[str, Any]) -> dict[str, Example]:
    return {"example": Example(summary=summary, value=value)}


DELIVERY = _example(
    "A ticket from a service desk",
    {
        "origin": {"tenant_id": "north", "source": "service-desk", "external_id": "SD-1042"},
        "revision": 1,
        "delivery_id": "sd-1042-1",
        "occurred_at": "2026-03-02T08:15:00Z",
        "received_at": "2026-03-02T08:15:03Z",
        "subject": "Renewal letters are not printed",
        "body": "Since the update on Friday no renewal letter leaves the print queue. Invoices print.",
        "facts": {"domain_id": "data", "product": "Policy", "version": "7.4", "environment": "production"},
    },
)
STATE_CHANGE = _example(
    "The case waits for somebody",
    {
        "state": "waiting",
        "expected_revision": 1,
        "at": "2026-03-02T10:00:00Z",
        "waiting_on": "the owner of the letter template",
    },
)
_PAPERS: list[dict[str, Any]] = [
    {
        "id": EXECUTION_ID,
        "kind": "execution",
        "title": "What was done",
        "text": "The missing register row of the renewal letter was inserted in production.",
    },
    {
        "id": PROOF_ID,
        "kind": "proof",
        "title": "What shows it",
        "text": "12 of 12 renewal letters of the next run were printed.",
    },
]
PAPERS = _example("An execution paper and a proof paper", {"papers": _PAPERS})
RESULT = _example(
    "A verified success that completes the case",
    {
        "result": {
            "id": RESULT_ID,
            "case_id": CASE_ID,
            "outcome": "succeeded",
            "proof_level": "verified",
            "summary": "Letters print again after the register row was inserted.",
            "execution_paper_id": EXECUTION_ID,
            "proof_paper_id": PROOF_ID,
            "effort": {"estimate_hours": 4, "active_hours": 2.5, "waiting_hours": 20},
        },
        "papers": _PAPERS,
        "complete_at": "2026-03-03T09:00:00Z",
    },
)
DRAFT: dict[str, Any] = {
    "title": "A letter type without its register row is not printed",
    "domain_id": "data",
    "outcome": "succeeded",
    "proof_level": "verified",
    "synopsis": {
        "request_type": "printing",
        "symptom_tags": ["letters missing", "print queue"],
        "product": "Policy",
        "route": "data investigation",
        "disposition": "register row inserted",
        "text": "One letter type was not printed after an update while others were.",
    },
    "units": [
        {
            "id": "u1",
            "kind": "proposition",
            "text": "The print run takes only letter types that have a row in the register.",
            "concepts": ["print register"],
            "outcome": "succeeded",
            "proof_level": "verified",
        },
        {
            "id": "u2",
            "kind": "prescription",
            "text": "Insert the register row of the letter type and start the next print run.",
            "intent": "have the letter type printed again",
            "use_when": "The letters exist and their type has no register row.",
            "avoid_when": "The letters were never created.",
            "outcome": "succeeded",
            "proof_level": "verified",
        },
    ],
    "limits": {"products": ["Policy"], "version_from": "7.2", "version_to": "7.4"},
}
PROPOSAL = _example("What the case taught", {"experience_id": EXPERIENCE_ID, "result_id": RESULT_ID, "draft": DRAFT})
DECISION = _example(
    "The curator accepts the text with this digest",
    {
        "decision_id": DECISION_ID,
        "experience_id": EXPERIENCE_ID,
        "stage": "curator_review",
        "digest": _DIGEST,
        "verdict": "accept",
        "comment": "",
    },
)
DECISION["return"] = Example(
    summary="Returned, with what to change and where",
    value={
        "decision_id": DECISION_ID,
        "experience_id": EXPERIENCE_ID,
        "stage": "curator_review",
        "digest": _DIGEST,
        "verdict": "return",
        "comment": "One statement needs its version.",
        "comments": [{"field": "units[0].text", "text": "Since which version does the run need the row?"}],
    },
)
DECISION["dismiss"] = Example(
    summary="Accepted, with a finding of admission dismissed",
    value={
        "decision_id": DECISION_ID,
        "experience_id": EXPERIENCE_ID,
        "stage": "curator_review",
        "digest": _DIGEST,
        "verdict": "accept",
        "dismissed": [
            {
                "finding_id": "personal_data-5d41402abc4b2a76b9719d91",
                "reason": "Jordan is the name of the print server.",
            }
        ],
    },
)
CHANGE = _example(
    "Retire what no longer holds",
    {
        "command_id": COMMAND_ID,
        "experience_id": EXPERIENCE_ID,
        "kind": "retire",
        "reason": "Version 8 writes the register row itself.",
    },
)
CHANGE["suspend"] = Example(
    summary="Correct what is wrong, and hide it meanwhile",
    value={
        "command_id": COMMAND_ID,
        "experience_id": EXPERIENCE_ID,
        "kind": "correct",
        "reason": "The row is written by the nightly run since 7.4.",
        "draft": DRAFT,
        "suspend": True,
    },
)
CHANGE["revise"] = Example(
    summary="A reviewer's own wording, for two others to review",
    value={
        "command_id": COMMAND_ID,
        "experience_id": EXPERIENCE_ID,
        "kind": "revise",
        "reason": "Shorter.",
        "draft": DRAFT,
        "digest": _DIGEST,
    },
)
CHANGE["supersede"] = Example(
    summary="Another experience takes over; the owner read the difference in scope",
    value={
        "command_id": COMMAND_ID,
        "experience_id": EXPERIENCE_ID,
        "kind": "supersede",
        "reason": "The other text covers both letter types.",
        "superseded_by": OTHER_EXPERIENCE_ID,
        "acknowledged_scope": "4f5b3b0931126a20f133d67c2b018a3b5f0e2d2d2c5b0f3c5b8d5f6f0a4b521d",
    },
)
CHANGE["reinstate"] = Example(
    summary="Bring a retired experience back, through both reviews",
    value={
        "command_id": COMMAND_ID,
        "experience_id": EXPERIENCE_ID,
        "kind": "reinstate",
        "reason": "Version 8.1 leaves the register row out again.",
        "draft": DRAFT,
    },
)
DELEGATION = _example(
    "A curator's holiday",
    {
        "id": DELEGATION_ID,
        "delegate_id": "robin",
        "domain_id": "data",
        "role": "curator",
        "reason": "On leave until the middle of the month.",
        "expires_at": "2027-01-15T00:00:00Z",
    },
)
RETRIEVAL = _example(
    "An agent looks for what earlier cases taught",
    {
        "request_id": RETRIEVAL_ID,
        "profile_id": "data-investigator",
        "purpose": "find the cause of a ticket",
        "objective": "Renewal letters are not printed since the update; invoices are.",
        "case_id": CASE_ID,
        "product": "Policy",
        "version": "7.4",
        "environment": "production",
        "results": 5,
    },
)
READ = _example("Read the first candidate in full", {"ref": _REF, "revision": 1})
MEMORY_USE = _example(
    "One candidate chosen, to be checked first",
    {
        "decision_id": USE_ID,
        "request_id": RETRIEVAL_ID,
        "summary": "Check the register before anything is inserted.",
        "citations": [
            {"ref": _REF, "revision": 1, "verdict": "chosen", "why": "Same symptom, and the version is in range."}
        ],
        "checks": [{"check_id": "letters-exist", "text": "The renewal letters of the run exist in the data."}],
    },
)
CHECK = _example(
    "The check held",
    {"decision_id": USE_ID, "check_id": "letters-exist", "outcome": "held", "note": "12 letters of 2 March."},
)
CASE_LINK = _example(
    "The work goes on in an earlier case",
    {
        "id": LINK_ID,
        "case_id": CASE_ID,
        "other_case_id": OTHER_CASE_ID,
        "kind": "merged_into",
        "reason": "Both customers wait for the same register row; the earlier case has the owner.",
    },
)
LINK_REMOVAL = _example("They turned out to be two", {"reason": "The second letter fails for another reason."})
TENANT = _example("An organisation", {"id": "north", "name": "North Insurance"})
DOMAIN = _example("An owned area", {"id": "data", "name": "Data", "description": "Faults that lie in stored data."})
PRINCIPAL = _example(
    "An agent with a key",
    {
        "principal": {"id": "triage-agent", "kind": "agent", "name": "Triage agent"},
        "issue_key": True,
        "key_expires_at": "2099-01-01T00:00:00Z",
    },
)
GRANT = _example(
    "A whole tenant, until a time",
    {
        "principal_id": "triage-agent",
        "tenant_id": "north",
        "purpose": "first-line support",
        "expires_at": "2099-01-01T00:00:00Z",
    },
)
REVOCATION = _example("A role", {"principal_id": "dana", "what": "role", "domain_id": "data", "role": "curator"})
RECONCILE = _example("Look and repair", {"repair": True})
ROLE = _example("A curator", {"principal_id": "dana", "domain_id": "data", "role": "curator"})
PROFILE = _example(
    "A requesting role with its strategy",
    {
        "id": "data-investigator",
        "domain_id": "data",
        "strategy_id": "data-investigation",
        "strategy_version": 1,
        "principals": ["triage-agent"],
    },
)
