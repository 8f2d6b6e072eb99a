"""Activities of the outbox projector: two loops that follow the outbox for some minutes at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import timedelta

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.delivery import LifecycleDelivery
from activities.projection import Projector
from activities.refusals import crossing
from contracts.ports import Outbox

_POLL = timedelta(seconds=1)
"""The longest pause between looks at the outbox, should a notification be missed or a backoff run out."""


class OutboxActivities:
    """Follows the outbox: commands to lifecycles, changes to the index.

    Args:
        delivery: Takes lifecycle events to workflows.
        projector: Takes index events to the index.
        command_signals: Wakes the first loop.
        change_signals: Wakes the second loop.
        turn: How long one activity goes on before it hands back to its workflow.
    """

    def __init__(
        self,
        delivery: LifecycleDelivery,
        projector: Projector,
        command_signals: Outbox,
        change_signals: Outbox,
        *,
        turn: timedelta = timedelta(minutes=10),
    ) -> None:
        self._delivery = delivery
        self._projector = projector
        self._command_signals = command_signals
        self._change_signals = change_signals
        self._turn = turn

    @activity.defn(name="deliver_commands")
    async def deliver_commands(self) -> int:
        """Deliver lifecycle events as they come; return how many, after a turn."""
        return await self._follow(self._delivery.deliver_batch, self._command_signals)

    @activity.defn(name="project_changes")
    async def project_changes(self) -> int:
        """Project index events as they come; return how many, after a turn."""
        return await self._follow(self._projector.project_batch, self._change_signals)

    async def _follow(self, batch: Callable[[], Awaitable[int]], signals: Outbox) -> int:
        total = 0
        stopping = asyncio.create_task(activity.wait_for_worker_shutdown())
        beating = asyncio.create_task(_heartbeat())
        ends = asyncio.get_running_loop().time() + self._turn.total_seconds()
        try:
            with _always_repeatable(), crossing():
                while not stopping.done() and asyncio.get_running_loop().time() < ends:
                    done = await _to_its_end(batch())
                    total += done
                    if not done:
                        await signals.wait(_POLL)
        finally:
            for task in (stopping, beating):
                task.cancel()
        return total


async def _to_its_end(batch: Awaitable[int]) -> int:
    """Let a batch finish before a cancellation takes effect: what it holds would stay leased otherwise."""
    running = asyncio.ensure_future(batch)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.gather(running, return_exceptions=True)
        raise


@contextmanager
def _always_repeatable() -> Generator[None]:
    """Let no failure end the loop for good: whatever it was, the outbox has to be followed."""
    try:
        yield
    except ApplicationError as error:
        raise ApplicationError(error.message, *error.details, type=error.type) from None


async def _heartbeat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(1)
