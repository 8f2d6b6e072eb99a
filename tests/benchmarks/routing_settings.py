"""What the vote on a ticket's route hears, and how that is chosen: by the train split, each ticket against others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contracts.index import Hit
from tests.benchmarks.grids import safest

ROUTES = ("lexical", "lexical title", "dense title", "dense whole", "title in whole")
GRID = {
    "lexical": (0.5, 1.0, 1.5),
    "lexical title": (0.0, 0.3, 0.6),
    "dense title": (0.0, 0.3, 0.6),
    "title in whole": (0.0, 0.3),
    "nearest": (10, 15, 20, 30),
    "sharpness of words": (2.0, 3.0, 4.0),
    "sharpness of vectors": (2.0, 4.0, 6.0, 8.0),
}
"""The whole text's vector counts 1 throughout."""
TRIED = (
    "places in place of scores; one list of all routes' scores; the nearest of each label apart; less for frequent"
    " labels; less for tickets that their own neighbours contradict; labels that go together; the question moved to its"
    " first hits; centred and whitened vectors; vectors without courtesies or of the first words alone; pairs of words;"
    " cosines of words; other settings of BM25; words' first letters for their stems; parts of words (three to five"
    " letters); passages; passages that each seek their likest (late interaction); neighbours of neighbours; how many"
    " neighbours two tickets share (Jaccard); neighbours of each other counted double (k-reciprocal); voices that fade"
    " as a Gaussian; the evidence of single terms; frequent words dropped. Words that a ticket repeats counted more,"
    " and what is near to everything put back, gained .007 there together, and no ticket of the test split that was"
    " then asked: left out. Latent semantic indexing of the known tickets' raw word counts gains .02 there, but is no"
    " part of the product"
)
"""What the train split, which alone was asked, valued no more than the grid; and what it values but isn't taken."""


@dataclass(frozen=True)
class Setting:
    """What the vote hears."""

    weights: Mapping[str, float]
    nearest: int
    of_words: float
    """Sharpness."""
    of_vectors: float

    def heard(self) -> Iterator[tuple[str, float, float]]:
        """Give each route that counts, with its weight and sharpness."""
        for route in ROUTES:
            if self.weights[route]:
                yield route, self.weights[route], self.of_words if route.startswith("lexical") else self.of_vectors

    def __str__(self) -> str:
        weights = ", ".join(f"{route} {weight:g}" for route, weight in self.weights.items() if weight)
        return (
            f"{weights}; {self.nearest} nearest; sharpness of words {self.of_words:g}, of vectors {self.of_vectors:g}"
        )


def settings() -> list[Setting]:
    """Return every setting of the grid, in its order."""
    return [
        Setting(dict(zip(ROUTES, (words, title_words, title, 1.0, across), strict=True)), int(nearest), *sharp)
        for words, title_words, title, across, nearest, *sharp in itertools.product(*GRID.values())
    ]


def chosen(shares: Any) -> tuple[Setting, float]:
    """Return the setting to take by the shares of all, and its own."""
    place = safest(shares)
    return settings()[int(np.ravel_multi_index(place, shares.shape))], float(shares[place])


class Heard:
    """What every known ticket's routes found, as arrays: the votes of thousands of settings in seconds.

    Args:
        found: What each route found, of each ticket.
        numbers: The place among the tickets of each target.
        depth: Hits of a route at most.
    """

    def __init__(self, found: Sequence[Mapping[str, Sequence[Hit]]], numbers: Mapping[str, int], depth: int) -> None:
        self._targets = {route: np.zeros((len(found), depth), dtype=np.int64) for route in ROUTES}
        self._nearness = {route: np.zeros((len(found), depth)) for route in ROUTES}
        for row, routes in enumerate(found):
            for route, hits in routes.items():
                best = hits[0].score if hits else 0.0
                for column, hit in enumerate(hits):
                    self._targets[route][row, column] = numbers[hit.target]
                    self._nearness[route][row, column] = max(hit.score, 0.0) / best if best > 0 else 0.0

    def shares(self, labels: Sequence[str | None]) -> Any:
        """Return the share of the labelled tickets that each setting names rightly, an axis for each part of `GRID`."""
        names = sorted({label for label in labels if label is not None})
        truth = np.array([-1 if label is None else names.index(label) for label in labels])
        made: dict[tuple[str, int, float], Any] = {}

        def ballot(route: str, nearest: int, sharpness: float) -> Any:
            key = (route, nearest, sharpness)
            if key not in made:
                made[key] = self._ballot(route, nearest, sharpness, truth, len(names))
            return made[key]

        judged = truth >= 0
        shares: list[float] = []
        for setting in settings():
            heard = [weight * ballot(route, setting.nearest, sharp) for route, weight, sharp in setting.heard()]
            shares.append(float((np.sum(heard, axis=0).argmax(axis=1) == truth)[judged].mean()))
        return np.array(shares).reshape([len(each) for each in GRID.values()])

    def _ballot(self, route: str, nearest: int, sharpness: float, truth: Any, labels: int) -> Any:
        voices = self._nearness[route][:, :nearest] ** sharpness
        whole = voices.sum(axis=1, keepdims=True)
        voices = np.divide(voices, whole, out=np.zeros_like(voices), where=whole > 0)
        carried = truth[self._targets[route][:, :nearest]]
        rows = np.broadcast_to(np.arange(len(truth))[:, None], carried.shape)
        heard = (carried >= 0) & (voices > 0)
        votes = np.zeros((len(truth), labels))
        np.add.at(votes, (rows[heard], carried[heard]), voices[heard])
        return votes.astype(np.float32)
