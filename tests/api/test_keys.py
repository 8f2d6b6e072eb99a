"""Keys with a scope and an end: they take away from what their principal may do, and never add (R4, R13)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sqlalchemy import text

from activities.records.database import narrowed_to
from activities.records.retrievals import RetrievalsTable
from api.app import create_app
from api.client import CaseloreClient
from contracts.adoption import AdoptionDecision, AdoptionVerdict
from contracts.delegation import Delegation
from contracts.errors import (
    CaseloreError,
    IdempotencyConflict,
    InvalidField,
    NotAuthenticated,
    OutsideKey,
    UnknownCase,
    UnknownKey,
    UnknownPrincipal,
    UnknownTenant,
)
from contracts.identity import Grant, Principal, Profile, RoleInDomain, SignedIn
from contracts.labels import DomainRole, PrincipalKind
from contracts.retrieval import RetrievalRequest
from contracts.sign_in import Ability, CredentialScope, KeyToIssue
from contracts.strategies import DATA_INVESTIGATION
from tests.api.asked_further import asked_further
from tests.api.sessions_world import signed_in
from tests.api.world import World, delivery, fresh, key_of


def wanted(principal_id: str, **given: Any) -> KeyToIssue:
    return KeyToIssue(id=fresh(), principal_id=principal_id, label="Test", **given)


def using(world: World, key: str) -> CaseloreClient:
    return CaseloreClient(
        "http://caselore", key, retries=0, transport=httpx.ASGITransport(app=create_app(world.services))
    )


async def two_tenants(world: World) -> str:
    """Return a new agent that may see both tenants and curates a domain."""
    name = f"agent-{fresh()}"
    identities = world.services.identities
    await identities.add_principal(Principal(id=name, kind=PrincipalKind.AGENT, name="Both"))
    await identities.accept_key(name, key_of(name))
    for tenant in ("north", "south"):
        await identities.grant(Grant(principal_id=name, tenant_id=tenant, purpose="support"))
    await identities.give_role(RoleInDomain(principal_id=name, domain_id="data", role=DomainRole.CURATOR))
    return name


async def test_a_key_is_shown_once_and_kept_as_its_hash(world: World) -> None:
    order = wanted("agent", expires_at=datetime.now(UTC) + timedelta(days=1))
    async with world.caller("admin") as admin:
        issued = await admin.issue_key(order)
        listed = [key for key in await admin.keys("agent") if key.id == order.id]
        with pytest.raises(IdempotencyConflict) as refused:
            await admin.issue_key(order)
    assert refused.value.field == "id"
    assert listed == [issued.key]
    assert (issued.key.issued_by, issued.key.label) == ("admin", "Test")
    assert await world.count("api_keys", f"id = '{order.id}' AND hash = encode(sha256('{issued.api_key}'), 'hex')") == 1
    assert await world.count("api_keys", f"api_keys::text LIKE '%{issued.api_key}%'") == 0
    async with using(world, issued.api_key) as agent:
        assert await agent.watermarks()


async def test_who_issued_which_key_is_in_the_chain(world: World) -> None:
    order = wanted("agent", abilities=(Ability.RETRIEVE, Ability.READ), tenants=("north",))
    async with world.caller("admin") as admin:
        await admin.issue_key(order)
        await admin.revoke_key(order.id)
        found = await admin.audit(subject="principal/agent")
    rows = [row for row in found if row.details.get("id") == order.id]
    assert [(row.action, row.actor_id, row.details["abilities"], row.details["tenants"]) for row in rows] == [
        ("api_key", "admin", "read retrieve", '["north"]')
    ] * 2
    assert "expires" in rows[1].details


async def test_a_revoked_or_expired_key_signs_nobody_in(world: World) -> None:
    async with world.caller("admin") as admin:
        issued = await admin.issue_key(wanted("agent"))
        other = await admin.issue_key(wanted("agent", expires_at=datetime.now(UTC) + timedelta(seconds=2)))
        assert (await admin.revoke_key(issued.key.id)).removed == 1
        assert (await admin.revoke_key(issued.key.id)).removed == 0
        assert issued.key.id not in {key.id for key in await admin.keys("agent")}
        assert issued.key.id in {key.id for key in await admin.keys("agent", ended=True)}
        with pytest.raises(UnknownKey):
            await admin.revoke_key(fresh())
    with pytest.raises(NotAuthenticated):
        await using(world, issued.api_key).watermarks()
    async with world.database.as_system() as connection:
        await connection.execute(
            text("UPDATE api_keys SET expires_at = now() WHERE id = CAST(:id AS uuid)"), {"id": other.key.id}
        )
    with pytest.raises(NotAuthenticated):
        await using(world, other.api_key).watermarks()


async def test_r13_a_key_within_one_tenant_sees_that_tenant_alone(world: World) -> None:
    """Under row-level security: whatever a route asks, the other tenant's rows aren't there."""
    name = await two_tenants(world)
    cases = {tenant: await world.new_case(tenant, as_=name) for tenant in ("north", "south")}
    proposal = await world.proposed()
    issued = await world.services.sign_in.keys.issue("admin", wanted(name, tenants=("south",)))
    async with world.caller(name) as whole, using(world, issued.api_key) as narrow:
        for tenant, case_id in cases.items():
            assert case_id in {case.id for case in await whole.list_cases(tenant)}
        assert cases["south"] in {case.id for case in await narrow.list_cases("south")}
        assert await narrow.list_cases("north") == []
        assert (await narrow.get_case(cases["south"])).id == cases["south"]
        with pytest.raises(UnknownCase):
            await narrow.get_case(cases["north"])
        with pytest.raises(CaseloreError):
            await narrow.deliver(delivery("north"))
        await narrow.deliver(delivery("south"))
        # By its review role the principal sees experience of every tenant; the key leaves north's out.
        assert (await whole.get_experience(proposal.experience_id)).experience_id == proposal.experience_id
        with pytest.raises(CaseloreError):
            await narrow.get_experience(proposal.experience_id)
        assert proposal.experience_id not in {review.experience_id for review in await narrow.reviews()}


async def test_r13_a_retrieval_is_narrowed_as_the_key_that_asked(world: World) -> None:
    """A worker runs it later, and elsewhere: the request remembers."""
    name = await two_tenants(world)
    north = await world.new_case("north", as_=name)
    await world.services.identities.add_profile(
        Profile(
            id=f"profile-{name}",
            domain_id="data",
            strategy_id=DATA_INVESTIGATION.id,
            strategy_version=DATA_INVESTIGATION.version,
            principals=(name,),
        )
    )
    table = RetrievalsTable(world.database)
    wide = RetrievalRequest(request_id=fresh(), profile_id=f"profile-{name}", purpose="p", objective="letters")
    narrow = wide.model_copy(update={"request_id": fresh()})
    await world.services.memory_uses.open(name, wide)
    with narrowed_to(("south",)):
        await world.services.memory_uses.open(name, narrow)
    assert (await table.load(wide.request_id)).scope.tenants == {"north", "south"}
    task = await table.load(narrow.request_id)
    assert (task.scope.tenants, task.narrowed_to) == ({"south"}, ("south",))
    found = await table.resolve(task, [f"case/{north}"])
    assert (found.records, found.not_permitted) == ({}, frozenset()), "the other tenant's cases aren't even counted"
    assert (await table.resolve(replace(task, narrowed_to=None), [f"case/{north}"])).records
    # And what was answered to the whole principal is not read with the narrow key.
    issued = await world.services.sign_in.keys.issue("admin", wanted(name, tenants=("south",)))
    async with using(world, issued.api_key) as agent:
        with pytest.raises(CaseloreError) as refused:
            await agent.get_retrieval(wide.request_id)
    assert refused.value.type == "UnknownRetrieval"


async def test_r13_a_narrowed_key_is_not_shown_what_others_ask_a_domain(world: World) -> None:
    """R18: a brief carries no tenant, so it can't be told from one of another tenant."""
    real = await asked_further(world, "/reply")
    issued = await world.services.sign_in.keys.issue("admin", wanted("agent", tenants=("north",)))
    for key, status in ((key_of("agent"), 200), (issued.api_key, 404)):
        path = f"/v1/consultations/{real['consultation']}"
        response = await world.send("GET", path, as_=None, headers={"Authorization": f"Bearer {key}"})
        assert response.status_code == status


