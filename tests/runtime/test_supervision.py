"""Restarting: at once after a stable life, slower each time after short ones, without end."""

from __future__ import annotations

import asyncio

import pytest

from deploy.embedded import supervision
from deploy.embedded.supervision import Backoff, supervise


def test_waits_double_to_a_limit_and_forget_after_a_stable_life() -> None:
    backoff = Backoff()
    assert [backoff.after_life_of(1) for _ in range(9)] == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff.after_life_of(supervision.STABLE_AFTER) == 0
    assert backoff.after_life_of(1) == 0.5


class Flaky:
    """Dead until its third start."""

    pid: int | None = None

    def __init__(self) -> None:
        self.starts = 0
        self.stops = 0
        self.started = asyncio.Event()

    def is_alive(self) -> bool:
        return self.starts >= 3

    async def start(self) -> None:
        self.starts += 1
        if self.starts < 3:
            raise OSError("no space left")
        self.started.set()

    async def stop(self) -> None:
        self.stops += 1


async def test_a_failed_restart_is_cleaned_up_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "CHECK_EVERY", 0.01)
    monkeypatch.setattr(supervision, "FIRST_WAIT", 0.01)
    closing = asyncio.Event()
    service = Flaky()
    watcher = asyncio.create_task(supervise("flaky", service, closing))
    async with asyncio.timeout(5):
        await service.started.wait()
        closing.set()
        await watcher
    assert (service.starts, service.stops) == (3, 2)
