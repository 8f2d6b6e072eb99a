"""Folders for whole runtimes: in memory where the machine has such a place, since every service flushes to disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory."""
SHARED_DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder of the module's own, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="caselore-", dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The public data beside the project, which is never copied into it."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the public data is not beside the project ({SHARED_DATA.parent.name}/{SHARED_DATA.name})")
    return SHARED_DATA
