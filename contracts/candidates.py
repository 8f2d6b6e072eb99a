"""What Postgres says, now, about the things that a retrieval found.

The search index proposes targets; these records decide whether and how each may be shown (R10, R15, R21).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from contracts.cases import Case
from contracts.experience import Draft, Limits
from contracts.feedback import CandidateFeedback
from contracts.identity import Profile
from contracts.index import Scope
from contracts.labels import CandidateKind, Outcome
from contracts.retrieval import Answer, OriginRef, RetrievalRequest
from contracts.strategy import SourceStep, Strategy
from contracts.widening import BroadenedFrom

_UNLIMITED = Limits()
_NO_FEEDBACK = CandidateFeedback()


@dataclass(frozen=True, slots=True)
class RetrievalTask:
    """A stored request with everything that its caller's identity derives (R13)."""

    request: RetrievalRequest
    principal_id: str
    profile: Profile
    strategy: Strategy
    scope: Scope
    """Derived from grants, narrowed by the request."""
    answer: Answer | None
    """Set when the request was answered before: a repeat returns it unchanged."""
    narrowed_to: tuple[str, ...] | None = None
    """The tenants that the asking credential was narrowed to; None: it was not (R13)."""
    domains: tuple[str, ...] | None = None
    """Read where the strategy reads its profile's own domain only; None: that one, empty: every one (R18)."""
    broadened: BroadenedFrom | None = None
    """The retrieval that this one broadens."""

    def domains_of(self, step: SourceStep) -> tuple[str, ...]:
        """Return the domains that a step of the strategy reads; empty: every one."""
        if not step.own_domain_only:
            return ()
        return (self.profile.domain_id,) if self.domains is None else self.domains


class Found(NamedTuple):
    """A target that Postgres found by keys or full text, best first."""

    target: str
    revision: int
    fields: tuple[str, ...]
    """What matched: `origin`, `object_refs`, `text`..."""
    section: int = 0
    """Of an article: the section that was found; the first is 0."""
    near: bool | None = None
    """Whether its meaning clears the strategy's bar; None where that was not measured."""


@dataclass(frozen=True, slots=True)
class CanonicalLookup:
    """A scoped full-text read of the record, for what an index lacks (R16)."""

    kinds: tuple[CandidateKind, ...]
    domains: tuple[str, ...]
    """Empty: every domain."""
    outcomes: tuple[Outcome, ...]
    text: str
    limit: int
    pending_only: bool
    """True: only targets with events that the index has not taken yet. False: everything."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A superseded experience, without its text: what the one that took over has to tell of it (R10)."""

    ref: str
    revision: int
    """The one that was current when it was superseded."""
    limits: Limits


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A target as Postgres holds it now, with only what the caller may see."""

    target: str
    kind: CandidateKind
    revision: int
    """The current one; a hit at another revision is stale."""
    title: str
    owner: str
    state: str
    draft: Draft | None
    """Approved text, for experience."""
    case: Case | None
    """The live case, for cases in scope."""
    source_case: str | None
    """Only in scope (R21)."""
    source_origin: OriginRef | None
    published_at: datetime | None
    text: str = ""
    """Approved text, for articles."""
    concepts: tuple[str, ...] = ()
    """For articles; experience carries its own in `draft`."""
    limits: Limits = _UNLIMITED
    """For articles; experience carries its own in `draft`."""
    supersedes: tuple[Earlier, ...] = ()
    """For experience and articles: what it took over from, also through others."""
    feedback: CandidateFeedback = _NO_FEEDBACK
    """What is counted beside this revision; it decides nothing."""
    work: str = ""
    """For experience, where effort is compared: key of the finished job; shown to nobody (R19, R21)."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of each asked-for target."""

    records: dict[str, CandidateRecord]
    withdrawn: frozenset[str]
    """Known and no longer current: corrected, superseded, retired, suspended."""
    not_permitted: frozenset[str]
    """Inside the caller's tenants, outside its grants."""


NOTHING = Resolution({}, frozenset(), frozenset())
"""Of no target."""


@dataclass(frozen=True, slots=True)
class Past:
    """What became of each target as of a moment."""

    resolution: Resolution
    unknown: dict[str, str]
    """Targets that could not be had as of then, each with why; they are there as they are now, or left out."""
    erased: frozenset[str] = frozenset()
    """Those of them whose text is no more; they are left out."""
