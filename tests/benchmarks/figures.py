"""Where figures are written, and the options that several benchmarks take."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.related import DATA

RESULTS = Path(__file__).parents[2] / "bench-results"
"""Ignored by git: figures belong to the machine that measured them."""


def write_figures(file: Path, figures: Any) -> None:
    """Write figures as JSON, whole or not at all; the folder is made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(file.name + ".unfinished")
    unfinished.write_text(json.dumps(figures, default=_plain, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(file)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{value!r} is not a figure")


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a benchmark on the public data."""
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public data")
    parser.add_argument("--vectors", type=Path, help="a file outside the project that keeps vectors for another run")
