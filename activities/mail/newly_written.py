"""The newly written part of a message, told apart from the quoted one by `quotequail` and `inscriptis`.

A reply under or between the quoted lines counts as written; a quote of fewer than three lines without an
introduction stays where it is, since it may be output of a program. A message that only forwards another one is taken
whole: what it brings is the forwarded text.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Iterator

import quotequail
import structlog
from inscriptis import get_text
from inscriptis.css_profiles import CSS_PROFILES
from inscriptis.model.config import ParserConfig

from contracts import limits
from contracts.arrivals import storable
from contracts.cases import BodyFormat

_log = structlog.get_logger()
_READ = limits.BODY
_LINES = 1_500
"""A text of more lines is a log, not a letter: it is taken whole. Each line costs a quarter of a millisecond."""
_MARKUP = 100_000
"""Characters of HTML in which quotes are looked for."""
_QUOTES = 50
"""Quoted blocks of one message that are looked for; what comes after stays."""
_SECONDS = 0.5
"""After this much time no further quoted block is looked for."""
_LAYOUT = ParserConfig(css=CSS_PROFILES["strict"])
_TAG = re.compile(r"<[^<>]*>")


def newly_written(body: str, body_format: BodyFormat) -> str:
    """Return the newly written part of a body as plain text; "" when that is the body itself.

    Never raises: a message that the libraries can't read is taken whole, an HTML one without its tags.
    """
    body = body[:_READ]
    read = _written_in_html if body_format is BodyFormat.HTML else _written_in_text
    try:
        written = read(body)
    except Exception as error:  # whatever a sender made up: lxml, deep nesting, odd encodings
        _log.info("mail_not_understood", error=type(error).__name__, characters=len(body))
        written = _without_tags(body) if body_format is BodyFormat.HTML else body
    written = storable(written)[:_READ]
    return "" if written.strip() == body.strip() else written


def _written_in_text(body: str) -> str:
    if body.count("\n") > _LINES:
        return body
    parts = list(_parts(body.replace("\r\n", "\n"), quotequail.unwrap, ""))
    return _joined(parts) or body


def _written_in_html(body: str) -> str:
    if not body.strip():
        return ""
    if len(body) > _MARKUP or body.count("<") > 2 * _LINES:
        return _as_text(body)
    parts = [_as_text(part) for part in _parts(body, quotequail.unwrap_html, "html_")]
    return _joined(parts) or _as_text(body)


def _parts(text: str, unwrap: Callable[[str], dict[str, str] | None], prefix: str) -> Iterator[str]:
    """Yield what stands before, between and after the quoted blocks."""
    top, bottom = (f"{prefix}{name}" if prefix else f"text_{name}" for name in ("top", "bottom"))
    until = time.monotonic() + _SECONDS
    for _ in range(_QUOTES):
        found = unwrap(text) if time.monotonic() < until else None
        if found is None:
            break
        yield found.get(top, "")
        text = found.get(bottom, "")
        if not text:
            return
    yield text


def _as_text(markup: str) -> str:
    try:
        return get_text(markup, _LAYOUT).strip() if markup.strip() else ""
    except Exception:  # see newly_written
        return _without_tags(markup)


def _without_tags(markup: str) -> str:
    return html.unescape(_TAG.sub(" ", markup)).strip()


def _joined(parts: list[str]) -> str:
    return "\n\n".join(stripped for part in parts if (stripped := part.strip()))
