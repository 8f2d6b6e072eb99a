"""Requests that must be refused, each with the problem that it gets (R22)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.api.world import delivery, draft, fresh, verified

NOWHERE = "8a8f6f0e-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Bad:
    method: str
    path: str
    body: Any
    expected: tuple[int, str, str]
    as_: str = "agent"


def arrival(**given: Any) -> dict[str, Any]:
    return {**delivery().model_dump(mode="json"), **given}


def request(**given: Any) -> dict[str, Any]:
    return {"request_id": fresh(), "profile_id": "investigator", "purpose": "p", "objective": "o", **given}


def result(**given: Any) -> dict[str, Any]:
    found, _ = verified(NOWHERE)
    return {"result": {**found.model_dump(mode="json"), **given}}


def grant(**given: Any) -> dict[str, Any]:
    return {"principal_id": "guest", "tenant_id": "north", "purpose": "support", **given}


def profile(**given: Any) -> dict[str, Any]:
    named = {"id": "p", "domain_id": "data", "strategy_id": "data-investigation", "strategy_version": 1}
    return {**named, **given}


def decision(**given: Any) -> dict[str, Any]:
    named = {"decision_id": fresh(), "experience_id": NOWHERE, "stage": "owner_review"}
    return {**named, "digest": "d", "verdict": "accept", **given}


def proposal(**given: Any) -> dict[str, Any]:
    said = {**draft().model_dump(mode="json"), **given}
    return {"experience_id": fresh(), "result_id": NOWHERE, "draft": said}


STATE = {"state": "open", "expected_revision": 1, "at": "2026-03-02T08:00:00Z"}
RETIRE = {"command_id": fresh(), "experience_id": NOWHERE, "kind": "retire", "reason": "r"}
CITATION = {"ref": "case/1", "revision": 1, "verdict": "chosen", "why": "w"}
USE = {"decision_id": fresh(), "request_id": NOWHERE, "summary": "s"}
BAD = {
    "nul in an id": Bad("POST", "/v1/arrivals", arrival(delivery_id="a\x00b"), (422, "UnstorableText", "delivery_id")),
    "surrogate in an origin": Bad(
        "POST", "/v1/arrivals",
        arrival(origin={"tenant_id": "north", "source": "desk", "external_id": "\ud83d"}),
        (422, "UnstorableText", "origin.external_id"),
    ),
    "nul": Bad(
        "POST", f"/v1/cases/{NOWHERE}/state", {**STATE, "waiting_on": "\x00"},
        (422, "UnstorableText", "waiting_on"),
    ),
    "nul in a key": Bad("POST", "/v1/changes", {"a\x00b": 1}, (422, "UnstorableText", "body")),
    "nul deep inside": Bad(
        "POST", "/v1/experiences", proposal(synopsis={"symptom_tags": ["a", "\x00"]}),
        (422, "UnstorableText", "draft.synopsis.symptom_tags.1"),
    ),
    "too deep": Bad(
        "POST", "/v1/arrivals", arrival(attributes={"a": json.loads("[" * 50 + "]" * 50)}),
        (422, "InvalidField", "attributes.a" + ".0" * 29),
    ),
    "infinite": Bad("POST", "/v1/arrivals", arrival(attributes={"a": 1e999}), (422, "InvalidField", "body")),
    "too many attributes": Bad(
        "POST", "/v1/arrivals", arrival(attributes={"a": "x" * 1_000_001}), (422, "TextTooLong", "attributes")
    ),
    "half an origin": Bad(
        "GET", "/v1/cases?tenant_id=north&source=desk", None, (422, "InvalidField", "external_id")
    ),
    "arrivals of nothing": Bad("GET", f"/v1/cases/{NOWHERE}/arrivals", None, (404, "UnknownCase", "case_id")),
    "content of nobody": Bad("GET", f"/v1/contents/{NOWHERE}", None, (404, "UnknownContent", "content_id")),
    "nul in a plain field": Bad(
        "POST", "/v1/reviews",
        decision(digest="\x00"),
        (422, "UnstorableText", "digest"),
    ),
    "surrogate": Bad("POST", "/v1/reviews", decision(digest="\ud83d"), (422, "UnstorableText", "digest")),
    "body too long": Bad("POST", "/v1/arrivals", arrival(body="x" * 8_000_001), (422, "TextTooLong", "body")),
    "line too long": Bad("POST", "/v1/arrivals", arrival(subject="x" * 301), (422, "TextTooLong", "subject")),
    "missing": Bad("POST", "/v1/arrivals", {}, (422, "InvalidField", "origin")),
    "misspelt": Bad("POST", "/v1/arrivals", arrival(subjekt="x"), (422, "InvalidField", "subjekt")),
    "not an object": Bad("POST", "/v1/arrivals", [1], (422, "InvalidField", "")),
    "a list instead of text": Bad("POST", "/v1/arrivals", arrival(subject=["x"]), (422, "InvalidField", "subject")),
    "time without zone": Bad(
        "POST", "/v1/arrivals", arrival(occurred_at="2026-03-02T08:00:00"), (422, "InvalidField", "occurred_at")
    ),
    "time that can't be read back": Bad(
        "POST", "/v1/arrivals", arrival(occurred_at="9999-12-31T23:00:00-14:00"), (422, "InvalidField", "occurred_at")
    ),
    "revision out of range": Bad("POST", "/v1/arrivals", arrival(revision=2**31), (422, "InvalidField", "revision")),
    "tenant outside the grants": Bad(
        "POST", "/v1/arrivals", delivery("south").model_dump(mode="json"), (404, "UnknownTenant", "tenant_id")
    ),
    "unknown domain": Bad(
        "POST", "/v1/arrivals", arrival(facts={"domain_id": "nowhere"}), (404, "UnknownDomain", "domain_id")
    ),
    "unknown case": Bad("GET", f"/v1/cases/{NOWHERE}", None, (404, "UnknownCase", "case_id")),
    "case id of another form": Bad("GET", "/v1/cases/42", None, (422, "InvalidField", "case_id")),
    "no tenant": Bad("GET", "/v1/cases", None, (422, "InvalidField", "tenant_id")),
    "nul in the query": Bad("GET", "/v1/cases?tenant_id=%00", None, (422, "UnstorableText", "tenant_id")),
    "unknown state": Bad("GET", "/v1/cases?tenant_id=north&state=x", None, (422, "InvalidField", "state")),
    "limit": Bad("GET", "/v1/cases?tenant_id=north&limit=0", None, (422, "InvalidField", "limit")),
    "state of no case": Bad("POST", f"/v1/cases/{NOWHERE}/state", STATE, (404, "UnknownCase", "case_id")),
    "waiting on nobody": Bad(
        "POST", f"/v1/cases/{NOWHERE}/state", {**STATE, "state": "waiting"}, (422, "InvalidField", "waiting_on")
    ),
    "no papers": Bad("POST", f"/v1/cases/{NOWHERE}/papers", {"papers": []}, (422, "InvalidField", "papers")),
    "two cases named": Bad("POST", f"/v1/cases/{fresh()}/result", result(), (422, "InvalidField", "result.case_id")),
    "success without proof": Bad(
        "POST", f"/v1/cases/{NOWHERE}/result", result(proof_paper_id=None),
        (422, "UnverifiedResult", "proof_paper_id"),
    ),
    "proposal without result": Bad(
        "POST", "/v1/experiences",
        proposal(),
        (422, "UnverifiedResult", "result_id"),
    ),
    "overstated draft": Bad(
        "POST", "/v1/experiences",
        proposal(outcome="failed"),
        (422, "OutcomeOverstated", "units.outcome"),
    ),
    "unknown experience": Bad("GET", f"/v1/experiences/{NOWHERE}", None, (404, "UnknownExperience", "experience_id")),
    "decision on nothing": Bad(
        "POST", "/v1/reviews",
        decision(),
        (404, "UnknownExperience", "experience_id"),
    ),
    "rejection without comment": Bad(
        "POST", "/v1/reviews",
        decision(verdict="reject"),
        (422, "InvalidField", "comment"),
    ),
    "change of nothing": Bad(
        "POST", "/v1/changes", RETIRE,
        (404, "UnknownExperience", "experience_id"),
    ),
    "too long a wait": Bad(
        "POST", "/v1/changes?wait=31", RETIRE,
        (422, "InvalidField", "wait"),
    ),
    "unknown command": Bad("GET", f"/v1/commands/{NOWHERE}", None, (404, "UnknownCommand", "command_id")),
    "profile of others": Bad("POST", "/v1/retrievals", request(), (404, "UnknownProfile", "profile_id"), "berta"),
    "tenant of others": Bad("POST", "/v1/retrievals", request(tenant_id="south"), (403, "OutsideScope", "tenant_id")),
    "unknown version": Bad(
        "POST", "/v1/retrievals", request(strategy_version=10**12), (404, "UnknownStrategy", "strategy_version")
    ),
    "case of nobody": Bad("POST", "/v1/retrievals", request(case_id=NOWHERE), (404, "UnknownCase", "case_id")),
    "unknown retrieval": Bad("GET", f"/v1/retrievals/{NOWHERE}", None, (404, "UnknownRetrieval", "request_id")),
    "read of nothing": Bad(
        "POST", f"/v1/retrievals/{NOWHERE}/reads", {"ref": "case/1", "revision": 1},
        (404, "UnknownRetrieval", "request_id"),
    ),
    "decision on no retrieval": Bad(
        "POST", f"/v1/retrievals/{NOWHERE}/decisions", USE, (404, "UnknownRetrieval", "request_id")
    ),
    "two retrievals named": Bad(
        "POST", f"/v1/retrievals/{fresh()}/decisions", USE, (422, "InvalidField", "request_id")
    ),
    "one candidate cited twice": Bad(
        "POST", f"/v1/retrievals/{NOWHERE}/decisions",
        {**USE, "citations": [CITATION, {**CITATION, "verdict": "rejected"}]},
        (422, "InvalidField", "citations.ref"),
    ),
    "unknown check": Bad(
        "POST", "/v1/checks", {"decision_id": NOWHERE, "check_id": "c", "outcome": "held"},
        (404, "UnknownRetrieval", "check_id"),
    ),
    "not an administrator": Bad("PUT", "/v1/tenants", {"id": "x", "name": "X"}, (403, "NotPermitted", "")),
    "another kind of principal": Bad(
        "PUT", "/v1/principals", {"principal": {"id": "agent", "kind": "person", "name": "A"}},
        (409, "IdempotencyConflict", "id"), "admin",
    ),
    "grant to nobody": Bad(
        "PUT", "/v1/grants", grant(principal_id="nobody"), (404, "UnknownPrincipal", "principal_id"), "admin"
    ),
    "grant of no tenant": Bad("PUT", "/v1/grants", grant(tenant_id="x"), (404, "UnknownTenant", "tenant_id"), "admin"),
    "grant of no case": Bad("PUT", "/v1/grants", grant(case_id="x"), (404, "UnknownCase", "case_id"), "admin"),
    "grant of a case id in another spelling": Bad(
        "PUT", "/v1/grants", grant(case_id=f"urn:uuid:{NOWHERE}"), (404, "UnknownCase", "case_id"), "admin"
    ),
    "role for nobody": Bad(
        "PUT", "/v1/roles", {"principal_id": "nobody", "domain_id": "data", "role": "owner"},
        (404, "UnknownPrincipal", "principal_id"), "admin",
    ),
    "role nowhere": Bad(
        "PUT", "/v1/roles", {"principal_id": "guest", "domain_id": "x", "role": "owner"},
        (404, "UnknownDomain", "domain_id"), "admin",
    ),
    "profile of no strategy": Bad(
        "PUT", "/v1/profiles", profile(strategy_version=10**12), (404, "UnknownStrategy", "strategy_version"), "admin"
    ),
    "profile of nobody": Bad(
        "PUT", "/v1/profiles", profile(principals=["nobody"]), (404, "UnknownPrincipal", "principals"), "admin"
    ),
    "no such path": Bad("GET", "/v1/nothing", None, (404, "NotFound", "")),
}  # fmt: skip
