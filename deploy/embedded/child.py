"""One long-running child process: started with a log file, watched, stopped in order."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

LOG_KEPT = 10 * 1024 * 1024
"""Bytes after which a log is set aside at the next start; one older log is kept."""


@dataclass(frozen=True)
class Account:
    """The operating system account that a child runs as."""

    name: str
    uid: int
    gid: int


class Child:
    """A started process that must be stopped by `stop`.

    It runs in a session of its own: Ctrl-C in a terminal reaches only the parent, which stops its children in order.
    """

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen

    @classmethod
    def start(
        cls,
        command: Sequence[str | Path],
        *,
        log: Path,
        cwd: Path,
        account: Account | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Start `command` with its output appended to `log`.

        Args:
            command: The program and its arguments; the program is a path.
            log: Where standard output and error go.
            cwd: The working directory.
            account: Run as this account (needs root); None keeps our own.
            environment: Variables added to our own environment.

        Raises:
            OSError: The program can't be executed.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_KEPT:
            log.replace(log.with_name(log.name + ".1"))
        with log.open("ab") as output:
            popen = subprocess.Popen(  # noqa: S603 - a program of an installed wheel, with our own arguments
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )
        return cls(popen)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._popen.poll()

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._popen.poll() is None

    def stop(self, *signals: int, grace: float) -> None:
        """Send each signal in turn, `grace` seconds apart, until the process ends; SIGKILL is the last one."""
        for number in (*signals, signal.SIGKILL):
            if self._popen.poll() is not None:
                return
            self._popen.send_signal(number)
            try:
                self._popen.wait(grace)
            except subprocess.TimeoutExpired:
                continue
            return


def end_left_behind(processes: Sequence[psutil.Process], *signals: int, grace: float) -> None:
    """End processes that an earlier, killed parent left: each signal in turn, then SIGKILL.

    The caller has verified what the processes are; psutil checks again that no process id was reused.
    """
    remaining = list(processes)
    for number in (*signals, signal.SIGKILL):
        for process in remaining:
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                continue
        deadline = time.monotonic() + grace
        while remaining := [process for process in remaining if not has_ended(process)]:
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        else:
            return


def has_ended(process: psutil.Process) -> bool:
    """Whether a process does nothing any more; in a container without an init a dead orphan stays as a zombie."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def log_tail(log: Path, lines: int = 12) -> str:
    """Return the last lines of a log, for an error message; "" when there is no log."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - 8192))
            return "\n".join(stream.read().decode(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
