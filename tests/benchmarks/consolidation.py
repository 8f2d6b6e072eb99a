"""R1 to R20 of 200 facts, events in any order and repeated: is the newest the one that is found, every time?

`python -m tests.benchmarks.consolidation [--keys N] [--revisions N] [--seed N] [--json FILE]`. Prints what was
counted and ends with 1 when anything differs from what was published last (R8, R9).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from activities.embedding.fastembed_model import FastEmbedEmbedder
from activities.records.migrate import migrate
from deploy.embedded.postgres import EmbeddedPostgres
from tests.acceptance.consolidation import Report, consolidation
from tests.records.world import World
from tests.services import THROWAWAY

SHOWN = 20


async def measure(folder: Path, report: Report, seed: int) -> Report:
    """Return the report of one run on services of its own in `folder`."""
    postgres = EmbeddedPostgres(folder / "postgres", log=folder / "postgres.log", settings=THROWAWAY)
    postgres.start()
    try:
        urls = postgres.create_database("consolidation")
        migrate(urls.owner)
        world = World(urls)
        try:
            await world.settle_in()
            embedder = FastEmbedEmbedder(folder / "models", threads=1)
            async with consolidation(world, folder / "index", embedder, report, seed=seed) as run:
                return await run()
        finally:
            await world.close()
    finally:
        postgres.stop()


def main(arguments: list[str]) -> int:
    """Run, print, and return 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--revisions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="caselore-bench-") as folder:
        report = asyncio.run(measure(Path(folder), Report(options.keys, options.revisions), options.seed))
    figures = {**vars(report), "faults": len(report.faults), "first_faults": report.faults[:SHOWN]}
    print(json.dumps(figures, indent=2))
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return int(bool(report.faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
