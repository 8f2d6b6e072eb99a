"""An unchanged text is embedded once, and no vector is kept for long or without bound (R9, R11)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from activities.remembered_vectors import RememberedVectors
from contracts.errors import EmbeddingUnavailable


class Counting:
    """An embedder that remembers what it was asked."""

    dimensions = 2

    def __init__(self) -> None:
        self.model = "letters@1"
        self.asked: list[list[str]] = []
        self.fails = False

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        if self.fails:
            raise EmbeddingUnavailable("away")
        return [[1 / (1 + len(text)), 0.1] for text in texts]


class Clock:
    """Seconds that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_text_is_embedded_once_and_the_vector_is_the_same_to_the_bit() -> None:
    embedder = Counting()
    vectors = RememberedVectors(embedder)
    first = vectors.embed(["one", "three", "one"])
    assert vectors.embed(["three", "seven", "one"]) == [first[1], *embedder.embed(["seven"]), first[0]]
    assert first == [[1 / 4, 0.1], [1 / 6, 0.1], [1 / 4, 0.1]]
    assert embedder.asked[:2] == [["one", "three"], ["seven"]]
    assert vectors.embed([]) == []


def test_a_vector_is_forgotten_after_its_time() -> None:
    """R11: however often it was asked for meanwhile."""
    embedder, clock = Counting(), Clock()
    vectors = RememberedVectors(embedder, seconds=10, clock=clock)
    for clock.now in (0.0, 9.0, 10.0):
        vectors.embed(["one"])
    assert embedder.asked == [["one"], ["one"]]


def test_the_oldest_go_first_when_there_is_no_room() -> None:
    embedder = Counting()
    vectors = RememberedVectors(embedder, largest=2 * 2 * 8)
    for text in ("one", "two", "three", "two", "three", "one"):
        vectors.embed([text])
    assert embedder.asked == [["one"], ["two"], ["three"], ["one"]]


def test_another_model_is_asked_anew() -> None:
    embedder = Counting()
    vectors = RememberedVectors(embedder)
    vectors.embed(["one"])
    embedder.model = "letters@2"
    vectors.embed(["one"])
    assert embedder.asked == [["one"], ["one"]]


def test_a_failure_is_remembered_by_nobody() -> None:
    embedder = Counting()
    vectors = RememberedVectors(embedder)
    embedder.fails = True
    with pytest.raises(EmbeddingUnavailable):
        vectors.embed(["one"])
    embedder.fails = False
    assert vectors.embed(["one"]) == [[1 / 4, 0.1]]
