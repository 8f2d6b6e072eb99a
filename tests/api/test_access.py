"""Access is seen and taken away again; both hold from the next request on (R4, R13)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contracts.access import Revocation, Revoked
from contracts.errors import InvalidField, NotAuthenticated, NotPermitted, UnknownPrincipal
from contracts.identity import Grant, Principal, Profile, RoleInDomain
from contracts.labels import DomainRole, PrincipalKind
from contracts.strategies import DATA_INVESTIGATION
from tests.api.world import World, fresh, key_of


async def employed(world: World) -> Principal:
    """Return a new principal with a key, a grant of north, a role and a profile."""
    person = Principal(id=f"person-{fresh()}", kind=PrincipalKind.PERSON, name="Robin")
    await world.services.identities.add_principal(person)
    await world.services.identities.accept_key(person.id, key_of(person.id))
    async with world.caller("admin") as admin:
        await admin.put_grant(Grant(principal_id=person.id, tenant_id="north", purpose="support"))
        await admin.put_role(RoleInDomain(principal_id=person.id, domain_id="data", role=DomainRole.CURATOR))
        await admin.put_profile(
            Profile(
                id=f"profile-{person.id}",
                domain_id="data",
                strategy_id=DATA_INVESTIGATION.id,
                strategy_version=DATA_INVESTIGATION.version,
                principals=(person.id,),
            )
        )
    return person


async def revoked(world: World, person: Principal, what: Revoked, **given: Any) -> int:
    async with world.caller("admin") as admin:
        return (await admin.revoke(Revocation(principal_id=person.id, what=what, **given))).removed


async def test_an_administrator_sees_what_access_derives_from(world: World) -> None:
    """R13"""
    person = await employed(world)
    async with world.caller("admin") as admin:
        seen = await admin.access(person.id)
    assert [grant.tenant_id for grant in seen.grants] == ["north"]
    assert [(role.domain_id, role.role) for role in seen.roles] == [("data", DomainRole.CURATOR)]
    assert seen.profiles == (f"profile-{person.id}",)
    assert (seen.active, seen.administrator, seen.keys, seen.last_key_expires_at) == (True, False, 1, None)


async def test_a_revoked_grant_shows_nothing_any_more(world: World) -> None:
    """R4: and can be given again."""
    person = await employed(world)
    case_id = await world.new_case()
    async with world.caller(person.id) as client:
        await client.get_case(case_id)
        assert await revoked(world, person, Revoked.GRANT, tenant_id="north") == 1
        assert (await world.send("GET", f"/v1/cases/{case_id}", as_=person.id)).status_code == 404
        assert await revoked(world, person, Revoked.GRANT, tenant_id="north") == 0
        async with world.caller("admin") as admin:
            await admin.put_grant(Grant(principal_id=person.id, tenant_id="north", purpose="support"))
        await client.get_case(case_id)


async def test_the_grant_of_one_case_is_revoked_apart_from_that_of_its_tenant(world: World) -> None:
    """R4"""
    person = await employed(world)
    case_id = await world.new_case()
    async with world.caller("admin") as admin:
        await admin.put_grant(Grant(principal_id=person.id, tenant_id="north", case_id=case_id, purpose="advice"))
    assert await revoked(world, person, Revoked.GRANT, tenant_id="north") == 1
    async with world.caller(person.id) as client:
        assert (await client.get_case(case_id)).id == case_id
    assert await revoked(world, person, Revoked.GRANT, tenant_id="north", case_id=case_id) == 1
    assert (await world.send("GET", f"/v1/cases/{case_id}", as_=person.id)).status_code == 404


async def test_who_lost_a_role_has_no_reviews_and_who_left_a_profile_may_not_use_it(world: World) -> None:
    """R7, R13"""
    person = await employed(world)
    await world.proposed()
    async with world.caller(person.id) as client:
        assert await client.reviews()
        assert await revoked(world, person, Revoked.ROLE, domain_id="data", role=DomainRole.OWNER) == 0
        assert await revoked(world, person, Revoked.ROLE, domain_id="data", role=DomainRole.CURATOR) == 1
        assert await client.reviews() == []
    assert await revoked(world, person, Revoked.MEMBERSHIP, profile_id=f"profile-{person.id}") == 1
    async with world.caller("admin") as admin:
        seen = await admin.access(person.id)
    assert (seen.roles, seen.profiles) == ((), ())


async def test_revoked_keys_sign_nobody_in(world: World) -> None:
    """R4: a new key does."""
    person = await employed(world)
    assert await revoked(world, person, Revoked.KEYS) == 1
    async with world.caller(person.id) as client:
        with pytest.raises(NotAuthenticated):
            await client.reviews()
    async with world.caller("admin") as admin:
        key = await admin.put_principal(person, issue_key=True)
    headers = {"Authorization": f"Bearer {key}"}
    assert (await world.send("GET", "/v1/reviews", as_=None, headers=headers)).status_code == 200


async def test_an_inactive_principal_is_out_until_it_is_active_again(world: World) -> None:
    """R4: renaming it does not bring it back."""
    person = await employed(world)
    async with world.caller("admin") as admin, world.caller(person.id) as client:
        await admin.set_active(person, active=False)
        with pytest.raises(NotAuthenticated):
            await client.reviews()
        await admin.put_principal(person.model_copy(update={"name": "Robin R."}))
        with pytest.raises(NotAuthenticated):
            await client.reviews()
        await admin.set_active(person, active=True)
        await client.reviews()


async def test_the_last_administrator_stays_active(world: World) -> None:
    async with world.caller("admin") as admin:
        principal = Principal(id="admin", kind=PrincipalKind.PERSON, name="admin")
        with pytest.raises(NotPermitted, match="last administrator"):
            await admin.set_active(principal, active=False)


@pytest.mark.parametrize(
    ("what", "field"), [("grant", "tenant_id"), ("role", "domain_id"), ("membership", "profile_id")]
)
async def test_a_revocation_names_what_it_takes(world: World, what: str, field: str) -> None:
    """R22"""
    response = await world.send("POST", "/v1/revocations", as_="admin", body={"principal_id": "agent", "what": what})
    assert (response.status_code, response.json()["field"]) == (422, field)
    with pytest.raises(InvalidField):
        Revocation.model_validate({"principal_id": "agent", "what": what})


async def test_only_administrators_and_known_principals(world: World) -> None:
    """R4, R22"""
    body = {"principal_id": "agent", "what": "keys"}
    assert (await world.send("POST", "/v1/revocations", as_="cora", body=body)).status_code == 403
    assert (await world.send("GET", "/v1/access?principal_id=agent", as_="cora")).status_code == 403
    async with world.caller("admin") as admin:
        with pytest.raises(UnknownPrincipal):
            await admin.access("nobody at all")
        with pytest.raises(UnknownPrincipal):
            await admin.revoke(Revocation(principal_id="nobody at all", what=Revoked.KEYS))


async def test_r22_a_key_that_would_end_at_no_time_is_refused_and_adds_nobody(world: World) -> None:
    """Stored, such a time could not be read back, and no list of keys either."""
    new = fresh()
    body = {
        "principal": {"id": new, "kind": "agent", "name": "New"},
        "issue_key": True,
        "key_expires_at": "9999-12-31T23:59:59-14:00",
    }
    refused = await world.send("PUT", "/v1/principals", as_="admin", content=json.dumps(body).encode())
    assert (refused.status_code, refused.json()["field"]) == (422, "key_expires_at")
    assert (await world.send("GET", f"/v1/access?principal_id={new}", as_="admin")).status_code == 404
    assert (await world.send("GET", "/v1/keys", as_="admin")).status_code == 200
