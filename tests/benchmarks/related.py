"""Related work on reports whose duplicates are known: is the earlier one listed, and does anything merge by itself?

python -m tests.benchmarks.related [--data DIR] [--json FILE] [--vectors FILE]

All reports of a project become cases of a tenant, in the order of their creation, through intake, record, projector
and index. For each later report of a pair that the tracker marks as duplicates: is the earlier one among the first
ten related cases, with the setting that the other project alone chooses (`tests.benchmarks.related_settings`)? The
simple reference answers the same question in the same run. For each pair that maintainers closed each on its own
merits: are there still two cases, with no link between them?
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.duplicate_reports import PROJECTS, Pair, Registry, open_registry, read_pairs, read_reports
from tests.benchmarks.related_settings import PLAIN, SHIPPED, Example, Setting, chosen, settings, worths
from tests.benchmarks.simple_search import SimpleSearch

DATA = Path(__file__).parents[3] / "shared" / "data"
FIRST = 10
GIVEN = {"hadoop": 59, "seamonkey": 42}
"""What the reference beside the data was measured at: BM25, dense, dense titles, fused."""


async def found(registry: Registry, pairs: Sequence[Pair], setting: Setting) -> int:
    """Return for how many pairs the earlier report is among the first related of the later one."""
    return sum([pair.earlier in await registry.related(pair.later, setting=setting, limit=FIRST) for pair in pairs])


async def examples(registry: Registry, pairs: Sequence[Pair]) -> list[Example]:
    """Return each pair from both of its ends."""
    both = [await registry.example(pair.later, pair.earlier, include_later=False) for pair in pairs]
    return both + [await registry.example(pair.earlier, pair.later, include_later=True) for pair in pairs]


async def measure(data: Path, vectors: Path | None) -> dict[str, Any]:
    """Return the counts of every project."""
    results: dict[str, Any] = {}
    duplicates: dict[str, list[Pair]] = {}
    values: dict[str, list[float]] = {}
    async with open_registry(vectors=vectors) as registry:
        for project in PROJECTS:
            began = time.monotonic()
            reports, pairs = read_reports(data, project), read_pairs(data, project)
            await registry.register(project, reports, lambda line: print(line, flush=True))
            duplicates[project] = [pair for pair in pairs if pair.is_duplicate]
            independent = [pair for pair in pairs if not pair.is_duplicate]
            simple = await asyncio.to_thread(SimpleSearch(reports, registry.embedder.embed).found, duplicates[project])
            known = await examples(registry, duplicates[project])
            values[project] = await asyncio.to_thread(worths, known, settings())
            results[project] = {
                "reports": len(reports),
                "duplicates": len(duplicates[project]),
                "shipped setting, chosen on both": await found(registry, duplicates[project], SHIPPED),
                "equal weights, likeness alone": await found(registry, duplicates[project], PLAIN),
                "reference in this run": dict(simple),
                "reference given": GIVEN[project],
                "independent pairs": len(independent),
                "independent pairs that are two cases without a link": sum(
                    [await registry.is_apart(pair) for pair in independent]
                ),
                "duplicate pairs merged by nobody": sum(
                    [await registry.is_apart(pair) for pair in duplicates[project]]
                ),
                "seconds": round(time.monotonic() - began),
            }
        for scored, on in zip(PROJECTS, reversed(PROJECTS), strict=True):
            setting = chosen(values[on])
            results[scored] |= {
                "product": await found(registry, duplicates[scored], setting),
                "chosen on": on,
                "chosen": str(setting),
                "there": await found(registry, duplicates[on], setting),
            }
            print(json.dumps({scored: results[scored]}), flush=True)
        cases, links = await registry.counts()
    results["settings tried"] = len(settings())
    results["shipped setting"] = str(SHIPPED)
    results["cases"], results["links and merges made automatically"] = cases, links
    return results


def report(results: Mapping[str, Any]) -> str:
    """Return the counts as lines for a person."""
    lines = [f"Earlier duplicate among the first {FIRST} related cases, of those opened before:"]
    for project in PROJECTS:
        counts = results[project]
        reference = ", ".join(f"{method} {count}" for method, count in counts["reference in this run"].items())
        lines += [
            f"  {project}: product {counts['product']} of {counts['duplicates']}"
            f" (reference in this run: {reference}; given: {counts['reference given']})",
            f"    chosen on {counts['chosen on']} alone, of {results['settings tried']}: {counts['chosen']}",
            f"    shipped setting, chosen on both: {counts['shipped setting, chosen on both']};"
            f" equal weights, likeness alone: {counts['equal weights, likeness alone']}",
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
