"""For each route that takes a signed-in caller: requests that name what belongs to another tenant."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from api.article_examples import ARTICLE
from api.examples import DRAFT

AT = "2026-03-02T08:15:00Z"
DIGEST = "0" * 64


def now() -> str:
    """Return the present moment: reads of the past find what there is by now."""
    return datetime.now(UTC).isoformat()


def fresh() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True)
class Holdings:
    """Names and ids of what a tenant has; those of `unknown` belong to nobody."""

    tenant: str
    case: str
    other_case: str
    execution: str
    proof: str
    result: str
    experience: str
    digest: str
    review: str
    """A reviewer's decision."""
    change: str
    """A change command."""
    retrieval: str
    use: str
    """A cited decision on the retrieval."""
    candidate: str
    link: str
    content: str
    consultation: str
    """Of a domain that no other tenant's people work for."""

    def ids(self) -> list[str]:
        """Return every id that nobody else may ever be told."""
        return [
            getattr(self, each.name)
            for each in fields(self)
            if each.name not in ("tenant", "candidate", "digest")
        ]  # fmt: skip


def unknown() -> Holdings:
    """Return names and ids that nothing has."""
    given = {each.name: fresh() for each in fields(Holdings)}
    return Holdings(**{**given, "candidate": f"case/{fresh()}", "digest": DIGEST})