async def test_r13_a_narrowing_does_not_outlive_its_request(world: World) -> None:
    """Connections are pooled: the next borrower starts with the whole of its principal's access."""
    name = await two_tenants(world)
    await world.new_case("north", as_=name)
    issued = await world.services.sign_in.keys.issue("admin", wanted(name, tenants=("south",)))
    async with world.caller(name) as whole, using(world, issued.api_key) as narrow:
        for _ in range(12):
            assert await narrow.list_cases("north") == []
            assert await whole.list_cases("north")


async def test_a_key_names_tenants_that_its_principal_may_not_see_in_vain(world: World) -> None:
    issued = await world.services.sign_in.keys.issue("admin", wanted("agent", tenants=("north", "south")))
    south = await world.new_case("south", as_="stranger")
    async with using(world, issued.api_key) as agent:
        assert await agent.list_cases("south") == []
        with pytest.raises(UnknownCase):
            await agent.get_case(south)


async def test_an_administrators_narrowed_key_does_not_administer(world: World) -> None:
    """Administration goes across tenants, so a key that doesn't is no good for it."""
    for scope in ({"tenants": ("north",)}, {"abilities": (Ability.READ, Ability.REVIEW)}):
        issued = await world.services.sign_in.keys.issue("admin", wanted("admin", **scope))
        async with using(world, issued.api_key) as admin:
            with pytest.raises(OutsideKey):
                await admin.keys()
            with pytest.raises(OutsideKey):
                await admin.issue_key(wanted("admin"))


