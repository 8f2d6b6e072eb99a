"""Effort ranges on real tasks: how often does the work that a task took lie in the range of its comparable tasks?

python -m tests.benchmarks.effort [--data DIR] [--json FILE] [--vectors FILE] [--every N]

Each task is left out and asked for by its words, as the shipped effort strategy asks: its routes, its fusion, its
number of results. Nothing is chosen on the data. Beside the range: the same over as many tasks drawn at random, and
the task's own estimate stretched by the errors of its comparable tasks. Once more with only those comparable tasks
that were completed before the task was estimated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any

from activities.embedding.fastembed_model import FastEmbedEmbedder
from activities.index.edge import EdgeIndex
from contracts.cases import Case, Effort, Origin
from contracts.effort import EffortSummary, Finished, summary
from contracts.fusion import Ranking, fuse
from contracts.index import DenseQuery, Filter, LexicalQuery, Scope, VectorName
from contracts.labels import Collection, Outcome, ValidityState
from contracts.projection import case_source, whole_text
from contracts.strategies import EFFORT_ASSESSMENT_2 as STRATEGY
from tests.benchmarks.duplicate_reports import RememberingEmbedder
from tests.benchmarks.figures import add_data_options, write_figures
from tests.benchmarks.quality_data import closed_case, fill, id_of

_TENANT = "assessment"
_DONE = frozenset({"COMPLETED", "FINISHED", "CHRONICLE", "RELEASED"})
_OPENED = datetime(2004, 1, 1, tzinfo=UTC)
NEEDED = STRATEGY.effort_minimum or 0
EVERY = 4
"""One task in so many is asked for."""


@dataclass(frozen=True)
class Task:
    """A finished task: what it was, and what it took."""

    id: str
    title: str
    body: str
    effort: Effort
    estimated_on: str
    completed_on: str

    @property
    def ref(self) -> str:
        return f"case/{id_of(self.id)}"

    def finished(self) -> Finished:
        return Finished(
            ref=self.ref, revision=1, effort=self.effort, outcome=Outcome.SUCCEEDED, validity=ValidityState.OK
        )


def read_tasks(data: Path) -> list[Task]:
    """Return every finished task; who cancelled one didn't finish it."""
    rows = map(json.loads, (data / "effort_sip_tasks.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Task(
            row["id"],
            row["summary"].strip() or "untitled",
            f"{row['category']}, {row['sub_category']}, {row['project']}",
            Effort(estimate_hours=row["est_h"], active_hours=row["actual_h"]),
            row["estimated_on"] or "",
            row["completed_on"] or "9999",
        )
        for row in rows
        if row["status"] in _DONE
    ]


class Tally:
    """How often a way to give a range held, and how wide it was."""

    def __init__(self) -> None:
        self.held: list[bool] = []
        self.widths: list[float] = []
        self.withheld = 0

    def add(self, low: float, high: float, actual: float) -> None:
        self.held.append(low <= actual <= high)
        self.widths.append(high / low if low else float("inf"))

    def figures(self) -> dict[str, Any]:
        """Return the share that held, the median width and how many ranges were refused."""
        if not self.held:
            return {"ranges": 0, "withheld": self.withheld}
        return {
            "ranges": len(self.held),
            "actual in p10 to p90": round(fmean(self.held), 3),
            "median p90 / p10": round(median(self.widths), 1),
            "withheld": self.withheld,
        }


@dataclass
class Measured:
    """Everything that is counted for one rule of which tasks are comparable."""

    ranges: Tally = field(default_factory=Tally)
    stretched: Tally = field(default_factory=Tally)
    at_random: Tally = field(default_factory=Tally)
    promised: list[float] = field(default_factory=list[float])
    off_by_median: list[float] = field(default_factory=list[float])
    off_by_estimate: list[float] = field(default_factory=list[float])

    def add(self, task: Task, found: EffortSummary, drawn: EffortSummary) -> None:
        actual, estimate = task.effort.active_hours or 0.0, task.effort.estimate_hours or 0.0
        if (hours := found.active.quantiles) is None:
            self.ranges.withheld += 1
            return
        self.ranges.add(hours.p10, hours.p90, actual)
        self.promised.append(hours.covers)
        self.off_by_median.append(abs(hours.p50 - actual) / actual)
        self.off_by_estimate.append(abs(estimate - actual) / actual)
        if (error := found.error.quantiles) is not None:
            self.stretched.add(estimate * error.p10, estimate * error.p90, actual)
        if (other := drawn.active.quantiles) is not None:
            self.at_random.add(other.p10, other.p90, actual)

    def figures(self) -> dict[str, Any]:
        """Return the figures for a table."""
        return {
            "range of comparable tasks": self.ranges.figures()
            | {"promised on average": round(fmean(self.promised or [0]), 3)},
            "estimate stretched by their errors": self.stretched.figures(),
            "range of tasks at random": self.at_random.figures(),
            "median relative error": {
                "of the middle of the range": round(median(self.off_by_median or [0]), 2),
                "of the task's own estimate": round(median(self.off_by_estimate or [0]), 2),
            },
        }


