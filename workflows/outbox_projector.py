"""The outbox projector: one workflow, `outbox/projector`, that keeps two activities following the outbox.

One run of it exists in a namespace, so each loop has one runner; a runner that dies is replaced after its
heartbeat goes missing, and operators see both in the Temporal UI.
"""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.workflow import ActivityCancellationType

with workflow.unsafe.imports_passed_through():
    from activities.outbox import OutboxActivities
    from workflows.options import TURN_HEARTBEAT, TURN_RETRY, TURN_TIMEOUT

PROJECTOR_ID = "outbox/projector"


@workflow.defn
class OutboxProjector:
    """Delivers commands and projects changes, for ever."""

    @workflow.run
    async def run(self) -> None:
        """Keep both loops running, turn after turn."""
        loops = [asyncio.create_task(self._deliver_commands()), asyncio.create_task(self._project_changes())]
        ended, going = await workflow.wait(loops, return_when=asyncio.FIRST_COMPLETED)
        for loop in going:
            loop.cancel()  # its turn may have minutes to go, in which the other loop would stand still
        await asyncio.gather(*going, return_exceptions=True)
        for loop in ended:
            loop.result()  # a loop that failed fails the workflow
        workflow.continue_as_new()

    async def _deliver_commands(self) -> None:
        while not workflow.info().is_continue_as_new_suggested():
            await workflow.execute_activity_method(
                OutboxActivities.deliver_commands,
                cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                start_to_close_timeout=TURN_TIMEOUT,
                heartbeat_timeout=TURN_HEARTBEAT,
                retry_policy=TURN_RETRY,
                summary="commands to lifecycles",
            )

    async def _project_changes(self) -> None:
        while not workflow.info().is_continue_as_new_suggested():
            await workflow.execute_activity_method(
                OutboxActivities.project_changes,
                cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
                start_to_close_timeout=TURN_TIMEOUT,
                heartbeat_timeout=TURN_HEARTBEAT,
                retry_policy=TURN_RETRY,
                summary="changes to the index",
            )
