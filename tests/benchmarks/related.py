"""Related work on reports whose duplicates are known: is the earlier one listed, and does anything merge by itself?

python -m tests.benchmarks.related [--data DIR] [--json FILE] [--vectors FILE]

All reports of a project become cases of a tenant, in the order of their creation, through intake, record, projector
and index. For each later report of a pair that the tracker marks as duplicates: is the earlier one among the first
ten related cases? The simple reference answers the same question in the same run. For each pair that maintainers
closed each on its own merits: are there still two cases, with no link between them?
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from activities.related_routes import ROUTES, Ranked, weighted
from contracts.related import Asked
from contracts.strategy import Route
from tests.benchmarks.duplicate_reports import PROJECTS, Pair, Registry, open_registry, read_pairs, read_reports
from tests.benchmarks.simple_search import SimpleSearch

DATA = Path(__file__).parents[3] / "shared" / "data"
FIRST = 10
GIVEN = {"hadoop": 59, "seamonkey": 42}
"""What the reference beside the data was measured at: BM25, dense, dense titles, fused."""
WEIGHTS = tuple(
    (1.0, title_words, title, whole)
    for title_words in (0.0, 0.5, 1.0)
    for title, whole in ((1.0, 1.0), (0.5, 1.0), (1.0, 2.0))
)
"""Of the lexical route by the whole text and by the title, the title's vector and the whole one's."""


def routes(weights: Sequence[float]) -> tuple[Ranked, ...]:
    """Return the product's routes with other weights."""
    asked = (
        (Route.LEXICAL, Asked.WHOLE),
        (Route.LEXICAL, Asked.TITLE),
        (Route.DENSE_TITLE, Asked.TITLE),
        (Route.DENSE_BODY, Asked.WHOLE),
    )
    return weighted(dict(zip(asked, weights, strict=True)))


async def found(registry: Registry, pairs: Sequence[Pair], asked: Sequence[Ranked] = ROUTES) -> int:
    """Return for how many pairs the earlier report is among the first related of the later one."""
    return sum([pair.earlier in await registry.related(pair.later, routes=asked, limit=FIRST) for pair in pairs])


async def measure(data: Path, vectors: Path | None) -> dict[str, Any]:
    """Return the counts of every project."""
    results: dict[str, Any] = {}
    by_weights: dict[str, dict[tuple[float, ...], int]] = {}
    async with open_registry(vectors=vectors) as registry:
        for project in PROJECTS:
            began = time.monotonic()
            reports, pairs = read_reports(data, project), read_pairs(data, project)
            await registry.register(project, reports, lambda line: print(line, flush=True))
            duplicates = [pair for pair in pairs if pair.is_duplicate]
            independent = [pair for pair in pairs if not pair.is_duplicate]
            shipped = await found(registry, duplicates)
            simple = await asyncio.to_thread(SimpleSearch(reports, registry.embedder.embed).found, duplicates)
            by_weights[project] = {weights: await found(registry, duplicates, routes(weights)) for weights in WEIGHTS}
            results[project] = {
                "reports": len(reports),
                "duplicates": len(duplicates),
                "product": shipped,
                "reference in this run": dict(simple),
                "reference given": GIVEN[project],
                "independent pairs": len(independent),
                "independent pairs that are two cases without a link": sum(
                    [await registry.is_apart(pair) for pair in independent]
                ),
                "duplicate pairs merged by nobody": sum([await registry.is_apart(pair) for pair in duplicates]),
                "seconds": round(time.monotonic() - began),
            }
            print(json.dumps({project: results[project]}), flush=True)
        cases, links = await registry.counts()
    results["cases"], results["links and merges made automatically"] = cases, links
    results["chosen on the other project"] = _crossed(by_weights)
    return results


def _crossed(by_weights: Mapping[str, Mapping[tuple[float, ...], int]]) -> dict[str, Any]:
    """Return each project's count with the weights that the other project alone would choose."""
    first, second = PROJECTS
    chosen: dict[str, Any] = {}
    for on, scored in ((first, second), (second, first)):
        best = max(by_weights[on].values())
        equals = [weights for weights in WEIGHTS if by_weights[on][weights] == best]
        here = [by_weights[scored][weights] for weights in equals]
        chosen[scored] = {"chosen on": on, "there": best, "weights": equals, "worst": min(here), "best": max(here)}
    chosen["every weighting"] = {
        ", ".join(f"{weight:g}" for weight in weights): {project: by_weights[project][weights] for project in PROJECTS}
        for weights in WEIGHTS
    }
    return chosen


def report(results: Mapping[str, Any]) -> str:
    """Return the counts as lines for a person."""
    lines = [f"Earlier duplicate among the first {FIRST} related cases, of those opened before:"]
    for project in PROJECTS:
        counts, chosen = results[project], results["chosen on the other project"][project]
        reference = ", ".join(f"{method} {count}" for method, count in counts["reference in this run"].items())
        lines += [
            f"  {project}: product {counts['product']} of {counts['duplicates']}"
            f" (reference in this run: {reference}; given: {counts['reference given']})",
            f"    with the weights chosen on {chosen['chosen on']} alone: {chosen['worst']} to {chosen['best']}"
            f" ({len(chosen['weights'])} of {len(WEIGHTS)} weightings are equally good there)",
            f"    independent pairs still two cases without a link:"
            f" {counts['independent pairs that are two cases without a link']} of {counts['independent pairs']}",
        ]
    lines.append(
        f"Links and merges made automatically: {results['links and merges made automatically']}"
        f" over {results['cases']} cases"
    )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and fail when a count falls below what is promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public data")
    parser.add_argument("--json", type=Path, help="write the counts here too")
    parser.add_argument("--vectors", type=Path, help="a file outside the project that keeps vectors for another run")
    given = parser.parse_args()
    results = asyncio.run(measure(given.data, given.vectors))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(report(results))
    apart = all(
        results[project]["independent pairs"] == results[project]["independent pairs that are two cases without a link"]
        for project in PROJECTS
    )
    enough = all(results[project]["product"] >= GIVEN[project] for project in PROJECTS)
    if not (apart and enough and results["links and merges made automatically"] == 0):
        raise SystemExit("below what is promised")


if __name__ == "__main__":
    main()
