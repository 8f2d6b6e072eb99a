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


class KeptEarlier(Model):
    """What a target had taken over from when it was looked at."""

    ref: str
    revision: int


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
    resolved: tuple[int, ...] | None = None
    """Of each finding that is an experience or article: its current revision then; 0 for one that was not current or
    not looked at, and for a case. None: stored before this was kept, and only the time of the answer tells."""
    earlier: dict[str, tuple[KeptEarlier, ...]] = Field(default_factory=dict)
    """What each of these had taken over from; left out where that is nothing."""

    def current(self) -> dict[str, int] | None:
        """Return the revision of each experience and article that was shown as current; None: that is not kept."""
        if self.resolved is None:
            return None
        return {
            finding.ref: revision for finding, revision in zip(self.findings, self.resolved, strict=True) if revision
        }
