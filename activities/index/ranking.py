"""The order of hits: best first, equal scores by target, and the same cut every time.

An engine cuts ties at the limit as it likes. So a little more is asked for, and more again while the cut still
falls among equal scores.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from contracts.index import Hit
from contracts.labels import CandidateKind

HIT_FIELDS = ["target", "revision", "content_hash", "kind", "links", "section", "names"]
"""The payload fields that a hit needs; nothing else leaves the engine."""

_DECIMALS = 5
"""Scores closer than this differ by rounding in the engine's arithmetic, not by content."""
_EXTRA = 8
_MOST = 2_000
"""A tie wider than this is cut by the engine: it can't be told from noise any more."""


def hit(payload: Mapping[str, Any] | None, score: float) -> Hit:
    """Return a found point as a hit."""
    fields = payload or {}
    return Hit(
        target=fields["target"],
        revision=fields["revision"],
        content_hash=fields["content_hash"],
        kind=CandidateKind(fields["kind"]),
        score=rounded(score),
        links=tuple(fields["links"]),
        section=fields["section"],
        names=tuple(fields["names"]),
    )


def rounded(score: float) -> float:
    """Return a score without what is rounding of the engine's."""
    return round(score, _DECIMALS)


async def best(ask: Callable[[int], Awaitable[list[Hit]]], limit: int) -> list[Hit]:
    """Return the best `limit` hits in their one order.

    Args:
        ask: Asks the engine for so many hits.
        limit: How many are wanted.
    """
    asked = limit + _EXTRA
    found = await ask(asked)
    while len(found) == asked and asked < _MOST and found[limit - 1].score == found[-1].score:
        asked = min(asked * 4, _MOST)
        found = await ask(asked)
    return sorted(found, key=lambda each: (-each.score, each.target, -each.revision))[:limit]
