"""Many experiences in flight while the processes that work on them are killed, and what must hold afterwards.

R8, R10, R12, R24: each ends in the state that its decisions say, each command took effect once, nothing is left over.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api.client import CaseloreClient
from contracts.identity import Principal, RoleInDomain
from contracts.labels import DomainRole, PrincipalKind
from deploy.importing import bounded, experience_id
from tests.acceptance.aftermath import faults_after
from tests.acceptance.house import PATIENCE, ROOT, House, open_house
from tests.acceptance.lives import Life, People
from tests.acceptance.samples import case

SUCCESSORS = 3
LEAST_KILLS = 3
"""However slowly processes come back."""
SIDE_BY_SIDE = 24
"""Lives that are under way at once."""


@dataclass
class Report:
    """What happened and what was found wrong."""

    experiences: int
    seconds: float = 0.0
    kills: Counter[str] = field(default_factory=Counter[str])
    counts: Counter[str] = field(default_factory=Counter[str])
    stages: Counter[str] = field(default_factory=Counter[str])
    """Where the experiences ended."""
    audit: str = ""
    faults: list[str] = field(default_factory=list[str])

    def figures(self) -> dict[str, Any]:
        """Return everything but the text of most faults, for JSON."""
        return {**vars(self), "faults": len(self.faults), "first_faults": self.faults[:20]}


class Hand:
    """A further lifecycle worker, in a process of its own.

    Args:
        house: Whose services it works on.
        number: Names its folder: one has one owner.
    """

    def __init__(self, house: House, number: int) -> None:
        self._house = house
        self._number = number
        self._process: Process | None = None

    async def start(self) -> None:
        """Start it and return when it works."""
        addresses, settings = self._house.services.addresses, self._house.settings
        given = {
            "data_dir": str(settings.data_dir.with_name(f"further-worker-{self._number}")),
            "temporal_address": addresses.temporal_address,
            "database_url": addresses.database_url,
            "system_database_url": addresses.system_database_url,
        }
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.acceptance.further_worker"),
            cwd=ROOT,
            stdin=PIPE,
            stdout=PIPE,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(given).encode() + b"\n")
        answer = await asyncio.wait_for(self._process.stdout.readline(), PATIENCE)
        assert answer == b'"ready"\n', "a further worker doesn't start"

    async def kill(self) -> None:
        """Kill it, whatever it is at."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


async def chaos(folder: Path, report: Report, *, seconds: float, hands: int, seed: int = 1) -> Report:
    """Let everything live while processes die for so many seconds; then wait for rest and look.

    Args:
        folder: For services and data.
        report: Says how many experiences; takes what happened.
        seconds: How long processes are killed.
        hands: Further lifecycle workers.
        seed: Of every chance.
    """
    async with open_house(folder) as house, _people(house) as people:
        records = [
            case(f"LIFE-{number}", f"Bell {number} rings", f"Bell {number} rings at its second stroke.")
            for number in range(report.experiences)
        ]
        await house.office.bring(*(record.model_copy(update={"experience": None}) for record in records))
        chance, began = random.Random(seed), time.monotonic()
        lives = [Life(record, people, seed=seed + number) for number, record in enumerate(records)]
        further = [Hand(house, number) for number in range(hands)]
        await asyncio.gather(*(hand.start() for hand in further))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_kill(house, further, chance, seconds, report.kills))
                await bounded([life.live for life in lives], SIDE_BY_SIDE)
        finally:
            for hand in further:
                await hand.kill()
        report.seconds = round(time.monotonic() - began, 1)
        report.counts, report.stages = people.counts, Counter(life.standing.stage.value for life in lives)
        report.faults, report.audit = await faults_after(house, lives)
    return report


async def _kill(
    house: House, hands: Sequence[Hand], chance: random.Random, seconds: float, kills: Counter[str]
) -> None:
    """Kill somebody every few seconds, and put another in the place."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends or kills.total() < LEAST_KILLS:
        await asyncio.sleep(chance.uniform(1.5, 4.0))
        victim = chance.choice([house, *hands, *hands])
        await victim.kill()
        kills["API, projector and all workers" if victim is house else "further lifecycle worker"] += 1
        await victim.start()


@asynccontextmanager
async def _people(house: House) -> AsyncGenerator[People]:
    """Give everybody who acts: clients that ask again for as long as a process takes to come back."""
    office, successors = (
        house.office,
        [case(f"NEXT-{number}", "Bell", f"Ring {number}.") for number in range(SUCCESSORS)],
    )
    await office.publish(*successors)
    async with AsyncExitStack() as stack:
        roles = (DomainRole.CURATOR, DomainRole.OWNER)
        second: list[CaseloreClient] = []
        for role in roles:
            person = Principal(id=f"second-{role}", kind=PrincipalKind.PERSON, name=f"Second {role}")
            key = await office.admin.put_principal(person, issue_key=True)
            await office.admin.put_role(RoleInDomain(principal_id=person.id, domain_id="data", role=role))
            second.append(await stack.enter_async_context(CaseloreClient(office.http, key or "")))
        yield People(
            proposer=office.cast.proposer,
            curators=(office.cast.curator, second[0]),
            owners=(office.cast.owner, second[1]),
            successors=[experience_id(record) for record in successors],
        )
