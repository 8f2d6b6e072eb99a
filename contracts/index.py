"""The search index as every part sees it: points, filters, queries and hits.

An index finds; it never decides. Whatever it returns is checked again in Postgres (R10).
Vectors are plain float sequences here; adapters turn them into what their engine wants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from contracts.labels import CandidateKind, Collection, Outcome, ProofLevel
from contracts.model import Model
from contracts.text import digest

SCHEMA_VERSION = 5
"""Raised by any change to vectors, payload fields or point ids; a part of the collection's name."""
UNLIMITED = "*"
"""Stands where limits name no product or system: no label's key is a star alone."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(moment: datetime) -> int:
    """Return a moment as the whole microseconds since 1970 that payloads carry; exact until the year 2255."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


class VectorName(StrEnum):
    """The named dense vectors of a point."""

    TITLE = "title"
    BODY = "body"


class Payload(Model):
    """What a point carries: only approved fields and canonical references (R9)."""

    target: str
    """`experience/<id>`, `article/<id>` or `case/<id>`."""
    kind: CandidateKind
    tenant: str
    """Owning tenant; filtered in `cases`, never shown to another tenant."""
    case_id: str = ""
    """Filtered in `cases` for grants to a single case."""
    domain: str = ""
    state: str = "current"
    """`current` for published text; the case state for cases."""
    outcome: Outcome | None = None
    proof_level: ProofLevel | None = None
    request_type: str = ""
    symptom_tags: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    within_products: tuple[str, ...] = (UNLIMITED,)
    """Keys of the products that its limits name, or `UNLIMITED`."""
    within_systems: tuple[str, ...] = (UNLIMITED,)
    """Keys of the systems that its limits name, or `UNLIMITED`."""
    has_effort: str = "no"
    """Whether it has recorded effort: `yes` or `no`."""
    names: tuple[str, ...] = ()
    """Keys of what the target is called (see `contracts.identifiers`)."""
    links: tuple[str, ...] = ()
    """Keys of its concepts and intents (see `contracts.concept_links`)."""
    section: int = 0
    """Which section of an article the point holds; the first is 0."""
    opened_at: int | None = None
    """When a case was opened (see `instant`); None for what is no case."""
    revision: int
    content_hash: str
    model: str
    """Embedding model id."""

    def digest(self) -> str:
        """Return a hash over the whole payload, to compare a rebuilt index with the old one (R9)."""
        return digest(self.model_dump(mode="json"))


@dataclass(frozen=True, slots=True)
class Point:
    """One searchable entry. Its id derives from target and revision, so a repeat overwrites itself."""

    id: str
    """A UUID (see `point_id`)."""
    payload: Payload
    vectors: Mapping[VectorName, Sequence[float]]
    lexical: str
    """Text for the BM25 sparse vector."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The tenants and single cases that a caller may see; empty means nothing (R4)."""

    tenants: frozenset[str] = frozenset()
    cases: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Filter:
    """Further conditions; each non-empty field must match one of its values."""

    kinds: tuple[CandidateKind, ...] = ()
    domains: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    proof_levels: tuple[ProofLevel, ...] = ()
    states: tuple[str, ...] = ()
    request_types: tuple[str, ...] = ()
    symptom_tags: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    within_products: tuple[str, ...] = ()
    within_systems: tuple[str, ...] = ()
    has_effort: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    not_targets: tuple[str, ...] = ()
    opened_before: datetime | None = None
    """Only cases that were opened before this moment."""


@dataclass(frozen=True, slots=True)
class DenseQuery:
    """Nearest by cosine in one named vector."""

    vector: Sequence[float]
    name: VectorName


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """Best by BM25."""

    text: str


class Hit(NamedTuple):
    """A found point. `score` orders hits of one query and means nothing beyond that."""

    target: str
    revision: int
    content_hash: str
    kind: CandidateKind
    score: float
    links: tuple[str, ...] = ()
    section: int = 0
    names: tuple[str, ...] = ()

    def scored(self, score: float) -> Hit:
        """Return the hit with another score; a third of what the tuple's own copying takes."""
        target, revision, content_hash, kind, _, links, section, names = self
        return Hit(target, revision, content_hash, kind, score, links, section, names)


@dataclass(frozen=True, slots=True)
class Stored:
    """What an index holds for a point, without its vectors."""

    id: str
    payload: Payload


@dataclass(frozen=True, slots=True)
class IndexChange:
    """One projection step: in `collection`, `target` becomes exactly `points` (none: removed).

    Points of the target that are not among `points` are deleted, so an older revision can't stay (R9, R10).
    """

    collection: Collection
    target: str
    points: tuple[Point, ...] = field(default=())


FILTERED_FIELDS: Mapping[str, str] = {
    "target": "keyword",
    "kind": "keyword",
    "tenant": "keyword",
    "case_id": "keyword",
    "domain": "keyword",
    "state": "keyword",
    "outcome": "keyword",
    "proof_level": "keyword",
    "request_type": "keyword",
    "symptom_tags": "keyword",
    "concepts": "keyword",
    "products": "keyword",
    "systems": "keyword",
    "environments": "keyword",
    "within_products": "keyword",
    "within_systems": "keyword",
    "has_effort": "keyword",
    "names": "keyword",
    "links": "keyword",
    "opened_at": "integer",
    "revision": "integer",
}
"""Payload fields that a filter uses, with their index type; each must be indexed in every collection."""
