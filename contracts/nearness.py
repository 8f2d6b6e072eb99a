"""Nearness in time: of cases that are alike, those opened about the same time are likelier to be one matter (R2).

One trouble is mostly reported within days or weeks, so a list of what is alike puts the nearer ones first. That is a
place in a list and no more: neither likeness nor nearness links or merges anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from contracts.fusion import Fused

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Nearness:
    """How much time apart counts. It fades slowly and never to nothing: old cases that are far more alike stay first.

    Args:
        strength: How many times its own score a case of the same moment gains; 0 leaves the order to likeness.
        days: Apart at which half of that gain is left.
    """

    strength: float
    days: float

    def factor(self, apart: timedelta) -> float:
        """Return what a score is multiplied by, from `1 + strength` down towards 1."""
        return 1 + self.strength / (1 + abs(apart) / _DAY / self.days)


def nearer_first(fused: Sequence[Fused], apart: Mapping[str, timedelta], nearness: Nearness) -> list[Fused]:
    """Return the same targets, each score multiplied by its nearness, best first, then by target.

    Args:
        fused: What is alike, with its scores.
        apart: How far each target is in time, before or after; one that isn't named gains nothing.
        nearness: How much it counts.
    """
    weighed = [
        each._replace(score=each.score * nearness.factor(apart[each.target])) if each.target in apart else each
        for each in fused
    ]
    return sorted(weighed, key=lambda each: (-each.score, each.target))
