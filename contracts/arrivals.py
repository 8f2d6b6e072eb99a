"""Rules of intake: what is cleaned in a delivery, which delivery a case goes by, and which revisions are missing.

All of it is a pure function of what was delivered, so that every way in answers alike (R1, R22).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import pairwise

from pydantic import Field, JsonValue

from contracts import limits
from contracts.cases import Disposition, Origin
from contracts.errors import InvalidField, TextTooLong
from contracts.keys import identity, label_key
from contracts.labels import CaseState
from contracts.model import Model

REPLACEMENT = "\ufffd"
"""Stands where a character was that no database can hold."""
INDEXED_BODY = 100_000
"""Characters of a case's text that full text and vectors see; what is over is counted on the case."""
ATTRIBUTE_DEPTH = 30
ATTRIBUTES = 1_000_000
"""Characters of a delivery's attributes as JSON."""
GAPS_LISTED = 1_000
IDENTITY_FIELDS = frozenset({"origin", "delivery_id"})
"""Never rewritten: two ids could become one. An unstorable character there is refused by name (R1)."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NUL = "\x00"
_FINISHED = frozenset(
    {"resolved", "closed", "done", "complete", "completed", "fixed", "solved", "cancelled", "canceled"}
)
_WAITING = re.compile(r"(?:a?waiting|pending|on hold)(?:\s+(?:for|on))?(?:\s+|$)")


class Cleaning(Model):
    """A text of a delivery in which characters that can't be stored were replaced."""

    path: str
    """Where, as `attributes.note.0`; a changed key stands under its new spelling."""
    nul: int = 0
    surrogates: int = 0


class Preparation(Model):
    """What intake found out about a delivery beside its content."""

    written: str = ""
    """The newly written part as plain text; "" when that is the body itself."""
    cleaned: tuple[Cleaning, ...] = ()
    raw: str = ""
    """The delivery as it came, as ASCII JSON, when something was cleaned."""


class KeptBody(Model):
    """A delivered body as a case holds it."""

    text: str
    """At most `limits.BODY` characters."""
    bytes: int
    """Of the whole, in UTF-8."""
    sha256: str
    """Of the whole, in UTF-8."""
    is_whole: bool


class SourceState(Model):
    """A source's state word in the registry's terms."""

    state: CaseState
    waiting_on: str = ""


class Standing(Model):
    """What a case goes by at the moment: the delivery whose text and state it shows."""

    source_revision: int
    """Highest revision of the origin that is in the case; -1 when none had one."""
    content_at: datetime
    state: CaseState
    versions: int
    """Contents that are known under the delivered revision."""


class Gaps(Model):
    """Revisions between the lowest and the highest known one that never came."""

    missing: tuple[int, ...] = Field(default=(), max_length=GAPS_LISTED)
    """In order; the first thousand."""
    count: int = 0


def clean(posted: Mapping[str, JsonValue]) -> tuple[dict[str, JsonValue], tuple[Cleaning, ...]]:
    """Return a posted delivery with every unstorable character outside its identity replaced, and what was changed.

    Keys are cleaned like values; one that would then meet another gets further replacement characters, so that no
    entry is lost.

    Raises:
        InvalidField: It is nested too deep, or holds a number that JSON has no form for.
    """
    changes: list[Cleaning] = []
    cleaned: dict[str, JsonValue] = {}
    for key, value in posted.items():
        name = _distinct(_clean_text(key, "", changes), cleaned)
        cleaned[name] = value if name in IDENTITY_FIELDS else _clean(value, name, 1, changes)
    return cleaned, tuple(changes)


def _clean(value: JsonValue, path: str, depth: int, changes: list[Cleaning]) -> JsonValue:
    if depth > ATTRIBUTE_DEPTH:
        raise InvalidField("It is nested too deep.", field=path[:200], accepted=f"at most {ATTRIBUTE_DEPTH} levels")
    if isinstance(value, str):
        return _clean_text(value, path, changes)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidField("The number is out of range.", field=path[:200], accepted="a finite number")
    if isinstance(value, dict):
        found: dict[str, JsonValue] = {}
        for key, item in value.items():
            name = _distinct(_clean_text(key, path, changes), found)
            found[name] = _clean(item, f"{path}.{name}", depth + 1, changes)
        return found
    if isinstance(value, list):
        return [_clean(item, f"{path}.{at}", depth + 1, changes) for at, item in enumerate(value)]
    return value


