"""Whatever a body holds, the answer has a name: every value of every example is spoilt in turn (R22)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.openapi.models import Example

from api import article_examples, broadening_examples, erasure_examples, examples, key_examples, strategy_examples
from contracts.adoption import Adoption
from contracts.retrieval import RetrievalRequest
from tests.api.asked_further import asked_further
from tests.api.world import World, fresh

BODIES: dict[tuple[str, str], dict[str, Example]] = {
    ("POST", "/v1/arrivals"): examples.DELIVERY,
    ("POST", "/v1/cases/{case}/state"): examples.STATE_CHANGE,
    ("POST", "/v1/cases/{case}/papers"): examples.PAPERS,
    ("POST", "/v1/cases/{case}/result"): examples.RESULT,
    ("POST", "/v1/experiences"): examples.PROPOSAL,
    ("POST", "/v1/articles"): article_examples.ARTICLE_PROPOSAL,
    ("POST", "/v1/reviews"): examples.DECISION,
    ("POST", "/v1/changes"): examples.CHANGE,
    ("POST", "/v1/retrievals"): examples.RETRIEVAL,
    ("POST", "/v1/retrievals/prepared"): examples.RETRIEVAL,
    ("POST", "/v1/retrievals/{retrieval}/reads"): examples.READ,
    ("POST", "/v1/retrievals/{retrieval}/decisions"): examples.MEMORY_USE,
    ("POST", "/v1/checks"): examples.CHECK,
    ("POST", "/v1/retrievals/{retrieval}/broadenings"): broadening_examples.BROADENING,
    ("POST", "/v1/retrievals/{retrieval}/consultations"): broadening_examples.CONSULTATION,
    ("POST", "/v1/consultations/{consultation}/reply"): broadening_examples.REPLY,
    ("POST", "/v1/decisions/{use}/feedback"): broadening_examples.FEEDBACK,
    ("PUT", "/v1/tenants"): examples.TENANT,
    ("PUT", "/v1/domains"): examples.DOMAIN,
    ("PUT", "/v1/principals"): examples.PRINCIPAL,
    ("PUT", "/v1/grants"): examples.GRANT,
    ("PUT", "/v1/roles"): examples.ROLE,
    ("PUT", "/v1/profiles"): examples.PROFILE,
    ("POST", "/v1/revocations"): examples.REVOCATION,
    ("POST", "/v1/keys"): key_examples.KEY,
    ("PUT", "/v1/identities"): key_examples.IDENTITY,
    ("POST", "/v1/identities/removal"): key_examples.IDENTITY,
    ("POST", "/v1/delegations"): examples.DELEGATION,
    ("POST", "/v1/strategies/adoptions"): strategy_examples.ADOPTION,
    ("POST", "/v1/strategies/adoptions/{adoption}/decision"): strategy_examples.ADOPTION_DECISION,
    ("POST", "/v1/cases/links"): examples.CASE_LINK,
    ("POST", "/v1/erasures/preview"): erasure_examples.TARGET,
}
ADMINISTRATORS = {"/v1/revocations", "/v1/erasures/preview", "/v1/keys", "/v1/identities/removal"}
REVIEWERS = {"/v1/articles", "/v1/reviews", "/v1/changes", "/v1/delegations", "/v1/strategies/adoptions"}
SPOILT: tuple[Any, ...] = (
    None, -1, 2**63, 1e308, "", "\u0000", "x" * 4_001, "%'; --", [], {},
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", 253402300799, f"urn:uuid:{fresh()}",
)  # fmt: skip


EXAMPLE_IDS = {
    "case": examples.CASE_ID,
    "article": article_examples.ARTICLE_ID,
    "result": examples.RESULT_ID,
    "experience": examples.EXPERIENCE_ID,
    "decision": examples.DECISION_ID,
    "command": examples.COMMAND_ID,
    "retrieval": examples.RETRIEVAL_ID,
    "use": examples.USE_ID,
    "key": key_examples.KEY_ID,
    "execution": examples.EXECUTION_ID,
    "proof": examples.PROOF_ID,
    "consultation": broadening_examples.CONSULTATION_ID,
    "broadened": broadening_examples.BROADENED_ID,
    "reply": broadening_examples.REPLY_ID,
    "feedback": broadening_examples.FEEDBACK_ID,
    "later_feedback": broadening_examples.LATER_FEEDBACK_ID,
}


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield (*path, at)
            yield from places(item, (*path, at))


def spoilt(body: Any, path: tuple[str | int, ...], value: Any) -> Any:
    changed = copy.deepcopy(body)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed


def in_this_world(text: str, real: dict[str, str]) -> str:
    """Return a body whose named things are there and whose own ids are new, so that it gets as far as it can."""
    for name, example_id in EXAMPLE_IDS.items():
        text = text.replace(example_id, real.get(name) or fresh())
    for example_name, name in (("data-investigator", "investigator"), ("triage-agent", "spare"), ("dana", "cora")):
        text = text.replace(f'"{example_name}"', f'"{name}"')
    return text


async def things(world: World, path: str) -> dict[str, str]:
    """Return the real things that the bodies of a route speak of."""
    real = {"case": await world.new_case()}
    if path == "/v1/experiences":
        return real | {"result": await world.new_result()}
    if path in ("/v1/reviews", "/v1/changes"):
        return real | {"experience": (await world.proposed()).experience_id}
    if path.endswith("/decision"):
        proposed = Adoption.model_validate(strategy_examples.ADOPTION["example"].get("value")).model_copy(
            update={"id": fresh(), "profile_id": "investigator"}
        )
        return real | {"adoption": (await world.services.adoptions.propose("cora", proposed)).id}
    if path.endswith(("/broadenings", "/consultations", "/reply", "/feedback")):
        return real | await asked_further(world, path)
    if path.startswith("/v1/retrievals/{"):
        request = RetrievalRequest(request_id=fresh(), profile_id="investigator", purpose="p", objective="o")
        await world.services.memory_uses.open("agent", request)
        return real | {"retrieval": request.request_id}
    return real


@pytest.mark.parametrize(
    ("method", "path", "example"), [(*route, name) for route, found in BODIES.items() for name in found]
)
async def test_r22_no_value_brings_a_route_down(
    world: World, method: str, path: str, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.retrievals.ANSWER_SECONDS", 0.02)  # what is good waits for a worker that isn't there
    body = BODIES[method, path][example].get("value")
    real = await things(world, path)
    as_ = "admin" if method == "PUT" or path in ADMINISTRATORS else "cora" if path in REVIEWERS else "agent"
    as_ = "otto" if path.endswith("/decision") else as_
    found: list[str] = []
    for place in places(body):
        for value in SPOILT:
            content = in_this_world(json.dumps(spoilt(body, place, value)), real).encode()
            response = await world.send(method, path.format_map(real), as_=as_, content=content)
            if response.status_code >= 500 and "DeliveryPending" not in response.text:
                found.append(f"{'.'.join(map(str, place))} = {value!r:.40}: {response.status_code}")
    assert found == []
