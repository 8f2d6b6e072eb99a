"""One owner process for one data folder, whatever way that process ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from contracts.errors import RuntimeUnavailable

LOCK_FILE = "caselore.lock"


class FolderLock:
    """An exclusive lock on a data folder; the system releases it when the process ends, even by SIGKILL.

    Args:
        folder: The data folder, made when it is absent.
        address: Where the owner will be reached, told to whoever is refused.
    """

    def __init__(self, folder: Path, *, address: str) -> None:
        self._folder = folder
        self._address = address
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock and leave our process id and address in it.

        Raises:
            RuntimeUnavailable: Another process has it (the message says which one), or the folder can't be used.
        """
        path = self._folder / LOCK_FILE
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise RuntimeUnavailable(
                f"The data folder {self._folder} can't be used: {error.strerror}.",
                field="CASELORE_DATA_DIR",
                accepted="a folder that this account may write",
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(descriptor, 1000, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise RuntimeUnavailable(
                f"Caselore is already running in {self._folder}: {owner or 'it is starting'}.",
                field="CASELORE_DATA_DIR",
                accepted="another folder, or stop that process",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}, {self._address}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back. Harmless when we don't have it."""
        if self._descriptor is not None:
            # The file stays: removing it would let two processes lock two files of the same name.
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


def is_locked(folder: Path) -> bool:
    """Whether a process owns the data folder now."""
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