class Desk:
    """Finished tasks in the product's index."""

    def __init__(self, index: EdgeIndex, embedder: RememberingEmbedder) -> None:
        self._index = index
        self._embedder = embedder

    async def alike(self, task: Task) -> list[str]:
        """Return what the strategy's first step finds, best first, never the task itself."""
        step = STRATEGY.steps[0]
        whole = whole_text(task.title, task.body)
        title, body = self._embedder.embed([task.title, whole])
        queries = {
            "lexical": LexicalQuery(whole),
            "dense_title": DenseQuery(title, VectorName.TITLE),
            "dense_body": DenseQuery(body, VectorName.BODY),
        }
        rankings: list[Ranking] = []
        for name, query in queries.items():
            hits = await self._index.search(
                Collection.CASES,
                query,
                scope=Scope(tenants=frozenset({_TENANT})),
                where=Filter(not_targets=(task.ref,)),
                limit=step.depth,
            )
            rankings.append(Ranking(name, tuple(hit.target for hit in hits)))
        return [item.target for item in fuse(rankings, STRATEGY.rrf_k)]


def _case(task: Task) -> Case:
    origin = Origin(tenant_id=_TENANT, source="tracker", external_id=task.id)
    return closed_case(origin, task.title, task.body, _OPENED)


def _summary(tasks: Sequence[Task]) -> EffortSummary:
    return summary([each.finished() for each in tasks[: STRATEGY.results]], NEEDED)


async def measure(data: Path, vectors: Path | None, every: int) -> dict[str, Any]:
    """Ask for every `every`-th task and return the figures for both rules."""
    tasks = read_tasks(data)
    by_ref = {task.ref: task for task in tasks}
    drawn = random.Random(19)
    rules: dict[str, Callable[[Task, Task], bool]] = {
        "all others": lambda task, other: True,
        "completed before it was estimated": lambda task, other: other.completed_on < task.estimated_on,
    }
    measured = {name: Measured() for name in rules}
    with tempfile.TemporaryDirectory(prefix="caselore-") as folder:
        inner = await asyncio.to_thread(FastEmbedEmbedder, Path(folder) / "model", threads=1)
        embedder = RememberingEmbedder(inner, vectors)
        index = EdgeIndex(Path(folder) / "index", embedder.model, embedder.dimensions)
        await index.open()
        try:
            await fill(index, embedder, [case_source(_case(task)) for task in tasks])
            desk = Desk(index, embedder)
            for task in tasks[::every]:
                found = [by_ref[ref] for ref in await desk.alike(task)]
                at_random = _summary(drawn.sample([each for each in tasks if each is not task], STRATEGY.results))
                for name, rule in rules.items():
                    measured[name].add(task, _summary([each for each in found if rule(task, each)]), at_random)
        finally:
            await index.close()
    return {
        "tasks": len(tasks),
        "asked": len(tasks[::every]),
        "comparable tasks": STRATEGY.results,
        "needed": NEEDED,
        **{name: each.figures() for name, each in measured.items()},
    }


def _lines(figures: dict[str, Any], indent: str = "") -> Iterator[str]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield f"{indent}{name}"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{name:40} {value}"


def run(data: Path, vectors: Path | None, every: int) -> dict[str, Any]:
    """Measure and print; return the figures. There is no goal to reach."""
    figures = asyncio.run(measure(data, vectors, every))
    print("\n".join(_lines(figures)))
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print. None takes the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_options(parser)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--every", type=int, default=EVERY, help="ask for every n-th task")
    given = parser.parse_args(arguments)
    figures = run(given.data, given.vectors, given.every)
    if given.json:
        write_figures(given.json, figures)


if __name__ == "__main__":
    main()
