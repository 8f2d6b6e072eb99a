"""The embedded index's folder: who owns it, and which version of each collection is current."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import IO

from contracts.errors import IndexSchemaMismatch, IndexUnavailable
from contracts.labels import Collection

LOCK_FILE = "owner.lock"
ALIASES_FILE = "aliases.json"


class OwnedFolder:
    """A folder with one owner. The kernel lets go of the lock when the owner dies, so a crash leaves none behind.

    Args:
        path: The folder; created when missing.

    Raises:
        IndexUnavailable: Another process, or another index in this one, owns it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[bytes] | None = None
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = (path / LOCK_FILE).open("ab")
        except OSError as error:
            raise IndexUnavailable(f"The index folder {path} can't be used: {error.strerror}.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise IndexUnavailable(
                f"The index folder {path} is in use by another process; an embedded index has one owner.",
                accepted="stop the other process, or give this one its own folder",
            ) from error
        self._lock = lock

    def release(self) -> None:
        """Let another process own the folder. Harmless to repeat."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def aliases(self) -> dict[Collection, str]:
        """Return the current version of each collection that has one.

        Raises:
            IndexSchemaMismatch: The file can't be read.
        """
        file = self.path / ALIASES_FILE
        try:
            content = json.loads(file.read_text())
            return {Collection(name): str(version) for name, version in content.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError) as error:
            raise IndexSchemaMismatch(f"{file} can't be read: {error}. Remove the folder and reindex.") from error

    def point_alias(self, collection: Collection, version: str | None) -> None:
        """Make a version the current one, or none; the change is whole and on disk when this returns."""
        aliases = self.aliases()
        if aliases.get(collection) == version:
            return
        if version is None:
            aliases.pop(collection)
        else:
            aliases[collection] = version
        new = self.path / f"{ALIASES_FILE}.new"
        with new.open("w") as file:
            json.dump(aliases, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path / ALIASES_FILE)
        sync_folder(self.path)


def sync_folder(path: Path) -> None:
    """Put the names in a folder on disk, so that a rename survives a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
