"""Restarts a service whose process died, slower each time it dies soon again."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Protocol

import structlog

CHECK_EVERY = 0.2
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
STABLE_AFTER = 60.0
"""Seconds of life after which an earlier death no longer counts."""

_log = structlog.get_logger(__name__)


class Service(Protocol):
    """A child process that can be started again after it died."""

    @property
    def pid(self) -> int | None:
        """The process id, None before the start."""
        ...

    def is_alive(self) -> bool:
        """Whether the process runs."""
        ...

    async def start(self) -> None:
        """Start and return when it is ready."""
        ...

    async def stop(self) -> None:
        """Stop; harmless when it isn't running."""
        ...


@dataclass
class Backoff:
    """Waiting times: none for a death after a stable life, then doubling."""

    wait: float = 0.0

    def after_life_of(self, seconds: float) -> float:
        """Return how long to wait before the next start."""
        if seconds >= STABLE_AFTER:
            self.wait = 0.0
        current = self.wait
        self.wait = min(LONGEST_WAIT, max(FIRST_WAIT, current * 2))
        return current


async def supervise(name: str, service: Service, closing: asyncio.Event) -> None:
    """Keep `service` running until `closing` is set; a restart under way is finished first.

    A start that fails is logged and tried again without end: the data is safe, and an operator may free what is
    missing (disk, memory, a port) at any time.
    """
    backoff = Backoff()
    started = time.monotonic()
    while not await _set_within(closing, CHECK_EVERY):
        if service.is_alive():
            continue
        wait = backoff.after_life_of(time.monotonic() - started)
        _log.error("service died", service=name, pid=service.pid, restart_in=wait)
        if await _set_within(closing, wait):
            return
        started = time.monotonic()
        try:
            await service.start()
        except Exception:
            _log.exception("service not restarted", service=name)
            await service.stop()
        else:
            _log.warning(
                "service restarted", service=name, pid=service.pid, seconds=round(time.monotonic() - started, 2)
            )


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    if seconds <= 0:
        return event.is_set()
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
