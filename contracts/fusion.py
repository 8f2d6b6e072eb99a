"""Reciprocal rank fusion: several rankings into one order, the same on every run (R14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Ranking:
    """Targets of one route, best first, and what a place in it counts for."""

    name: str
    targets: tuple[str, ...]
    weight: float = 1.0


class Place(NamedTuple):
    """Where a ranking has a target; 1 is the best rank."""

    ranking: str
    rank: int


class Fused(NamedTuple):
    """A target in the fused order, with the places that put it there.

    `score` orders targets of one fusion and means nothing beyond that.
    """

    target: str
    score: float
    places: tuple[Place, ...]


def fuse(rankings: Sequence[Ranking], k: int) -> list[Fused]:
    """Return every ranked target once, by descending sum of `weight / (k + rank)`, then by target.

    Args:
        rankings: The rankings, each under its own name. A target's best place in a ranking counts.
        k: Flattens the advantage of the first ranks; 60 is usual.
    """
    places: dict[str, list[Place]] = {}
    shares: dict[str, list[float]] = {}
    for ranking in rankings:
        for rank, target in enumerate(dict.fromkeys(ranking.targets), start=1):
            places.setdefault(target, []).append(Place(ranking.name, rank))
            shares.setdefault(target, []).append(ranking.weight / (k + rank))
    # fsum rounds once, so the order of the rankings can't make or break a tie.
    fused = [Fused(target, fsum(shares[target]), tuple(found)) for target, found in places.items()]
    return sorted(fused, key=lambda item: (-item.score, item.target))
