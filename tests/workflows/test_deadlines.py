"""Review deadlines remind and escalate; nothing is accepted by silence (R7)."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from contracts import limits
from contracts.lifecycle import Event, Stage
from tests.workflows.driver import Lifecycle, Lifecycles, eventually, lifecycles_on
from tests.workflows.lifecycle_records import LifecycleMemory

DAY = timedelta(days=1)


@pytest_asyncio.fixture
async def waiting(time_skipping_env: WorkflowEnvironment) -> AsyncIterator[Lifecycles]:
    """Lifecycles whose time stands still until a test moves it."""
    async with lifecycles_on(time_skipping_env.client, LifecycleMemory()) as lifecycles:
        yield lifecycles
        for lifecycle in lifecycles.made:
            await lifecycle.assert_healthy()


async def proposed(env: WorkflowEnvironment, lifecycles: Lifecycles) -> Lifecycle:
    with env.with_time_skipping_disabled():
        return await lifecycles.started()


async def test_r7_a_deadline_reminds_and_the_next_escalates(
    time_skipping_env: WorkflowEnvironment, waiting: Lifecycles
) -> None:
    lifecycle = await proposed(time_skipping_env, waiting)
    await time_skipping_env.fast_forward(lifecycle.handle, limits.REVIEW_DEADLINE - DAY)
    assert waiting.records.reminders == []
    await time_skipping_env.fast_forward(lifecycle.handle, 2 * DAY)
    await eventually("a reminder", lambda: lifecycle.at.reminded)
    assert not lifecycle.at.escalated
    await time_skipping_env.fast_forward(lifecycle.handle, limits.ESCALATION_AFTER)
    await eventually("an escalation", lambda: lifecycle.at.escalated)
    assert [reminder.level for reminder in waiting.records.reminders] == ["remind", "escalate"]
    assert (lifecycle.at.stage, lifecycle.at.due_at) == (Stage.CURATOR_REVIEW, None)
    assert (await lifecycle.decide(Event.ACCEPT, "cora")).stage is Stage.OWNER_REVIEW


async def test_r7_nothing_is_accepted_by_silence(time_skipping_env: WorkflowEnvironment, waiting: Lifecycles) -> None:
    lifecycle = await proposed(time_skipping_env, waiting)
    await time_skipping_env.fast_forward(lifecycle.handle, 400 * DAY)
    await eventually("an escalation", lambda: lifecycle.at.escalated)
    assert lifecycle.at.stage is Stage.CURATOR_REVIEW
    assert len(waiting.records.reminders) == 2


async def test_r7_a_decision_cancels_the_deadline_and_starts_the_next_one(
    time_skipping_env: WorkflowEnvironment, waiting: Lifecycles
) -> None:
    lifecycle = await proposed(time_skipping_env, waiting)
    await time_skipping_env.fast_forward(lifecycle.handle, limits.REVIEW_DEADLINE - DAY)
    await lifecycle.decide(Event.ACCEPT, "cora")
    await time_skipping_env.fast_forward(lifecycle.handle, limits.REVIEW_DEADLINE - DAY)
    assert waiting.records.reminders == []
    await time_skipping_env.fast_forward(lifecycle.handle, 2 * DAY)
    await eventually("a reminder", lambda: lifecycle.at.reminded)
    assert [reminder.stage for reminder in waiting.records.reminders] == [Stage.OWNER_REVIEW]
    await lifecycle.decide(Event.ACCEPT, "olga")
    await time_skipping_env.fast_forward(lifecycle.handle, 100 * DAY)
    assert len(waiting.records.reminders) == 1
    assert lifecycle.at.stage is Stage.PUBLISHED


async def test_r7_a_deadline_that_passed_while_nothing_ran_still_reminds(
    time_skipping_env: WorkflowEnvironment, waiting: Lifecycles
) -> None:
    lifecycle = waiting.make()
    assert lifecycle.at.due_at is not None
    lifecycle.standing.snapshot = lifecycle.at.model_copy(update={"due_at": lifecycle.at.due_at - 30 * DAY})
    with time_skipping_env.with_time_skipping_disabled():
        await lifecycle.start()
    await eventually("a reminder", lambda: lifecycle.at.reminded)
    assert not lifecycle.at.escalated
