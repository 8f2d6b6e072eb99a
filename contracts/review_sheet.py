"""What a reviewer is shown on one page: the draft, what was found in it, its proof, its past, and what resembles it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from contracts.admission import Finding, Severity
from contracts.articles import AnyDraft, ArticleDraft
from contracts.cases import CaseResult
from contracts.draft_difference import DraftDifference
from contracts.experience import Draft
from contracts.labels import CandidateKind, Outcome, PaperKind
from contracts.lifecycle import Stage
from contracts.model import Model
from contracts.outbox import Watermark
from contracts.resemblance import Resemblance
from contracts.review import FieldComment
from contracts.scope_difference import ScopeDifference

SPAN_TEXT = 2_000
"""Characters of a span that a sheet quotes at most."""


class DismissalView(Model):
    """Who dismissed a finding, and why."""

    reason: str
    dismissed_by: str
    dismissed_at: datetime
    carried_from: int | None = None
    """The earlier revision whose same text was dismissed; None: this revision's own."""


class ListedFinding(Model):
    """A finding with what was said about it."""

    finding: Finding
    dismissal: DismissalView | None = None

    @property
    def is_open(self) -> bool:
        """Whether it still holds up an acceptance."""
        severity = self.finding.severity
        return severity is Severity.MUST_FIX or (severity is Severity.MUST_RESOLVE and self.dismissal is None)


class AdmissionView(Model):
    """What admission found in a revision (R5, R6)."""

    revision: int
    examined_at: datetime | None = None
    """None: nobody has examined it, and it can't be accepted."""
    personal_data_examined: bool = False
    """Whether a finder looked for personal data; without one, no finding of it says nothing."""
    findings: tuple[ListedFinding, ...] = ()

    def open_findings(self) -> tuple[Finding, ...]:
        """Return what still holds up an acceptance."""
        return tuple(listed.finding for listed in self.findings if listed.is_open)


class HistoryEntry(Model):
    """One step of an experience: what happened, by whom, and what was said (R7)."""

    seq: int
    event: str
    from_stage: Stage | None
    to_stage: Stage
    revision: int
    at: datetime
    actor_id: str | None
    """None: the record itself, such as a deadline that passed."""
    on_behalf_of: str | None = None
    """Who had delegated the review."""
    comment: str = ""
    """Of a decision, or the reason of a change."""
    comments: tuple[FieldComment, ...] = ()
    """Remarks on single fields of that revision."""
    declined_units: tuple[str, ...] = ()


class ClaimView(Model):
    """Who works on a review, and until when."""

    experience_id: str
    revision: int
    stage: Stage
    claimed_by: str
    claimed_until: datetime


class SheetPaper(Model):
    """A paper of the case."""

    id: str
    kind: PaperKind
    title: str
    characters: int


class SpanText(Model):
    """The words of a case paper that a unit rests on."""

    field: str
    """Path of the span in the draft."""
    paper_id: str
    start: int
    end: int
    text: str | None
    """None: there is no such place."""
    is_cut: bool = False
    """Only the beginning is quoted."""


class CaseProof(Model):
    """The case result and its papers, as far as the reader may see the case (R4)."""

    case_id: str
    """"" for an article, which comes from no case."""
    is_visible: bool
    """False: the reader has no grant for the case; nothing of it is shown."""
    note: str = ""
    result: CaseResult | None = None
    papers: tuple[SheetPaper, ...] = ()
    spans: tuple[SpanText, ...] = ()


class Resemblances(Model):
    """Published experience to look at beside the draft; an empty list is complete only if `not_read` is empty (R16)."""

    listed: tuple[Resemblance, ...] = ()
    left_off: int = 0
    """Further ones that the list has no room for."""
    watermarks: tuple[Watermark, ...] = ()
    not_read: tuple[str, ...] = ()
    """What could not be looked through, and why."""


class ReviewSheet(Model):
    """All that a review needs; a decision sends back its `stage` and `digest` (R7)."""

    experience_id: str
    tenant_id: str
    """"" for an article: it is of its domain and of no tenant."""
    domain_id: str
    proposer_id: str
    author_id: str
    stage: Stage
    outcome: Outcome | None
    """None: an article claims none."""
    revision: int
    digest: str
    kind: CandidateKind = CandidateKind.EXPERIENCE
    """`experience` or `article`: which of the two texts there is."""
    draft: Draft | None = None
    article: ArticleDraft | None = None
    due_at: datetime | None
    reminded: bool
    escalated: bool
    current_revision: int | None
    suspended: bool
    claim: ClaimView | None = None
    admission: AdmissionView
    proof: CaseProof
    since_earlier: DraftDifference | None = None
    """Against the revision before; None for the first."""
    since_current: DraftDifference | None = None
    """Against the published revision; None when there is none, or it is this one."""
    scope: ScopeDifference | None = None
    """Where it applies, against the published revision; its digest is what an owner acknowledges (R10)."""
    history: tuple[HistoryEntry, ...] = ()
    resemblances: Resemblances = Resemblances()

    @property
    def text(self) -> AnyDraft:
        """The draft, of either kind."""
        text = self.draft or self.article
        if text is None:
            raise ValueError("a sheet has a draft or an article")
        return text


@dataclass(frozen=True, slots=True)
class Published:
    """A current revision, as it stands in the record."""

    experience_id: str
    revision: int
    draft: Draft


@dataclass(frozen=True, slots=True)
class PublishedArticle:
    """A current article, without its body."""

    article_id: str
    revision: int
    title: str
    digest: str


class ReviewSheetRecords(Protocol):
    """Postgres as a review sheet sees it."""

    async def sheet(self, principal_id: str, experience_id: str) -> ReviewSheet:
        """Return the sheet, without resemblances, as far as the caller may see it.

        Raises:
            UnknownExperience: Nothing of it can be seen.
        """
        ...

    async def published(self, principal_id: str, experience_ids: Sequence[str]) -> list[Published]:
        """Return each of these that is current now and that the caller may read (R10)."""
        ...

    async def articles_of(self, domain_id: str) -> list[PublishedArticle]:
        """Return the head of each current article of a domain."""
        ...

    async def by_text(self, words: str, *, limit: int, pending_only: bool) -> list[str]:
        """Return ids of current experience that full text finds, best first; only what the index lacks, when asked."""
        ...

    async def by_phrases(self, phrases: Sequence[str], *, limit: int) -> list[str]:
        """Return ids of current experience that holds one of the phrases, newest first."""
        ...

    async def watermarks(self) -> list[Watermark]:
        """Return how far each index has come."""
        ...
