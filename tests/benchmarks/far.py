"""What is called far: how often a question of another field abstains, and a known duplicate is called far.

python -m tests.benchmarks.far [--data DIR] [--json FILE] [--vectors FILE]

Reports of a tracker become cases in the product's index. A later report asks for the earlier one that its maintainers
named, once by its title alone and once with its text; and questions about the world ask too, of which nothing there
can be a precedent. Routes, fusion and bar are the engine's own. The figure of the shipped strategies was chosen on
SeaMonkey's reports and HotpotQA's questions, for which other figures are shown, and on the demo's own questions;
Hadoop's and MuSiQue's are scored.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from activities.embedding.fastembed_model import FastEmbedEmbedder
from activities.index.edge import EdgeIndex
from activities.records.candidate_rows import candidate_of
from activities.retrieval.candidates import choose, in_order, weigh
from activities.retrieval.routes import Routes
from contracts.candidates import Resolution, RetrievalTask
from contracts.cases import Case, Origin
from contracts.errors import UnknownCase
from contracts.identity import Profile
from contracts.index import Scope
from contracts.labels import CandidateKind, Collection
from contracts.outbox import Watermark
from contracts.ports import RetrievalRecords
from contracts.projection import case_source
from contracts.retrieval import RetrievalRequest
from contracts.strategies import ROOT_CLASSIFICATION_2
from contracts.strategy import Bar, Route, SourceStep, Strategy
from tests.benchmarks.duplicate_reports import RememberingEmbedder, Report, read_pairs, read_reports
from tests.benchmarks.figures import add_data_options, write_figures
from tests.benchmarks.quality_data import closed_case, fill, id_of, read_questions

CHOSEN_ON, SCORED = ("seamonkey", "hotpotqa"), ("hadoop", "musique")
FIGURES = (0.2, 0.25, 0.3, 0.35, 0.4)
_TENANT = "tracker"
_LENGTH = 2_000
"""Characters of a report that asks with its text."""
_CURRENT = [
    Watermark(collection=each, position=1, head=1, pending=0, lag_seconds=0, as_of=datetime(2026, 1, 1, tzinfo=UTC))
    for each in Collection
]
_STEP = SourceStep(
    collection=Collection.CASES,
    routes=(Route.LEXICAL, Route.DENSE_TITLE, Route.DENSE_BODY),
    kinds=(CandidateKind.CASE,),
)
SHIPPED = ROOT_CLASSIFICATION_2.bar


class NoRecords:
    """Stands for the record where no route reads it."""

    def __getattr__(self, name: str) -> Any:
        raise UnknownCase(f"{name} is read from the record, which this measurement has not.", field="record")


@dataclass
class Tracker:
    """A project's reports in the index, each as a case."""

    routes: Routes
    cases: Mapping[str, Case]

    async def asked(self, objective: str, bar: Bar, *, without: Sequence[str] = ()) -> dict[str, bool]:
        """Return the first ten that an answer lists, each with whether it is called far."""
        strategy = Strategy(
            id="tracker", version=1, title="Reports", guide="Which is it?", steps=(_STEP,), results=10, bar=bar
        )
        request = RetrievalRequest(
            request_id=str(uuid.UUID(int=1)), profile_id="p", purpose="measurement", objective=objective
        )
        profile = Profile(id="p", domain_id="tracker", strategy_id=strategy.id, strategy_version=1)
        task = RetrievalTask(request, "measurement", profile, strategy, Scope(frozenset({_TENANT})), None)
        reads = await self.routes.read(task, _CURRENT)
        fused = [item for item in in_order(reads, strategy.rrf_k) if item.target not in without]
        records = {item.target: candidate_of(self.cases[item.target]) for item in fused}
        weighed = weigh(task, fused, reads, Resolution(records, frozenset(), frozenset())).weighed
        return {item.record.target: bool(item.far) for item in choose(task, weighed)}


def _case(report: Report) -> Case:
    origin = Origin(tenant_id=_TENANT, source="tracker", external_id=report.id)
    return closed_case(origin, report.title, report.body, report.created)


async def _counted(
    tracker: Tracker, data: Path, project: str, questions: Sequence[str], bar: Bar
) -> dict[str, dict[str, int]]:
    """Return the counts of one project and one bar."""
    reports = {report.id: report for report in read_reports(data, project)}
    pairs = [pair for pair in read_pairs(data, project) if pair.is_duplicate]
    counts: dict[str, dict[str, int]] = {}
    for how in ("title", "title and text"):
        listed = far = abstained = 0
        for pair in pairs:
            later = reports[pair.later]
            objective = later.title if how == "title" else f"{later.title}\n{later.body}"[:_LENGTH]
            answer = await tracker.asked(objective, bar, without=[f"case/{id_of(pair.later)}"])
            wanted = f"case/{id_of(pair.earlier)}"
            listed += wanted in answer
            far += answer.get(wanted, False)
            abstained += all(answer.values())
        counts[f"duplicates by {how}"] = {
            "asked": len(pairs), "listed": listed, "called far": far, "abstained": abstained,
        }  # fmt: skip
    answers = [await tracker.asked(question, bar) for question in questions]
    counts["foreign questions"] = {
        "asked": len(answers),
        "listed": sum(map(len, answers)),
        "called far": sum(sum(answer.values()) for answer in answers),
        "abstained": sum(all(answer.values()) for answer in answers),
    }
    return counts


async def measured(data: Path, vectors: Path | None) -> list[dict[str, Any]]:
    """Return the counts: of every figure where it was chosen, and of the shipped one where it is scored."""
    assert SHIPPED is not None
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="caselore-") as name:
        folder = Path(name)
        embedder = RememberingEmbedder(await asyncio.to_thread(FastEmbedEmbedder, folder, threads=2), vectors)
        for (project, source), figures in ((CHOSEN_ON, FIGURES), (SCORED, (SHIPPED.cosine,))):
            index = EdgeIndex(folder / project, embedder.model, embedder.dimensions)
            await index.open()
            try:
                cases = [_case(report) for report in read_reports(data, project)]
                await fill(index, embedder, [case_source(case) for case in cases])
                records: RetrievalRecords = NoRecords()  # type: ignore[assignment]
                tracker = Tracker(
                    Routes(records, index, embedder, seconds=60), {f"case/{case.id}": case for case in cases}
                )
                questions = [each.text for each in read_questions(data) if each.source == source]
                for figure in figures:
                    bar = Bar(cosine=figure, model=SHIPPED.model)
                    counts = await _counted(tracker, data, project, questions, bar)
                    results.append({"project": project, "questions": source, "cosine": figure, **counts})
                    print(_line(results[-1]), flush=True)
            finally:
                await index.close()
    return results


def _line(result: Mapping[str, Any]) -> str:
    parts = [
        f"{name}: {counts['abstained']} of {counts['asked']} abstain, {counts['called far']} of {counts['listed']} far"
        for name, counts in result.items()
        if isinstance(counts, dict)
    ]
    shipped = ", shipped" if SHIPPED and result["cosine"] == SHIPPED.cosine else ""
    return f"{result['project']} and {result['questions']}, {result['cosine']}{shipped}\n  " + "\n  ".join(parts)


def run(data: Path, vectors: Path | None) -> list[dict[str, Any]]:
    """Measure and print; return the counts. There is no goal to reach."""
    return asyncio.run(measured(data, vectors))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print. None takes the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_options(parser)
    parser.add_argument("--json", type=Path, help="write the counts here too")
    given = parser.parse_args(arguments)
    counts = run(given.data, given.vectors)
    if given.json:
        write_figures(given.json, counts)


if __name__ == "__main__":
    main()
