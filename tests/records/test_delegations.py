"""Lent review roles: whose decision it is, for how long, and that nobody gets around the separation of people (R7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from activities.records.delegations import DelegationsTable
from contracts.delegation import Delegation, DelegationState, DelegationView
from contracts.errors import (
    CaseloreError,
    IdempotencyConflict,
    InvalidField,
    NotReviewer,
    SamePerson,
    UnknownDelegation,
    UnknownDomain,
    UnknownExperience,
    UnknownPrincipal,
)
from contracts.identity import Principal
from contracts.labels import DomainRole, PrincipalKind
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind
from tests.records.test_decisions import refused
from tests.records.world import World, changed, draft, new_id

SOON = timedelta(days=7)


def asked(delegate: str = "dora", role: DomainRole = DomainRole.CURATOR, **changes: Any) -> Delegation:
    values: dict[str, Any] = {
        "id": new_id(),
        "delegate_id": delegate,
        "domain_id": "data",
        "role": role,
        "reason": "On leave.",
        "expires_at": datetime.now(UTC) + SOON,
    }
    return Delegation(**{**values, **changes})


async def lend(world: World, who: str, delegate: str, role: DomainRole = DomainRole.CURATOR) -> DelegationView:
    await world.principal(delegate)
    return await DelegationsTable(world.database).delegate(who, asked(delegate, role))


def behalf(world: World, experience_id: str) -> list[tuple[str, str | None]]:
    return world.rows(
        "SELECT reviewer_id, on_behalf_of FROM review_decisions WHERE experience_id = %s ORDER BY decided_at",
        experience_id,
    )


async def test_a_delegate_decides_and_the_record_says_on_whose_behalf(world: World) -> None:
    experience_id = await world.propose()
    await lend(world, "cora", "dora")
    await lend(world, "otto", "emil", DomainRole.OWNER)
    assert (await world.decide(experience_id, "dora")).stage is Stage.OWNER_REVIEW
    assert (await world.decide(experience_id, "emil")).stage is Stage.PUBLISHED
    assert behalf(world, experience_id) == [("dora", "cora"), ("emil", "otto")]
    own = await world.propose()
    await world.decide(own, "carl")
    assert behalf(world, own) == [("carl", None)]


async def test_a_delegate_sees_the_domain_for_as_long_as_the_role_is_lent(world: World) -> None:
    """R4: as the delegator does; not before, not after the revocation or expiry, not once the role itself is gone."""
    experience_id = await world.propose()
    await world.principal("dora")

    async def sees() -> bool:
        try:
            await world.experiences.view("dora", experience_id)
        except UnknownExperience:
            return False
        async with world.database.as_principal("dora") as connection:
            lent = list((await connection.execute(text("SELECT * FROM app_review_roles()"))).all())
        assert lent == [("data", "curator", "cora")]
        return True

    assert not await sees()
    table = DelegationsTable(world.database)
    first = await lend(world, "cora", "dora")
    assert await sees()
    await table.revoke("cora", first.id)
    assert not await sees()
    second = await table.delegate("cora", asked(expires_at=datetime.now(UTC) + timedelta(days=1)))
    assert await sees()
    _rewind(world, second.id)
    assert not await sees()
    await lend(world, "cora", "dora")
    world.owner.execute("DELETE FROM domain_roles WHERE principal_id = 'cora'")
    assert not await sees()


def _rewind(world: World, delegation_id: str) -> None:
    """Let a delegation have expired an hour ago."""
    world.owner.execute("ALTER TABLE delegations DISABLE TRIGGER delegations_immutable")
    world.owner.execute(
        "UPDATE delegations SET created_at = now() - interval '2 h', expires_at = now() - interval '1 h' WHERE id = %s",
        (delegation_id,),
    )
    world.owner.execute("ALTER TABLE delegations ENABLE TRIGGER delegations_immutable")


@pytest.mark.parametrize("how", ["revoked", "expired", "role gone", "delegator let go"])
async def test_what_ended_before_the_decision_was_recorded_does_not_count(world: World, how: str) -> None:
    """Stored while the role was lent, recorded after: refused, and nothing is written."""
    experience_id = await world.propose()
    delegation = await lend(world, "cora", "dora")
    message = await world.store_decision(experience_id, "dora")
    if how == "revoked":
        await DelegationsTable(world.database).revoke("dora", delegation.id)
    elif how == "expired":
        _rewind(world, delegation.id)
    elif how == "role gone":
        world.owner.execute("DELETE FROM domain_roles WHERE principal_id = 'cora'")
    else:
        world.owner.execute("UPDATE principals SET active = false WHERE id = 'cora'")
    await refused(world, experience_id, message, NotReviewer)


async def test_a_delegation_is_for_one_role_in_one_domain_and_is_not_lent_on(world: World) -> None:
    await lend(world, "cora", "dora")
    experience_id, elsewhere = await world.propose(), await world.propose(draft(domain_id="development"))
    await world.grant("dora", "acme")
    await refused(world, elsewhere, await world.store_decision(elsewhere, "dora"), NotReviewer)
    await world.decide(experience_id, "carl")
    await refused(world, experience_id, await world.store_decision(experience_id, "dora"), NotReviewer)
    await world.principal("emil")
    with pytest.raises(NotReviewer) as refusal:
        await DelegationsTable(world.database).delegate("dora", asked("emil"))
    assert "lent on" in refusal.value.accepted


async def test_who_had_a_part_cannot_be_stood_in_for(world: World) -> None:
    """R7: neither the one who decides nor the one who is stood in for proposed, wrote or reviewed it."""
    await world.grant("cora", "acme")
    await lend(world, "cora", "dora")
    await lend(world, "cora", "emil", DomainRole.CURATOR)
    await lend(world, "otto", "emil", DomainRole.OWNER)

    proposed_by_delegator = await world.propose(by="cora")
    await refused(world, proposed_by_delegator, await world.store_decision(proposed_by_delegator, "dora"), SamePerson)

    await world.grant("dora", "acme")
    proposed_by_delegate = await world.propose(by="dora")
    await refused(world, proposed_by_delegate, await world.store_decision(proposed_by_delegate, "dora"), SamePerson)

    written_by_delegator = await world.propose()
    now = await world.lifecycle.load(written_by_delegator)
    await world.change(
        written_by_delegator, ChangeKind.REVISE, by="cora", draft=draft(title="Cora's"), digest=now.digest
    )
    await refused(world, written_by_delegator, await world.store_decision(written_by_delegator, "dora"), SamePerson)

    twice = await world.propose()
    await world.decide(twice, "emil")  # for cora
    await refused(world, twice, await world.store_decision(twice, "emil"), SamePerson)


async def test_one_person_is_not_curator_and_owner_by_lending(world: World) -> None:
    """R7: max holds both roles; what he decided, and what was decided for him, keeps him from the other stage."""
    await world.principal("max")
    for role in DomainRole:
        world.owner.execute("INSERT INTO domain_roles VALUES ('max', 'data', %s)", (role,))
    await lend(world, "max", "dora", DomainRole.CURATOR)
    await lend(world, "max", "emil", DomainRole.OWNER)
    by_delegate = await world.propose()
    await world.decide(by_delegate, "dora")
    for who in ("max", "emil"):
        await refused(world, by_delegate, await world.store_decision(by_delegate, who), SamePerson)
    by_himself = await world.propose()
    await world.decide(by_himself, "max")
    await refused(world, by_himself, await world.store_decision(by_himself, "emil"), SamePerson)
    await world.decide(by_himself, "otto")


async def test_of_several_lenders_one_without_a_part_is_stood_in_for(world: World) -> None:
    await world.grant("cora", "acme")
    await lend(world, "cora", "dora")
    await lend(world, "carl", "dora")
    experience_id = await world.propose(by="cora")
    await world.decide(experience_id, "dora")
    assert behalf(world, experience_id) == [("dora", "carl")]


async def test_what_a_delegation_must_say(world: World) -> None:
    """R22: nothing is written by a refused one."""
    await world.principal("dora")
    await world.identities.add_principal(Principal(id="bot", kind=PrincipalKind.AGENT, name="bot"))
    table = DelegationsTable(world.database)
    before = world.everything()
    refusals: list[tuple[str, Delegation, type[CaseloreError], str]] = [
        ("ann", asked(), NotReviewer, "role"),
        ("cora", asked(role=DomainRole.OWNER), NotReviewer, "role"),
        ("cora", asked("cora"), InvalidField, "delegate_id"),
        ("cora", asked("bot"), InvalidField, "delegate_id"),
        ("cora", asked("nobody"), UnknownPrincipal, "delegate_id"),
        ("cora", asked(domain_id="kitchen"), UnknownDomain, "domain_id"),
        ("cora", asked(expires_at=datetime.now(UTC) - timedelta(seconds=1)), InvalidField, "expires_at"),
        ("cora", asked(expires_at=datetime.now(UTC) + timedelta(days=91)), InvalidField, "expires_at"),
        ("cora", asked(expires_at=datetime(2027, 1, 1)), InvalidField, "expires_at"),
    ]
    for who, delegation, error, field in refusals:
        with pytest.raises(error) as refusal:
            await table.delegate(who, delegation)
        assert refusal.value.field == field
    assert changed(world.everything(), before) == []


async def test_a_delegation_is_asked_for_and_ended_once_whoever_repeats(world: World) -> None:
    """R24: idempotent by id; either party ends it; third ones know nothing of it."""
    await world.principal("dora")
    table, delegation = DelegationsTable(world.database), asked()
    first = await table.delegate("cora", delegation)
    assert await table.delegate("cora", delegation) == first
    assert first.state is DelegationState.LIVE
    for who, other in (("carl", delegation), ("cora", delegation.model_copy(update={"reason": "Other."}))):
        with pytest.raises(IdempotencyConflict):
            await table.delegate(who, other)
    for who in ("cora", "dora"):
        assert await table.delegations(who) == [first]
    assert await table.delegations("carl") == []
    for who, id_ in (("carl", first.id), ("cora", new_id()), ("cora", "no id")):
        with pytest.raises(UnknownDelegation):
            await table.revoke(who, id_)
    ended = await table.revoke("dora", first.id)
    assert (ended.state, ended.revoked_by) == (DelegationState.REVOKED, "dora")
    assert await table.revoke("cora", first.id) == ended


async def test_a_delegate_may_ask_for_what_the_role_may(world: World) -> None:
    """R10: retirement and supersession too."""
    experience_id, successor = await world.published(), await world.published()
    await lend(world, "otto", "emil", DomainRole.OWNER)
    outcome = await world.change(experience_id, ChangeKind.SUPERSEDE, by="emil", superseded_by=successor)
    assert outcome.refused == ""
    assert (await world.change(successor, ChangeKind.RETIRE, by="emil")).refused == ""


async def test_a_delegation_in_the_database_stays_as_it_was_given(world: World) -> None:
    """R7: not even by the schema's owner, short of taking the rule away."""
    delegation = await lend(world, "cora", "dora")
    for change in ("expires_at = expires_at + interval '1 day'", "delegate_id = 'ann'", "role = 'owner'"):
        with pytest.raises(Exception, match="append-only"):
            world.owner.execute(f"UPDATE delegations SET {change} WHERE id = %s", (delegation.id,))  # type: ignore[arg-type]
    await DelegationsTable(world.database).revoke("cora", delegation.id)
    with pytest.raises(Exception, match="append-only"):
        world.owner.execute("UPDATE delegations SET revoked_at = NULL, revoked_by = NULL")


