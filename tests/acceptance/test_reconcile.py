"""Drift in the index of a running Caselore is found by its schedule's workflow and by command, and repaired (R9)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from temporalio.client import Client

from contracts.index import IndexChange
from contracts.labels import Collection
from contracts.reconcile import Standing
from contracts.review import ChangeKind
from deploy.commands.audit import verification
from deploy.importing import experience_id
from deploy.runtime import Runtime
from tests.acceptance.office import Office, by_ref, ref_of, running_office, settings_in
from tests.acceptance.samples import case
from workflows.schedules import RECONCILE_ID

PUMP = case("RC-1", "Pump hums at night", "The pump hums when its filter is full.")
VALVE = case("RC-2", "Valve sticks in the cold", "The valve sticks below five degrees.")


@pytest_asyncio.fixture(scope="module")
async def running(folder: Path) -> AsyncIterator[tuple[Runtime, Office]]:
    async with running_office(settings_in(folder / "data")) as (runtime, office):
        await office.publish(PUMP, VALVE)
        yield runtime, office


async def test_r9_drift_is_found_and_repaired_by_command_and_by_schedule(running: tuple[Runtime, Office]) -> None:
    runtime, office = running
    clean = await office.admin.reconcile()
    assert clean.is_clean
    assert clean.adds_up
    assert {each.collection: each.matching for each in clean.indexes}[Collection.DETAIL] == 2

    await runtime.parts.index.apply([IndexChange(Collection.DETAIL, ref_of(PUMP))])
    found = await office.admin.reconcile(repair=True)
    assert [(drift.key, drift.collection, drift.standing) for drift in found.drifts] == [
        (ref_of(PUMP), Collection.DETAIL, Standing.MISSING)
    ]
    await office.searchable()
    assert (await office.admin.reconcile()).is_clean
    assert ref_of(PUMP) in by_ref(await office.ask("Why does the pump hum?"))

    await runtime.parts.index.apply([IndexChange(Collection.ROUTING, ref_of(VALVE))])
    client = await Client.connect(runtime.addresses.temporal_address)
    handle = client.get_schedule_handle(RECONCILE_ID)
    assert "Compares record and indexes" in ((await handle.describe()).schedule.state.note or "")
    await handle.trigger()
    (newest,) = await office.admin.reconcile_reports(limit=1)
    for _ in range(200):
        if newest.asked_by == "schedule":
            break
        await asyncio.sleep(0.1)
        (newest,) = await office.admin.reconcile_reports(limit=1)
    assert (newest.asked_by, newest.repaired, newest.report.drifting) == ("schedule", True, 1)
    await office.searchable()
    assert (await office.admin.reconcile()).is_clean


async def test_r7_the_audit_chain_of_a_running_caselore_holds(running: tuple[Runtime, Office]) -> None:
    """And tells the whole life of an experience, to the owner's retirement, by whom."""
    runtime, office = running
    kept = await office.admin.audit_head()
    await office.change(VALVE, ChangeKind.RETIRE)
    found = await verification(runtime.addresses.system_database_url, kept.hash)
    assert found.broken is None
    assert found.head.seq > kept.seq
    rows = await office.admin.audit(subject=f"experience/{experience_id(VALVE)}")
    assert [row.details["event"] for row in rows if row.action == "transition"] == [
        "propose", "accept", "accept", "retire",
    ]  # fmt: skip
    cut = await verification(runtime.addresses.system_database_url, "0123" * 16)
    assert cut.broken is not None
