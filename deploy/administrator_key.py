"""The administrator's API key of a data folder: written once, by the first start, and read by commands after it."""

from __future__ import annotations

from pathlib import Path

KEY_FILE = "admin.key"


def administrator_key(data_dir: Path) -> str | None:
    """Return the administrator's key of a data folder that was started once."""
    file = data_dir / KEY_FILE
    return file.read_text().strip() if file.exists() else None
