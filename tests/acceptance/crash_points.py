"""Places between two steps where a process is killed, and the ports that lead through them."""

from __future__ import annotations

import functools
import os
import signal
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

T = TypeVar("T")

PUBLISHED = "records.record_decision after"
"""Passed when a publication is committed; places of the projection count from there."""
STATEMENTS = {
    "UPDATE revisions SET state = 'current'": "record.publish after",
    "INSERT INTO outbox": "record.announce after",
}
"""Statements inside the transaction of a publication, and the places behind them."""


@dataclass(frozen=True)
class Crash:
    """Who dies where.

    Args:
        place: `port.method before`, or `... after`.
        pid: The process to kill; 0 for one's own.
        about: The experience's id; calls about others don't count where a call tells.
        once_published: Whether only what comes after the publication counts.
    """

    place: str
    pid: int
    about: str
    once_published: bool = False


@dataclass
class CrashPlan:
    """The next crash, if any."""

    crash: Crash | None = None
    passed: set[str] = field(default_factory=set[str])

    def arm(self, crash: Crash) -> None:
        self.passed.clear()
        self.crash = crash

    def pass_by(self, place: str, *seen: object) -> None:
        """Kill if it is the place. `seen` is what the call shows of its subject; nothing: it can't tell."""
        crash = self.crash
        if crash is None or (seen and crash.about not in repr(seen)):
            return
        if place == crash.place and (not crash.once_published or PUBLISHED in self.passed):
            self.crash = None
            os.kill(crash.pid or os.getpid(), signal.SIGKILL)
        self.passed.add(place)


class _Interrupted:
    """A port whose calls pass by two places each."""

    def __init__(self, port: object, name: str, plan: CrashPlan) -> None:
        self._port = port
        self._name = name
        self._plan = plan

    def __getattr__(self, method: str) -> Any:
        through: Any = getattr(self._port, method)
        if method in ("wait", "close"):
            return through

        @functools.wraps(through)
        async def call(*arguments: Any, **options: Any) -> Any:
            place = f"{self._name}.{method}"
            tells = not method.startswith("claim")  # whoever claims doesn't know yet what he gets
            self._plan.pass_by(f"{place} before", *(arguments if tells else ()))
            result = await through(*arguments, **options)
            if tells or result:
                self._plan.pass_by(f"{place} after", *(arguments if tells else (result,)))
            return result

        return call


def interrupted(port: T, name: str, plan: CrashPlan) -> T:
    """Return the port with a place before and after each of its calls."""
    return cast("T", _Interrupted(port, name, plan))


def watch_statements(engine: AsyncEngine, plan: CrashPlan) -> None:
    """Let the statements of a publication's transaction pass by their places."""

    def after(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        for beginning, place in STATEMENTS.items():
            if statement.lstrip().startswith(beginning):
                plan.pass_by(place)

    event.listen(engine.sync_engine, "after_cursor_execute", after)
