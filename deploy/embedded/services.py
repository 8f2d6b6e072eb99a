"""The embedded services together: started in parallel, watched, stopped in order, one owner for a data folder.

async with EmbeddedServices(settings, search_attributes=ALL, progress=print) as services:
    ...  # services.addresses
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from temporalio.common import SearchAttributeKey

from contracts.errors import RuntimeUnavailable
from deploy.embedded.folder_lock import FolderLock
from deploy.embedded.ports import ensure_port_free
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.runtime_record import RuntimeRecord, remove_record
from deploy.embedded.supervision import Service, supervise
from deploy.embedded.temporal_server import HOST, EmbeddedTemporal
from deploy.settings import Settings

DATABASE = "database"
WORKFLOW_SERVER = "workflow server"


@dataclass(frozen=True)
class Addresses:
    """Where everything is reached, embedded or not. `owner_database_url` is None when migrating is somebody else's."""

    http: str
    database_url: str
    system_database_url: str
    owner_database_url: str | None
    temporal_address: str
    temporal_ui: str | None


class EmbeddedServices:
    """Runs the services that the settings don't place elsewhere, for as long as its `async with` block.

    Args:
        settings: The process's settings.
        search_attributes: Registered on the embedded workflow server.
        progress: Takes a line for a person whenever something was started or stopped.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        search_attributes: Sequence[SearchAttributeKey[Any]] = (),
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self._settings = settings
        self._progress = progress or _silent
        self._http = f"http://{settings.http_host}:{settings.http_port}"
        self._lock = FolderLock(settings.data_dir, address=self._http)
        logs = settings.data_dir / "logs"
        self.postgres: EmbeddedPostgres | None = None
        self.temporal: EmbeddedTemporal | None = None
        self._services: dict[str, Service] = {}
        if settings.is_database_embedded:
            self.postgres = EmbeddedPostgres(settings.data_dir / "postgres", log=logs / "postgres.log")
            self._services[DATABASE] = _Database(self.postgres)
        if settings.is_temporal_embedded:
            self.temporal = EmbeddedTemporal(
                settings.data_dir / "temporal.db",
                log=logs / "temporal.log",
                port=settings.temporal_port,
                ui_port=settings.temporal_ui_port,
                namespace=settings.temporal_namespace,
                search_attributes=search_attributes,
            )
            self._services[WORKFLOW_SERVER] = self.temporal
        self._closing = asyncio.Event()
        self._watchers: list[asyncio.Task[None]] = []
        self._addresses: Addresses | None = None

    @property
    def addresses(self) -> Addresses:
        """Where everything is reached.

        Raises:
            RuntimeUnavailable: The services were not started.
        """
        if self._addresses is None:
            raise RuntimeUnavailable("The embedded services were not started.")
        return self._addresses

    def health(self) -> dict[str, bool]:
        """Return for each embedded service whether its process runs now."""
        return {name: service.is_alive() for name, service in self._services.items()}

    async def __aenter__(self) -> Self:
        """Start everything; on any failure nothing is left running.

        Raises:
            RuntimeUnavailable: The folder has an owner, a port is taken or a service doesn't start.
        """
        self._lock.acquire()
        try:
            await self._check_ports()
            await self._start_all()
            self._addresses = self._found_addresses()
            self._write_record(self._addresses)
        except BaseException:
            await self._stop_all()
            raise
        self._watchers = [
            asyncio.create_task(supervise(name, service, self._closing), name=f"supervise {name}")
            for name, service in self._services.items()
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the watching, then the services."""
        self._closing.set()
        try:
            if self._watchers:
                await asyncio.wait(self._watchers)
        finally:
            await self._stop_all()

    async def _check_ports(self) -> None:
        settings = self._settings
        ensure_port_free(
            settings.http_host, settings.http_port, setting="CASELORE_HTTP_PORT", host_setting="CASELORE_HTTP_HOST"
        )
        if settings.metrics_port is not None:
            ensure_port_free(
                settings.metrics_host,
                settings.metrics_port,
                setting="CASELORE_METRICS_PORT",
                host_setting="CASELORE_METRICS_HOST",
            )
        if self.temporal is not None:
            # A server that a killed owner of this folder left would hold the ports.
            await asyncio.to_thread(self.temporal.end_left_behind)
            ensure_port_free(HOST, settings.temporal_port, setting="CASELORE_TEMPORAL_PORT")
            ensure_port_free(HOST, settings.temporal_ui_port, setting="CASELORE_TEMPORAL_UI_PORT")

    async def _start_all(self) -> None:
        starts = [asyncio.create_task(self._start(name, service)) for name, service in self._services.items()]
        if not starts:
            return
        try:
            await asyncio.wait(starts)
        except asyncio.CancelledError:
            # A start in a thread can't be cancelled: let each end, so that stopping finds its process.
            await asyncio.wait(starts)
            raise
        for start in starts:
            start.result()

    async def _start(self, name: str, service: Service) -> None:
        began = time.monotonic()
        self._progress(f"{name}: starting")
        await service.start()
        self._progress(f"{name}: ready after {time.monotonic() - began:.1f} s")

    async def _stop_all(self) -> None:
        """Stop the workflow server, which gives out work, before the database."""
        try:
            for name in (WORKFLOW_SERVER, DATABASE):
                if (service := self._services.get(name)) is not None and service.is_alive():
                    await service.stop()
                    self._progress(f"{name}: stopped")
        finally:
            remove_record(self._settings.data_dir)
            self._lock.release()

    def _found_addresses(self) -> Addresses:
        settings = self._settings
        if self.postgres is not None:
            database = self.postgres.urls()
            app, system, owner = database.app, database.system, database.owner
        else:
            app, system, owner = settings.database_url, settings.system_database_url, settings.owner_database_url
        temporal = self.temporal.address if self.temporal is not None else settings.temporal_address
        assert app is not None and system is not None and temporal is not None  # noqa: S101 - the settings' own rules
        return Addresses(
            http=self._http,
            database_url=app,
            system_database_url=system,
            owner_database_url=owner,
            temporal_address=temporal,
            temporal_ui=self.temporal.ui_url if self.temporal is not None else None,
        )

    def _write_record(self, addresses: Addresses) -> None:
        ours = self.postgres is not None  # other databases' addresses may hold passwords
        RuntimeRecord(
            pid=os.getpid(),
            http=addresses.http,
            temporal_address=addresses.temporal_address,
            temporal_ui=addresses.temporal_ui,
            database_url=addresses.database_url if ours else None,
            system_database_url=addresses.system_database_url if ours else None,
            owner_database_url=addresses.owner_database_url if ours else None,
        ).write(self._settings.data_dir)


def _silent(line: str) -> None:
    """Say nothing."""
    del line


class _Database:
    """The embedded database as a supervised service: its waiting happens in a thread."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self._postgres = postgres

    @property
    def pid(self) -> int | None:
        return self._postgres.pid

    def is_alive(self) -> bool:
        return self._postgres.is_alive()

    async def start(self) -> None:
        await asyncio.to_thread(self._postgres.start)
        await asyncio.to_thread(self._postgres.create_database)

    async def stop(self) -> None:
        await asyncio.to_thread(self._postgres.stop)
