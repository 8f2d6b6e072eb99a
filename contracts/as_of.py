"""What was current at a moment in the past."""

from __future__ import annotations

from datetime import datetime

from contracts.articles import ArticleDraft
from contracts.experience import Draft
from contracts.labels import CandidateKind
from contracts.lifecycle import Stage
from contracts.model import Model


class ExperienceAsOf(Model):
    """Where an experience stood at a moment."""

    experience_id: str
    at: datetime
    stage: Stage
    revision: int
    """The newest draft at that moment."""
    current_revision: int | None = None
    """The published one, also while it was suspended."""
    suspended: bool = False
    superseded_by: str | None = None
    digest: str = ""
    """Of the current revision."""
    draft: Draft | None = None
    """Its text; None when nothing was current or the text was erased since."""
    article: ArticleDraft | None = None
    """For an article, in the place of `draft`."""


class CurrentAsOf(Model):
    """One experience whose revision was current, and not suspended, at a moment."""

    experience_id: str
    revision: int
    digest: str
    domain_id: str
    kind: CandidateKind = CandidateKind.EXPERIENCE
    """`experience` or `article`."""


class CurrentPage(Model):
    """A page of what was current at a moment, in order of ids."""

    at: datetime
    entries: tuple[CurrentAsOf, ...]
    after: str | None = None
    """Where the next page begins; None at the end."""
