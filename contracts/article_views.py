"""What people and agents are shown of articles."""

from __future__ import annotations

from datetime import datetime

from contracts.articles import ArticleDraft, ArticleKind
from contracts.lifecycle import Stage
from contracts.model import Model
from contracts.review_sheet import AdmissionView, HistoryEntry


class ArticleRevisionView(Model):
    """One revision of an article."""

    number: int
    state: str
    digest: str
    article: ArticleDraft
    author_id: str | None
    """None: only who sees its reviews sees who wrote it."""
    published_at: datetime | None


class LinkedText(Model):
    """A text that an article names, or one that names it."""

    ref: str
    revision: int | None
    """The current one; None when it isn't published any more."""
    title: str = ""


class ArticleView(Model):
    """An article as far as the caller may see it: everybody its current revision, its domain's people the rest."""

    article_id: str
    domain_id: str
    """Its owner."""
    current_revision: int | None
    searchable: bool
    """The current revision is in the index (R23)."""
    revisions: tuple[ArticleRevisionView, ...]
    references: tuple[LinkedText, ...] = ()
    """What the newest revision shown builds on."""
    referenced_by: tuple[LinkedText, ...] = ()
    """Current articles that build on this one."""
    stage: Stage | None = None
    """None: the caller sees the published text and not its reviews."""
    proposer_id: str | None = None
    suspended: bool = False
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    due_at: datetime | None = None
    history: tuple[HistoryEntry, ...] = ()
    admission: AdmissionView | None = None


class ArticleHead(Model):
    """A current article in a list."""

    article_id: str
    revision: int
    digest: str
    domain_id: str
    kind: ArticleKind
    title: str
    published_at: datetime


class ArticlePage(Model):
    """A page of current articles, in order of ids."""

    articles: tuple[ArticleHead, ...]
    after: str | None = None
    """Where the next page begins; None at the end."""
