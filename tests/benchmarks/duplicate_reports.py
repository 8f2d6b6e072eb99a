"""Reports that maintainers judged, brought into the product's own record and index (GitBugs, CC BY 4.0; not copied).

Patil, Han, Jadon, "GitBugs", doi 10.1109/SPIN60856.2024.10512000.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import tempfile
from array import array
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from sqlalchemy import text

from activities.embedding.fastembed_model import FastEmbedEmbedder
from activities.index.edge import EdgeIndex
from activities.projection import Projector
from activities.records.arrivals import Arrivals
from activities.records.case_links import CaseLinksTable
from activities.records.database import Database
from activities.records.identities import Identities
from activities.records.migrate import migrate
from activities.records.outbox import OutboxTable
from activities.records.projections import ProjectionsTable
from activities.records.related import RelatedTable
from activities.related_routes import Likeness
from contracts.cases import Delivery, Origin
from contracts.identity import Grant, Principal, Tenant
from contracts.labels import PrincipalKind
from contracts.retrieval import RouteState
from deploy.embedded.postgres import EmbeddedPostgres
from tests.benchmarks.related_settings import EVERY_ROUTE, SHIPPED, Example, Setting
from tests.services import THROWAWAY

PROJECTS = ("seamonkey", "hadoop")
WHO = "measurement"
_BATCH = 256


@dataclass(frozen=True)
class Report:
    """What a reporter wrote, and when."""

    id: str
    title: str
    body: str
    created: datetime


@dataclass(frozen=True)
class Pair:
    """Two reports and the maintainers' judgement on them."""

    earlier: str
    later: str
    is_duplicate: bool


def read_reports(data: Path, project: str) -> list[Report]:
    """Return a project's reports in the order of their creation."""
    reports = [
        Report(
            each["id"],
            each["title"].strip(),
            (each["body"] or "").strip(),
            datetime.fromisoformat(each["created"]).replace(tzinfo=UTC),
        )
        for each in _lines(data / f"duplicates_{project}_reports.jsonl")
    ]
    return sorted(reports, key=lambda report: (report.created, report.id))


def read_pairs(data: Path, project: str) -> list[Pair]:
    """Return a project's judged pairs, without the doubtful ones."""
    return [
        Pair(each["earlier"], each["later"], each["label"] == "duplicate")
        for each in _lines(data / "duplicates_pairs.jsonl")
        if each["project"] == project and not each.get("doubtful")
    ]


def _lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


