"""The erasure's workflow: order, further rounds, and a person who is told what is left (R11)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from activities.erasure import ErasureActivities
from contracts.erased_text import Eraser
from contracts.erasure import StoreReport
from contracts.erasure_ports import ErasureWork
from contracts.errors import UnknownErasure
from deploy.worker import workflow_runner
from tests.workflows.driver import gateway_for
from tests.workflows.outbox_memory import IndexMemory
from workflows.erasure import Erasure
from workflows.histories import TemporalHistories

SUBJECT = "kanarivogel"


class ErasureMemory:
    """`contracts.erasure_ports.ErasureRecords` that notes what it is asked."""

    def __init__(self, *left: int, refuses: bool = False) -> None:
        self.steps: list[str] = []
        self.reports: dict[str, StoreReport] = {}
        self.end: str | None = None
        self._left = list(left)
        self._refuses = refuses

    async def remove(self, erasure_id: str) -> int:
        self.steps.append("remove")
        if self._refuses:
            raise UnknownErasure("There is no such erasure.", field="erasure_id")
        return 1

    async def work(self, erasure_id: str) -> ErasureWork:
        return ErasureWork("acme", False, Eraser((SUBJECT,)), frozenset())

    async def pending(self, erasure_id: str) -> int:
        self.steps.append("pending")
        return 0

    async def workflows(self, erasure_id: str, limit: int) -> tuple[list[str], int]:
        return [f"erasure/{erasure_id}"], 1

    async def left(self, erasure_id: str) -> StoreReport:
        self.steps.append("left")
        return StoreReport(store="records", left=self._left.pop(0) if self._left else 0)

    async def vacuum(self, erasure_id: str) -> StoreReport:
        return StoreReport(store="files")

    async def report(self, erasure_id: str, *reports: StoreReport) -> None:
        self.reports |= {report.store: report for report in reports}

    async def finish(self, erasure_id: str, why: str) -> None:
        self.end = why


async def run_erasure(client: Client, records: ErasureMemory) -> tuple[str, str]:
    """Start an erasure as the product does, and return its id and what it ended with."""
    queue, erasure_id = f"erasure-{uuid.uuid4()}", str(uuid.uuid4())
    activities = ErasureActivities(records, IndexMemory(), TemporalHistories(client))
    steps: Sequence[Any] = [
        activities.erase_records,
        activities.erase_index,
        activities.look_through_histories,
        activities.verify_erasure,
        activities.finish_erasure,
    ]
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Erasure],
        activities=steps,
        workflow_runner=workflow_runner(),
        graceful_shutdown_timeout=timedelta(seconds=2),
        identity="caselore",
    ):
        gateway = gateway_for(client, queue)
        for _ in range(2):  # a repeated delivery starts nothing anew
            assert await gateway.erase(erasure_id, tenant_id="acme") == "started"
        return erasure_id, await client.get_workflow_handle(f"erasure/{erasure_id}").result()


async def test_a_verified_erasure_is_done(client: Client) -> None:
    records = ErasureMemory()
    erasure_id, why = await run_erasure(client, records)
    assert (why, records.end) == ("", "")
    assert records.steps == ["remove", "pending", "left"]
    assert set(records.reports) == {"records", "index", "histories", "caches", "files"}
    assert records.reports["histories"].looked_at >= 1
    words = [each async for each in TemporalHistories(client).words(f"erasure/{erasure_id}")]
    assert words
    assert not any(SUBJECT in each for each in words)


async def test_what_was_written_meanwhile_is_removed_in_a_further_round(client: Client) -> None:
    records = ErasureMemory(2)
    assert (await run_erasure(client, records))[1] == ""
    assert records.steps == ["remove", "pending", "left"] * 2


async def test_an_erasure_with_something_left_is_never_done(client: Client) -> None:
    records = ErasureMemory(1, 1, 1)
    assert (await run_erasure(client, records))[1] == "1 left in records"
    assert records.end == "1 left in records"
    assert records.steps.count("remove") == 3


async def test_a_refused_step_is_told_to_a_person(client: Client) -> None:
    records = ErasureMemory(refuses=True)
    await run_erasure(client, records)
    assert records.end == "the step erase_records failed: UnknownErasure"


@pytest.mark.parametrize("held", [True, False])
async def test_a_history_that_holds_a_value_is_found(client: Client, held: bool) -> None:
    """R11: in arguments, and in an encoded payload; histories of ours hold ids, so that this finds nothing there."""
    workflow_id = f"history/{uuid.uuid4()}"
    handle = await client.start_workflow(
        "Nobody", {"note": SUBJECT.upper() if held else "an id"}, id=workflow_id, task_queue=f"nobody-{uuid.uuid4()}"
    )
    looked_at, holding = await TemporalHistories(client).holding([workflow_id], Eraser((SUBJECT,)))
    await handle.terminate()
    assert holding == ([workflow_id] if held else [])
    assert looked_at == 1
