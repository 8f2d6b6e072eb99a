"""Domain articles: how a system or a kind of work behaves, and how it is approached (spec sections 1 and 4).

An article is owned by its domain and has one canonical revision. What builds on it names it instead of copying it. It
goes through the same reviews and lifecycle as experience; it comes from no case, so it has no outcome and no proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from contracts.errors import InvalidField
from contracts.experience import Draft, Limits
from contracts.labels import CandidateKind
from contracts.limits import ARTICLE_REFERENCES, ARTICLE_SECTION, ARTICLE_SOURCES
from contracts.model import Model
from contracts.text import ArticleBody, Id, Identifier, Labels, Line, OptionalLine, digest

_REFERENCE = re.compile(r"(article|experience)/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEADING = re.compile(r"#{1,6}\s")


class ArticleKind(StrEnum):
    """What an article holds."""

    MEMORY = "memory"
    """How the domain's systems behave."""
    METHOD = "method"
    """How a kind of work is approached."""
    SKILL = "skill"
    """What an agent is told to do, step by step."""


class SourceKind(StrEnum):
    """What a source is."""

    SYSTEM = "system"
    DOCUMENT = "document"
    REPOSITORY = "repository"


class SourceReference(Model):
    """What an article speaks of, at which version; the source as it is now outranks the article (spec section 1)."""

    kind: SourceKind
    locator: Line
    """Its name or address."""
    version: OptionalLine = ""


def is_reference(text: str) -> bool:
    """Whether a text is `article/<id>` or `experience/<id>` and nothing else."""
    return _REFERENCE.fullmatch(text) is not None


def _check_reference(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, str):
        return value  # pydantic names the wrong type itself
    named = value.strip().lower()
    if not is_reference(named):
        raise InvalidField(
            "This names no article or experience.",
            field=info.field_name or "",
            accepted="article/<id> or experience/<id>, the id a UUID",
        )
    return named


Reference = Annotated[str, BeforeValidator(_check_reference), Field(max_length=60)]
"""`article/<id>` or `experience/<id>`."""


class ArticleDraft(Model):
    """The whole text of an article's revision: what reviewers read and what a digest is taken over."""

    kind: ArticleKind
    title: Line
    domain_id: Identifier
    """Its owner."""
    body: ArticleBody
    limits: Limits = Limits()
    """Where and for which versions it holds (R17)."""
    sources: tuple[SourceReference, ...] = Field(min_length=1, max_length=ARTICLE_SOURCES)
    concepts: Labels = ()
    references: tuple[Reference, ...] = Field(default=(), max_length=ARTICLE_REFERENCES)
    """What it builds on: named, not copied. Each is published when the article is."""

    def digest(self) -> str:
        """Return the hash that a reviewer's decision is bound to (R7), as `contracts.experience.Draft.digest`."""
        return digest(self.model_dump(mode="json", exclude_defaults=True))

    def without_units(self, declined: Iterable[str]) -> ArticleDraft:
        """Return the article itself: it has no units that could be left out.

        Raises:
            InvalidField: Units are declined.
        """
        if tuple(declined):
            raise InvalidField(
                "An article is accepted as a whole.", field="declined_units", accepted="none, or return it"
            )
        return self


AnyDraft = Draft | ArticleDraft
"""The text of a revision, of either kind."""


class ArticleProposal(Model):
    """A first draft; `article_id` is the caller's idempotency key."""

    article_id: Id
    article: ArticleDraft


def draft_of(content: Any) -> AnyDraft:
    """Return the text in a stored revision: an article's has a body, an experience's has units.

    Raises:
        ValidationError, InvalidInput: It is neither.
    """
    if isinstance(content, Mapping) and "body" in content and "units" not in content:
        return ArticleDraft.model_validate(content)
    return Draft.model_validate(content)


def kind_of(draft: AnyDraft) -> CandidateKind:
    """Return which of the two a text is."""
    return CandidateKind.EXPERIENCE if isinstance(draft, Draft) else CandidateKind.ARTICLE


def sections(body: str) -> tuple[str, ...]:
    """Return the body in parts of at most `ARTICLE_SECTION` characters, each found by itself.

    A part ends before a heading or at a blank line where it can; together the parts hold every word, in order.
    """
    parts: list[str] = []
    current = ""
    for block in _blocks(body):
        is_new = _HEADING.match(block) and len(current) >= ARTICLE_SECTION // 2
        joined = f"{current}\n\n{block}" if current else block
        if current and (is_new or len(joined) > ARTICLE_SECTION):
            parts.append(current)
            joined = block
        current = joined
    return (*parts, current) if current else tuple(parts)


def _blocks(body: str) -> Iterable[str]:
    """Yield paragraphs, a heading as one of its own; what is too long is cut at a blank."""
    for paragraph in re.split(r"\n\s*\n|\n(?=#{1,6}\s)", body):
        rest = paragraph.strip()
        while len(rest) > ARTICLE_SECTION:
            cut = max(rest.rfind(" ", 0, ARTICLE_SECTION), rest.rfind("\n", 0, ARTICLE_SECTION))
            cut = cut if cut > 0 else ARTICLE_SECTION
            yield rest[:cut].rstrip()
            rest = rest[cut:].lstrip()
        if rest:
            yield rest
