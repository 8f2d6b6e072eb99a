"""A decision or command that comes again has one effect, whatever happened in between (R8, R10)."""

import asyncio
import uuid

import pytest

from contracts import limits
from contracts.errors import LifecycleClosed
from contracts.lifecycle import Event, Stage
from contracts.review import CommandMessage, DecisionMessage, DecisionOutcome
from tests.workflows.driver import Lifecycle, eventually
from workflows.experience_lifecycle import ExperienceLifecycle


async def rolled_over(lifecycle: Lifecycle) -> None:
    """Return when the lifecycle goes on in another run."""
    run_id = (await lifecycle.handle.describe()).run_id
    await lifecycle.handle.signal("roll_over")

    async def is_another() -> bool:
        return (await lifecycle.handle.describe()).run_id != run_id

    await eventually("another run", is_another)


async def repeat(lifecycle: Lifecycle, message: DecisionMessage) -> None:
    """Send a decision that was taken before; nothing may change."""
    before = lifecycle.at
    outcome = await lifecycle.gateway.decide(lifecycle.id, message)
    assert outcome.stage in (Stage.OWNER_REVIEW, before.stage)
    assert lifecycle.at == before
    assert lifecycle.records.writes.count(message.decision_id) == 1


async def test_r8_a_repeated_decision_in_the_same_run(lifecycle: Lifecycle) -> None:
    message = lifecycle.decision(Event.ACCEPT, "cora")
    first = await lifecycle.gateway.decide(lifecycle.id, message)
    assert await lifecycle.gateway.decide(lifecycle.id, message) == first
    await repeat(lifecycle, message)


async def test_r8_a_decision_that_comes_twice_at_once(lifecycle: Lifecycle) -> None:
    message = lifecycle.decision(Event.ACCEPT, "cora")
    both = await asyncio.gather(*(lifecycle.gateway.decide(lifecycle.id, message) for _ in range(2)))
    assert [outcome.stage for outcome in both] == [Stage.OWNER_REVIEW] * 2
    assert lifecycle.records.writes.count(message.decision_id) == 1


async def test_r8_a_repeated_decision_after_a_roll_over(lifecycle: Lifecycle) -> None:
    message = lifecycle.decision(Event.ACCEPT, "cora")
    await lifecycle.gateway.decide(lifecycle.id, message)
    await rolled_over(lifecycle)
    assert (await lifecycle.gateway.decide(lifecycle.id, message)).duplicate
    await repeat(lifecycle, message)
    assert (await lifecycle.decide(Event.ACCEPT, "olga")).stage is Stage.PUBLISHED


async def test_r8_a_repeated_decision_after_the_end(lifecycle: Lifecycle) -> None:
    message = lifecycle.decision(Event.REJECT, "cora")
    await lifecycle.gateway.decide(lifecycle.id, message)
    await lifecycle.handle.result()
    await repeat(lifecycle, message)


async def test_r8_a_repeated_decision_after_the_end_of_a_later_run(lifecycle: Lifecycle) -> None:
    """The last run never heard of it: the lifecycle is started once more, and the record answers."""
    accepted, rejected = lifecycle.decision(Event.ACCEPT, "cora"), None
    await lifecycle.gateway.decide(lifecycle.id, accepted)
    await rolled_over(lifecycle)
    rejected = lifecycle.decision(Event.REJECT, "olga")
    await lifecycle.gateway.decide(lifecycle.id, rejected)
    await lifecycle.handle.result()
    outcome = await lifecycle.gateway.decide(lifecycle.id, accepted)
    assert (outcome.stage, outcome.duplicate) == (Stage.REJECTED, True)
    await repeat(lifecycle, rejected)


async def test_r10_a_repeated_command_also_after_a_roll_over(lifecycle: Lifecycle) -> None:
    await lifecycle.accept_twice()
    command_id = lifecycle.records.store(Event.CORRECT)
    message = CommandMessage(command_id=command_id)
    for _ in range(2):
        await lifecycle.gateway.signal(lifecycle.id, Event.CORRECT, message)
    await lifecycle.settled(command_id)
    await rolled_over(lifecycle)
    await lifecycle.gateway.signal(lifecycle.id, Event.CORRECT, message)
    await lifecycle.accept_twice()
    assert (lifecycle.at.revision, lifecycle.at.current_revision) == (2, 2)
    assert lifecycle.records.commands[command_id].tries == 1


async def test_r10_what_waits_is_carried_into_the_next_run(lifecycle: Lifecycle) -> None:
    await lifecycle.accept_twice()
    ids = [lifecycle.records.store(Event.CORRECT), lifecycle.records.store(Event.RETIRE)]
    lifecycle.records.hold()
    await lifecycle.gateway.signal(lifecycle.id, Event.CORRECT, CommandMessage(command_id=ids[0]))
    await lifecycle.handle.signal("roll_over")
    await lifecycle.gateway.signal(lifecycle.id, Event.RETIRE, CommandMessage(command_id=ids[1]))
    lifecycle.records.let_go()
    for command_id in ids:
        assert (await lifecycle.settled(command_id)).state == "applied"
    await eventually("it ends", lambda: lifecycle.at.stage is Stage.RETIRED)


