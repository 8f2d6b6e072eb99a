"""A profile comes to another strategy version by two people's act, bound to the definition that they read (R14)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from activities.records.adoptions import AdoptionsTable
from activities.records.delegations import DelegationsTable
from contracts.adoption import Adoption, AdoptionDecision, AdoptionState, AdoptionVerdict, AdoptionView, Pin
from contracts.delegation import Delegation
from contracts.errors import (
    AdoptionNeeded,
    CaseloreError,
    IdempotencyConflict,
    InvalidField,
    NotReviewer,
    SamePerson,
    StaleDigest,
    StaleRevision,
    StaleStage,
    UnknownAdoption,
    UnknownProfile,
    UnknownStrategy,
)
from contracts.identity import Profile
from contracts.labels import DomainRole
from contracts.strategies import DATA_INVESTIGATION, DATA_INVESTIGATION_2, DEVELOPMENT, SHIPPED
from tests.records.asking import ask
from tests.records.world import World, changed, new_id

FIRST, SECOND = Pin(strategy_id="data-investigation", version=1), Pin(strategy_id="data-investigation", version=2)
PROFILE = "data-agent"


def proposal(**changes: Any) -> Adoption:
    values: dict[str, Any] = {
        "id": new_id(),
        "profile_id": PROFILE,
        "pin": SECOND,
        "digest": DATA_INVESTIGATION_2.digest(),
        "expected": FIRST,
        "reason": "It follows what the first hits name.",
    }
    return Adoption(**{**values, **changes})


def deciding(view: Adoption, verdict: AdoptionVerdict = AdoptionVerdict.ADOPT, **changes: Any) -> AdoptionDecision:
    values = {"decision_id": new_id(), "verdict": verdict, "digest": view.digest, "reason": "Tried."}
    return AdoptionDecision.model_validate({**values, **changes})


def table(world: World) -> AdoptionsTable:
    return AdoptionsTable(world.database)


async def proposed(world: World, by: str = "cora", **changes: Any) -> AdoptionView:
    return await table(world).propose(by, proposal(**changes))


def pin_of(world: World, profile: str = PROFILE) -> tuple[Any, ...]:
    (pin,) = world.rows("SELECT strategy_id, strategy_version FROM profiles WHERE id = %s", profile)
    return pin


async def refused(world: World, error: type[CaseloreError], doing: Any, *, says: str = ".") -> None:
    before = world.everything()
    with pytest.raises(error, match=says):
        await doing
    assert changed(world.everything(), before) == []


async def test_a_pin_changes_when_an_owner_adopts_what_another_proposed(world: World) -> None:
    view = await proposed(world)
    assert (view.state, view.domain_id, view.proposed_by) == (AdoptionState.PROPOSED, "data", "cora")
    assert pin_of(world) == ("data-investigation", 1)
    assert (await ask(world)).strategy.version == 1

    decision = deciding(view)
    after = await table(world).decide("otto", view.id, decision)
    assert (after.state, after.decided_by, after.decision_reason) == (AdoptionState.ADOPTED, "otto", "Tried.")
    assert pin_of(world) == ("data-investigation", 2)
    assert (await ask(world)).strategy == DATA_INVESTIGATION_2
    assert (await ask(world, strategy_version=1)).strategy == DATA_INVESTIGATION
    assert await table(world).decide("otto", view.id, decision) == after, "a repeat is answered as before"
    assert await table(world).propose("cora", Adoption.model_validate(view.model_dump())) == after


async def test_a_declined_one_changes_nothing_and_another_may_follow(world: World) -> None:
    view = await proposed(world, by="otto")
    after = await table(world).decide("olga", view.id, deciding(view, AdoptionVerdict.DECLINE))
    assert after.state is AdoptionState.DECLINED
    assert pin_of(world) == ("data-investigation", 1)
    again = await proposed(world, by="otto")
    assert [each.id for each in await table(world).adoptions("ann", profile_id=PROFILE)] == [again.id, view.id]
    assert [each.id for each in await table(world).adoptions("ann", waiting=True)] == [again.id]
    assert await table(world).adoptions("ann", profile_id="no such") == []


async def test_nobody_decides_alone(world: World) -> None:
    """R14: as with reviews, the proposer decides neither as itself nor through somebody else's role."""
    view = await proposed(world, by="otto")
    await refused(world, SamePerson, table(world).decide("otto", view.id, deciding(view)))
    await refused(world, NotReviewer, table(world).decide("cora", view.id, deciding(view)), says="owner")
    await refused(world, NotReviewer, table(world).decide("ann", view.id, deciding(view)))
    lent = Delegation(
        id=new_id(),
        delegate_id="carl",
        domain_id="data",
        role=DomainRole.OWNER,
        reason="Away.",
        expires_at=datetime.now(UTC) + timedelta(days=1),
    )
    await DelegationsTable(world.database).delegate("otto", lent)
    await refused(world, SamePerson, table(world).decide("carl", view.id, deciding(view)))
    await DelegationsTable(world.database).delegate("olga", lent.model_copy(update={"id": new_id()}))
    after = await table(world).decide("carl", view.id, deciding(view))
    assert (after.decided_by, after.on_behalf_of) == ("carl", "olga")


async def test_who_may_propose(world: World) -> None:
    await refused(world, NotReviewer, proposed(world, by="ann"))
    await world.principal("ada")
    view = await table(world).propose("ada", proposal(), administrator=True)
    assert view.proposed_by == "ada"
    await refused(world, NotReviewer, table(world).decide("ada", view.id, deciding(view)))