def _clean_text(text: str, path: str, changes: list[Cleaning]) -> str:
    found = _UNSTORABLE.findall(text)
    if found:
        nul = found.count(_NUL)
        changes.append(Cleaning(path=path[:500], nul=nul, surrogates=len(found) - nul))
        return storable(text)
    return text


def storable(text: str) -> str:
    """Return `text` with every character replaced that no database can hold."""
    return _UNSTORABLE.sub(REPLACEMENT, text)


def _distinct(key: str, taken: Mapping[str, JsonValue]) -> str:
    while key in taken:
        key += REPLACEMENT
    return key


def check_attributes(attributes: Mapping[str, JsonValue]) -> None:
    """Refuse attributes that are too many to keep (R22).

    Raises:
        TextTooLong: Over `ATTRIBUTES` characters of JSON.
    """
    size = len(json.dumps(dict(attributes), ensure_ascii=False))
    if size > ATTRIBUTES:
        raise TextTooLong(
            f"The attributes have {size:,} characters of JSON.",
            field="attributes",
            accepted=f"at most {ATTRIBUTES:,} characters",
        )


def canonical(origin: Origin) -> Origin:
    """Return the origin in the one spelling of its source and external id (see `contracts.keys`).

    Raises:
        TextTooLong: The canonical spelling is over the limit.
    """
    return Origin(tenant_id=origin.tenant_id, source=identity(origin.source), external_id=identity(origin.external_id))


def origin_key(origin: Origin) -> str:
    """Return the SHA-256 (hex) of a canonical origin; its parts can't run together, and its length is bounded."""
    parts = json.dumps([origin.tenant_id, origin.source, origin.external_id])
    return hashlib.sha256(parts.encode()).hexdigest()


def kept_body(body: str) -> KeptBody:
    """Return the part of a body that is kept with its case, and the measure of the whole (R22)."""
    encoded = body.encode()
    return KeptBody(
        text=body[: limits.BODY],
        bytes=len(encoded),
        sha256=hashlib.sha256(encoded).hexdigest(),
        is_whole=len(body) <= limits.BODY,
    )


def case_state_of(word: str) -> SourceState | None:
    """Return what a source's state word means for a case; None for no word.

    A finished word completes, `reopened` reopens, and what begins with waiting, awaiting, pending or on hold waits
    on whom the rest of the word says, or on the word itself. Everything else is open.
    """
    key = label_key(re.sub(r"[_\-/]+", " ", word))
    if not key:
        return None
    if key in _FINISHED:
        return SourceState(state=CaseState.COMPLETED)
    if key == "reopened":
        return SourceState(state=CaseState.REOPENED)
    waiting = _WAITING.match(key)
    if waiting:
        return SourceState(state=CaseState.WAITING, waiting_on=(key[waiting.end() :].strip() or key)[: limits.LINE])
    return SourceState(state=CaseState.OPEN)


def disposition_of(
    standing: Standing, revision: int | None, occurred_at: datetime, state: CaseState | None
) -> tuple[Disposition, bool]:
    """Return what becomes of further content of a known origin, and whether its order had to be assumed (R1).

    The highest revision wins. Without a revision the later `occurred_at` wins; at equal times the one that came
    last, except that an unfinished state doesn't replace a finished one.

    Args:
        standing: What the case goes by.
        revision: The delivery's.
        occurred_at: When it happened at the source.
        state: What its state word means; None without one.
    """
    if revision is None:
        if occurred_at != standing.content_at:
            return (Disposition.ATTACHED if occurred_at > standing.content_at else Disposition.LATE), False
        is_finished = standing.state is CaseState.COMPLETED
        reopens = is_finished and state is not None and state is not CaseState.COMPLETED
        return (Disposition.LATE if reopens else Disposition.ATTACHED), True
    if standing.versions:
        return Disposition.CONFLICT, False
    return (Disposition.ATTACHED if revision > standing.source_revision else Disposition.LATE), False


def gaps(revisions: Iterable[int]) -> Gaps:
    """Return the revisions that are missing between the lowest and the highest of `revisions`."""
    known = sorted(set(revisions))
    missing: list[int] = []
    count = 0
    for low, high in pairwise(known):
        count += high - low - 1
        room = GAPS_LISTED - len(missing)
        missing.extend(range(low + 1, min(high, low + 1 + room)))
    return Gaps(missing=tuple(missing), count=count)


def as_ascii(posted: Mapping[str, JsonValue]) -> str:
    """Return a delivery as JSON in ASCII, which can hold every character of the original as an escape."""
    return json.dumps(dict(posted), ensure_ascii=True, separators=(",", ":"))
