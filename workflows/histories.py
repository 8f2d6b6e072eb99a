"""What Temporal keeps of workflows, looked through for text that should not be there (R11)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from contracts.erased_text import Eraser
from contracts.errors import DeliveryPending

_AT_ONCE = 8


class TemporalHistories:
    """`contracts.erasure_ports.WorkflowHistories` on a Temporal client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def holding(self, workflow_ids: Sequence[str], eraser: Eraser) -> tuple[int, list[str]]:
        """See `contracts.erasure_ports.WorkflowHistories.holding`."""
        if not eraser.values:
            return 0, []
        turns = asyncio.Semaphore(_AT_ONCE)

        async def look(workflow_id: str) -> tuple[int, bool]:
            async with turns:
                return await self._look(workflow_id, eraser)

        try:
            found = await asyncio.gather(*map(look, workflow_ids))
        except RPCError as error:
            raise DeliveryPending("Temporal can't be reached.") from error
        holding = [id_ for id_, (_, is_held) in zip(workflow_ids, found, strict=True) if is_held]
        return sum(runs for runs, _ in found), holding

    async def _look(self, workflow_id: str, eraser: Eraser) -> tuple[int, bool]:
        runs = 0
        is_held = False
        async for words in self.words(workflow_id):
            runs += 1
            # The id itself is ours, and could not be erased.
            held = await asyncio.to_thread(eraser.count, words.replace(workflow_id, ""))
            is_held = is_held or bool(held)
        return runs, is_held

    async def words(self, workflow_id: str) -> AsyncGenerator[str]:
        """Return all that is kept of each run of a workflow, as one text."""
        for run_id in await self._runs(workflow_id):
            handle = self._client.get_workflow_handle(workflow_id, run_id=run_id)
            try:
                description = await handle.describe()
                # Protobuf keeps texts as they are: payloads are JSON, and every other field is UTF-8.
                events = [event.SerializeToString() async for event in handle.fetch_history_events()]
                parts = [description.raw_description.SerializeToString(), *events]
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:  # its retention ended meanwhile
                    continue
                raise
            yield "\n".join(part.decode(errors="replace") for part in parts)

    async def _runs(self, workflow_id: str) -> list[str]:
        """Return the runs of a workflow, also one that began just now, which the list may not show yet."""
        query = f"WorkflowId = {json.dumps(workflow_id)}"
        listed = {execution.run_id: None async for execution in self._client.list_workflows(query)}
        try:
            latest = await self._client.get_workflow_handle(workflow_id).describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        else:
            listed[latest.run_id] = None
        return list(listed)