async def test_no_role_is_lent_or_taken_back_in_anothers_name(world: World) -> None:
    """R4, R7: whatever SQL the application role sends."""
    delegation = await lend(world, "cora", "dora")
    sql = (
        "INSERT INTO delegations (id, delegator_id, delegate_id, domain_id, role, reason, expires_at)"
        " VALUES (gen_random_uuid(), :by, 'ann', 'data', :role, 'r', now() + interval '1 day')"
    )
    revoke = "UPDATE delegations SET revoked_at = now(), revoked_by = :by WHERE id = CAST(:id AS uuid)"
    tried: list[tuple[str, str, dict[str, str]]] = [
        ("dora", sql, {"by": "cora", "role": "curator"}),
        ("dora", sql, {"by": "dora", "role": "curator"}),
        ("cora", sql, {"by": "cora", "role": "owner"}),
        ("carl", revoke, {"by": "carl", "id": delegation.id}),
        ("dora", revoke, {"by": "cora", "id": delegation.id}),
        ("dora", "UPDATE delegations SET expires_at = now() + interval '9 day'", {}),
        ("dora", "DELETE FROM delegations", {}),
    ]
    before = world.everything()
    for who, statement, values in tried:
        try:
            async with world.database.as_principal(who) as connection:
                assert (await connection.execute(text(statement), values)).rowcount == 0
        except ProgrammingError as error:
            assert "row-level security" in str(error) or "permission denied" in str(error)
    assert changed(world.everything(), before) == []


async def test_a_return_by_a_delegate_is_recorded_like_an_acceptance(world: World) -> None:
    experience_id = await world.propose()
    await lend(world, "cora", "dora")
    assert (await world.decide(experience_id, "dora", Event.RETURN)).stage is Stage.RETURNED
    assert behalf(world, experience_id) == [("dora", "cora")]