@pytest.mark.parametrize("scope", [{"tenants": ("south",)}, {"abilities": (Ability.READ, Ability.REVIEW)}])
async def test_r13_an_administrators_narrowed_key_sees_no_more_than_anybody_else(
    world: World, scope: dict[str, Any]
) -> None:
    """What reading tells administrators alone is kept from their keys that aren't good for administration."""
    subject = f"experience/{(await world.proposed()).experience_id}"
    narrowed = (await world.services.sign_in.keys.issue("admin", wanted("admin", **scope))).api_key
    for key, sees_all in ((key_of("admin"), True), (narrowed, False)):
        async with using(world, key) as admin:
            assert bool(await admin.audit(subject=subject)) == sees_all
        page = (await (await signed_in(world, "admin", key=key)).get("/status")).text
        assert ("Set aside" in page, "/erasures" in page) == (sees_all, sees_all)


async def test_r13_a_key_within_a_tenant_gives_nobody_what_holds_in_all_of_them(world: World) -> None:
    """R7, R14: a role that is lent, and a version that a profile starts from, know no tenant."""
    issued = await world.services.sign_in.keys.issue("admin", wanted("otto", tenants=("north",)))
    lent = Delegation(
        id=fresh(),
        delegate_id="cora",
        domain_id="data",
        role=DomainRole.OWNER,
        reason="On leave.",
        expires_at=datetime.now(UTC) + timedelta(days=1),
    )
    adopted = AdoptionDecision(decision_id=fresh(), digest="0" * 64, verdict=AdoptionVerdict.ADOPT, reason="Better.")
    async with using(world, issued.api_key) as otto:
        with pytest.raises(OutsideKey):
            await otto.delegate(lent)
        with pytest.raises(OutsideKey):
            await otto.decide_adoption(fresh(), adopted)


@pytest.mark.parametrize(
    ("given", "error", "field"),
    [
        ({"principal_id": "nobody at all"}, UnknownPrincipal, "principal_id"),
        ({"principal_id": "agent", "tenants": ("north", "nowhere")}, UnknownTenant, "tenants"),
        ({"principal_id": "agent", "expires_at": datetime(2020, 1, 1, tzinfo=UTC)}, InvalidField, "expires_at"),
    ],
)
async def test_r22_a_key_that_makes_no_sense_is_refused(
    world: World, given: dict[str, Any], error: type[CaseloreError], field: str
) -> None:
    before = await world.count("api_keys")
    async with world.caller("admin") as admin:
        with pytest.raises(error) as refused:
            await admin.issue_key(wanted(**given))
    assert refused.value.field == field
    assert await world.count("api_keys") == before


@pytest.mark.parametrize(
    "given",
    [
        {"abilities": ()},
        {"tenants": ()},
        {"abilities": ("read", "read")},
        {"abilities": ("read", "fly")},
        {"abilities": ("administer",), "tenants": ("north",)},
        {"tenants": tuple(f"t{n}" for n in range(51))},
    ],
)
def test_r22_a_scope_is_something_and_names_each_thing_once(given: dict[str, Any]) -> None:
    with pytest.raises((ValidationError, InvalidField)):
        wanted("agent", **given)


_SCOPES = st.builds(
    CredentialScope,
    abilities=st.none() | st.lists(st.sampled_from(Ability), min_size=1, unique=True).map(tuple),
    tenants=st.none() | st.lists(st.sampled_from(("north", "south")), min_size=1, unique=True).map(tuple),
)


@given(scope=_SCOPES, ability=st.sampled_from(Ability))
def test_r13_a_scope_allows_nothing_that_it_leaves_out(scope: CredentialScope, ability: Ability) -> None:
    named: dict[str, Any] = {"id": "a", "kind": PrincipalKind.AGENT, "name": "A", **scope.model_dump()}
    assert SignedIn(**named).allows(ability) == scope.allows(ability)
    assert not SignedIn(**named).administers
    assert SignedIn(**named, administrator=True).administers == scope.allows(Ability.ADMINISTER)
    if scope.allows(ability):
        assert scope.abilities is None or ability in scope.abilities
        assert ability is not Ability.ADMINISTER or scope.tenants is None
