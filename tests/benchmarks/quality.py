"""The quality figures, through the product's own parts, beside the simple reference in the same run.

python -m tests.benchmarks.quality [--data DIR] [--json FILE] [--vectors FILE] [--only PART ...]

Parts: `duplicates` (see `tests.benchmarks.related`), `routing` and `multihop`. Whatever is chosen is chosen on data
that isn't scored, and the output says on which and what. Ends with 1 when a figure is below its goal.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from activities.embedding.fastembed_model import FastEmbedEmbedder
from tests.benchmarks import multihop, quality_reference, related, routing, routing_settings
from tests.benchmarks.duplicate_reports import RememberingEmbedder
from tests.benchmarks.figures import add_data_options, write_figures
from tests.benchmarks.quality_data import read_passages, read_questions, read_tickets

PARTS = ("duplicates", "routing", "multihop")


@dataclass(frozen=True)
class Figure:
    """One measured figure beside what it is held against."""

    name: str
    of: int
    ours: float
    reference: Mapping[str, float]
    """Of each simple method, in this run."""
    goal: float
    chosen: str

    @property
    def is_met(self) -> bool:
        """Whether the goal is reached."""
        return self.ours >= self.goal

    def line(self) -> str:
        """Return the figure for a person."""
        best = max(self.reference, key=lambda method: self.reference[method])
        verdict = "reached" if self.is_met else "NOT reached"
        return (
            f"{self.name:28} {self.ours:8.3f}   {self.reference[best]:8.3f} {f'({best})':20} {self.goal:8.3f}"
            f"   {self.of:5}   {verdict}\n    {self.chosen}"
        )


async def _duplicates(data: Path, vectors: Path | None) -> tuple[list[Figure], dict[str, Any]]:
    results = await related.measure(data, vectors)
    figures: list[Figure] = []
    for project, goal in (("hadoop", 61), ("seamonkey", 43)):
        counts = results[project]
        figures.append(
            Figure(
                f"duplicates {project}",
                counts["duplicates"],
                counts["product"],
                counts["reference in this run"],
                goal,
                f"chosen on {counts['chosen on']} alone, of {results['settings tried']} settings: {counts['chosen']};"
                f" shipped setting, chosen on both: {counts['shipped setting, chosen on both']};"
                f" equal weights, likeness alone: {counts['equal weights, likeness alone']}",
            )
        )
    return figures, results


async def _routing(data: Path, embedder: RememberingEmbedder) -> tuple[list[Figure], dict[str, Any]]:
    tickets = read_tickets(data, routing.LABELS)
    results = await routing.measured(tickets, embedder)
    simple = await asyncio.to_thread(quality_reference.routed, tickets, routing.LABELS, embedder.embed)
    results["reference in this run"] = simple
    goals = {"topic_group": 0.83, "business_service": 0.62}
    return [
        Figure(
            f"routing {name}",
            results[name]["scored"],
            results[name]["share"],
            simple[name],
            goals[name],
            f"chosen by the train split, each ticket against the others, of {results[name]['settings tried']} settings:"
            f" {results[name]['chosen by the train split']}; there"
            f" {results[name]['share on the train split, each ticket against the others']}; tried without gain there:"
            f" {routing_settings.TRIED}",
        )
        for name in routing.LABELS
    ], results


async def _multihop(data: Path, embedder: RememberingEmbedder) -> tuple[list[Figure], dict[str, Any]]:
    passages, questions = read_passages(data), read_questions(data)
    goals = {"hotpotqa": 0.95, "musique": 0.45}
    figures: list[Figure] = []
    async with AsyncExitStack() as stack:
        corpora: list[multihop.Corpus] = []
        for name in goals:
            here = [each for each in passages if each.source == name]
            asked = [each for each in questions if each.source == name]
            corpora.append(await stack.enter_async_context(multihop.opened(name, here, asked, embedder)))
        results = await multihop.measured(corpora)
    for name, goal in goals.items():
        here = [each for each in passages if each.source == name]
        asked = [each for each in questions if each.source == name]
        simple = await asyncio.to_thread(quality_reference.all_gold, here, asked, embedder.embed)
        got = results[name]
        got["reference in this run"] = simple
        figures.append(
            Figure(
                f"all gold passages {name}",
                got["questions"],
                got["all gold passages"] / got["questions"],
                simple,
                goal,
                f"chosen on {', '.join(got['chosen on'])}: {got['chosen']}; shipped setting, chosen on both"
                f" ({got['shipped setting']}):"
                f" {got['all gold passages, shipped setting']}; without a hop: {got['without a hop']}; ms a question"
                f" {got['ms a question without a hop']} without, {got['ms a question with the shipped setting']} with",
            )
        )
    return figures, results


async def measure(data: Path, vectors: Path | None, only: Sequence[str]) -> tuple[list[Figure], dict[str, Any]]:
    """Return the figures of the asked-for parts, and everything that was counted on the way."""
    figures: list[Figure] = []
    details: dict[str, Any] = {}
    if "duplicates" in only:
        found, details["duplicates"] = await _duplicates(data, vectors)
        figures += found
    with tempfile.TemporaryDirectory(prefix="caselore-") as folder:
        inner = await asyncio.to_thread(FastEmbedEmbedder, Path(folder), threads=2)
        embedder = RememberingEmbedder(inner, vectors)
        for part, run in (("routing", _routing), ("multihop", _multihop)):
            if part in only:
                found, details[part] = await run(data, embedder)
                figures += found
    return figures, details


def run(data: Path, vectors: Path | None, only: Sequence[str]) -> tuple[dict[str, Any], bool]:
    """Measure and print; return the figures, and whether every goal is reached."""
    figures, details = asyncio.run(measure(data, vectors, only))
    print(f"{'':28} {'ours':>8}   {'reference':>8} {'':20} {'goal':>8}   {'of':>5}")
    print("\n".join(each.line() for each in figures))
    table = [vars(each) | {"reached": each.is_met} for each in figures]
    return {"figures": table, "details": details}, all(each.is_met for each in figures)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and fail when a goal is missed. None takes the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data_options(parser)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts and no others")
    given = parser.parse_args(arguments)
    figures, is_met = run(given.data, given.vectors, given.only)
    if given.json:
        write_figures(given.json, figures)
    if not is_met:
        raise SystemExit("below a goal")


if __name__ == "__main__":
    main()
