"""A projector worker that holds its turns until it is killed: `python -m tests.workflows.hold_turn ADDRESS QUEUE`.

It prints the name of each turn that it took.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

import workflows.options
from workflows.outbox_projector import OutboxProjector


async def _hold() -> int:
    print(activity.info().activity_type, flush=True)
    while True:
        activity.heartbeat()
        await asyncio.sleep(0.1)


@activity.defn(name="deliver_commands")
async def deliver_commands() -> int:
    """Hold the first loop."""
    return await _hold()


@activity.defn(name="project_changes")
async def project_changes() -> int:
    """Hold the second loop."""
    return await _hold()


async def main(address: str, queue: str) -> None:
    """Work until killed."""
    workflows.options.TURN_HEARTBEAT = timedelta(seconds=2)  # tests can't wait for long
    worker = Worker(
        await Client.connect(address),
        task_queue=queue,
        workflows=[OutboxProjector],
        activities=[deliver_commands, project_changes],
    )
    await worker.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
