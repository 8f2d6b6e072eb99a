"""What hits say of their points, kept from one search to the next.

The engine takes as long to read the payloads of fifty points as to find them, and holds the interpreter's lock for
both. A payload changes only by a write of this process, which tells of it here before it returns: nothing is
remembered that the index does not hold any more, and an erasure leaves nothing behind (R11).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from contracts.index import Hit

MOST = 50_000
"""Points remembered of a collection at most, in some 75 MB; the oldest go first."""

Scored = tuple[int, float]
"""A point's id as a number, which is had at once where its spelling has to be made, and its score."""


class RememberedHits:
    """The hits of one collection by the ids of their points. Safe to call from several threads.

    Args:
        read: Reads points by id, as hits whatever their score; what is gone is left out.
        most: Points remembered at most.
    """

    def __init__(self, read: Callable[[Sequence[int]], dict[int, Hit]], most: int = MOST) -> None:
        self._read = read
        self._most = most
        self._hits: dict[int, Hit] = {}  # the oldest first
        self._ids: dict[str, set[int]] = {}
        self._writes = 0
        self._lock = threading.Lock()

    def hits(self, found: Sequence[Scored]) -> list[Hit] | None:
        """Return what was found as hits; None when a point went meanwhile, and what took its place is to be found."""
        with self._lock:
            writes = self._writes
            known = {point: hit for point, _ in found if (hit := self._hits.get(point)) is not None}
        lacking = [point for point, _ in found if point not in known]
        if lacking:
            read = self._read(lacking)
            if len(read) < len(lacking):
                return None
            self._keep(read, writes)
            known |= read
        return [known[point].scored(score) for point, score in found]

    def forget(self, targets: Iterable[str]) -> None:
        """Let go of every point of these targets; to be called after they were written, before that is told."""
        with self._lock:
            self._writes += 1
            for target in targets:
                for point in self._ids.pop(target, ()):
                    self._hits.pop(point, None)

    def _keep(self, read: dict[int, Hit], writes: int) -> None:
        with self._lock:
            if writes != self._writes:  # what was read may be what was overwritten since
                return
            for point, hit in read.items():
                self._hits[point] = hit
                self._ids.setdefault(hit.target, set()).add(point)
            while len(self._hits) > self._most:
                point = next(iter(self._hits))
                target = self._hits.pop(point).target
                self._ids[target].discard(point)
                if not self._ids[target]:
                    del self._ids[target]
