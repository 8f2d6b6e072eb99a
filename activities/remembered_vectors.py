"""Vectors of texts that were embedded a short while ago, so that an unchanged text is not embedded again.

A case is projected at each change of its state, and most of those leave its words alone. What is kept is a hash and a
vector, never a text, in the memory of this process and for minutes: an erasure reaches it by waiting (R11).
"""

from __future__ import annotations

import hashlib
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contracts.ports import Embedder

BYTES = 32 * 1024 * 1024
"""Of vectors at most: some ten thousand of 384 dimensions."""
SECONDS = 600.0
"""How long a vector is kept after it was made."""


@dataclass(frozen=True, slots=True)
class _Kept:
    vector: array[float]
    until: float


class RememberedVectors:
    """Embeds texts, each once as long as its vector is remembered. Safe to call from several threads.

    Args:
        embedder: Makes the vectors.
        largest: Bytes of vectors kept at most; the oldest go first.
        seconds: How long each is kept.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        largest: int = BYTES,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder = embedder
        self._largest = largest
        self._seconds = seconds
        self._clock = clock
        self._kept: dict[bytes, _Kept] = {}  # the oldest first
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """Name of the model that makes the vectors."""
        return self._embedder.model

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text, in order, as the embedder gives or gave it.

        Raises:
            EmbeddingUnavailable: The embedder failed; nothing of the call is remembered.
        """
        keys = [self._key(text) for text in texts]
        found = self._remembered(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if new:
            made = dict(zip(new, self._embedder.embed(list(new.values())), strict=True))
            self._keep(made)
            found |= made
        return [found[key] for key in keys]

    def _key(self, text: str) -> bytes:
        # Of the model too: another one's vector would be a point that no search finds.
        return hashlib.sha256(f"{self._embedder.model}\x00{text}".encode()).digest()

    def _remembered(self, keys: Sequence[bytes]) -> dict[bytes, list[float]]:
        found: dict[bytes, list[float]] = {}
        with self._lock:
            now = self._clock()
            while self._kept and self._kept[oldest := next(iter(self._kept))].until <= now:
                self._forget(oldest)
            for key in keys:
                kept = self._kept.get(key)
                if kept is not None:
                    found[key] = kept.vector.tolist()
        return found

    def _keep(self, made: dict[bytes, list[float]]) -> None:
        with self._lock:
            until = self._clock() + self._seconds
            for key, vector in made.items():
                if key not in self._kept:
                    self._kept[key] = _Kept(array("d", vector), until)
                    self._bytes += _size(self._kept[key])
            while self._bytes > self._largest:
                self._forget(next(iter(self._kept)))

    def _forget(self, key: bytes) -> None:
        self._bytes -= _size(self._kept.pop(key))


def _size(kept: _Kept) -> int:
    return kept.vector.itemsize * len(kept.vector)
