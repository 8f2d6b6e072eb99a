"""An experience or an article as the pages take it: one shape for both, as far as the reader may see it."""

from __future__ import annotations

from dataclasses import dataclass

from api.services import ApiServices
from contracts.article_views import ArticleRevisionView, ArticleView
from contracts.articles import AnyDraft, ArticleDraft
from contracts.errors import UnknownArticle, UnknownExperience
from contracts.labels import CandidateKind
from contracts.lifecycle import Stage
from contracts.review_sheet import HistoryEntry
from contracts.views import ExperienceView, RevisionView


@dataclass(frozen=True, slots=True)
class SubjectText:
    """One revision's text."""

    revision: int
    digest: str
    text: AnyDraft


@dataclass(frozen=True, slots=True)
class Subject:
    """What a change is made to."""

    id: str
    kind: CandidateKind
    domain_id: str
    stage: Stage
    newest: SubjectText
    current: SubjectText | None
    suspended: bool
    case_id: str | None
    """That it comes from; None for an article."""
    history: tuple[HistoryEntry, ...]

    @property
    def path(self) -> str:
        """Of its page."""
        return f"/{'articles' if self.kind is CandidateKind.ARTICLE else 'experiences'}/{self.id}"

    @property
    def is_article(self) -> bool:
        """Whether it is an article."""
        return self.kind is CandidateKind.ARTICLE


async def find_subject(services: ApiServices, reader: str, experience_id: str) -> Subject:
    """Return an experience or article whose lifecycle the reader may see.

    Raises:
        UnknownExperience: There is none of either.
    """
    try:
        return subject_of(await services.experiences.view(reader, experience_id))
    except UnknownExperience:
        pass
    try:
        return subject_of(await services.articles.view(reader, experience_id))
    except UnknownArticle:
        raise UnknownExperience("There is no such experience or article in your scope.", field="id") from None


def subject_of(view: ExperienceView | ArticleView) -> Subject:
    """Return what the pages take of a view.

    Raises:
        UnknownExperience: Of an article only the published text may be seen.
    """
    if view.stage is None:
        raise UnknownExperience("Its reviews are for the people of its domain.", field="id")
    revisions = [_text(revision) for revision in view.revisions]
    current = next((each for each in revisions if each.revision == view.current_revision), None)
    is_article = isinstance(view, ArticleView)
    return Subject(
        id=view.article_id if isinstance(view, ArticleView) else view.experience_id,
        kind=CandidateKind.ARTICLE if is_article else CandidateKind.EXPERIENCE,
        domain_id=view.domain_id,
        stage=view.stage,
        newest=revisions[-1],
        current=current,
        suspended=view.suspended,
        case_id=None if isinstance(view, ArticleView) else view.case_id,
        history=view.history,
    )


def _text(view: RevisionView | ArticleRevisionView) -> SubjectText:
    text: AnyDraft = view.draft if isinstance(view, RevisionView) else view.article
    return SubjectText(view.number, view.digest, text)


def article_of(subject: SubjectText) -> ArticleDraft:
    """Return the text of an article."""
    if not isinstance(subject.text, ArticleDraft):
        raise TypeError("the text is an experience's")
    return subject.text
