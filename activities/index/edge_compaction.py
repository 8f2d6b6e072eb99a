"""A shard's folder written anew, so that nothing removed or overwritten is left in its files (R11).

The engine keeps removed points in its segments, and every operation in its log, until it rewrites them itself. A copy
of what is there now holds neither. The copy has one of these names, each of which says what a crash left:

    <folder>.compacting   unfinished, of no use
    <folder>.compacted    whole, and newer than <folder>: takes its place
    <folder>.replaced     the one before, to be removed
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from activities.index.edge_folder import sync_folder

_PAGE = 100
"""Points read and written at once: the engine holds the interpreter's lock meanwhile."""


class Gate:
    """Many who read a shard, or one who exchanges it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._reading = 0
        self._is_shut = False

    @contextmanager
    def reading(self) -> Generator[None]:
        """Wait for an exchange to end, and hold off the next one."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_shut)
            self._reading += 1
        try:
            yield
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    @contextmanager
    def exchanging(self) -> Generator[None]:
        """Let no new reader in, and wait for those inside."""
        with self._changed:
            self._is_shut = True
            self._changed.wait_for(lambda: self._reading == 0)
        try:
            yield
        finally:
            with self._changed:
                self._is_shut = False
                self._changed.notify_all()


def copy_points(shard: edge.EdgeShard, folder: Path, create: Callable[[Path], None], config: edge.EdgeConfig) -> None:
    """Write what `shard` holds now, vectors included, to a new folder beside it, and return when that is on disk.

    Args:
        shard: Searched meanwhile, and not written to.
        folder: Its folder.
        create: Makes an empty shard in a folder.
        config: How the new one is loaded.
    """
    unfinished = _named(folder, "compacting")
    shutil.rmtree(unfinished, ignore_errors=True)
    create(unfinished)
    fresh = edge.EdgeShard.load(str(unfinished), config)
    try:
        offset: Any = None
        while True:
            request = edge.ScrollRequest(offset=offset, limit=_PAGE, with_payload=True, with_vector=True)
            page, offset = shard.scroll(request)
            points = [edge.Point(record.id, record.vector or {}, record.payload) for record in page]
            if points:
                fresh.update(edge.UpdateOperation.upsert_points(points))
            if offset is None:
                break
        fresh.flush()
    finally:
        fresh.close()
    _sync_files(unfinished)
    unfinished.rename(_named(folder, "compacted"))
    sync_folder(folder.parent)


def take_place(folder: Path) -> None:
    """Let a whole copy take its folder's place, and remove what can be of no use any more.

    Harmless to repeat: it ends what a crash cut short. The folder's shard is closed.
    """
    copy, before = _named(folder, "compacted"), _named(folder, "replaced")
    shutil.rmtree(_named(folder, "compacting"), ignore_errors=True)
    if copy.exists():
        if folder.exists():
            if before.exists():
                shutil.rmtree(before)
            folder.rename(before)
        copy.rename(folder)
        sync_folder(folder.parent)
    if before.exists():
        shutil.rmtree(before)


def _named(folder: Path, what: str) -> Path:
    return folder.with_name(f"{folder.name}.{what}")


def _sync_files(folder: Path) -> None:
    """Put every file on disk: the engine's own flush may leave the newest log to the system."""
    for place, _, names in os.walk(folder):
        for name in names:
            descriptor = os.open(Path(place) / name, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(Path(place))
