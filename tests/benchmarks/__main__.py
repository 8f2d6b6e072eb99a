"""`make bench`: speed beside its floors; and, where the public data is at hand, quality, effort and what is called far.

python -m tests.benchmarks [--only PART ...] [--json FILE] [--sizes N ...] [--rounds N] [--further N]
                           [--data DIR] [--vectors FILE] [--quality PART ...] [--every N]

Prints a table for each part, and writes all figures as JSON with each part under its own name. Ends with 1 when a part
failed or is below a goal: after the others ran and everything is written.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.benchmarks import effort, far, quality, speed
from tests.benchmarks.figures import RESULTS, add_data_options, write_figures
from tests.benchmarks.related import DATA

Part = Callable[[argparse.Namespace], tuple[Any, bool]]
"""Measures and prints; returns the figures, and whether every goal is reached."""

PARTS: Mapping[str, Part] = {
    "speed": lambda given: (speed.run(given), True),  # first: in a process in which nothing else was
    "far": lambda given: (far.run(given.data, given.vectors), True),
    "quality": lambda given: quality.run(given.data, given.vectors, given.quality),
    "effort": lambda given: (effort.run(given.data, given.vectors, given.every), True),
}
WITHOUT_DATA = frozenset({"speed"})


def measure(given: argparse.Namespace, parts: Mapping[str, Part] = PARTS) -> dict[str, Any]:
    """Run the asked-for parts and return everything; what is measured is written after each part.

    A part that fails is printed and noted under `faults`, as is one below a goal; the others run all the same.
    """
    faults: list[str] = []
    everything: dict[str, Any] = {"run": _about(given), "faults": faults}
    for name in (each for each in parts if each in given.only):
        print(f"\n== {name}", flush=True)
        if name not in WITHOUT_DATA and not given.data.exists():
            everything[name] = {"not measured": f"There is no {given.data}."}
            print(f"Not measured: there is no {given.data}.")
        else:
            try:
                everything[name], is_met = parts[name](given)
            except Exception as error:
                traceback.print_exc()
                everything[name] = {"failed": f"{type(error).__name__}: {error}"}
                faults.append(f"{name} failed")
            else:
                faults += [] if is_met else [f"{name} is below a goal"]
        write_figures(given.json, everything)
    return everything


def _about(given: argparse.Namespace) -> dict[str, Any]:
    return {
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "caselore": importlib.metadata.version("caselore"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "options": {name: str(value) if isinstance(value, Path) else value for name, value in vars(given).items()},
    }


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return what was asked for; without a file each run gets one of its own."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    ours = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="these parts and no others")
    parser.add_argument("--json", type=Path, default=ours, help="where the figures go; a new file in bench-results")
    speed.add_options(parser)
    add_data_options(parser)
    parser.add_argument("--quality", nargs="+", choices=quality.PARTS, default=quality.PARTS, help="of quality, these")
    parser.add_argument("--every", type=int, default=effort.EVERY, help="of effort, ask for every n-th task")
    given = parser.parse_args(arguments)
    if given.data != DATA and not given.data.exists():
        parser.error(f"argument --data: there is no {given.data}")
    return given


def main(arguments: Sequence[str]) -> int:
    """Measure, print and write; return 1 when a part failed or is below a goal."""
    given = options(arguments)
    faults = measure(given)["faults"]
    print(f"\nFigures: {given.json}")
    for fault in faults:
        print(f"FAULT: {fault}", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