async def test_a_proposal_names_what_is_there(world: World) -> None:
    other = DEVELOPMENT.model_copy(update={"version": 7})
    cases: list[tuple[dict[str, Any], type[CaseloreError]]] = [
        ({"profile_id": "no such"}, UnknownProfile),
        ({"pin": Pin(strategy_id="no such", version=1)}, UnknownStrategy),
        ({"pin": Pin(strategy_id="data-investigation", version=99)}, UnknownStrategy),
        ({"digest": other.digest()}, StaleDigest),
        ({"expected": SECOND}, StaleRevision),
        ({"pin": FIRST, "digest": DATA_INVESTIGATION.digest()}, InvalidField),
    ]
    for changes, error in cases:
        await refused(world, error, proposed(world, **changes))
    await refused(world, UnknownAdoption, table(world).decide("otto", new_id(), deciding(proposal())))
    await refused(world, UnknownAdoption, table(world).decide("otto", "no id", deciding(proposal())))


async def test_a_decision_holds_for_the_definition_and_the_pin_that_were_seen(world: World) -> None:
    """R24: of two proposals the second to be decided finds another pin, and says which."""
    first, second = await proposed(world), await proposed(world, by="carl")
    await refused(world, StaleDigest, table(world).decide("otto", first.id, deciding(first, digest="other")))
    await table(world).decide("otto", first.id, deciding(first))
    await refused(world, StaleRevision, table(world).decide("otto", second.id, deciding(second)), says="version 2")
    declined = await table(world).decide("otto", second.id, deciding(second, AdoptionVerdict.DECLINE))
    assert declined.state is AdoptionState.DECLINED


async def test_another_decision_on_what_was_decided_is_a_conflict(world: World) -> None:
    view = await proposed(world)
    decision = deciding(view)
    await table(world).decide("otto", view.id, decision)
    await refused(world, StaleStage, table(world).decide("olga", view.id, deciding(view)), says="adopted by otto")
    changed_mind = decision.model_copy(update={"reason": "Not tried."})
    await refused(world, IdempotencyConflict, table(world).decide("otto", view.id, changed_mind))
    other = await proposed(world, pin=FIRST, digest=DATA_INVESTIGATION.digest(), expected=SECOND)
    reused = deciding(other, decision_id=decision.decision_id)
    await refused(world, IdempotencyConflict, table(world).decide("otto", other.id, reused))
    await refused(world, IdempotencyConflict, table(world).propose("carl", proposal(id=view.id)))


async def test_decisions_at_the_same_moment_end_in_one(world: World) -> None:
    views = [await proposed(world) for _ in range(4)]
    ends = await asyncio.gather(
        *(table(world).decide(who, view.id, deciding(view)) for view in views for who in ("otto", "olga")),
        return_exceptions=True,
    )
    adopted = [end for end in ends if isinstance(end, AdoptionView)]
    assert len(adopted) == 1
    assert all(isinstance(end, AdoptionView | StaleStage | StaleRevision) for end in ends)


async def test_administration_sets_the_first_pin_and_no_other(world: World) -> None:
    """R14: a changed pin is refused, what else a profile is can still be put."""
    profile = Profile(id=PROFILE, domain_id="data", strategy_id="data-investigation", strategy_version=1)
    await world.identities.add_profile(profile.model_copy(update={"principals": ("ann",)}))
    for changes in ({"strategy_version": 2}, {"strategy_id": "development"}):
        await refused(
            world, AdoptionNeeded, world.identities.add_profile(profile.model_copy(update=changes)), says="adoption"
        )
    await world.identities.add_profile(profile.model_copy(update={"id": "new", "strategy_version": 2}))
    assert pin_of(world, "new") == ("data-investigation", 2)


async def test_the_database_refuses_a_pin_without_its_adoption(world: World) -> None:
    view = await proposed(world)
    sql = "UPDATE profiles SET strategy_version = %s WHERE id = %s"
    with pytest.raises(psycopg.errors.CheckViolation, match="by an adoption only"):
        world.owner.execute(sql, (2, PROFILE))
    await table(world).decide("otto", view.id, deciding(view))
    with pytest.raises(psycopg.errors.CheckViolation, match="by an adoption only"):
        world.owner.execute(sql, (1, PROFILE))
    for statement in (
        "UPDATE strategy_adoptions SET reason = 'Another.'",
        "UPDATE strategy_adoptions SET state = 'declined'",
        "DELETE FROM strategy_adoptions",
    ):
        with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
            world.owner.execute(statement.encode())


async def test_proposal_decision_and_pin_are_in_the_audit(world: World) -> None:
    view = await proposed(world)
    decision = deciding(view)
    await table(world).decide("otto", view.id, decision)
    rows = world.rows(
        "SELECT action, actor_id, digest, details ->> 'state' FROM audit WHERE subject = %s ORDER BY seq DESC LIMIT 3",
        f"profile/{PROFILE}",
    )
    assert {row[:2] for row in rows} >= {("adoption_proposed", "cora"), ("adoption_decided", "otto")}
    assert ("adoption_decided", "otto", view.digest, "adopted") in rows
    assert "profile" in {row[0] for row in rows}, "the new pin itself"


async def test_every_version_is_listed_with_its_digest_and_who_starts_from_it(world: World) -> None:
    listed = await table(world).strategies("ann")
    assert {(each.strategy.id, each.strategy.version, each.digest) for each in listed} == {
        (strategy.id, strategy.version, strategy.digest()) for strategy in SHIPPED
    }
    pinned = {(each.strategy.id, each.strategy.version): each.pinned_by for each in listed}
    assert pinned["data-investigation", 1] == (PROFILE,)
    assert pinned["data-investigation", 2] == ()
    assert await table(world).strategies("nobody") == []
