"""The activity of the retrieval workflow."""

from __future__ import annotations

from temporalio import activity

from activities.refusals import crossing
from activities.retrieval.engine import RetrievalEngine
from contracts.retrieval import RetrievalReceipt


class RetrievalActivities:
    """Runs the retrieval engine for the workflow."""

    def __init__(self, engine: RetrievalEngine) -> None:
        self._engine = engine

    @activity.defn(name="answer_retrieval")
    async def answer_retrieval(self, request_id: str) -> RetrievalReceipt:
        """Answer the stored request once; a retry returns the stored answer."""
        with crossing():
            return await self._engine.answer(request_id)
