"""What is chosen for related work, and how: on one project's known duplicates, to be scored on the other's.

A duplicate is one example in both directions: the later report looks for the earlier among those before it, and the
earlier looks for the later among all. Counting the first ten alone would leave hardly anything to choose by, so each
example is worth between 0 and 1, half where the tenth place ends.

What there is to set was found on SeaMonkey alone, so Hadoop's count is the purer of the two. The crossed counts were
looked at twice: with nearness that halves every so many days (61 of 66 Hadoop, 42 of 46 SeaMonkey), and then, because
both projects had chosen the edge of that grid, with this wider one and a nearness that fades ever more slowly, which
each project values more for itself. Without gain on SeaMonkey: scores in place of ranks, other mean lengths in BM25,
names alone as a route, the whole text looked for in titles, the body's first words alone, the question moved towards
its first hits.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from activities.related import NEARNESS, RRF_K, RelatedWork
from activities.related_routes import ROUTES, Ranked, weighted
from contracts.nearness import Nearness
from contracts.ports import Embedder, SearchIndex
from contracts.related import Asked, RelatedRecords
from contracts.strategy import Route
from tests.benchmarks.grids import safest

ASKED = (
    (Route.LEXICAL, Asked.WHOLE),
    (Route.LEXICAL, Asked.TITLE),
    (Route.DENSE_TITLE, Asked.TITLE),
    (Route.DENSE_BODY, Asked.WHOLE),
    (Route.DENSE_BODY, Asked.TITLE),
)
EVERY_ROUTE = tuple(Ranked(route, asked, 1.0) for route, asked in ASKED)
GRID = {
    "k": (3, 5, 10, 20),
    "lexical title": (0.5, 1.0),
    "dense title": (0.5, 1.0),
    "dense whole": (1.0, 2.0),
    "title in whole": (0.0, 0.5, 1.0),
    "strength": (1.0, 2.0, 4.0, 8.0),
    "days": (3.0, 10.0, 30.0, 100.0, 300.0),
}
"""The lexical route by the whole text counts 1 throughout."""
_LAST = 200
_HALF, _FALL = 10.5, 1.5


@dataclass(frozen=True)
class Setting:
    """Weights of `ASKED`, what flattens the first ranks, and what time counts."""

    weights: tuple[float, ...]
    k: int
    nearness: Nearness

    def work(self, records: RelatedRecords, index: SearchIndex, embedder: Embedder) -> RelatedWork:
        """Return the product's related work with this setting."""
        routes = weighted(dict(zip(ASKED, self.weights, strict=True)))
        return RelatedWork(records, index, embedder, routes=routes, rrf_k=self.k, nearness=self.nearness, seconds=60.0)

    def __str__(self) -> str:
        weights = ", ".join(
            f"{route} by {asked} {weight:g}" for (route, asked), weight in zip(ASKED, self.weights, strict=True)
        )
        return f"{weights}; k {self.k}; nearness {self.nearness.strength:g} halved at {self.nearness.days:g} days"


SHIPPED = Setting(
    tuple(next((r.weight for r in ROUTES if (r.route, r.asked) == each), 0.0) for each in ASKED), RRF_K, NEARNESS
)
PLAIN = Setting((1.0, 1.0, 1.0, 1.0, 0.0), 60, Nearness(strength=0.0, days=1.0))
"""Equal weights, and nothing but likeness."""


@dataclass(frozen=True)
class Example:
    """What every route found for one end of a duplicate."""

    ranks: Any
    """A row for each route of `ASKED`, a column for each found case; infinite where a route lacks it."""
    days: Any
    """Between each found case and the one that asks."""
    wanted: int | None
    """The column of the other end; None when no route found it."""

    def rank(self, setting: Setting) -> float:
        """Return the place of the other end in the list, 1 for the best; infinite when it isn't there."""
        if self.wanted is None:
            return np.inf
        scores = (np.array(setting.weights)[:, None] / (setting.k + self.ranks)).sum(axis=0)
        scores *= 1 + setting.nearness.strength / (1 + self.days / setting.nearness.days)
        return 1.0 + float((scores > scores[self.wanted]).sum())


def settings() -> list[Setting]:
    """Return every setting of the grid, in its order."""
    return [
        Setting((1.0, words, title, whole, across), int(k), Nearness(strength, days))
        for k, words, title, whole, across, strength, days in itertools.product(*GRID.values())
    ]


def worths(examples: Sequence[Example], tried: Sequence[Setting]) -> list[float]:
    """Return the mean worth of the examples with each setting."""
    return [float(np.mean([_worth(each.rank(setting)) for each in examples])) for setting in tried]


def chosen(values: Sequence[float]) -> Setting:
    """Return the setting to take by the values of all."""
    shape = tuple(len(each) for each in GRID.values())
    return settings()[int(np.ravel_multi_index(safest(np.array(values).reshape(shape)), shape))]


def _worth(rank: float) -> float:
    return 1 / (1 + (min(rank, _LAST) / _HALF) ** _FALL)
