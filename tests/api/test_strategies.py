"""Strategies and their adoption over HTTP (R14)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from api.client import CaseloreClient
from contracts.adoption import Adoption, AdoptionDecision, AdoptionState, AdoptionVerdict, Pin
from contracts.errors import AdoptionNeeded, NotReviewer, SamePerson, StaleStage, UnknownAdoption
from contracts.identity import Profile
from contracts.strategies import DATA_INVESTIGATION, DATA_INVESTIGATION_2
from tests.api.world import World, fresh

FIRST, SECOND = (Pin(strategy_id=each.id, version=each.version) for each in (DATA_INVESTIGATION, DATA_INVESTIGATION_2))


Clients = Callable[[str], Awaitable[CaseloreClient]]


@pytest_asyncio.fixture(name="clients")
async def fixture_clients(world: World) -> AsyncIterator[Clients]:
    """Return a principal's client by its name."""
    async with AsyncExitStack() as stack:
        yield lambda name: stack.enter_async_context(world.caller(name))


def proposal(profile: str) -> Adoption:
    return Adoption(
        id=fresh(),
        profile_id=profile,
        pin=SECOND,
        digest=DATA_INVESTIGATION_2.digest(),
        expected=FIRST,
        reason="It keeps failures apart.",
    )


async def test_a_version_is_proposed_by_one_and_adopted_by_another_r14(clients: Clients) -> None:
    profile = f"adopting-{fresh()[:8]}"
    admin, cora, otto, agent = [await clients(name) for name in ("admin", "cora", "otto", "agent")]
    await admin.put_profile(
        Profile(id=profile, domain_id="data", strategy_id=FIRST.strategy_id, strategy_version=1, principals=("agent",))
    )
    with pytest.raises(AdoptionNeeded) as needed:
        await admin.put_profile(
            Profile(id=profile, domain_id="data", strategy_id=FIRST.strategy_id, strategy_version=2)
        )
    assert needed.value.field == "strategy_version"
    with pytest.raises(NotReviewer):
        await agent.propose_adoption(proposal(profile))

    asked = proposal(profile)
    view = await admin.propose_adoption(asked)
    assert await admin.propose_adoption(asked) == view
    assert [each.id for each in await cora.adoptions(profile_id=profile, waiting=True)] == [view.id]
    decision = AdoptionDecision(decision_id=fresh(), verdict=AdoptionVerdict.ADOPT, digest=view.digest)
    for person, refusal in ((admin, NotReviewer), (cora, NotReviewer)):
        with pytest.raises(refusal):
            await person.decide_adoption(view.id, decision)
    done = await otto.decide_adoption(view.id, decision)
    assert (done.state, done.decided_by) == (AdoptionState.ADOPTED, "otto")
    assert await otto.decide_adoption(view.id, decision) == done
    with pytest.raises(StaleStage):
        await otto.decide_adoption(view.id, decision.model_copy(update={"decision_id": fresh()}))
    with pytest.raises(UnknownAdoption):
        await otto.decide_adoption(fresh(), decision)
    pinned = {each.strategy.version: each.pinned_by for each in await agent.strategies()}
    assert profile in pinned[2]
    assert profile not in pinned[1]


async def test_an_owner_who_proposes_leaves_the_decision_to_another(clients: Clients) -> None:
    profile = f"adopting-{fresh()[:8]}"
    admin, otto, berta = [await clients(name) for name in ("admin", "otto", "berta")]
    await admin.put_profile(Profile(id=profile, domain_id="data", strategy_id=FIRST.strategy_id, strategy_version=1))
    view = await otto.propose_adoption(proposal(profile))
    decision = AdoptionDecision(decision_id=fresh(), verdict=AdoptionVerdict.DECLINE, digest=view.digest)
    with pytest.raises(SamePerson):
        await otto.decide_adoption(view.id, decision)
    assert (await berta.decide_adoption(view.id, decision)).state is AdoptionState.DECLINED


async def test_a_strategy_is_listed_with_what_a_reader_decides_by(clients: Clients) -> None:
    listed = {each.strategy.version: each for each in await (await clients("agent")).strategies()}
    second = listed[2]
    assert (second.strategy, second.digest) == (DATA_INVESTIGATION_2, DATA_INVESTIGATION_2.digest())
    assert second.strategy.guide
    assert "investigator" in listed[1].pinned_by
