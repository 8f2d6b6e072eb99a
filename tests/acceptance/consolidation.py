"""FactConsolidation by construction: many revisions of many facts, of which only the newest may be found (R8, R9)."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from activities.index.edge import EdgeIndex
from activities.projection import Projector
from activities.records.outbox import OutboxTable
from activities.retrieval.engine import RetrievalEngine, TimeLimits
from contracts.errors import Conflict, NotPermitted
from contracts.experience import Draft, KnowledgeUnit, Proposal, RoutingSynopsis
from contracts.labels import Collection, Outcome, ProofLevel, UnitKind
from contracts.lifecycle import Event, Stage
from contracts.ports import Embedder
from contracts.retrieval import Candidate
from contracts.review import ChangeKind, CommandMessage, Snapshot
from tests.acceptance.disorder import Disorder, ShuffledOutbox, SlowProjections, Watcher
from tests.records.asking import ask
from tests.records.world import World

REVIEWERS = {Stage.CURATOR_REVIEW: ("cora", "carl"), Stage.OWNER_REVIEW: ("otto", "olga")}
OPEN = 12
"""Facts that are worked on at once: few, so that publishers meet at one."""
BETWEEN_ANSWERS = 4
"""Publications from one question to the next."""
_IDS = uuid.UUID("8f6d9e0e-3f0e-4b7e-9c59-6f3f4f3a5c11")


class Now:
    """`contracts.ports.Clock` on the machine's clock."""

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)


def fact_id(number: int) -> str:
    """Return the experience's id of a fact."""
    return str(uuid.uuid5(_IDS, str(number)))


def title_of(number: int) -> str:
    """Return what every revision of a fact is called; one word is its own."""
    return f"Answer of lamp{number:03d}x"


def text_of(number: int, revision: int) -> str:
    """Return what one revision says."""
    return f"The lamp{number:03d}x answers with signal{revision:02d}y."


def fact(number: int, revision: int) -> Draft:
    """Return a revision of a fact."""
    text, outcome, proof = text_of(number, revision), Outcome.SUCCEEDED, ProofLevel.VERIFIED
    unit = KnowledgeUnit(
        id="u1",
        kind=UnitKind.PROPOSITION,
        text=text,
        concepts=("lamp",),
        outcome=outcome,
        proof_level=proof,
    )
    return Draft(
        title=title_of(number),
        domain_id="data",
        outcome=outcome,
        proof_level=proof,
        synopsis=RoutingSynopsis(request_type="question", route="data", disposition="answered", text=text),
        units=(unit,),
    )


@dataclass
class Report:
    """What a run did and what it found wrong."""

    keys: int
    revisions: int
    publications: int = 0
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict[str, int])
    faults: list[str] = field(default_factory=list[str])


