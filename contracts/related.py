"""Work that belongs with a case: what somebody decided, what the facts say, and what is merely alike (R2).

Likeness lists, it never merges: each entry carries its reasons, and only a principal's decision changes a case.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from contracts.cases import Case, CaseLinkKind
from contracts.index import Scope
from contracts.labels import CaseState
from contracts.model import Model
from contracts.outbox import Watermark
from contracts.retrieval import OriginRef, RouteState
from contracts.strategy import Route
from contracts.text import Paragraph


class Relation(StrEnum):
    """How another case came into the list, the surest first. The same origin is no relation: it is the same case."""

    LINKED = "linked"
    """A principal decided it."""
    SAME_REQUEST = "same_request"
    """One case names the other's external id among its object references."""
    SAME_OBJECT = "same_object"
    """Both name the same object."""
    SIMILAR = "similar"
    """The words are alike; nothing more is known."""


class Asked(StrEnum):
    """The words of the case that a route looks for."""

    TITLE = "title"
    WHOLE = "whole"
    """Title and body."""


class RouteRank(Model):
    """A place in one route's ranking; 1 is the best."""

    route: Route
    asked: Asked
    rank: int


class Reason(Model):
    """Why a case is listed."""

    relation: Relation
    link_id: str | None = None
    link_kind: CaseLinkKind | None = None
    why: str = ""
    """The words of the decision, for a link."""
    shared: tuple[str, ...] = ()
    """The object references or external ids that meet."""
    ranks: tuple[RouteRank, ...] = ()
    """Where each route had it, for likeness."""
    days_apart: float | None = None
    """Between the openings of the two cases, for likeness: of what is alike, the nearer comes first."""


class RelatedCase(Model):
    """Another case of the tenant, as it stands now, with every reason for listing it."""

    rank: int
    case_id: str
    origin: OriginRef
    title: str
    state: CaseState
    opened_at: datetime
    continues_in: str | None = None
    """Where its work goes on, when somebody merged it."""
    relation: Relation
    """The surest of its reasons."""
    reasons: tuple[Reason, ...]


class WentTo(Model):
    """A domain that some of the nearest cases went to: a count to weigh, which routes nothing by itself (R15, R20)."""

    domain_id: str
    cases: int
    """Of those that were heard."""
    share: float
    """Of the vote, 0 to 1: nearer cases have more of it."""
    case_ids: tuple[str, ...]
    """The weightiest first, a few at most."""


class RelatedRead(Model):
    """What a route over the index, or the record in its stead, came to; nothing is dropped in silence (R15, R16)."""

    route: Route
    asked: Asked
    state: RouteState
    found: int = 0
    why: str = ""


class RelatedAnswer(Model):
    """Cases to look at beside a case, and what the list can't know (R2, R16)."""

    case_id: str
    continues_in: str | None = None
    cases: tuple[RelatedCase, ...]
    includes_later: bool
    """Whether cases opened after this one were looked at too; linked ones always are."""
    watermark: Watermark
    """How far the index of cases has come."""
    reads: tuple[RelatedRead, ...]
    not_read: tuple[str, ...] = ()
    """What was not, or not fully, read, each with the reason."""
    left_off: int = 0
    """Cases with the same object or request that the list had no room for."""
    went_to: tuple[WentTo, ...] = ()
    """Where the nearest cases went, the largest share first. Those without a domain aren't counted."""


class CaseLinkRecord(Model):
    """One decision on two cases, and its removal when there was one."""

    id: str
    case_id: str
    other_case_id: str
    kind: CaseLinkKind
    reason: str
    decided_by: str
    decided_at: datetime
    removed_by: str | None = None
    removed_at: datetime | None = None
    removal_reason: str = ""


class CaseLinks(Model):
    """Every decision on a case, oldest first, and where its work goes on."""

    case_id: str
    continues_in: str | None = None
    links: tuple[CaseLinkRecord, ...]


class LinkRemoval(Model):
    """Why a link no longer holds; for a merge this is the split."""

    reason: Paragraph


@dataclass(frozen=True, slots=True)
class RelatedTask:
    """The case that related work is looked for, with what its reader may see of the case's tenant (R4)."""

    case: Case
    principal_id: str
    scope: Scope
    include_later: bool

    @property
    def opened_before(self) -> datetime | None:
        """The moment that other cases must have been opened before; None for any."""
        return None if self.include_later else self.case.opened_at


@dataclass(frozen=True, slots=True)
class Bond:
    """A case that belongs with another by a decision or by its facts."""

    case_id: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class CaseHead:
    """What a list shows of a case."""

    case_id: str
    origin: OriginRef
    title: str
    state: CaseState
    opened_at: datetime
    continues_in: str | None
    domain_id: str | None = None


class RelatedRecords(Protocol):
    """Postgres as a look for related work sees it; whatever is shown was read as the caller (R4)."""

    async def task(self, principal_id: str, case_id: str, *, include_later: bool) -> RelatedTask:
        """Return the case and its reader's scope inside the case's tenant.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        ...

    async def linked(self, task: RelatedTask) -> list[Bond]:
        """Return the cases that live decisions tie to this one, oldest decision first."""
        ...

    async def by_facts(self, task: RelatedTask, limit: int) -> list[Bond]:
        """Return cases of the same request, then of the same objects, newest first."""
        ...

    async def by_text(self, task: RelatedTask, words: str, *, limit: int, pending_only: bool) -> list[str]:
        """Return ids of cases that full text finds, best first; only of those the index lacks, when asked (R16)."""
        ...

    async def heads(self, task: RelatedTask, case_ids: list[str]) -> dict[str, CaseHead]:
        """Return each case that the caller may see, as it stands now."""
        ...

    async def watermark(self) -> Watermark:
        """Return how far the index of cases has come."""
        ...
