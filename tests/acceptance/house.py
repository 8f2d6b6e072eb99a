"""Services that stay and a Caselore process on them that comes and goes."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from api.client import CaseloreClient
from contracts.casefile import CaseRecord
from contracts.errors import CaseloreError
from contracts.lifecycle import Event, Stage
from contracts.review import ReviewDecision
from contracts.views import ExperienceView
from deploy.bootstrap import prepare_schema
from deploy.cast import OWNER
from deploy.embedded import supervision, temporal_server
from deploy.embedded.services import EmbeddedServices
from deploy.importing import experience_id, proposal_of
from deploy.settings import Settings
from tests.acceptance.office import Office, fresh, open_office, settings_in
from workflows import search_attributes

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds after which something counts as never coming."""


class House:
    """PostgreSQL and Temporal in this process's care, Caselore itself in a process of its own.

    Args:
        services: Database and workflow server, restarted when they die.
        settings: Of the Caselore process.
    """

    office: Office

    def __init__(self, services: EmbeddedServices, settings: Settings) -> None:
        self.services = services
        self.settings = settings
        self._process: Process | None = None
        self._next: Process | None = None
        self.impatient: CaseloreClient | None = None

    async def start(self) -> None:
        """Start the process and return when it answers."""
        addresses, settings = self.services.addresses, self.settings
        given = {
            "data_dir": str(settings.data_dir),
            "http_port": settings.http_port,
            "temporal_address": addresses.temporal_address,
            "database_url": addresses.database_url,
            "system_database_url": addresses.system_database_url,
            "embedding_threads": 1,
        }
        self._process, self._next = self._next or await self._spawned(), None
        assert await self.tell(**given) == "ready"
        # Most of a start is the loading of modules: the next process does that while this one works.
        self._next = await self._spawned()

    async def stop(self) -> None:
        """End the processes in order."""
        for process in (self._process, self._next):
            if process is not None and process.returncode is None and process.stdin is not None:
                process.stdin.close()
                try:
                    await asyncio.wait_for(process.wait(), PATIENCE)
                except TimeoutError:
                    process.kill()

    async def _spawned(self) -> Process:
        with (self.settings.data_dir.parent / "process.log").open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.acceptance.crashing_runtime"),
                cwd=ROOT,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )

    async def kill(self) -> None:
        """Kill the process, whatever it is at."""
        assert self._process is not None
        self._process.kill()
        await self.died()

    async def died(self) -> None:
        """Return when the process has ended by itself."""
        assert self._process is not None
        code = await asyncio.wait_for(self._process.wait(), PATIENCE)
        assert code == -9, f"the process ended with {code}"

    async def tell(self, **line: Any) -> Any:
        """Send the process a line and return its answer."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(line).encode() + b"\n")
        await process.stdin.drain()
        return json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE))

    @property
    def postmaster(self) -> int:
        assert self.services.postgres is not None and self.services.postgres.pid is not None
        return self.services.postgres.pid

    async def restarted(self, postmaster: int) -> None:
        """Return when another database server than `postmaster` runs."""
        for _ in range(int(PATIENCE / 0.05)):
            if self.postmaster != postmaster and self.services.health()["database"]:
                return
            await asyncio.sleep(0.05)
        pytest.fail("the database server was not killed, or is not back")

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what the database holds, past every rule."""
        url = (self.services.addresses.owner_database_url or "").replace("postgresql+psycopg:", "postgresql:")
        with psycopg.connect(url) as connection:
            return connection.execute(statement.encode(), values).fetchall()

    async def standing(self, record: CaseRecord, *, until: Stage, searchable: bool) -> ExperienceView:
        """Return the experience when it is there, asking a process that may just be coming back."""
        view = None
        try:
            async with asyncio.timeout(PATIENCE):
                while view is None or view.stage is not until or view.searchable is not searchable:
                    await asyncio.sleep(0.1)
                    with suppress(CaseloreError):
                        view = await self.office.cast.proposer.get_experience(experience_id(record))
        except TimeoutError:
            pytest.fail(f"it stays at {view}")
        return view

    async def drained(self) -> None:
        """Return when every event is delivered; what a dead process had leased is taken over later."""
        undelivered = "SELECT topic, key, outcome, dead_at FROM outbox WHERE delivered_at IS NULL"
        left: list[tuple[Any, ...]] = []
        for _ in range(int(PATIENCE / 0.1)):
            if not (left := self.rows(undelivered)):
                return
            await asyncio.sleep(0.1)
        pytest.fail(f"never delivered: {left}")


def accepting(record: CaseRecord, stage: Stage) -> ReviewDecision:
    return ReviewDecision(
        decision_id=fresh(),
        experience_id=experience_id(record),
        stage=stage,
        digest=proposal_of(record).draft.digest(),
        verdict=Event.ACCEPT,
    )


@asynccontextmanager
async def open_house(folder: Path) -> AsyncGenerator[House]:
    """Start services and a first process; everything that was started ends with the block."""
    own, services = settings_in(folder / "caselore"), settings_in(folder / "services")
    own.data_dir.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(supervision, "STABLE_AFTER", 0.0)  # a killed server comes back at once, each time
        # What a killed worker had in hand is given to another one after this.
        patched.setitem(temporal_server.DYNAMIC_CONFIG, "history.defaultWorkflowTaskTimeout", '"2s"')
        async with EmbeddedServices(services, search_attributes=search_attributes.ALL) as running:
            await prepare_schema(running.addresses)
            house = House(running, own)
            await house.start()
            try:
                http = f"http://127.0.0.1:{own.http_port}"
                async with open_office(http, own.data_dir) as office:
                    house.office = office
                    key = await office.admin.put_principal(OWNER, issue_key=True)
                    async with CaseloreClient(http, key or "", retries=0) as impatient:
                        house.impatient = impatient
                        yield house
            finally:
                await house.stop()
