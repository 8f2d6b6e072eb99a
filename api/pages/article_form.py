"""The form of an article's text: an article as fields of lines, and fields as an article."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from api.pages.draft_form import LIMITS
from api.pages.forms import Posted, lines_of, record_of
from contracts.articles import ArticleDraft, SourceReference
from contracts.errors import InvalidField

_LINES = ("kind", "title", "domain_id", "body", "concepts", "references", "sources")
_LISTS = frozenset({"products", "systems", "environments"})


@dataclass(frozen=True)
class ArticleForm:
    """An article's fields, by their names; lists have an entry on each line."""

    values: Mapping[str, str]
    is_article: bool = field(default=True, init=False)


def fields_of(article: ArticleDraft) -> ArticleForm:
    """Return an article's fields."""
    values = {name: str(getattr(article, name)) for name in ("kind", "title", "domain_id", "body")}
    values |= {name: "\n".join(getattr(article, name)) for name in ("concepts", "references")}
    values["sources"] = "\n".join(_source_line(source) for source in article.sources)
    for name in LIMITS:
        value = getattr(article.limits, name)
        values[f"limits.{name}"] = "\n".join(value) if isinstance(value, tuple) else value
    return ArticleForm(values)


def fields_in(posted: Posted) -> ArticleForm:
    """Return the fields of a posted form."""
    return ArticleForm({name: posted.text(name) for name in (*_LINES, *(f"limits.{each}" for each in LIMITS))})


def article_in(form: ArticleForm) -> ArticleDraft:
    """Return the article that the fields say.

    Raises:
        InvalidInput: A field is at fault.
    """
    values: dict[str, Any] = {name: form.values[name] for name in ("kind", "title", "domain_id", "body")}
    for name in ("concepts", "references"):
        values[name] = lines_of(form.values[name])
    values["sources"] = tuple(map(_source, lines_of(form.values["sources"])))
    limits = {name: form.values[f"limits.{name}"] for name in LIMITS}
    values["limits"] = {name: lines_of(text) if name in _LISTS else text for name, text in limits.items()}
    return record_of(ArticleDraft, values)


def _source_line(source: SourceReference) -> str:
    return f"{source.kind} | {source.locator}" + (f" | {source.version}" if source.version else "")


def _source(line: str) -> SourceReference:
    kind, *rest = (part.strip() for part in line.split("|"))
    if not 1 <= len(rest) <= 2:
        raise InvalidField(
            "A source is its kind, its name or address, and its version if it has one.",
            field="sources",
            accepted="`system | name | version`, `document | address` or `repository | address | version`",
        )
    return record_of(SourceReference, {"kind": kind, "locator": rest[0], "version": rest[1] if len(rest) > 1 else ""})
