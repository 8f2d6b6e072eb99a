"""The chart of how long changes took to become searchable, as shapes that a template draws (R23)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.listings import LagSample

WIDTH, HEIGHT = 720, 180
LEFT, BOTTOM, TOP = 56, 24, 12
_STEPS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400)


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time: its longest wait as a bar, its median as a mark on it."""

    x: float
    width: float
    top: float
    median_y: float
    sample: LagSample


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the scale."""

    y: float
    seconds: float


@dataclass(frozen=True, slots=True)
class TimeTick:
    """A moment on the axis."""

    x: float
    at: datetime


@dataclass(frozen=True, slots=True)
class LagChart:
    """Everything that is drawn."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    times: tuple[TimeTick, ...]
    events: int
    longest: float

    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    floor: int = HEIGHT - BOTTOM


def lag_chart(samples: Sequence[LagSample], *, since: datetime, until: datetime, step: timedelta) -> LagChart:
    """Return the shapes for samples between two moments.

    Args:
        samples: In stretches of `step`; one without changes has none.
        since: The left end.
        until: The right end.
        step: The width of a bar.
    """
    highest = max((sample.longest_seconds for sample in samples), default=0.0)
    top = next((each for each in _STEPS if each >= highest), max(highest, 1.0))
    span = max((until - since).total_seconds(), 1.0)

    def x_of(at: datetime) -> float:
        share = (at - since).total_seconds() / span
        return round(LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT), 1)

    def y_of(seconds: float) -> float:
        drawn = HEIGHT - BOTTOM - TOP
        return round(TOP + drawn * (1 - math.sqrt(min(max(seconds, 0.0), top) / top)), 1)

    bars = tuple(
        Bar(
            x=x_of(sample.begins),
            width=round(max(x_of(sample.begins + step) - x_of(sample.begins) - 1, 1.0), 1),
            top=min(y_of(sample.longest_seconds), HEIGHT - BOTTOM - 1.0),
            median_y=y_of(sample.median_seconds),
            sample=sample,
        )
        for sample in samples
    )
    return LagChart(
        bars=bars,
        ticks=tuple(Tick(y_of(part), part) for part in (0.0, top / 4, top)),
        times=tuple(TimeTick(x_of(at), at) for at in (since + (until - since) * part / 4 for part in range(4))),
        events=sum(sample.events for sample in samples),
        longest=highest,
    )
