"""An organisation in which every kind of thing is there once, and the API's document with those things in its examples.

So that generated requests get past "there is no such thing" and into what a route does.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi.openapi.models import Example

from activities.index.edge import EdgeIndex
from activities.reconciling import Reconciler
from activities.records.projections import ProjectionsTable
from activities.records.related import RelatedTable
from activities.records.review_sheets import ReviewSheetsTable
from activities.reindexing import Reindexer
from activities.related import RelatedWork
from activities.review_sheet import ReviewDesk
from api import (
    article_examples,
    broadening_examples,
    erasure_examples,
    examples,
    key_examples,
    strategy_examples,
)
from api.app import create_app
from api.article_examples import ARTICLE_PROPOSAL
from api.broadening_examples import CONSULTATION_ID
from api.key_examples import KEY
from api.permissions import PERMISSIONS, Permission
from api.strategy_examples import ADOPTION
from contracts import limits
from contracts.adoption import Adoption
from contracts.cases import CaseLink, CaseLinkKind
from contracts.consultation import Consultation
from contracts.delegation import Delegation
from contracts.erasure import ErasureRequest
from contracts.labels import DomainRole
from contracts.review import ChangeCommand, ChangeKind
from deploy.wiring import SystemClock
from tests.api.asked_further import TEMPLATES, answered, with_a_second_domain
from tests.api.mcp_world import answering, serving
from tests.api.test_mutated_bodies import in_this_world
from tests.api.world import Letters, World, delivery, fresh

METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}
BEST: Mapping[Permission, str | None] = {
    Permission.PUBLIC: None,
    Permission.ADMINISTRATOR: "admin",
    Permission.REVIEW: "berta",
}
"""Who gets furthest with a route; for the others it is the agent."""
_DIGEST: str = dict(examples.DECISION["example"].get("value") or {})["digest"]
_ENDS: str = dict(examples.DELEGATION["example"].get("value") or {})["expires_at"]
"""Of a delegation: it has to be in the next months, whenever that is."""
_MINTED = frozenset(
    value
    for module in (examples, article_examples, broadening_examples, erasure_examples, key_examples, strategy_examples)
    for name, value in vars(module).items()
    if name.endswith("_ID")
)
BEST_AT: Mapping[str, str] = {
    "/v1/articles": "berta",
    "/v1/articles/{article_id}": "berta",
    "/v1/commands/{command_id}": "cora",
    "/v1/consultations/{consultation_id}/reply": "agent",
    "/v1/consultations/{consultation_id}/withdraw": "berta",
    "/v1/delegations": "cora",
    "/v1/delegations/{delegation_id}/revocation": "cora",
    "/v1/experiences/{experience_id}/scope": "cora",
    "/v1/reviews": "cora",
    "/v1/strategies/adoptions/{adoption_id}/decision": "otto",
}
_OWN: Mapping[str, Mapping[str, str]] = {
    "/v1/cases/{case_id}/state": {"case_id": "open_case_id"},
    "/v1/consultations/{consultation_id}/withdraw": {"consultation_id": "own_consultation_id"},
    "/v1/reviews/{experience_id}/claim": {"experience_id": "unclaimed_id"},
    "/v1/reviews/{experience_id}/release": {"experience_id": "unclaimed_id"},
    "/v1/reviews/{experience_id}": {"experience_id": "unclaimed_id"},
}
"""Where a thing of its own is needed, which no other operation has changed."""
WAIT = 0.05
"""Seconds that requests wait at most for what nobody does here."""


@dataclass(frozen=True)
class Described:
    """An app that listens.

    Args:
        address: Where.
        document: Its OpenAPI document, speaking of things that are there.
        real: Ids of those, by the name of the path's part.
    """

    address: str
    document: dict[str, Any]
    real: Mapping[str, str]

    def with_new_ids(self, value: Any) -> Any:
        """Return a body in which ids that an example mints are minted anew, or it would be the same request again."""
        minted: dict[str, str] = {}
        return _replaced(value, lambda text: minted.setdefault(text, fresh()) if text in _MINTED else text)


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield method, path template and description of each operation."""
    for path, described in document["paths"].items():
        for method, operation in described.items():
            if method in METHODS:
                yield method.upper(), path, operation


