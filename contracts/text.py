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

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

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
    """A text that `check_text` takes: most are told by a pattern, without a call from the validator."""

    limit: int
    allow_blank: bool = False

    def __call__(self, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, str):
            return value  # pydantic names the wrong type itself
        return check_text(value, field=info.field_name or "", limit=self.limit, allow_blank=self.allow_blank)

    def __get_pydantic_core_schema__(self, source: type[str], _handler: GetCoreSchemaHandler) -> CoreSchema:
        told = _ANY_TEXT if self.allow_blank else _VISIBLE_AT_ONCE
        return core_schema.union_schema(
            [
                core_schema.str_schema(max_length=self.limit, pattern=told),
                core_schema.with_info_before_validator_function(self, self._plain()),
            ],
            mode="left_to_right",
            custom_error_type="string_type",  # the one error that is left: the check raises its own
            serialization=core_schema.simple_ser_schema("str"),
        )

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self._plain())

    def _plain(self) -> CoreSchema:
        return core_schema.str_schema(max_length=self.limit)


_ANY_TEXT = r"\A[^\x00]*\z"
_VISIBLE_AT_ONCE = r"\A[\p{L}\p{N}][^\x00]*\z"
"""Patterns of the validator's own engine, which meets no unpaired surrogate: such a text is no string to it."""

Identifier = Annotated[str, _TextRule(limits.IDENTIFIER)]
"""A key: tenant, domain, source."""
ExternalId = Annotated[str, _TextRule(limits.EXTERNAL_ID)]
"""A request's id in its source."""
Line = Annotated[str, _TextRule(limits.LINE)]
"""A title or label."""
Paragraph = Annotated[str, _TextRule(limits.PARAGRAPH)]
"""A unit, synopsis or comment."""
OptionalLine = Annotated[str, _TextRule(limits.LINE, True)]
OptionalParagraph = Annotated[str, _TextRule(limits.PARAGRAPH, True)]
Body = Annotated[str, _TextRule(limits.BODY, True)]
"""An arrival's body or a paper's text."""
ArticleBody = Annotated[str, _TextRule(limits.ARTICLE_BODY)]
"""An article's text."""
DeliveredBody = Annotated[str, _TextRule(limits.DELIVERED_BODY, True)]
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
