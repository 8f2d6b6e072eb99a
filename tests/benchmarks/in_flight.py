"""A thousand experiences in flight while workers are killed every few seconds: does each end as its decisions say?

`python -m tests.benchmarks.in_flight [--experiences N] [--seconds N] [--hands N] [--seed N] [--json FILE]`. Prints what
was counted and ends with 1 when anything is not as it has to be (R8, R10, R12, R24).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from tests.acceptance.chaos import Report, chaos


def main(arguments: list[str]) -> int:
    """Run, print, and return 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--experiences", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--hands", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="caselore-bench-") as folder:
        report = asyncio.run(
            chaos(
                Path(folder),
                Report(options.experiences),
                seconds=options.seconds,
                hands=options.hands,
                seed=options.seed,
            )
        )
    print(json.dumps(report.figures(), indent=2))
    if options.json is not None:
        options.json.write_text(json.dumps(report.figures(), indent=2) + "\n")
    return int(bool(report.faults))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # Temporal's client may abort a process on its way out
