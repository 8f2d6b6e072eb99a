"""What the API says of itself: permissions, the OpenAPI document, its examples, and its health."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from api import examples, key_examples
from api.app import create_app
from api.bodies import PapersToFile, PrincipalToAdd, Read, ResultToRecord, StateChange
from api.documentation import PROBLEMS
from api.permissions import PERMISSIONS, Permission, permission_of
from api.problems import PROBLEM_TYPE, STATUSES, URN, Problem, status_of
from contracts.cases import CaseLink, Delivery
from contracts.delegation import Delegation
from contracts.errors import CaseloreError, every_error
from contracts.experience import Proposal
from contracts.identity import Domain, Grant, Profile, RoleInDomain, Tenant
from contracts.related import LinkRemoval
from contracts.retrieval import CheckResult, MemoryUse, RetrievalRequest
from contracts.review import ChangeCommand, ReviewDecision
from contracts.sign_in import IdentityLink, KeyToIssue
from tests.api.routes import routes_of
from tests.api.world import World, key_of

METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}


def documented_routes(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in METHODS
    }


def test_r4_the_permission_table_names_every_route_once(world: World) -> None:
    """Whatever the app serves, however it was added to it."""
    defined = routes_of(world.app)
    assert sorted(defined) == sorted(set(defined)), "a route is defined twice"
    assert set(defined) == set(PERMISSIONS) | {("GET", "/openapi.json")}
    described = {(method, path) for method, path in PERMISSIONS if path.startswith(("/v1/", "/health/"))}
    assert set(documented_routes(world.app.openapi())) == described


def test_r4_a_route_outside_the_table_cannot_be_made() -> None:
    with pytest.raises(LookupError):
        permission_of({"GET"}, "/v1/secrets")


def test_r22_the_document_is_complete(world: World) -> None:
    document = world.app.openapi()
    assert document["components"]["schemas"]["Problem"]["properties"].keys() == Problem.model_fields.keys()
    for (method, path), operation in documented_routes(document).items():
        assert operation["summary"], path
        assert operation["description"], path
        good = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
        assert good and all(answer["content"]["application/json"]["schema"] for answer in good), path
        if PERMISSIONS[method, path] is not Permission.PUBLIC:
            assert operation["security"], path
            assert {str(status) for status in PROBLEMS} <= set(operation["responses"]), path
            for status in PROBLEMS:
                content = operation["responses"][str(status)]["content"]
                assert list(content) == [PROBLEM_TYPE], path
                shown = Problem.model_validate(content[PROBLEM_TYPE]["example"], extra="forbid")
                assert shown.status == status
                assert status == 500 or shown.type.removeprefix(URN) in every_error()
            assert [list(each) for each in operation["security"]] == [["ApiKey"], ["IssuerToken"]], path
        if body := operation.get("requestBody"):
            assert len(body["content"]["application/json"]["examples"]) >= 1, path
            assert all(example["summary"] for example in body["content"]["application/json"]["examples"].values())


def test_the_document_says_what_each_part_is_for(world: World) -> None:
    document = world.app.openapi()
    described = {tag["name"] for tag in document["tags"] if tag["description"]}
    assert described == {tag for operation in documented_routes(document).values() for tag in operation["tags"]}
    schemes = document["components"]["securitySchemes"]
    assert {name: (scheme["type"], scheme["scheme"]) for name, scheme in schemes.items()} == {
        "ApiKey": ("http", "bearer"),
        "IssuerToken": ("http", "bearer"),
    }


def test_r22_every_parameter_is_described_and_bounded(world: World) -> None:
    bounds = {
        "string": {"maxLength", "format", "enum", "pattern"},
        "integer": {"maximum", "exclusiveMaximum"},
        "number": {"maximum", "exclusiveMaximum"},
    }
    for (method, path), operation in documented_routes(world.app.openapi()).items():
        for parameter in operation.get("parameters", ()):
            where = f"{method} {path} {parameter['name']}"
            assert parameter["description"], where
            for schema in parameter["schema"].get("anyOf", [parameter["schema"]]):
                needed = bounds.get(schema.get("type", ""))
                assert needed is None or needed & set(schema), where


def test_r24_what_can_be_pending_names_a_place_and_what_is_read_has_a_tag(world: World) -> None:
    expecting = dict[str, str]()
    for (method, path), operation in documented_routes(world.app.openapi()).items():
        responses, sent = operation["responses"], {each["name"] for each in operation.get("parameters", ())}
        if "202" in responses:
            assert responses["202"]["headers"]["Location"]["required"], path
        is_tagged = method == "GET" and path.startswith("/v1/")
        assert ("If-None-Match" in sent) is ("304" in responses) is is_tagged, path
        assert not is_tagged or responses["200"]["headers"]["ETag"]["required"], path
        assert ("If-Match" in sent) is ("412" in responses) is ("x-if-match" in operation), path
        if "x-if-match" in operation:
            expecting[path] = operation["x-if-match"]
    assert expecting == {
        "/v1/cases/{case_id}/state": "expected_revision",
        "/v1/reviews": "digest",
        "/v1/changes": "digest",
    }


async def test_a_page_describes_every_route_and_loads_nothing_from_elsewhere(world: World) -> None:
    page = await world.send("GET", "/docs", as_=None)
    assert page.headers["content-type"].startswith("text/html")
    for method, path in documented_routes(world.app.openapi()):
        assert f"<code>{method} {path}</code>" in page.text
    assert "Example body" in page.text
    assert set(re.findall(r'(?:src|href)="(?!/|#|data:,)([^"]*)"', page.text)) == set()


EXAMPLES: dict[str, type[BaseModel]] = {
    "DELIVERY": Delivery,
    "STATE_CHANGE": StateChange,
    "PAPERS": PapersToFile,
    "RESULT": ResultToRecord,
    "PROPOSAL": Proposal,
    "DECISION": ReviewDecision,
    "CHANGE": ChangeCommand,
    "DELEGATION": Delegation,
    "RETRIEVAL": RetrievalRequest,
    "READ": Read,
    "MEMORY_USE": MemoryUse,
    "CHECK": CheckResult,
    "CASE_LINK": CaseLink,
    "LINK_REMOVAL": LinkRemoval,
    "TENANT": Tenant,
    "DOMAIN": Domain,
    "PRINCIPAL": PrincipalToAdd,
    "GRANT": Grant,
    "ROLE": RoleInDomain,
    "PROFILE": Profile,
    "KEY": KeyToIssue,
    "IDENTITY": IdentityLink,
}


def shown(name: str) -> list[dict[str, Any]]:
    module = examples if hasattr(examples, name) else key_examples
    return [example["value"] for example in getattr(module, name).values()]


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_is_a_good_body(name: str) -> None:
    for value in shown(name):
        EXAMPLES[name].model_validate(value, extra="forbid")


@pytest.mark.parametrize("error", [cls for cls in every_error().values() if cls is not CaseloreError])
def test_r22_every_refusal_has_the_status_of_its_kind(error: type[CaseloreError]) -> None:
    kinds = [cls for cls in error.__mro__ if cls in STATUSES]
    assert status_of(error) == STATUSES[kinds[0]]
    assert status_of(CaseloreError) == 500


async def test_health_names_what_is_down(world: World) -> None:
    async def good() -> None:
        pass

    async def bad() -> None:
        raise ConnectionError("password=secret")

    checks: dict[str, Callable[[], Any]] = {"database": good, "temporal": bad}
    app = create_app(replace(world.services, readiness=checks))
    async with world.caller("nobody", app) as nobody:
        assert (await nobody.live()).alive
        ready = await nobody.ready()
        assert (ready.ready, ready.down) == (False, ("temporal",))
        assert (await world.caller("nobody").ready()).ready
    response = await world.send("GET", "/health/ready", as_=None, app=app)
    assert response.status_code == 503
    assert "secret" not in response.text


async def test_a_check_that_hangs_counts_as_down(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.health.CHECK_SECONDS", 0.05)

    async def hanging() -> None:
        await asyncio.sleep(60)

    app = create_app(replace(world.services, readiness={"index": hanging}))
    assert (await world.caller("nobody", app).ready()).down == ("index",)


async def test_operators_see_figures_and_are_told_when_the_index_is_away(world: World) -> None:
    await world.published()
    figures = await world.send("GET", "/v1/figures", as_="admin")
    assert figures.json()["stages"]["published"] >= 1
    rebuilding = await world.send("POST", "/v1/reindex", as_="admin")
    assert (rebuilding.status_code, rebuilding.json()["type"]) == (503, "urn:caselore:error:IndexUnavailable")


async def test_an_administrator_sets_up_an_organisation(world: World) -> None:
    async with world.caller("admin") as admin:
        await admin.put_tenant(Tenant(id="west", name="West"))
        await admin.put_domain(Domain(id="development", name="Development"))
        wanted = PrincipalToAdd.model_validate(shown("PRINCIPAL")[0])
        key = await admin.put_principal(wanted.principal, issue_key=True, key_expires_at=wanted.key_expires_at)
        assert await admin.put_principal(wanted.principal) is None
        await admin.put_grant(Grant(principal_id="triage-agent", tenant_id="west", purpose="support"))
        await admin.put_role(
            RoleInDomain.model_validate({"principal_id": "triage-agent", "domain_id": "development", "role": "curator"})
        )
        profile = Profile.model_validate({**shown("PROFILE")[0], "domain_id": "development"})
        assert await admin.put_profile(profile) == profile
    assert key is not None and key != key_of("triage-agent")
    response = await world.send("GET", "/v1/cases?tenant_id=west", as_=None, headers={"Authorization": f"Bearer {key}"})
    assert (response.status_code, response.json()) == (200, [])
