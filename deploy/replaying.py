"""Feeds a file of deliveries through the public intake: every line is answered for, none stops the rest (R1, R22).

The file is read as it is sent, so that memory doesn't grow with it. Intake knows a delivery by its origin, revision
and content, so that an interrupted replay is simply run again.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from pydantic import BaseModel

from api.checked_route import DELIVERY_BYTES
from api.client import CaseloreClient
from contracts import limits
from contracts.cases import Disposition, Receipt
from contracts.errors import CaseloreError, InvalidField, InvalidInput, NotAuthenticated, TextTooLong, Unavailable
from contracts.text import check_text

LINE_BYTES = DELIVERY_BYTES
"""The longest line: what the intake's route takes at most."""
REFUSED_SHOWN = 20
"""Refused lines that a report names, the first in the file."""
REDELIVERED = "redelivered"
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line of the file that isn't blank: its number from 1, and its bytes, None when it is too long to be sent."""

    number: int
    content: bytes | None


class Posted(BaseModel):
    """A body as the file has it, fields that nobody knows and characters that can't be stored included."""

    content: Any

    def model_dump(self, *_: Any, **__: Any) -> Any:
        """Return the body unchanged."""
        return self.content


@dataclass(frozen=True)
class Refused:
    """A line that intake didn't take, and why."""

    line: int
    type: str
    field: str
    detail: str


@dataclass
class ReplayReport:
    """What became of the lines that were read."""

    lines: int = 0
    taken: Counter[str] = field(default_factory=Counter[str])
    """By disposition; `redelivered` were there before."""
    refused: Counter[str] = field(default_factory=Counter[str])
    """By the refusal's type."""
    first_refused: list[Refused] = field(default_factory=list[Refused])
    seconds: float = 0.0

    @property
    def reconciles(self) -> bool:
        """Whether every line that was read has exactly one answer."""
        return self.lines == self.taken.total() + self.refused.total()

    def take(self, receipt: Receipt) -> None:
        """Count an accepted delivery."""
        self.taken[REDELIVERED if receipt.redelivered else receipt.disposition.value] += 1

    def refuse(self, line: int, error: CaseloreError) -> None:
        """Count a refused line, and keep it if it is among the first."""
        self.refused[error.type] += 1
        self.first_refused.append(Refused(line, error.type, error.field, error.message))
        self.first_refused.sort(key=lambda refused: refused.line)
        del self.first_refused[REFUSED_SHOWN:]

    def figures(self) -> dict[str, Any]:
        """Return the report as JSON-like values."""
        return {
            "lines": self.lines,
            "opened": self.taken[Disposition.OPENED],
            "attached": self.taken[Disposition.ATTACHED],
            "redelivered": self.taken[REDELIVERED],
            "conflicts": self.taken[Disposition.CONFLICT],
            "late": self.taken[Disposition.LATE],
            "refused": self.refused.total(),
            "refused_by_type": dict(sorted(self.refused.items())),
            "first_refused": [vars(refused) for refused in self.first_refused],
            "reconciles": self.reconciles,
            "seconds": round(self.seconds, 2),
            "deliveries_per_second": round(self.lines / self.seconds, 1) if self.seconds else 0.0,
        }


@dataclass(frozen=True)
class Survey:
    """What a file holds, before any of it is sent."""

    lines: int
    tenants: frozenset[str]


def survey(path: Path) -> Survey:
    """Return how many lines a file has and which tenants they name; what can't be read names none."""
    lines, tenants = 0, set[str]()
    for line in read_lines(path):
        lines += 1
        with suppress(InvalidInput, KeyError, TypeError):
            tenant = posted(line).content["origin"]["tenant_id"]
            check_text(tenant, field="tenant_id", limit=limits.IDENTIFIER)
            tenants.add(tenant)
    return Survey(lines, frozenset(tenants))


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file that aren't blank, holding one at a time."""
    with path.open("rb") as file:
        number = 0
        while content := file.readline(LINE_BYTES + 1):
            number += 1
            whole = len(content) <= LINE_BYTES or content.endswith(b"\n")
            while not whole and not content.endswith(b"\n"):
                content = file.readline(LINE_BYTES)
                if not content:
                    break
            content = content.removeprefix(_BOM) if number == 1 else content
            if not whole or content.strip():
                yield Line(number, content if whole else None)


def posted(line: Line) -> Posted:
    """Return what a line asks to be delivered; whether it is a delivery is the intake's to judge.

    Raises:
        InvalidInput: It can't be sent at all.
    """
    if line.content is None:
        raise TextTooLong("The line is too long.", field="line", accepted=f"at most {LINE_BYTES:,} bytes")
    try:
        return Posted(content=json.loads(line.content.decode(), parse_constant=_no_number))
    except (ValueError, RecursionError):
        raise InvalidField("The line can't be read as JSON.", field="line", accepted="one JSON object") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


async def replay(
    client: CaseloreClient,
    path: Path,
    report: ReplayReport,
    *,
    step: Callable[[], None] = lambda: None,
    side_by_side: int = 8,
) -> None:
    """Deliver every line of a file, in no certain order, and count what became of it.

    Args:
        client: Of a principal that holds grants to the file's tenants.
        path: One delivery a line.
        report: Is filled as answers come, and stands also when the replay is broken off.
        step: Is called for each line that is answered for.
        side_by_side: Deliveries under way at most.

    Raises:
        Unavailable: Intake can't be reached; what was sent is counted, and a further run goes on.
        NotAuthenticated: The key is not good any more.
    """
    lines = read_lines(path)
    began = time.monotonic()

    async def send() -> None:
        for line in lines:  # shared: each line goes to one sender
            try:
                receipt = await client.call("POST", "/v1/arrivals", Receipt, body=posted(line))
            except (Unavailable, NotAuthenticated):
                raise
            except CaseloreError as error:
                report.refuse(line.number, error)
            else:
                report.take(receipt)
            report.lines += 1
            step()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(side_by_side):
                group.create_task(send())
    except* (Unavailable, NotAuthenticated) as failures:
        raise failures.exceptions[0] from None
    finally:
        report.seconds += time.monotonic() - began
