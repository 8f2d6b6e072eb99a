"""Erasure: `erasure/<id>`, from the order to a verified end (R11).

The workflow knows the order's id and counts; what is to be found stays in Postgres. An erasure that was verified is
done. Whatever else happens, a person is told what is left.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.erasure import ErasureActivities
    from contracts.erasure import ErasureEnd, ErasureStep
    from workflows.options import (
        ERASURE_ATTEMPTS,
        ERASURE_HEARTBEAT,
        ERASURE_TIMEOUT,
        MUST_HAPPEN,
        RECORD_TIMEOUT,
    )

ROUNDS = 3
"""Somebody may write the same words while they are removed: so often it is begun anew."""


@workflow.defn
class Erasure:
    """Carries out one stored order to erase."""

    @workflow.run
    async def run(self, erasure_id: str) -> str:
        """Remove, verify and end; return what a person has to look at, "" when nothing."""
        try:
            why = await self._erase(erasure_id)
        except ActivityError as error:
            type_ = error.cause.type if isinstance(error.cause, ApplicationError) else None
            why = f"the step {error.activity_type} failed: {type_ or 'no answer'}"
        await workflow.execute_activity_method(
            ErasureActivities.finish_erasure,
            ErasureEnd(erasure_id=erasure_id, why=why),
            start_to_close_timeout=RECORD_TIMEOUT,
            retry_policy=MUST_HAPPEN,
            summary="for a person to look at" if why else "done",
        )
        workflow.set_current_details(f"### {'needs a person' if why else 'done'}\n\n{why}")
        return why

    async def _erase(self, erasure_id: str) -> str:
        why = ""
        for turn in range(1, ROUNDS + 1):
            workflow.set_current_details(f"### running\n\nround {turn}")
            steps = ErasureActivities
            await self._step(steps.erase_records, erasure_id, "remove from the record")
            left = {
                "index": await self._step(steps.erase_index, erasure_id, "remove from the index and its files"),
                "histories": await self._step(steps.look_through_histories, erasure_id, "look through histories"),
                "records": await self._step(steps.verify_erasure, erasure_id, "verify"),
            }
            why = ", ".join(f"{step.left} left in {store}" for store, step in left.items() if step.left)
            if not why:
                break
        return why

    async def _step(
        self, step: Callable[[ErasureActivities, str], Awaitable[ErasureStep]], erasure_id: str, summary: str
    ) -> ErasureStep:
        return await workflow.execute_activity_method(
            step,
            erasure_id,
            start_to_close_timeout=ERASURE_TIMEOUT,
            heartbeat_timeout=ERASURE_HEARTBEAT,
            retry_policy=ERASURE_ATTEMPTS,
            summary=summary,
        )
