"""`runtime.json`: where a running Caselore is reached, for other commands on the same data folder."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from contracts.model import Model
from deploy.embedded.folder_lock import is_locked

FILE = "runtime.json"


class RuntimeRecord(Model):
    """The addresses of one running process; no password is among them.

    The database addresses are those of the embedded database, None when the database is elsewhere.
    """

    pid: int
    http: str
    temporal_address: str
    temporal_ui: str | None = None
    database_url: str | None = None
    system_database_url: str | None = None
    owner_database_url: str | None = None

    def write(self, folder: Path) -> None:
        """Put the record into the data folder, whole or not at all, readable by its owner only."""
        unfinished = folder / f"{FILE}.unfinished"
        unfinished.unlink(missing_ok=True)
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(self.model_dump_json(indent=2) + "\n")
        unfinished.replace(folder / FILE)


def read_record(folder: Path) -> RuntimeRecord | None:
    """Return the record of the process that runs in the data folder, None when none runs or it is still starting."""
    if not is_locked(folder):
        return None  # what a killed process left
    try:
        return RuntimeRecord.model_validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def remove_record(folder: Path) -> None:
    """Remove the record. Harmless when there is none."""
    (folder / FILE).unlink(missing_ok=True)