def callers_of(method: str, path: str) -> tuple[str | None, ...]:
    """Return who calls an operation: who gets furthest, then somebody who may not, then nobody."""
    best = BEST_AT.get(path) or BEST.get(PERMISSIONS[method, path], "agent")
    return (best,) if best is None else (best, "guest", None)


def _replaced(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {key: _replaced(item, text) for key, item in value.items()}
    return [_replaced(item, text) for item in value] if isinstance(value, list) else value


@asynccontextmanager
async def described(world: World, folder: Path) -> AsyncGenerator[Described]:
    """Serve the API of a world with an index of its own, retrievals answered."""
    letters = Letters()
    index = EdgeIndex(folder, letters.model, letters.dimensions)
    await index.open()
    try:
        projections = ProjectionsTable(world.database)
        reconciler = Reconciler(projections, index, letters.model, SystemClock())
        app = create_app(
            replace(
                world.services,
                related=RelatedWork(RelatedTable(world.database), index, letters),
                review_desk=ReviewDesk(ReviewSheetsTable(world.database), index, letters),
                reconciler=reconciler,
                reindexer=Reindexer(projections, index, reconciler),
            )
        )
        real = await _one_of_each(world)
        async with answering(world), serving(app) as address:
            yield Described(address, _speaking_of(app.openapi(), real), real)
    finally:
        await index.close()


async def _one_of_each(world: World) -> dict[str, str]:
    """Add one of each thing, and return their ids by the names of path parts and of examples."""
    await with_a_second_domain(world)
    services, case_id, published = world.services, await world.new_case(), await world.published()
    request, use = await answered(
        world, f"experience/{published.experience_id}", environment="production", case_id=case_id
    )
    await services.memory_uses.decide("agent", use)
    asked = Consultation(consultation_id=fresh(), domain_id=TEMPLATES, brief="What is it?", reason="To know.")
    own = asked.model_copy(update={"consultation_id": fresh()})
    for each in (asked, own):
        await services.consulting.ask("berta", request.request_id, each)
    adoption = Adoption.model_validate(ADOPTION["example"].get("value")).model_copy(
        update={"id": fresh(), "profile_id": "investigator"}
    )
    await services.adoptions.propose("cora", adoption)
    proposal = await world.proposed()
    command = await _retirement(world, (await world.published()).experience_id)
    ids = {
        "case_id": case_id,
        "other_case_id": await world.new_case(),
        "open_case_id": await world.new_case(),
        "unclaimed_id": (await world.proposed()).experience_id,
        "result_id": await world.new_result(),
        "proposed_id": proposal.experience_id,
        "proposed_digest": proposal.draft.digest(),
        "command_id": command,
        "event_id": command,
        "link_id": await _link(world),
        "erasure_id": await _erasure(world),
        "content_id": await _content(world),
        "experience_id": published.experience_id,
        "article_id": (await _posted(world, "berta", "/v1/articles", ARTICLE_PROPOSAL["example"]))["command_id"],
        "request_id": request.request_id,
        "decision_id": use.decision_id,
        "consultation_id": asked.consultation_id,
        "own_consultation_id": own.consultation_id,
        "adoption_id": adoption.id,
        "delegation_id": await _delegation(world),
        "tenant_id": "north",
        "principal_id": "agent",
        "superseded_by": proposal.experience_id,
        "at": datetime.now(UTC).isoformat(),
        "If-Match": "*",
        "key_id": (await _posted(world, "admin", "/v1/keys", KEY["reading"]))["key"]["id"],
    }
    for name, id_ in ids.items():
        assert id_, name
    return ids


async def _posted(world: World, as_: str, path: str, example: Example) -> dict[str, Any]:
    """Post an example, with ids of its own, and return the answer."""
    content = in_this_world(json.dumps(example.get("value")), {}).encode()
    response = await world.send("POST", path, as_=as_, content=content)
    assert response.is_success, response.text
    return response.json()


async def _retirement(world: World, experience_id: str) -> str:
    retire = ChangeCommand(command_id=fresh(), experience_id=experience_id, kind=ChangeKind.RETIRE, reason="Not so.")
    async with world.caller("cora") as cora:
        await cora.change(retire, wait=30)
    return retire.command_id


async def _link(world: World) -> str:
    link = CaseLink(
        id=fresh(),
        case_id=await world.new_case(),
        other_case_id=await world.new_case(),
        kind=CaseLinkKind.RELATED,
        reason="One cause.",
    )
    async with world.caller("agent") as agent:
        await agent.link_cases(link)
    return link.id


async def _erasure(world: World) -> str:
    order = ErasureRequest(erasure_id=fresh(), tenant_id="north", case_id=await world.new_case(), reason="Asked for.")
    async with world.caller("admin") as admin:
        await admin.erase(order)
    return order.erasure_id


async def _delegation(world: World) -> str:
    lent = Delegation(
        id=fresh(),
        delegate_id="stranger",
        domain_id="data",
        role=DomainRole.CURATOR,
        reason="On leave.",
        expires_at=datetime.now(UTC) + timedelta(days=7),
    )
    async with world.caller("cora") as cora:
        await cora.delegate(lent)
    return lent.id


async def _content(world: World) -> str:
    """Deliver a text that is too long for its case, and return the id under which it is kept."""
    async with world.caller("agent") as agent:
        case_id = (await agent.deliver(delivery(body="Long. " * (limits.BODY // 5)))).case_id
        history = await agent.arrivals(case_id)
    [arrival] = history.arrivals
    assert arrival.content_id is not None
    return arrival.content_id


def _speaking_of(document: dict[str, Any], real: Mapping[str, str]) -> dict[str, Any]:
    """Return the document with things that are there in its examples and as examples of the parts of paths."""
    told = json.loads(json.dumps(document))
    for _, path, operation in operations_of(told):
        for parameter in operation.get("parameters", ()):
            name = parameter["name"]
            name = _OWN.get(path, {}).get(name, name)
            if name in real:
                parameter["examples"] = {"real": {"value": real[name]}}
            if name == "wait":
                parameter["schema"]["maximum"] = WAIT
        if "requestBody" in operation:
            operation["requestBody"] = _replaced(operation["requestBody"], _speaking(real, path))
    return told


def _speaking(real: Mapping[str, str], path: str) -> Callable[[str], str]:
    """Return what puts things that are there in the place of an example's, except those that the request makes."""
    is_of_review = path in ("/v1/reviews", "/v1/changes")
    here = {
        examples.CASE_ID: real["case_id"],
        examples.OTHER_CASE_ID: real["other_case_id"],
        examples.RESULT_ID: real["result_id"],
        examples.EXPERIENCE_ID: real["proposed_id" if is_of_review else "experience_id"],
        examples.RETRIEVAL_ID: real["request_id"],
        examples.USE_ID: real["decision_id"],
        CONSULTATION_ID: real["consultation_id"],
        _DIGEST: real["proposed_digest"],
        "data-investigator": "investigator",
        "triage-agent": "spare",
        "robin": "stranger",
        "dana": "stranger",
        "letters-exist": "row",
        _ENDS: (datetime.now(UTC) + timedelta(days=7)).isoformat(),
    }
    published = f"experience/{real['experience_id']}"
    if path in ("/v1/retrievals", "/v1/retrievals/prepared"):
        del here[examples.RETRIEVAL_ID]
    if path == "/v1/experiences":
        del here[examples.EXPERIENCE_ID]
    if path.endswith("/result"):
        del here[examples.RESULT_ID]
    if path.endswith("/decisions"):
        del here[examples.USE_ID]
    if path.endswith("/consultations"):
        del here[CONSULTATION_ID]
    return lambda text: here.get(text, text.replace(f"experience/{examples.EXPERIENCE_ID}", published))
