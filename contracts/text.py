"""Text rules: what can be stored, and the digest that a reviewer's decision is bound to.

Two spellings of one text have one digest: Unicode NFC, line ends as LF, no blanks at line ends and no
blank lines around the whole. Case and inner spaces are never folded (they can carry meaning in codes).
"""

from __future__ import annotations

import hashlib
import json
import re
import string
import unicodedata
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field, ValidationInfo

from contracts import limits
from contracts.errors import InvalidField, TextTooLong, UnstorableText

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_text(value: str, *, field: str, limit: int, allow_blank: bool = False) -> str:
    """Return `value` unchanged when it can be stored.

    Args:
        value: The text.
        field: Its name in the request, for the refusal.
        limit: Characters at most.
        allow_blank: Whether a text of only blanks is a value.

    Raises:
        UnstorableText: It holds U+0000 or an unpaired surrogate (R22).
        TextTooLong: It is over the limit (R22).
        InvalidField: It is blank where a value is needed.
    """
    if "\x00" in value:
        raise UnstorableText("The text holds a NUL character.", field=field, accepted="text without U+0000")
    if not value.isascii() and _SURROGATE.search(value):
        raise UnstorableText("The text holds an unpaired surrogate.", field=field, accepted="whole Unicode characters")
    if len(value) > limit:
        raise TextTooLong(
            f"The text has {len(value):,} characters.", field=field, accepted=f"at most {limit:,} characters"
        )
    if not allow_blank and not value[:1].isalnum() and not any(_is_visible(character) for character in value):
        raise InvalidField("The text is empty.", field=field, accepted="at least one visible character")
    return value


def _is_visible(character: str) -> bool:
    """Whether somebody would see it: not a space, and no control or format character such as U+200B."""
    return not character.isspace() and unicodedata.category(character) not in ("Cc", "Cf")


def normalise(text: str) -> str:
    """Return the one spelling of `text` that digests are taken over."""
    lines = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def digest(content: Any) -> str:
    """Return the SHA-256 (hex) of JSON-like `content` with every string normalised and keys sorted."""
    canonical = json.dumps(
        _normalised(content), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def _normalised(content: Any) -> Any:
    if isinstance(content, str):
        return normalise(content)
    if isinstance(content, dict):
        return {normalise(str(key)): _normalised(value) for key, value in cast("dict[Any, Any]", content).items()}
    if isinstance(content, (list, tuple)):
        return [_normalised(value) for value in cast("list[Any]", content)]
    return content


@dataclass(frozen=True)
class _TextRule:
    limit: int
    allow_blank: bool = False

    def __call__(self, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, str):
            return value  # pydantic names the wrong type itself
        return check_text(value, field=info.field_name or "", limit=self.limit, allow_blank=self.allow_blank)


Identifier = Annotated[str, Field(max_length=limits.IDENTIFIER), BeforeValidator(_TextRule(limits.IDENTIFIER))]
"""A key: tenant, domain, source."""
ExternalId = Annotated[str, Field(max_length=limits.EXTERNAL_ID), BeforeValidator(_TextRule(limits.EXTERNAL_ID))]
"""A request's id in its source."""
Line = Annotated[str, Field(max_length=limits.LINE), BeforeValidator(_TextRule(limits.LINE))]
"""A title or label."""
Paragraph = Annotated[str, Field(max_length=limits.PARAGRAPH), BeforeValidator(_TextRule(limits.PARAGRAPH))]
"""A unit, synopsis or comment."""
OptionalLine = Annotated[str, Field(max_length=limits.LINE), BeforeValidator(_TextRule(limits.LINE, True))]
OptionalParagraph = Annotated[
    str, Field(max_length=limits.PARAGRAPH), BeforeValidator(_TextRule(limits.PARAGRAPH, True))
]
Body = Annotated[str, Field(max_length=limits.BODY), BeforeValidator(_TextRule(limits.BODY, True))]
"""An arrival's body or a paper's text."""
ArticleBody = Annotated[str, Field(max_length=limits.ARTICLE_BODY), BeforeValidator(_TextRule(limits.ARTICLE_BODY))]
"""An article's text."""
DeliveredBody = Annotated[
    str, Field(max_length=limits.DELIVERED_BODY), BeforeValidator(_TextRule(limits.DELIVERED_BODY, True))
]
"""A body as a source sends it."""
Labels = Annotated[tuple[Line, ...], Field(max_length=limits.LABELS_PER_FIELD)]


def _check_id(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, str):
        return value  # pydantic names the wrong type itself
    digits = value.removeprefix("urn:uuid:").strip("{}").replace("-", "")
    if len(digits) != 32 or not set(digits) <= set(string.hexdigits):  # uuid.UUID itself would take more
        raise InvalidField("The id is not a UUID.", field=info.field_name or "", accepted="a UUID")
    return str(uuid.UUID(digits))


Id = Annotated[str, BeforeValidator(_check_id)]
"""A UUID in its lower-case, hyphenated spelling; other spellings of it are folded to that."""
