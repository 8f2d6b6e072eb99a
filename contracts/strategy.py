"""Strategies: what a requesting profile reads, in which order, by which routes (spec section 2).

A definition is data; its digest makes it immutable once used (R14).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from contracts import limits
from contracts.labels import CandidateKind, Collection, Outcome
from contracts.model import Model
from contracts.text import Identifier, Line, Paragraph, digest


class Route(StrEnum):
    """A way to find candidates."""

    REGISTRY = "registry"
    """Deterministic keys in Postgres: origin, what people linked, object references of the request and its case."""
    LEXICAL = "lexical"
    DENSE_TITLE = "dense_title"
    DENSE_BODY = "dense_body"
    IDENTIFIER_HOP = "identifier_hop"
    """Records that the first hits name, and what shares their names; a step asks for it by `hop`."""
    CONCEPT_LINKS = "concept_links"
    """Records that share a concept or an intent with the first hits or the objective; a step asks by `links`."""
    CONTRAST = "contrast"
    """Nearest by meaning among what did not succeed, collected apart (R5)."""
    CANONICAL = "canonical"
    """Postgres full text: the scoped lookup for what an index lacks (R16)."""


class Hop(Model):
    """How far a step follows the names in its first hits."""

    first: int = Field(default=3, ge=1, le=10)
    """Hits whose text is read."""
    named: int = Field(default=3, ge=1, le=20)
    """Records that they name, at most."""
    weight: float = Field(default=1.5, gt=0, le=10, allow_inf_nan=False)
    """What a place among the named counts for, beside the step's own weight."""
    follow: int = Field(default=2, ge=0, le=5)
    """Hits whose names are looked for together with the objective."""
    follow_depth: int = Field(default=20, ge=1, le=100)
    follow_weight: float = Field(default=0.6, gt=0, le=10, allow_inf_nan=False)
    """What a place in each of these rankings counts for."""
    into_cases: bool = False
    """Look for what they name among live cases too, inside the caller's scope."""


class Links(Model):
    """How far a step follows the concepts and intents of its first hits and of the objective."""

    first: int = Field(default=3, ge=1, le=10)
    """Hits whose concepts and intents are followed."""
    depth: int = Field(default=10, ge=1, le=100)
    """Records that share one, at most."""
    weight: float = Field(default=0.5, gt=0, le=10, allow_inf_nan=False)
    """What a place among them counts for, beside the step's own weight."""


class SourceStep(Model):
    """One read of a strategy: a source and the routes over it."""

    collection: Collection
    routes: tuple[Route, ...]
    kinds: tuple[CandidateKind, ...]
    own_domain_only: bool = False
    """Read the profile's own domain only; false reads every domain."""
    outcomes: tuple[Outcome, ...] = tuple(Outcome)
    """Eligible outcomes (for kinds that have one)."""
    needs_effort: bool = False
    """Only experience with recorded effort is eligible (R19)."""
    depth: int = Field(default=50, ge=1, le=500)
    """Hits collected per route before fusion."""
    weight: float = Field(default=1.0, gt=0, le=10, allow_inf_nan=False)
    """What a place in this step's rankings counts for in the fusion."""
    hop: Hop | None = None
    """Follow the names in the first hits of the step's source; None doesn't."""
    links: Links | None = None
    """Follow the concepts and intents of the first hits of the step's source; None doesn't."""


class Bar(Model):
    """How like the objective a candidate has to be; below it, it is shown as far and nothing counts on it (R15, R19).

    Identity, the objective's own words and what near hits lead to clear it as well (see `contracts.likeness`).
    """

    cosine: float = Field(gt=0, lt=1, allow_inf_nan=False)
    """The least, of the objective's vector with that of title or text."""
    model: Line
    """The embedding model that it was measured with. Cosines of one model say nothing of another's: no bar there."""


class Strategy(Model):
    """A versioned retrieval definition."""

    id: Identifier
    version: int = Field(ge=1)
    title: Line
    guide: Paragraph
    """What the agent must decide, in the spec's words for it."""
    steps: tuple[SourceStep, ...] = Field(min_length=1, max_length=6)
    rrf_k: int = Field(default=60, ge=1, le=1000)
    show_detail: bool = True
    """Whether answers carry technical text; root reads synopses only (spec section 3)."""
    judges_unread: bool = False
    """Hold the statements behind a synopsis against the request too where they aren't shown (R17)."""
    results: int = Field(default=limits.RESULTS_DEFAULT, ge=1, le=limits.RESULTS)
    effort_minimum: int | None = Field(default=None, ge=2, le=limits.RESULTS)
    """Comparable items that a range of hours needs; None compares no effort (R19)."""
    looks: tuple[Annotated[int, Field(ge=1, le=100)], ...] = Field(default=(2, 6), max_length=5)
    """Targets of the first looks at the record, for each place of the list; most answers need the first only."""
    contrast: int = Field(default=0, ge=0, le=limits.RESULTS)
    """Places that an answer keeps for experience that did not succeed, shown apart; 0 mixes it in by rank (R5)."""
    bar: Bar | None = None
    """What a candidate has to clear to count; None: whatever is found counts."""
    contrast_look: int = Field(default=5, ge=1, le=500)
    """Targets of each contrast that belong to the first looks, wherever they stand in the order."""

    def digest(self) -> str:
        """Return the hash that identifies this version's content (R14)."""
        return digest(self.model_dump(mode="json", exclude_defaults=True))