class Consolidation:
    """Publishers, projectors, readers and a watcher at work on one record and one index.

    Args:
        world: A settled record.
        index: An open index, empty.
        embedder: Of the index's model.
        report: Says how many facts and revisions; takes what happened.
        seed: Of every chance.
    """

    def __init__(self, world: World, index: EdgeIndex, embedder: Embedder, report: Report, seed: int) -> None:
        self._world = world
        self._index = index
        self._embedder = embedder
        self._report = report
        self._disorder = Disorder(seed)
        self._chance = random.Random(seed + 1)
        self._engine = RetrievalEngine(world.retrievals, index, embedder, Now(), TimeLimits(route=20.0))
        self._results: dict[int, str] = {}
        self._unfinished: list[int] = []
        self._published: dict[int, int] = {}
        """Revisions that a publisher was told to be current."""

    async def run(self, *, publishers: int = 5, readers: int = 1) -> Report:
        """Publish every revision while everything else goes on, wait until all is delivered, and check."""
        began = time.monotonic()
        numbers = list(range(self._report.keys))
        for number in numbers:
            case_id = await self._world.open_case(body=f"Body of the request about {number}.")
            self._results[number] = (await self._world.result(case_id)).id
        self._chance.shuffle(numbers)
        self._unfinished = numbers
        stop, watcher = asyncio.Event(), Watcher(self._world.urls.owner)
        others = [watcher.watch(stop), *(self._project(projector, stop) for projector in self._projectors())]
        async with asyncio.TaskGroup() as group:
            for other in others:
                group.create_task(other)
            async with asyncio.TaskGroup() as publishing:
                for _ in range(publishers):
                    publishing.create_task(self._publish())
                for _ in range(readers):
                    publishing.create_task(self._read())
            self._disorder.is_over = True
            await self._drained()
            stop.set()
        # A batch that lost its lease asks again for what it may have overwritten, and may do so after the others ended.
        last = Projector(OutboxTable(self._world.database), self._world.projections, self._index, self._embedder)
        while await last.project_batch():
            continue
        self._report.counts = {**self._disorder.counts, "looks": watcher.looks, "looks behind": watcher.behind}
        self._report.faults += watcher.faults
        await self._check()
        self._report.seconds = round(time.monotonic() - began, 1)
        return self._report

    def _projectors(self) -> list[Projector]:
        """Return the product's projector with a long lease, and with leases that end while it works."""
        world, disorder = self._world, self._disorder
        made: list[Projector] = []
        for lease, pause in ((30.0, 0.0), (0.2, 0.6), (0.02, 0.3)):
            outbox = ShuffledOutbox(world.database, disorder)
            projections = SlowProjections(world.database, disorder, pause)
            made.append(Projector(outbox, projections, self._index, self._embedder, lease=timedelta(seconds=lease)))
        made.append(Projector(OutboxTable(world.database), world.projections, self._index, self._embedder))
        return made

    async def _project(self, projector: Projector, stop: asyncio.Event) -> None:
        while not stop.is_set():
            if not await projector.project_batch(1 + self._disorder.chance.randrange(16)):
                await asyncio.sleep(0.1)

    async def _publish(self) -> None:
        """Take some fact one step further, until all are at their last revision."""
        while self._unfinished:
            number = self._chance.choice(self._unfinished[:OPEN])
            with suppress(Conflict, NotPermitted):  # another publisher was faster
                if await self._step(number) and number in self._unfinished:
                    self._unfinished.remove(number)
            if self._disorder.happens(0.05):
                await self._world.projections.announce([f"experience/{fact_id(number)}"])
                self._disorder.counts["events without a change"] += 1

    async def _step(self, number: int) -> bool:
        """Propose, correct or decide, as the fact stands; return whether it is finished. Ids derive: it may repeat."""
        world, name = self._world, fact_id(number)
        if number not in self._published:
            proposal = Proposal(experience_id=name, result_id=self._results[number], draft=fact(number, 1))
            await world.experiences.propose("ann", proposal)
            self._published.setdefault(number, 0)
        now = await world.lifecycle.load(name)
        if now.stage is Stage.PUBLISHED:
            if now.revision >= self._report.revisions:
                return True
            await self._correct(number, now.revision + 1)
        else:
            await self._decide(number, now)
        return False

    async def _correct(self, number: int, revision: int) -> None:
        world, name = self._world, fact_id(number)
        command_id = str(uuid.uuid5(_IDS, f"correct {number} {revision}"))
        await world.store_command(
            name, ChangeKind.CORRECT, by="ann", command_id=command_id, draft=fact(number, revision)
        )
        outcome = await world.lifecycle.apply_command(name, CommandMessage(command_id=command_id))
        self._disorder.counts["corrections that came too late"] += bool(outcome.refused)

    async def _decide(self, number: int, now: Snapshot) -> None:
        who = self._chance.choice(REVIEWERS[now.stage])
        decision_id = str(uuid.uuid5(_IDS, f"{number} {now.revision} {now.stage} {who}"))
        try:
            message = await self._world.store_decision(
                fact_id(number), who, Event.ACCEPT, decision_id=decision_id, stage=now.stage, digest=now.digest
            )
            after, duplicate = await self._world.lifecycle.record_decision(fact_id(number), message)
        except (Conflict, NotPermitted):
            self._disorder.counts["decisions that came too late"] += 1
            raise
        self._disorder.counts["decisions repeated"] += duplicate
        if after.current_revision is not None:
            self._published[number] = max(self._published[number], after.current_revision)

    async def _read(self) -> None:
        """Ask for published facts while they change: what was current before the question is the least to return."""
        asked_at = -1
        while self._unfinished:
            await asyncio.sleep(0.1)
            if sum(self._published.values()) < asked_at + BETWEEN_ANSWERS:
                continue
            asked_at = sum(self._published.values())
            known = [number for number, revision in self._published.items() if revision]
            if not known:
                continue
            number = self._chance.choice(known)
            least = self._published[number]
            found = await self._found(number)
            self._disorder.counts["answers meanwhile"] += 1
            if found is None or found.revision < least:
                self._report.faults.append(f"{number}: at least {least} expected, answered {found}")
            elif text_of(number, found.revision) not in found.extract:
                self._report.faults.append(f"{number}: revision {found.revision} with another text")

    async def _found(self, number: int) -> Candidate | None:
        task = await ask(self._world, objective=text_of(number, 1), results=50, tokens=8000)
        await self._engine.answer(task.request.request_id)
        stored = await self._world.retrievals.load(task.request.request_id)
        candidates = stored.answer.candidates if stored.answer else ()
        return next((each for each in candidates if each.ref == f"experience/{fact_id(number)}"), None)

    async def _drained(self) -> None:
        for _ in range(1200):
            if not any(mark.pending for mark in await self._world.projections.watermarks()):
                return
            await asyncio.sleep(0.1)
        self._report.faults.append("there is no end of pending events")

    async def _check(self) -> None:
        """Hold answers, index and record against what was published last."""
        world, report = self._world, self._report
        published = world.rows(
            "SELECT experience_id::text, max(number), count(*) FROM revisions WHERE published_at IS NOT NULL GROUP BY 1"
        )
        report.publications = sum(count for _, _, count in published)
        if {(highest, count) for _, highest, count in published} != {(report.revisions, report.revisions)}:
            report.faults.append("not every revision was published once")
        wanted = {
            f"experience/{fact_id(number)}": (report.revisions, fact(number, report.revisions).digest())
            for number in range(report.keys)
        }
        recorded = world.projected()
        if {key: held for key, held in recorded.items() if key.startswith("experience/")} != wanted:
            report.faults.append("the record of projections differs")
        for collection in (Collection.ROUTING, Collection.DETAIL):
            stored = await self._index.stored(collection)
            held = {each.payload.target: (each.payload.revision, each.payload.content_hash) for each in stored}
            if held != wanted or len(stored) != len(wanted):
                report.faults.append(f"{collection}: {len(stored)} points, {len(held.items() ^ wanted.items())} differ")
        returned = 0
        for number in range(report.keys):
            found = await self._found(number)
            newest = text_of(number, report.revisions)
            if found is not None and found.revision == report.revisions and newest in found.extract:
                returned += 1
            else:
                report.faults.append(f"{number}: answered {found and found.revision}")
        report.counts["highest revision returned"] = returned


@asynccontextmanager
async def consolidation(
    world: World, folder: Path, embedder: Embedder, report: Report, *, seed: int = 1
) -> AsyncGenerator[Callable[[], Awaitable[Report]]]:
    """Give the run on a fresh index in `folder`."""
    index = EdgeIndex(folder, embedder.model, embedder.dimensions)
    await index.open()
    try:
        yield Consolidation(world, index, embedder, report, seed).run
    finally:
        await index.close()
