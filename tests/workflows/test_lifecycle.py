"""Every way through the lifecycle, from the proposal to its end (R7, R8, R10)."""

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from contracts.errors import SamePerson
from contracts.lifecycle import Event, Stage
from contracts.review import CommandMessage
from tests.workflows.driver import Lifecycle, Lifecycles, eventually, lifecycles_on
from tests.workflows.lifecycle_records import LifecycleMemory


async def status(lifecycle: Lifecycle) -> WorkflowExecutionStatus | None:
    return (await lifecycle.handle.describe()).status


async def test_r8_two_acceptances_publish(lifecycle: Lifecycle) -> None:
    await lifecycle.accept_twice()
    assert (lifecycle.at.stage, lifecycle.at.current_revision) == (Stage.PUBLISHED, 1)
    assert await lifecycle.known() == lifecycle.at
    assert await status(lifecycle) is WorkflowExecutionStatus.RUNNING


@pytest.mark.parametrize("stage", [Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW])
async def test_r7_a_returned_draft_goes_through_both_reviews_again(lifecycle: Lifecycle, stage: Stage) -> None:
    if stage is Stage.OWNER_REVIEW:
        await lifecycle.decide(Event.ACCEPT, "cora")
    returned = await lifecycle.decide(Event.RETURN, "cora" if stage is Stage.CURATOR_REVIEW else "olga")
    assert returned.stage is Stage.RETURNED
    assert (await lifecycle.send(Event.RESUBMIT)).state == "applied"
    assert (lifecycle.at.stage, lifecycle.at.revision) == (Stage.CURATOR_REVIEW, 2)
    await lifecycle.accept_twice()
    assert lifecycle.at.current_revision == 2


@pytest.mark.parametrize("stage", [Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW])
async def test_r7_a_rejection_ends_the_lifecycle(lifecycle: Lifecycle, stage: Stage) -> None:
    if stage is Stage.OWNER_REVIEW:
        await lifecycle.decide(Event.ACCEPT, "cora")
    rejected = await lifecycle.decide(Event.REJECT, "cora" if stage is Stage.CURATOR_REVIEW else "olga")
    assert rejected.stage is Stage.REJECTED
    assert (await lifecycle.handle.result())["stage"] == "rejected"


@pytest.mark.parametrize("suspend", [False, True])
async def test_r10_a_correction_goes_through_both_reviews(lifecycle: Lifecycle, suspend: bool) -> None:
    await lifecycle.accept_twice()
    assert (await lifecycle.send(Event.CORRECT, suspend=suspend)).state == "applied"
    assert (lifecycle.at.stage, lifecycle.at.current_revision) == (Stage.CURATOR_REVIEW, 1)
    assert lifecycle.at.suspended is suspend
    await lifecycle.accept_twice()
    assert (lifecycle.at.current_revision, lifecycle.at.suspended) == (2, False)


@pytest.mark.parametrize("by", ["cora", "olga"])
async def test_r10_a_rejected_correction_leaves_what_is_published(lifecycle: Lifecycle, by: str) -> None:
    await lifecycle.accept_twice()
    await lifecycle.send(Event.CORRECT, suspend=True)
    if by == "olga":
        await lifecycle.decide(Event.ACCEPT, "cora")
    rejected = await lifecycle.decide(Event.REJECT, by)
    assert rejected.stage is Stage.PUBLISHED
    assert (lifecycle.at.current_revision, lifecycle.at.suspended) == (1, False)
    assert (await lifecycle.send(Event.RETIRE)).state == "applied"


@pytest.mark.parametrize(("kind", "stage"), [(Event.RETIRE, Stage.RETIRED), (Event.SUPERSEDE, Stage.SUPERSEDED)])
@pytest.mark.parametrize("correcting", [False, True])
async def test_r10_retirement_and_supersession_end_it(
    lifecycle: Lifecycle, kind: Event, stage: Stage, correcting: bool
) -> None:
    await lifecycle.accept_twice()
    if correcting:
        await lifecycle.send(Event.CORRECT)
    assert (await lifecycle.send(kind)).state == "applied"
    assert (await lifecycle.handle.result())["stage"] == stage
    assert lifecycle.at.current_revision is None


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        (Event.RESUBMIT, "StaleStage"),
        (Event.CORRECT, "NotPublished"),
        (Event.RETIRE, "NotPublished"),
        (Event.SUPERSEDE, "NotPublished"),
    ],
)
async def test_r10_a_command_that_comes_during_a_review_is_refused_in_the_record(
    lifecycle: Lifecycle, kind: Event, refused: str
) -> None:
    command = await lifecycle.send(kind)
    assert (command.state, command.refused) == ("refused", refused)
    await lifecycle.accept_twice()


@pytest.mark.parametrize("stage", [Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW])
async def test_r7_an_edit_goes_through_both_reviews_by_others(lifecycle: Lifecycle, stage: Stage) -> None:
    if stage is Stage.OWNER_REVIEW:
        await lifecycle.decide(Event.ACCEPT, "carl")
    assert (await lifecycle.send(Event.REVISE, by="cora")).state == "applied"
    assert (lifecycle.at.stage, lifecycle.at.revision) == (Stage.CURATOR_REVIEW, 2)
    with pytest.raises(SamePerson):
        await lifecycle.decide(Event.ACCEPT, "cora")
    await lifecycle.decide(Event.ACCEPT, "carl")
    assert (await lifecycle.decide(Event.ACCEPT, "olga")).stage is Stage.PUBLISHED