class Asked(NamedTuple):
    """A request."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] | None = None


Requests = Callable[[Holdings, Holdings], Sequence[Asked]]
"""From what another tenant has and what the caller has to requests, each of which has to be refused."""


def _delivery(tenant: str, **given: Any) -> dict[str, Any]:
    origin = {"tenant_id": tenant, "source": "c", "external_id": "d"}
    sent = {"origin": origin, "revision": 1, "delivery_id": "x", "occurred_at": AT, "received_at": AT}
    return {**sent, "subject": "s", "body": "b", **given}


def _result(case: str, execution: str, proof: str, **given: Any) -> dict[str, Any]:
    papers = {"execution_paper_id": execution, "proof_paper_id": proof}
    result = {"id": fresh(), "case_id": case, "outcome": "succeeded", "proof_level": "verified", "summary": "Done."}
    return {"result": {**result, **papers, **given}}


def _paper(paper: str) -> dict[str, Any]:
    return {"id": paper, "kind": "evidence", "title": "Put in", "text": "by somebody else"}


def _review(experience: str, digest: str, **given: Any) -> dict[str, Any]:
    sent = {"decision_id": fresh(), "experience_id": experience, "stage": "owner_review", "digest": digest}
    return {**sent, "verdict": "accept", **given}


def _change(experience: str, **given: Any) -> dict[str, Any]:
    return {"command_id": fresh(), "experience_id": experience, "kind": "retire", "reason": "Over.", **given}


def _delegation() -> dict[str, Any]:
    sent = {"id": fresh(), "delegate_id": "somebody", "domain_id": "data", "role": "owner", "reason": "Leave."}
    return {**sent, "expires_at": "2099-01-01T00:00:00Z"}


def _adoption() -> dict[str, Any]:
    pin = {"strategy_id": "data-investigation", "version": 2}
    sent = {"id": fresh(), "profile_id": "investigator", "pin": pin, "digest": DIGEST, "reason": "Newer."}
    return {**sent, "expected": {**pin, "version": 1}}


def _retrieval(**given: Any) -> dict[str, Any]:
    sent = {"request_id": fresh(), "profile_id": "investigator", "purpose": "test", "objective": "letters"}
    return {**sent, **given}


def _use(retrieval: str, candidate: str, **given: Any) -> dict[str, Any]:
    cited = {"ref": candidate, "revision": 1, "verdict": "chosen", "why": "It fits."}
    return {"decision_id": fresh(), "request_id": retrieval, "summary": "Taken.", "citations": [cited], **given}


def _link(case: str, other: str, **given: Any) -> dict[str, Any]:
    return {"id": fresh(), "case_id": case, "other_case_id": other, "kind": "related", "reason": "Alike.", **given}


def _broadening(**given: Any) -> dict[str, Any]:
    return {"request_id": fresh(), "reason": "Nothing fits.", "every_domain": True, **given}


def _consultation(**given: Any) -> dict[str, Any]:
    sent = {"consultation_id": fresh(), "domain_id": "templates", "brief": "What keeps them back?"}
    return {**sent, "reason": "To know.", **given}


def _feedback(use: str, candidate: str, **given: Any) -> dict[str, Any]:
    outcome = {"ref": candidate, "revision": 1, "usefulness": "helped"}
    return {"feedback_id": fresh(), "decision_id": use, "outcomes": [outcome], **given}


def _check(use: str) -> dict[str, Any]:
    return {"decision_id": use, "check_id": "count", "outcome": "held"}


FOREIGN: Mapping[tuple[str, str], Requests] = {
    ("POST", "/v1/arrivals"): lambda it, _: [
        Asked("POST", "/v1/arrivals", _delivery(it.tenant)),
        Asked("POST", "/v1/arrivals", _delivery(it.tenant, revision=7, body="another")),
        Asked("POST", "/v1/arrivals", _delivery(it.tenant, origin={
            "tenant_id": it.tenant, "source": "new", "external_id": "new"})),
    ],
    ("GET", "/v1/cases/{case_id}"): lambda it, _: [Asked("GET", f"/v1/cases/{it.case}")],
    ("POST", "/v1/cases/{case_id}/state"): lambda it, _: [
        Asked("POST", f"/v1/cases/{it.case}/state", {
            "state": "waiting", "expected_revision": revision, "at": AT, "waiting_on": "us"})
        for revision in (1, 99)
    ],
    ("POST", "/v1/cases/{case_id}/papers"): lambda it, _: [
        Asked("POST", f"/v1/cases/{it.case}/papers", {"papers": [_paper(fresh())]}),
        Asked("POST", f"/v1/cases/{it.case}/papers", {"papers": [_paper(it.proof)]}),
    ],
    ("POST", "/v1/cases/{case_id}/result"): lambda it, own: [
        Asked("POST", f"/v1/cases/{it.case}/result", _result(it.case, it.execution, it.proof)),
        Asked("POST", f"/v1/cases/{own.case}/result", _result(own.case, it.execution, it.proof)),
        Asked("POST", f"/v1/cases/{own.case}/result", _result(own.case, own.execution, it.proof)),
    ],
    ("GET", "/v1/cases/{case_id}/arrivals"): lambda it, _: [
        Asked("GET", f"/v1/cases/{it.case}/arrivals", query=query) for query in (None, {"limit": "1", "skip": "1"})
    ],
    ("GET", "/v1/contents/{content_id}"): lambda it, _: [Asked("GET", f"/v1/contents/{it.content}")],
    ("GET", "/v1/cases/{case_id}/related"): lambda it, _: [
        Asked("GET", f"/v1/cases/{it.case}/related", query=query) for query in (None, {"include_later": "true"})
    ],
    ("GET", "/v1/cases/{case_id}/links"): lambda it, _: [Asked("GET", f"/v1/cases/{it.case}/links")],
    ("POST", "/v1/cases/links"): lambda it, own: [
        Asked("POST", "/v1/cases/links", _link(it.case, it.other_case)),
        Asked("POST", "/v1/cases/links", _link(own.case, it.case)),
        Asked("POST", "/v1/cases/links", _link(it.case, own.case)),
    ],
    ("POST", "/v1/cases/links/{link_id}/removal"): lambda it, _: [
        Asked("POST", f"/v1/cases/links/{it.link}/removal", {"reason": "Not ours."})
    ],
    ("POST", "/v1/experiences"): lambda it, _: [
        Asked("POST", "/v1/experiences", {"experience_id": fresh(), "result_id": it.result, "draft": DRAFT}),
        Asked("POST", "/v1/experiences", {"experience_id": it.experience, "result_id": it.result, "draft": DRAFT}),
    ],
    ("GET", "/v1/experiences/{experience_id}"): lambda it, _: [Asked("GET", f"/v1/experiences/{it.experience}")],
    ("GET", "/v1/cases/{case_id}/sanitised"): lambda it, _: [Asked("GET", f"/v1/cases/{it.case}/sanitised")],
    ("GET", "/v1/experiences/{experience_id}/as-of"): lambda it, _: [
        Asked("GET", f"/v1/experiences/{it.experience}/as-of", query={"at": at}) for at in (now(), AT)
    ],
    ("GET", "/v1/experiences/{experience_id}/difference"): lambda it, _: [
        Asked("GET", f"/v1/experiences/{it.experience}/difference", query={"from": "1", "to": to}) for to in ("1", "2")
    ],
    ("GET", "/v1/experiences/{experience_id}/scope"): lambda it, own: [
        Asked("GET", f"/v1/experiences/{it.experience}/scope"),
        Asked("GET", f"/v1/experiences/{own.experience}/scope", query={"superseded_by": it.experience}),
    ],
    ("POST", "/v1/articles"): lambda it, _: [
        Asked("POST", "/v1/articles", {"article_id": fresh(), "article": ARTICLE}),
        Asked("POST", "/v1/articles", {"article_id": it.experience, "article": {
            **ARTICLE, "references": [f"experience/{it.experience}"]}}),
    ],
    ("GET", "/v1/articles/{article_id}"): lambda it, _: [Asked("GET", f"/v1/articles/{it.experience}")],
    ("POST", "/v1/delegations"): lambda _it, _own: [Asked("POST", "/v1/delegations", _delegation())],
    ("POST", "/v1/delegations/{delegation_id}/revocation"): lambda it, _: [
        Asked("POST", f"/v1/delegations/{it.experience}/revocation")
    ],
    ("POST", "/v1/reviews"): lambda it, _: [
        Asked("POST", "/v1/reviews", _review(it.experience, digest)) for digest in (it.digest, DIGEST)
    ],
    ("GET", "/v1/reviews/{experience_id}"): lambda it, _: [Asked("GET", f"/v1/reviews/{it.experience}")],
    ("POST", "/v1/reviews/{experience_id}/claim"): lambda it, _: [Asked("POST", f"/v1/reviews/{it.experience}/claim")],
    ("POST", "/v1/reviews/{experience_id}/release"): lambda it, _: [
        Asked("POST", f"/v1/reviews/{it.experience}/release")
    ],
    ("GET", "/v1/audit"): lambda it, _: [
        Asked("GET", "/v1/audit", query={"subject": subject})
        for subject in (f"experience/{it.experience}", f"case/{it.case}")
    ],
    ("POST", "/v1/changes"): lambda it, own: [
        Asked("POST", "/v1/changes", _change(it.experience)),
        Asked("POST", "/v1/changes", _change(it.experience, kind="correct", draft=DRAFT)),
        Asked("POST", "/v1/changes", _change(own.experience, kind="supersede", superseded_by=it.experience)),
    ],
    ("GET", "/v1/commands/{command_id}"): lambda it, _: [
        Asked("GET", f"/v1/commands/{command}") for command in (it.review, it.change)
    ],
    ("POST", "/v1/retrievals"): lambda it, own: [
        Asked("POST", "/v1/retrievals", _retrieval(tenant_id=it.tenant)),
        Asked("POST", "/v1/retrievals", _retrieval(case_id=it.case)),
        Asked("POST", "/v1/retrievals", _retrieval(tenant_id=own.tenant, case_id=it.case)),
    ],
    ("POST", "/v1/retrievals/prepared"): lambda it, own: [
        Asked("POST", "/v1/retrievals/prepared", _retrieval(tenant_id=it.tenant)),
        Asked("POST", "/v1/retrievals/prepared", _retrieval(case_id=it.case)),
        Asked("POST", "/v1/retrievals/prepared", _retrieval(tenant_id=own.tenant, case_id=it.case)),
    ],
    ("GET", "/v1/retrievals/{request_id}"): lambda it, _: [Asked("GET", f"/v1/retrievals/{it.retrieval}")],
    ("GET", "/v1/retrievals/{request_id}/record"): lambda it, _: [
        Asked("GET", f"/v1/retrievals/{it.retrieval}/record")
    ],
    ("GET", "/v1/retrievals/{request_id}/rerun"): lambda it, _: [
        Asked("GET", f"/v1/retrievals/{it.retrieval}/rerun")
    ],
    ("POST", "/v1/strategies/adoptions"): lambda _it, _own: [Asked("POST", "/v1/strategies/adoptions", _adoption())],
    ("POST", "/v1/strategies/adoptions/{adoption_id}/decision"): lambda it, _: [
        Asked("POST", f"/v1/strategies/adoptions/{it.experience}/decision", {
            "decision_id": fresh(), "verdict": "adopt", "digest": DIGEST})
    ],
    ("POST", "/v1/retrievals/{request_id}/reads"): lambda it, own: [
        Asked("POST", f"/v1/retrievals/{it.retrieval}/reads", {"ref": it.candidate, "revision": 1}),
    ],
    ("POST", "/v1/retrievals/{request_id}/decisions"): lambda it, own: [
        Asked("POST", f"/v1/retrievals/{it.retrieval}/decisions", _use(it.retrieval, it.candidate)),
    ],
    ("POST", "/v1/checks"): lambda it, _: [Asked("POST", "/v1/checks", _check(it.use))],
    ("POST", "/v1/retrievals/{request_id}/broadenings"): lambda it, _: [
        Asked("POST", f"/v1/retrievals/{it.retrieval}/broadenings", _broadening())
    ],
    ("POST", "/v1/retrievals/{request_id}/consultations"): lambda it, _: [
        Asked("POST", f"/v1/retrievals/{it.retrieval}/consultations", _consultation()),
        Asked("POST", f"/v1/retrievals/{it.retrieval}/consultations", _consultation(consultation_id=it.consultation)),
    ],
    ("GET", "/v1/consultations/{consultation_id}"): lambda it, _: [
        Asked("GET", f"/v1/consultations/{it.consultation}")
    ],
    ("POST", "/v1/consultations/{consultation_id}/reply"): lambda it, own: [
        Asked("POST", f"/v1/consultations/{it.consultation}/reply", {"reply_id": fresh(), "text": "It is known."}),
        Asked("POST", f"/v1/consultations/{it.consultation}/reply", {
            "reply_id": fresh(), "text": "It is known.", "request_id": own.retrieval}),
    ],
    ("POST", "/v1/consultations/{consultation_id}/withdraw"): lambda it, _: [
        Asked("POST", f"/v1/consultations/{it.consultation}/withdraw")
    ],
    ("POST", "/v1/decisions/{decision_id}/feedback"): lambda it, own: [
        Asked("POST", f"/v1/decisions/{it.use}/feedback", _feedback(it.use, own.candidate)),
    ],
    ("GET", "/v1/decisions/{decision_id}/feedback"): lambda it, _: [Asked("GET", f"/v1/decisions/{it.use}/feedback")],
    ("GET", "/v1/cases"): lambda it, _: [
        Asked("GET", "/v1/cases", query={"tenant_id": it.tenant, **more})
        for more in ({}, {"limit": "200"}, {"state": "open"})
    ],
}  # fmt: skip
"""By method and path template, as `api.permissions` has them."""

OWN_ONLY: Mapping[tuple[str, str], Callable[[], Asked]] = {
    ("GET", "/v1/articles"): lambda: Asked("GET", "/v1/articles", query={"limit": "200"}),
    ("GET", "/v1/as-of"): lambda: Asked("GET", "/v1/as-of", query={"at": now(), "limit": "500"}),
    ("GET", "/v1/reviews"): lambda: Asked("GET", "/v1/reviews", query={"limit": "500"}),
    ("GET", "/v1/delegations"): lambda: Asked("GET", "/v1/delegations"),
    ("GET", "/v1/watermarks"): lambda: Asked("GET", "/v1/watermarks"),
    ("GET", "/v1/consultations"): lambda: Asked("GET", "/v1/consultations", query={"limit": "200"}),
    ("GET", "/v1/strategies"): lambda: Asked("GET", "/v1/strategies"),
    ("GET", "/v1/strategies/adoptions"): lambda: Asked("GET", "/v1/strategies/adoptions"),
}
"""Routes that name nothing: whatever they answer is about the caller, or about no tenant."""


def taken_keys(it: Holdings, own: Holdings) -> list[Asked]:
    """Return requests on the caller's own things under keys that another tenant has used."""
    return [
        Asked("POST", f"/v1/cases/{own.case}/papers", {"papers": [_paper(it.proof)]}),
        Asked(
            "POST", f"/v1/cases/{own.case}/result", _result(own.case, own.execution, own.proof, id=it.result)
        ),
        Asked(
            "POST", "/v1/experiences", {"experience_id": it.experience, "result_id": own.result, "draft": DRAFT}
        ),
        Asked("POST", "/v1/changes", _change(own.experience, command_id=it.change)),
        Asked("POST", "/v1/retrievals", _retrieval(request_id=it.retrieval)),
        Asked(
            "POST",
            f"/v1/retrievals/{own.retrieval}/decisions",
            _use(own.retrieval, own.candidate, decision_id=it.use),
        ),
        Asked("POST", "/v1/cases/links", _link(own.case, own.other_case, id=it.link)),
        Asked("POST", f"/v1/retrievals/{own.retrieval}/broadenings", _broadening(request_id=it.retrieval)),
        Asked(
            "POST", f"/v1/retrievals/{own.retrieval}/consultations", _consultation(consultation_id=it.consultation)
        ),
    ]  # fmt: skip
