"""Runs files of hard input against a real runtime: `python -m tests.hard FILE...`, one line for each check.

The exit code is 1 when a check does not hold or a file can't be read.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

import structlog

from tests.hard.checks import run_check
from tests.hard.envelope import read_file
from tests.hard.runtime import HardRuntime


async def run(paths: list[Path]) -> bool:
    """Print a line for each check of each file, and return whether all hold."""
    is_good = True
    with HardRuntime() as runtime:
        for path in paths:
            try:
                file = read_file(path)
            except (OSError, ValueError, AttributeError) as error:
                print(f"FAIL {path.name} read {ascii(str(error))[1:-1]}")
                is_good = False
                continue
            async with runtime.house(file) as house:
                for check in file.checks:
                    holds, detail = await run_check(house, check)
                    shown = " ".join(detail.encode("utf-8", "backslashreplace").decode().split())[:300]
                    print(f"{'PASS' if holds else 'FAIL'} {file.name} {check['op']} {shown}", flush=True)
                    is_good &= holds
    return is_good


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if len(sys.argv) < 2:
        sys.exit("usage: python -m tests.hard FILE...")
    sys.exit(0 if asyncio.run(run([Path(name) for name in sys.argv[1:]])) else 1)
