"""Eight processes that deliver the same request at once, two of them killed on the way (R1, R24)."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text

from contracts.cases import Delivery, Disposition, Origin, Receipt
from contracts.identity import Grant, Principal
from contracts.labels import PrincipalKind
from deploy.runtime import Runtime
from tests.acceptance.hammering import SIDE_BY_SIDE
from tests.acceptance.office import Office, running_office, settings_in
from tests.acceptance.samples import NOW

ROOT = Path(__file__).parents[2]
PROCESSES = 8
KILLED = (2, 5)
KILLED_AFTER = 12
"""Answers that a process gives before it is killed."""
SHARED = 10
"""Revisions that every process delivers, in the same words."""
OWN = 3
"""Revisions that one process alone delivers."""
DISPUTED = 2
"""Revisions to which every process gives words of its own."""
ROUNDS = 2
UNREAD = len(KILLED) * SIDE_BY_SIDE
"""Requests that can have been under way when their processes were killed."""
pytestmark = pytest.mark.timeout(180)
ORIGIN = Origin(tenant_id="north", source="desk", external_id="HAMMERED-1")


def deliveries_of(process: int) -> list[Delivery]:
    """Return what a process delivers: each once in a round, in an order of its own."""
    shared = [(number, f"Shared words {number}") for number in range(SHARED)]
    own = [(100 + OWN * process + number, f"Words of {process} alone") for number in range(OWN)]
    disputed = [(50 + number, f"Words of {process} on {number}") for number in range(DISPUTED)]
    chance, sent = random.Random(process), list[Delivery]()
    for round_ in range(ROUNDS):
        turn = [_delivery(revision, body, f"{process}-{round_}") for revision, body in (*shared, *own, *disputed)]
        chance.shuffle(turn)
        sent += turn
    return sent


def _delivery(revision: int, body: str, mark: str) -> Delivery:
    at = NOW + timedelta(minutes=revision)
    return Delivery(
        origin=ORIGIN,
        revision=revision,
        delivery_id=f"{revision}-{mark}",
        occurred_at=at,
        received_at=at,
        subject="Hammered",
        body=body,
    )


CONTENTS = SHARED + PROCESSES * (OWN + DISPUTED)
HIGHEST = 100 + OWN * PROCESSES - 1


@dataclass
class Hammered:
    runtime: Runtime
    office: Office
    receipts: list[Receipt] = field(default_factory=list[Receipt])
    """Every answer that was read, those of killed processes included."""
    killed: int = 0

    async def rows(self, statement: str) -> list[dict[str, Any]]:
        async with self.runtime.parts.database.as_system() as connection:
            return [dict(row) for row in (await connection.execute(text(statement))).mappings()]


@pytest_asyncio.fixture(scope="module")
async def hammered(folder: Path) -> AsyncIterator[Hammered]:
    async with running_office(settings_in(folder)) as (runtime, office):
        sender = Principal(id="hammer", kind=PrincipalKind.AGENT, name="Hammer")
        key = await office.admin.put_principal(sender, issue_key=True)
        await office.admin.put_grant(Grant(principal_id=sender.id, tenant_id=ORIGIN.tenant_id, purpose="test"))
        found = Hammered(runtime, office)
        head = json.dumps({"http": office.http, "key": key})
        async with asyncio.TaskGroup() as group:
            for number in range(PROCESSES):
                group.create_task(_hammer(found, head, number))
        yield found


async def _hammer(found: Hammered, head: str, number: int) -> None:
    sent = deliveries_of(number)
    if number in KILLED:
        first = await _run(head, sent, kill_after=KILLED_AFTER)
        assert KILLED_AFTER <= len(first) < len(sent), "it was not killed on the way"
        found.killed += 1
        found.receipts += first
    found.receipts += (again := await _run(head, sent))
    assert len(again) == len(sent)


async def _run(head: str, sent: Sequence[Delivery], *, kill_after: int | None = None) -> list[Receipt]:
    """Run a process to its end, or kill it when it has given so many answers; return what it said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.acceptance.hammering"), cwd=ROOT, stdin=PIPE, stdout=PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write("\n".join((head, *(each.model_dump_json() for each in sent))).encode())
        process.stdin.write_eof()
        receipts: list[Receipt] = []
        while line := await process.stdout.readline():
            receipts.append(Receipt.model_validate_json(line))
            if len(receipts) == kill_after:
                process.kill()
        assert await process.wait() == (0 if kill_after is None else -9)
    finally:
        _end(process)
    return receipts


def _end(process: Process) -> None:
    if process.returncode is None:
        process.kill()


async def test_there_is_one_case(hammered: Hammered) -> None:
    """R1: one origin, one case, opened once; it stands at the highest revision."""
    assert hammered.killed == len(KILLED)
    assert len({receipt.case_id for receipt in hammered.receipts}) == 1
    (case,) = await hammered.rows("SELECT id::text, source_revision, body FROM cases")
    assert case == {
        "id": hammered.receipts[0].case_id,
        "source_revision": HIGHEST,
        "body": f"Words of {PROCESSES - 1} alone",
    }
    assert await hammered.rows("SELECT count(*) AS n FROM origins") == [{"n": 1}]
    assert (await hammered.office.admin.figures()).dead == 0


async def test_each_content_is_attached_once(hammered: Hammered) -> None:
    """R1: whoever brought it first; all others are told that it was there, with the first answer."""
    arrivals = await hammered.rows("SELECT id::text, source_revision, body, disposition, redeliveries FROM arrivals")
    assert len({(each["source_revision"], each["body"]) for each in arrivals}) == len(arrivals) == CONTENTS
    kept = {each["id"]: each["disposition"] for each in arrivals}
    assert {receipt.arrival_id: receipt.disposition.value for receipt in hammered.receipts} == kept
    counts = Counter(kept.values())
    assert counts[Disposition.OPENED] == 1
    assert counts[Disposition.CONFLICT] == DISPUTED * (PROCESSES - 1)
    assert max(each["source_revision"] for each in arrivals) == HIGHEST


async def test_the_counts_reconcile(hammered: Hammered) -> None:
    """R1: nothing is lost but the answers that a killed process didn't read."""
    firsts = [receipt.arrival_id for receipt in hammered.receipts if not receipt.redelivered]
    assert len(set(firsts)) == len(firsts), "two were told that they came first"
    assert CONTENTS - UNREAD <= len(firsts) <= CONTENTS
    (taken,) = await hammered.rows("SELECT count(*) + sum(redeliveries) AS n FROM arrivals")
    assert len(hammered.receipts) <= taken["n"] <= len(hammered.receipts) + UNREAD