class RememberingEmbedder:
    """The product's embedder; a text that comes again is not embedded again.

    Args:
        inner: Makes the vectors.
        file: Where they are kept for another run; None keeps them in memory.
    """

    def __init__(self, inner: FastEmbedEmbedder, file: Path | None = None) -> None:
        self._inner = inner
        self._store = sqlite3.connect(file or ":memory:", check_same_thread=False)
        self._store.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB)")
        self.model, self.dimensions = inner.model, inner.dimensions

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a unit vector for each text, in order."""
        keys = [hashlib.sha256(f"{self.model}\n{each}".encode()).hexdigest() for each in texts]
        missing = {key: each for key, each in zip(keys, texts, strict=True) if self._known(key) is None}
        for key, vector in zip(missing, self._inner.embed(list(missing.values())), strict=True):
            self._store.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?)", (key, array("f", vector).tobytes()))
        self._store.commit()
        return [self._known(key) or [] for key in keys]

    def _known(self, key: str) -> list[float] | None:
        row = self._store.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else array("f", row[0]).tolist()


@dataclass
class Registry:
    """Reports as cases of the product, each in its own project's tenant."""

    database: Database
    index: EdgeIndex
    embedder: RememberingEmbedder
    cases: dict[str, str]
    """Case of each report."""
    reports: dict[str, str]
    """Report of each case."""

    async def register(self, project: str, reports: Sequence[Report], told: Callable[[str], None]) -> None:
        """Deliver the reports one after the other, and project them."""
        identities, arrivals = Identities(self.database), Arrivals(self.database)
        await identities.add_tenant(Tenant(id=project, name=project))
        await identities.add_principal(Principal(id=WHO, kind=PrincipalKind.AGENT, name=WHO))
        await identities.grant(Grant(principal_id=WHO, tenant_id=project, purpose="measurement"))
        for report in reports:
            receipt = await arrivals.receive(WHO, _delivery(project, report))
            self.cases[report.id], self.reports[receipt.case_id] = receipt.case_id, report.id
        told(f"{project}: {len(reports)} reports registered")
        projector = Projector(
            OutboxTable(self.database),
            ProjectionsTable(self.database),
            self.index,
            self.embedder,
            lease=timedelta(minutes=30),
        )
        done = 0
        while count := await projector.project_batch(_BATCH):
            done += count
            told(f"{project}: {done} projected")

    async def related(self, report_id: str, *, setting: Setting = SHIPPED, limit: int = 10) -> list[str]:
        """Return the reports of the related cases, best first."""
        work = setting.work(RelatedTable(self.database), self.index, self.embedder)
        answer = await work.related(WHO, self.cases[report_id], limit=limit)
        assert answer.not_read == (), answer.not_read
        return [self.reports[each.case_id] for each in answer.cases]

    async def example(self, asking: str, wanted: str, *, include_later: bool) -> Example:
        """Return what every route finds for one report, and where it has the other."""
        records = RelatedTable(self.database)
        task = await records.task(WHO, self.cases[asking], include_later=include_later)
        likeness = Likeness(records, self.index, self.embedder, EVERY_ROUTE, 60.0)
        reads = await likeness.read(task, await records.watermark())
        assert all(read.state is not RouteState.FAILED for read in reads), [read.why for read in reads]
        found = sorted({case for read in reads for case in read.found})
        heads = await records.heads(task, found)
        column = {case: number for number, case in enumerate(found)}
        ranks = np.full((len(reads), len(found)), np.inf)
        for row, read in zip(ranks, reads, strict=True):
            row[[column[case] for case in read.found]] = np.arange(1, len(read.found) + 1)
        days = [abs(heads[case].opened_at - task.case.opened_at) / timedelta(days=1) for case in found]
        return Example(ranks, np.array(days), column.get(self.cases[wanted]))

    async def is_apart(self, pair: Pair) -> bool:
        """Whether both reports are cases of their own, neither of which goes on elsewhere."""
        views = [
            await CaseLinksTable(self.database).of_case(WHO, self.cases[each]) for each in (pair.earlier, pair.later)
        ]
        return views[0].case_id != views[1].case_id and not any(view.continues_in or view.links for view in views)

    async def counts(self) -> tuple[int, int]:
        """Return how many cases and how many links there are."""
        async with self.database.as_system() as connection:
            cases = await connection.execute(text("SELECT count(*) FROM cases"))
            links = await connection.execute(text("SELECT count(*) FROM case_links"))
            return cases.scalar_one(), links.scalar_one()


def _delivery(project: str, report: Report) -> Delivery:
    return Delivery(
        origin=Origin(tenant_id=project, source="tracker", external_id=report.id),
        revision=1,
        delivery_id=report.id,
        occurred_at=report.created,
        received_at=report.created,
        subject=report.title[:300],
        body=report.body,
    )


@asynccontextmanager
async def open_registry(*, vectors: Path | None = None, threads: int = 2) -> AsyncGenerator[Registry]:
    """Start a database and an index in a folder that is removed afterwards."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="caselore-", dir=memory if memory.is_dir() else None) as name:  # noqa: ASYNC240
        folder = Path(name)
        inner = await asyncio.to_thread(FastEmbedEmbedder, folder / "models", threads=threads)
        embedder = RememberingEmbedder(inner, vectors)
        postgres = EmbeddedPostgres(folder / "postgres", log=folder / "logs" / "postgres.log", settings=THROWAWAY)
        await asyncio.to_thread(postgres.start)
        try:
            urls = postgres.create_database("measurement")
            await asyncio.to_thread(migrate, urls.owner)
            database = Database(urls.app, urls.system)
            index = EdgeIndex(folder / "index", embedder.model, embedder.dimensions)
            await index.open()
            try:
                yield Registry(database, index, embedder, {}, {})
            finally:
                await index.close()
                await database.close()
        finally:
            await asyncio.to_thread(postgres.stop)