async def test_r8_a_decision_in_progress_is_answered_before_a_roll_over(lifecycle: Lifecycle) -> None:
    run_id = (await lifecycle.handle.describe()).run_id
    lifecycle.records.hold()
    before = lifecycle.records.calls
    messages = [lifecycle.decision(Event.ACCEPT, "cora"), lifecycle.decision(Event.ACCEPT, "carl")]
    deciding = [asyncio.create_task(lifecycle.gateway.decide(lifecycle.id, message)) for message in messages]
    await eventually("it is being recorded", lambda: lifecycle.records.calls > before)
    await lifecycle.handle.signal("roll_over")
    await asyncio.sleep(0.1)
    lifecycle.records.let_go()
    outcomes = await asyncio.gather(*deciding, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["DecisionOutcome", "StaleStage"]
    assert (await lifecycle.decide(Event.ACCEPT, "olga")).stage is Stage.PUBLISHED
    assert (await lifecycle.handle.describe()).run_id != run_id


async def test_r10_a_command_that_comes_while_it_closes_ends_refused(lifecycle: Lifecycle) -> None:
    """The last decision rejects, another is still being refused, and a signal arrives: it may not vanish."""
    records = lifecycle.records
    rejecting, late = lifecycle.decision(Event.REJECT, "cora"), lifecycle.decision(Event.ACCEPT, "carl")
    command_id = records.store(Event.RETIRE)
    records.hold()
    before = records.calls
    first = asyncio.create_task(lifecycle.gateway.decide(lifecycle.id, rejecting))
    await eventually("the first is being recorded", lambda: records.calls == before + 1)
    second = asyncio.create_task(lifecycle.gateway.decide(lifecycle.id, late))
    await eventually("the second waits for its turn", lambda: _are_accepted(lifecycle, 2))
    records.let_one_go()
    await eventually("the second is being recorded", lambda: records.calls == before + 2)
    await lifecycle.gateway.signal(lifecycle.id, Event.RETIRE, CommandMessage(command_id=command_id))
    await lifecycle.handle.query(ExperienceLifecycle.standing)  # the signal was taken
    records.let_go()
    rejected, refused = await asyncio.gather(first, second, return_exceptions=True)
    assert (type(rejected), type(refused)) == (DecisionOutcome, LifecycleClosed)
    command = await lifecycle.settled(command_id)
    assert (command.state, command.refused) == ("refused", "LifecycleClosed")
    assert (await lifecycle.handle.result())["stage"] == "rejected"


async def _are_accepted(lifecycle: Lifecycle, updates: int) -> bool:
    history = await lifecycle.handle.fetch_history()
    accepted = "workflow_execution_update_accepted_event_attributes"
    return sum(event.HasField(accepted) for event in history.events) == updates


async def test_r24_a_decision_on_what_the_record_shows_is_not_stale(lifecycle: Lifecycle) -> None:
    """The record moves before the workflow hears of it; a reviewer who reads the record in between is right."""
    await lifecycle.accept_twice()
    command_id = lifecycle.records.store(Event.CORRECT)
    lifecycle.records.lose_answer()
    await lifecycle.gateway.signal(lifecycle.id, Event.CORRECT, CommandMessage(command_id=command_id))
    await lifecycle.settled(command_id)
    assert await lifecycle.known() != lifecycle.at
    assert (await lifecycle.decide(Event.ACCEPT, "cora")).stage is Stage.OWNER_REVIEW


async def test_r10_a_command_for_a_closed_lifecycle_ends_refused(lifecycle: Lifecycle) -> None:
    await lifecycle.decide(Event.REJECT, "cora")
    await lifecycle.handle.result()
    command = await lifecycle.send(Event.RETIRE)
    assert (command.state, command.refused) == ("refused", "LifecycleClosed")
    assert (await lifecycle.handle.result())["stage"] == "rejected"


async def test_the_newest_ids_are_remembered_and_old_ones_left_to_the_record(
    lifecycle: Lifecycle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SEEN_COMMANDS", 3)
    first = lifecycle.decision(Event.ACCEPT, "cora")
    await lifecycle.gateway.decide(lifecycle.id, first)
    for _ in range(4):
        message = CommandMessage(command_id=str(uuid.uuid4()))
        await lifecycle.handle.signal("retire", message)
    await rolled_over(lifecycle)
    assert lifecycle.records.writes.count(first.decision_id) == 1
    assert (await lifecycle.decide(Event.ACCEPT, "olga")).stage is Stage.PUBLISHED
