"""What the routes of a retrieval found, kept with its answer: from it the same answer can be composed again (R20).

It holds references, places and the names of fields, and no text: an erasure has nothing to look for in it (R11).
"""

from __future__ import annotations

from pydantic import Field

from contracts.model import Model
from contracts.strategy import Route

MOST_TARGETS = 4_000
"""Distinct findings of one retrieval that are kept at most; the shipped strategies' depths stay below it."""


class KeptFinding(Model):
    """A target as a route found it."""

    ref: str
    revision: int
    section: int = 0


class KeptRanking(Model):
    """One route's findings, best first, each by its place in `Rankings.findings` and `Rankings.fields`."""

    step: int
    """Of the strategy, from 1."""
    route: Route
    weight: float
    why: str = ""
    near: int | None = None
    """How many of the first clear the strategy's bar; None where that was not measured."""
    found: tuple[int, ...]
    matched: tuple[int, ...]


class Rankings(Model):
    """Every ranking of a retrieval, and what the caller's grants left out of them at that time."""

    domain_id: str
    """Of the profile, at that time."""
    findings: tuple[KeptFinding, ...] = Field(default=(), max_length=MOST_TARGETS)
    fields: tuple[tuple[str, ...], ...] = ()
    """What matched; of a concept or intent only which of the two."""
    rankings: tuple[KeptRanking, ...] = ()
    not_permitted: tuple[str, ...] = ()
    cases: dict[str, int] = Field(default_factory=dict)
    """The revision of each case as it was then."""
