"""The data folder across restarts, orderly and not."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey

from deploy.embedded.account import account_for
from deploy.embedded.child import Account, has_ended
from deploy.embedded.runtime_record import read_record
from deploy.embedded.services import EmbeddedServices
from deploy.settings import Settings, load_settings
from tests.runtime.stored import has_row, has_workflow, keep_row, keep_workflow

FIRST = SearchAttributeKey.for_keyword("RuntimeTestFirst")
ADDED = SearchAttributeKey.for_datetime("RuntimeTestAdded")
ROOT = Path(__file__).parents[2]


async def test_a_restart_keeps_data_and_takes_new_search_attributes(settings: Settings) -> None:
    async with EmbeddedServices(settings, search_attributes=[FIRST]) as services:
        owner = services.addresses.owner_database_url or ""
        value = keep_row(owner)
        workflow_id = await keep_workflow(await Client.connect(services.addresses.temporal_address))

    async with EmbeddedServices(settings, search_attributes=[FIRST, ADDED]) as services:
        assert has_row(owner, value)
        client = await Client.connect(services.addresses.temporal_address)
        assert await has_workflow(client, workflow_id)
        listed = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace="default"))
        assert {FIRST.name, ADDED.name} <= set(listed.custom_attributes)


async def test_a_killed_parent_leaves_a_folder_that_starts_again(settings: Settings) -> None:
    with holding_services(settings) as (parent, left_behind):
        record = read_record(settings.data_dir)
        assert record is not None
        assert record.pid == parent.pid
        value = keep_row(record.owner_database_url or "")
        workflow_id = await keep_workflow(await Client.connect(record.temporal_address))
        parent.kill()
        parent.wait()
        assert read_record(settings.data_dir) is None, "a killed owner's record is not believed"
        assert not any(has_ended(process) for process in left_behind)

        async with EmbeddedServices(settings) as services:
            assert has_row(services.addresses.owner_database_url or "", value)
            assert await has_workflow(await Client.connect(services.addresses.temporal_address), workflow_id)
            assert all(has_ended(process) for process in left_behind)


async def test_an_interrupted_parent_stops_its_services(settings: Settings) -> None:
    with holding_services(settings) as (parent, services):
        parent.send_signal(signal.SIGINT)
        parent.wait(20)
        assert all(has_ended(process) for process in services)
        assert not (settings.data_dir / "runtime.json").exists()


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can become an ordinary user, with setpriv"
)
async def test_an_ordinary_user_needs_no_other_account(settings: Settings) -> None:
    ordinary = account_for(settings.data_dir)
    assert ordinary is not None
    settings.data_dir.mkdir()
    os.chown(settings.data_dir, ordinary.uid, ordinary.gid)
    for parent in settings.data_dir.parents:
        parent.chmod(parent.stat().st_mode | 0o001)
    with holding_services(settings, prefix=as_ordinary(ordinary)) as (_, services):
        assert {process.uids().real for process in services} == {ordinary.uid}


def as_ordinary(account: Account) -> list[str]:
    """Return the command prefix for an ordinary user that can read an interpreter in root's home."""
    may_read = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return ["setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups", *may_read]


@contextmanager
def holding_services(
    settings: Settings, *, prefix: Sequence[str] = ()
) -> Generator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """Run the services under another process and end whatever is left of it afterwards."""
    ports = [str(port) for port in (settings.http_port, settings.temporal_port, settings.temporal_ui_port)]
    parent = subprocess.Popen(
        [*prefix, sys.executable, "-m", "tests.runtime.hold_services", str(settings.data_dir), *ports],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    services: list[psutil.Process] = []
    try:
        assert parent.stdout is not None
        ready = next((line for line in parent.stdout if line.startswith("ready ")), "")  # after log lines
        services += [psutil.Process(int(pid)) for pid in ready.split()[1:]]
        assert len(services) == 2, "the services did not start"
        yield parent, services
    finally:
        if parent.poll() is None:
            parent.send_signal(signal.SIGINT)
        parent.communicate(timeout=30)
        for process in services:
            if process.is_running():
                process.kill()


def test_data_dir_does_not_follow_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings().data_dir == tmp_path / ".caselore"
