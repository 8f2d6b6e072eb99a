"""Retrieval: `retrieval/<request id>`, one local activity behind an eager start.

The request is in Postgres before the workflow starts and the answer after it: only ids and counts pass through
Temporal (R11).
"""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.retrieval.activity import RetrievalActivities
    from contracts.retrieval import RetrievalReceipt
    from workflows.options import ANSWER_ATTEMPTS, ANSWER_TIMEOUT


@workflow.defn
class Retrieval:
    """Answers one stored retrieval request."""

    @workflow.run
    async def run(self, request_id: str) -> RetrievalReceipt:
        """Return what was answered; a repeat returns the stored answer's receipt."""
        return await workflow.execute_local_activity_method(
            RetrievalActivities.answer_retrieval,
            request_id,
            start_to_close_timeout=ANSWER_TIMEOUT,
            retry_policy=ANSWER_ATTEMPTS,
        )
