"""Behind the door: what records let each kind of caller see and do, on every route of the API (R4, R7, R13).

Each route is asked about real things of tenant north and domain `data`. Refused means what a caller without the record
is told: not there, not yours, not your role. Everything else counts as allowed, also a conflict or a wrong field.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio

from api import strategy_examples
from api.permissions import PERMISSIONS, Permission
from api.problems import URN
from contracts.adoption import Adoption
from contracts.lifecycle import Stage
from tests.acceptance.foreign_requests import FOREIGN, OWN_ONLY, Asked, Holdings
from tests.api.asked_further import TEMPLATES, answered, asked_further
from tests.api.world import NOW, World, accepting, delivery, fresh, verified

CALLERS = ("guest", "stranger", "agent", "berta", "cora", "otto", "admin")
"""guest holds nothing; stranger sees another tenant; agent and berta see north; cora curates, otto owns, berta does
both; admin holds no grant and no role."""
NORTH = frozenset({"agent", "berta"})
CURATORS = frozenset({"cora", "berta"})
OWNERS = frozenset({"otto", "berta"})
REVIEWERS = CURATORS | OWNERS
ASKER = frozenset({"agent"})
ALL = frozenset(CALLERS)

REFUSALS = {
    "NotPermitted", "NotReviewer", "SamePerson", "OutsideScope", "OutsideKey", "UnknownPrincipal", "UnknownTenant",
    "UnknownProfile", "UnknownCase", "UnknownLink", "UnknownContent", "UnknownExperience", "UnknownArticle",
    "UnknownCommand", "UnknownDelegation", "UnknownRetrieval", "UnknownConsultation", "UnknownAdoption", "NotFound",
    "UnverifiedResult",  # a proposal from a result that the caller doesn't see
}  # fmt: skip
"""What somebody is told whom no record lets."""

ALLOWED: dict[tuple[str, str], frozenset[str]] = {
    ("POST", "/v1/arrivals"): NORTH,
    ("GET", "/v1/cases"): NORTH,
    ("GET", "/v1/cases/{case_id}"): NORTH,
    ("POST", "/v1/cases/{case_id}/state"): NORTH,
    ("POST", "/v1/cases/{case_id}/papers"): NORTH,
    ("POST", "/v1/cases/{case_id}/result"): NORTH,
    ("GET", "/v1/cases/{case_id}/arrivals"): NORTH,
    ("GET", "/v1/contents/{content_id}"): NORTH,
    ("GET", "/v1/cases/{case_id}/related"): NORTH,
    ("GET", "/v1/cases/{case_id}/links"): NORTH,
    ("GET", "/v1/cases/{case_id}/sanitised"): NORTH,
    ("POST", "/v1/cases/links"): NORTH,
    ("POST", "/v1/cases/links/{link_id}/removal"): NORTH,
    ("POST", "/v1/experiences"): NORTH,
    ("GET", "/v1/experiences/{experience_id}"): NORTH | REVIEWERS,
    ("GET", "/v1/experiences/{experience_id}/as-of"): NORTH | REVIEWERS,
    ("GET", "/v1/experiences/{experience_id}/difference"): NORTH | REVIEWERS,
    ("GET", "/v1/experiences/{experience_id}/scope"): NORTH | REVIEWERS,
    ("GET", "/v1/commands/{command_id}"): NORTH | REVIEWERS,
    ("POST", "/v1/articles"): REVIEWERS,
    ("GET", "/v1/articles/{article_id}"): REVIEWERS,
    ("GET", "/v1/articles"): ALL,  # published ones
    ("GET", "/v1/reviews"): REVIEWERS,
    ("GET", "/v1/reviews/{experience_id}"): NORTH | REVIEWERS,
    ("POST", "/v1/reviews"): OWNERS | {"cora"},  # cora: 409, she has decided on this text before
    ("POST", "/v1/reviews/{experience_id}/claim"): OWNERS,  # it waits for its owner
    ("POST", "/v1/reviews/{experience_id}/release"): NORTH | REVIEWERS,  # of a claim of one's own, or of none
    ("POST", "/v1/changes"): REVIEWERS,  # to retire; who may ask for what else: activities/records/change_rights.py
    ("POST", "/v1/delegations"): OWNERS,
    ("GET", "/v1/delegations"): OWNERS | {"guest"},  # who lent, and who was lent
    ("POST", "/v1/delegations/{delegation_id}/revocation"): frozenset({"otto", "guest"}),
    ("GET", "/v1/audit"): NORTH | REVIEWERS | {"admin"},
    ("GET", "/v1/as-of"): ALL,  # published texts
    ("POST", "/v1/retrievals"): ASKER,
    ("POST", "/v1/retrievals/prepared"): ASKER,
    ("GET", "/v1/retrievals/{request_id}"): ASKER,
    ("GET", "/v1/retrievals/{request_id}/record"): ASKER,
    ("GET", "/v1/retrievals/{request_id}/rerun"): ASKER,
    ("POST", "/v1/retrievals/{request_id}/reads"): ASKER,
    ("POST", "/v1/retrievals/{request_id}/decisions"): ASKER,
    ("POST", "/v1/checks"): ASKER,
    ("POST", "/v1/retrievals/{request_id}/broadenings"): ASKER,
    ("POST", "/v1/retrievals/{request_id}/consultations"): ASKER,
    ("GET", "/v1/consultations"): NORTH,  # who works for the domain that is asked, and who asked
    ("GET", "/v1/consultations/{consultation_id}"): NORTH,
    ("POST", "/v1/consultations/{consultation_id}/reply"): ASKER,
    ("POST", "/v1/consultations/{consultation_id}/withdraw"): frozenset({"berta"}),  # who asked
    ("POST", "/v1/decisions/{decision_id}/feedback"): ASKER,
    ("GET", "/v1/decisions/{decision_id}/feedback"): ASKER,
    ("GET", "/v1/watermarks"): ALL,
    ("GET", "/v1/strategies"): ALL,
    ("POST", "/v1/strategies/adoptions"): REVIEWERS | {"admin"},
    ("GET", "/v1/strategies/adoptions"): ALL,  # of no tenant: which versions the profiles pin
    ("POST", "/v1/strategies/adoptions/{adoption_id}/decision"): OWNERS,
}
"""By route: who is let."""

SPENT = {
    ("POST", "/v1/cases/{case_id}/state"),
    ("POST", "/v1/cases/links/{link_id}/removal"),
    ("POST", "/v1/experiences"),
    ("POST", "/v1/reviews"),
    ("POST", "/v1/reviews/{experience_id}/claim"),
    ("POST", "/v1/reviews/{experience_id}/release"),
    ("POST", "/v1/consultations/{consultation_id}/withdraw"),
}
"""What is asked about things of its own: it changes them."""


async def holdings(world: World) -> Holdings:
    """Return things of tenant north, all new: an experience that waits for its owner, an answered retrieval..."""
    case, other = await world.new_case(), await world.new_case()
    result, papers = verified(await world.new_case())
    async with world.caller("agent") as agent:
        await agent.record_result(result, papers, complete_at=NOW + timedelta(days=1))
        link = fresh()
        sent = {"id": link, "case_id": case, "other_case_id": await world.new_case(), "kind": "related", "reason": "R."}
        assert (await world.send("POST", "/v1/cases/links", body=sent)).is_success
        large = await agent.deliver(delivery(body="x " * 110_000))
        content = (await agent.get_case(large.case_id)).content_id
        assert content is not None
        _, unused = verified(case)
        await agent.file_papers(case, unused)
    proposal = await world.proposed()
    curator = accepting(proposal, Stage.CURATOR_REVIEW)
    async with world.caller("cora") as cora:
        await cora.decide(curator)
    further = await asked_further(world, "/reply")
    candidate = f"experience/{further['experience']}"
    request, use = await answered(world, candidate)
    await world.services.memory_uses.decide("agent", use)
    return Holdings(
        tenant="north",
        case=case,
        other_case=other,
        execution=unused[0].id,
        proof=unused[1].id,
        result=result.id,
        experience=proposal.experience_id,
        digest=proposal.draft.digest(),
        review=curator.decision_id,
        change=curator.decision_id,
        retrieval=request.request_id,
        use=use.decision_id,
        candidate=candidate,
        link=link,
        content=content,
        consultation=further["consultation"],
    )


@pytest_asyncio.fixture(scope="module", name="ours")
async def fixture_ours(world: World) -> AsyncIterator[Holdings]:
    yield await holdings(world)


def lent(asked: Asked) -> dict[str, Any]:
    """Return a delegation to somebody who is there, until a time that is allowed."""
    return {**asked.body, "delegate_id": "guest", "expires_at": (datetime.now(UTC) + timedelta(days=30)).isoformat()}


async def taken_back(world: World) -> None:
    """End what was lent: other tests count on guest holding nothing."""
    for lender in ("otto", "berta"):
        for each in (await world.send("GET", "/v1/delegations", as_=lender)).json():
            await world.send("POST", f"/v1/delegations/{each['id']}/revocation", as_=lender)


async def requests_of(world: World, route: tuple[str, str], it: Holdings) -> Asked:
    """Return a request about our own things."""
    asked = FOREIGN[route](it, it)[0] if route in FOREIGN else OWN_ONLY[route]()
    if route == ("POST", "/v1/delegations"):
        return asked._replace(body=lent(asked))
    if route == ("POST", "/v1/retrievals/{request_id}/consultations"):
        return asked._replace(body={**asked.body, "domain_id": TEMPLATES})
    if route == ("POST", "/v1/checks"):
        return asked._replace(body={**asked.body, "check_id": "row"})
    if route in (("POST", "/v1/delegations/{delegation_id}/revocation"), ("GET", "/v1/delegations")):
        given = {lender: lent(FOREIGN["POST", "/v1/delegations"](it, it)[0]) for lender in ("berta", "otto")}
        for lender, body in given.items():
            assert (await world.send("POST", "/v1/delegations", as_=lender, body=body)).is_success
        return asked._replace(path=asked.path.replace(it.experience, given["otto"]["id"]))
    if "/v1/strategies/adoptions" in route[1] and route != ("POST", "/v1/strategies/adoptions"):
        proposed = Adoption.model_validate(strategy_examples.ADOPTION["example"].get("value"))
        found = await world.services.adoptions.propose(
            "cora", proposed.model_copy(update={"id": fresh(), "profile_id": "investigator"})
        )
        return asked._replace(path=asked.path.replace(it.experience, found.id))
    if route == ("GET", "/v1/articles/{article_id}"):
        sent = FOREIGN["POST", "/v1/articles"](it, it)[0]
        assert (await world.send("POST", "/v1/articles", as_="otto", body=sent.body)).is_success
        return asked._replace(path=f"/v1/articles/{sent.body['article_id']}")
    if route == ("POST", "/v1/changes"):
        published = await world.published()
        return asked._replace(body={**asked.body, "experience_id": published.experience_id})
    return asked


def test_r4_every_route_that_depends_on_its_caller_is_here() -> None:
    by_caller = {
        (method, path)
        for (method, path), asked in PERMISSIONS.items()
        if path.startswith("/v1/") and not asked.is_for_administrators and asked is not Permission.PUBLIC
    }
    assert by_caller == set(ALLOWED)


@pytest.mark.parametrize("route", ALLOWED, ids=" ".join)
async def test_r4_only_those_whom_a_record_lets_are_let(
    world: World, ours: Holdings, route: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.retrievals.ANSWER_SECONDS", 0.02)  # what is good waits for a worker that isn't there
    it = await holdings(world) if route in SPENT else ours
    asked = await requests_of(world, route, it)
    path = asked.path + (f"?{httpx.QueryParams(asked.query)}" if asked.query else "")
    # Those who are refused come first: what they meet hasn't been changed by those who aren't.
    let: set[str] = set()
    for caller in sorted(CALLERS, key=lambda name: name in ALLOWED[route]):
        response = await world.send(asked.method, path, as_=caller, body=asked.body)
        assert response.status_code < 500 or "DeliveryPending" in response.text, response.text
        said: Any = response.json()
        kind = said.get("type", "").removeprefix(URN) if response.is_error else ""
        if kind not in REFUSALS and said != []:
            let.add(caller)
    await taken_back(world)
    assert let == ALLOWED[route]
