"""A command's result as JSON: to a file, or to standard output, which then holds nothing else."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from deploy.commands.progress import console

STANDARD_OUTPUT = Path("-")


def prepare_output(file: Path | None) -> Path | None:
    """Return where the result goes; what is for people goes to standard error when that is standard output."""
    if file == STANDARD_OUTPUT:
        console.stderr = True
    return file


def write_json(file: Path | None, content: dict[str, Any]) -> None:
    """Write a command's result to where it was asked for, if anywhere."""
    if file is None:
        return
    written = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if file == STANDARD_OUTPUT:
        sys.stdout.write(written)
    else:
        file.write_text(written, encoding="utf-8")