async def test_r10_a_reinstatement_revives_the_lifecycle_that_retirement_ended(lifecycle: Lifecycle) -> None:
    """The run has completed; the signal starts another, which loads the record and takes it through both reviews."""
    await lifecycle.accept_twice()
    await lifecycle.send(Event.RETIRE)
    await lifecycle.handle.result()
    first = (await lifecycle.handle.describe()).run_id
    assert (await lifecycle.send(Event.REINSTATE)).state == "applied"
    assert (await lifecycle.handle.describe()).run_id != first
    assert (lifecycle.at.stage, lifecycle.at.revision) == (Stage.CURATOR_REVIEW, 2)
    await lifecycle.accept_twice()
    assert (lifecycle.at.stage, lifecycle.at.current_revision) == (Stage.PUBLISHED, 2)
    assert await status(lifecycle) is WorkflowExecutionStatus.RUNNING


async def test_r10_a_rejected_reinstatement_is_retired_and_ended_again(lifecycle: Lifecycle) -> None:
    await lifecycle.accept_twice()
    await lifecycle.send(Event.RETIRE)
    for _ in range(2):
        await lifecycle.send(Event.REINSTATE)
        assert (await lifecycle.decide(Event.REJECT, "cora")).stage is Stage.RETIRED
        assert (await lifecycle.handle.result())["stage"] == "retired"


async def test_r10_a_reinstatement_that_comes_before_the_retirement_is_done_is_taken_in_order(
    lifecycle: Lifecycle,
) -> None:
    """Both wait in one queue: the run that would end goes on."""
    await lifecycle.accept_twice()
    lifecycle.records.hold()
    commands = [lifecycle.records.store(kind) for kind in (Event.RETIRE, Event.REINSTATE)]
    for kind, command_id in zip((Event.RETIRE, Event.REINSTATE), commands, strict=True):
        await lifecycle.gateway.signal(lifecycle.id, kind, CommandMessage(command_id=command_id))
    lifecycle.records.let_go()
    for command_id in commands:
        assert (await lifecycle.settled(command_id)).state == "applied"
    await lifecycle.accept_twice()
    assert lifecycle.at.current_revision == 2


@pytest.mark.parametrize("stage", [Stage.REJECTED, Stage.SUPERSEDED])
async def test_r10_what_was_not_retired_is_not_reinstated(lifecycles: Lifecycles, stage: Stage) -> None:
    lifecycle = lifecycles.make(stage=stage)
    command = await lifecycle.send(Event.REINSTATE)
    assert (command.state, command.refused) == ("refused", "LifecycleClosed")
    assert (await lifecycle.handle.result())["stage"] == stage


async def test_r10_commands_are_applied_in_their_order_and_once(lifecycle: Lifecycle) -> None:
    await lifecycle.accept_twice()
    kinds = [Event.CORRECT, Event.CORRECT, Event.RESUBMIT, Event.RETIRE]
    ids = [lifecycle.records.store(kind) for kind in kinds]
    lifecycle.records.hold()
    for kind, command_id in zip(kinds * 2, ids * 2, strict=True):
        await lifecycle.gateway.signal(lifecycle.id, kind, CommandMessage(command_id=command_id))
    lifecycle.records.let_go()
    assert (await lifecycle.handle.result())["stage"] == "retired"
    settled = [lifecycle.records.commands[command_id] for command_id in ids]
    assert [command.refused for command in settled] == ["", "StaleStage", "StaleStage", ""]
    assert [command.tries for command in settled] == [1, 1, 1, 1]


async def test_the_main_path_survives_a_replay_at_every_step(client: Client) -> None:
    """Without a cache each workflow task replays the whole history."""
    async with lifecycles_on(client, LifecycleMemory(), cached=0) as lifecycles:
        lifecycle = await lifecycles.started()
        await lifecycle.decide(Event.RETURN, "cora")
        await lifecycle.send(Event.RESUBMIT)
        await lifecycle.accept_twice()
        await lifecycle.send(Event.CORRECT)
        await lifecycle.accept_twice()
        await lifecycle.send(Event.RETIRE)
        assert (await lifecycle.handle.result())["stage"] == "retired"
        await lifecycle.assert_healthy()


async def test_r8_the_record_may_be_away_for_a_while(lifecycle: Lifecycle) -> None:
    lifecycle.records.failures.append(ConnectionError("gone"))
    await lifecycle.accept_twice()
    assert len(lifecycle.standing.decisions) == 2


async def test_r10_signals_that_come_while_no_worker_runs_take_effect_later(client: Client) -> None:
    lifecycles = Lifecycles(client, LifecycleMemory())
    async with lifecycles.worker():
        lifecycle = await lifecycles.started()
        await lifecycle.accept_twice()
    command_id = lifecycle.records.store(Event.RETIRE)
    await lifecycle.gateway.signal(lifecycle.id, Event.RETIRE, CommandMessage(command_id=command_id))
    assert lifecycle.records.commands[command_id].state == "pending"
    async with lifecycles.worker():
        assert (await lifecycle.handle.result())["stage"] == "retired"
    assert lifecycle.records.commands[command_id].state == "applied"


async def test_a_lifecycle_follows_what_the_record_says_at_its_start(lifecycles: Lifecycles) -> None:
    lifecycle = await lifecycles.started(stage=Stage.OWNER_REVIEW)
    await lifecycle.decide(Event.ACCEPT, "olga")
    assert lifecycle.at.stage is Stage.PUBLISHED
    await eventually("the workflow knows", lambda: _knows(lifecycle))


async def _knows(lifecycle: Lifecycle) -> bool:
    return await lifecycle.known() == lifecycle.at
