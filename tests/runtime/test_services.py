"""Running services: reachable, recorded, alone on their folder, restarted when they die."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError

from contracts.errors import RuntimeUnavailable
from deploy.embedded.runtime_record import read_record
from deploy.embedded.services import EmbeddedServices
from deploy.settings import Settings
from tests.runtime.conftest import embedded_settings
from tests.runtime.stored import has_workflow, keep_row, keep_workflow, libpq, row_seen_within

STAGE = SearchAttributeKey.for_keyword("RuntimeTestStage")
RECOVERED_WITHIN = 10.0


class Running:
    def __init__(self, settings: Settings, services: EmbeddedServices, lines: list[str]) -> None:
        self.settings = settings
        self.services = services
        self.lines = lines
        self.owner_url = services.addresses.owner_database_url or ""

    async def client(self) -> Client:
        return await Client.connect(self.services.addresses.temporal_address)


@pytest_asyncio.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    settings = embedded_settings(tmp_path_factory.mktemp("running") / "data")
    lines: list[str] = []
    async with EmbeddedServices(settings, search_attributes=[STAGE], progress=lines.append) as services:
        yield Running(settings, services, lines)
    assert lines[-2:] == ["workflow server: stopped", "database: stopped"]
    assert read_record(settings.data_dir) is None
    assert not (settings.data_dir / "runtime.json").exists()


def killed(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


async def test_both_services_answer(running: Running) -> None:
    with psycopg.connect(libpq(running.owner_url)) as connection:
        row = connection.execute("SELECT current_database(), current_setting('fsync'), version()").fetchone()
    assert row is not None
    assert row[:2] == ("caselore", "on")
    assert row[2].startswith("PostgreSQL 18")

    client = await running.client()
    await client.start_workflow(
        "Kept", id="with-attribute", task_queue="nobody", search_attributes=typed_stage("curator")
    )
    assert running.services.health() == {"database": True, "workflow server": True}
    assert {line.split(" after")[0] for line in running.lines} == {
        "database: starting",
        "workflow server: starting",
        "database: ready",
        "workflow server: ready",
    }


async def test_the_record_tells_other_commands_where(running: Running) -> None:
    record = read_record(running.settings.data_dir)
    assert record is not None
    assert record.pid == os.getpid()
    assert record.temporal_address == running.services.addresses.temporal_address
    assert record.owner_database_url == running.owner_url
    path = running.settings.data_dir / "runtime.json"
    assert json.loads(path.read_text())["http"] == f"http://127.0.0.1:{running.settings.http_port}"
    assert path.stat().st_mode & 0o077 == 0


async def test_a_second_start_on_the_folder_is_refused(running: Running) -> None:
    second = embedded_settings(running.settings.data_dir)
    with pytest.raises(RuntimeUnavailable) as refused:
        async with EmbeddedServices(second):
            pass
    assert f"already running in {running.settings.data_dir}: process {os.getpid()}" in refused.value.message
    assert f"http://127.0.0.1:{running.settings.http_port}" in refused.value.message
    assert refused.value.field == "CASELORE_DATA_DIR"
    assert read_record(running.settings.data_dir) is not None


async def test_a_killed_database_comes_back_with_its_rows(running: Running) -> None:
    value = keep_row(running.owner_url)
    postgres = running.services.postgres
    assert postgres is not None
    before = postgres.pid
    busy = psycopg.connect(libpq(running.owner_url))
    # A session in a long computation doesn't notice that its server is gone.
    computing = asyncio.create_task(asyncio.to_thread(computes_until_cut_off, busy))
    await asyncio.sleep(0.3)

    killed(before)
    assert await row_seen_within(running.owner_url, value, RECOVERED_WITHIN) < RECOVERED_WITHIN
    assert postgres.pid != before
    await computing
    busy.close()


async def test_a_killed_workflow_server_comes_back_with_its_workflows(running: Running) -> None:
    client = await running.client()
    workflow_id = await keep_workflow(client)
    temporal = running.services.temporal
    assert temporal is not None
    before = temporal.pid

    killed(before)
    began = time.monotonic()
    while temporal.pid == before or not await answers(client, workflow_id):
        assert time.monotonic() - began < RECOVERED_WITHIN
        await asyncio.sleep(0.1)


def typed_stage(value: str):
    from temporalio.common import SearchAttributePair, TypedSearchAttributes

    return TypedSearchAttributes([SearchAttributePair(STAGE, value)])


async def answers(client: Client, workflow_id: str) -> bool:
    try:
        return await asyncio.wait_for(has_workflow(client, workflow_id), 1)
    except (RPCError, TimeoutError):
        return False


def computes_until_cut_off(connection: psycopg.Connection) -> None:
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT count(*) FROM generate_series(1, 100000000000)")


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeUnavailable) as refused:
        async with EmbeddedServices(embedded_settings(tmp_path / "file" / "data")):
            pass
    assert refused.value.field == "CASELORE_DATA_DIR"
