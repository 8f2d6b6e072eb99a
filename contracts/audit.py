"""The audit chain: who did what to which digest, each row bound to all before it.

A row's hash is the SHA-256 over every field and the hash of the row before it. Each value is written with its
length, so that no two rows have one encoding. The database computes the hash when it appends (`audit_append`);
`check_link` computes it again, so whoever keeps a head elsewhere can tell whether anything up to it was altered,
removed, inserted or moved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime

from pydantic import Field

from contracts.index import instant
from contracts.model import Model

FORMAT = "caselore.audit.1"
"""The first value of every encoding; another way to encode gets another name."""
GENESIS = "0" * 64
"""What stands in the place of a hash before the first row."""
ERASED = "erased"
"""The action of a row that says that texts of its subject were erased: their digests can't be computed any more."""


class AuditRow(Model):
    """One row of the chain: ids, digests and labels only, never a text of a case (R11)."""

    seq: int
    at: datetime
    """When its transaction committed; only later rows follow."""
    actor_id: str | None = None
    """Who did it; None for what the system did by itself."""
    action: str
    subject: str
    """What it was done to: `experience/<id>`, `case/<id>`, `grant/<id>`, `principal/<id>`."""
    revision: int | None = None
    digest: str = ""
    """Of the text that it was about."""
    cause_id: str | None = None
    """The decision, command or link that caused it."""
    details: Mapping[str, str] = Field(default_factory=dict[str, str])
    previous: str
    hash: str


class AuditHead(Model):
    """The newest row of the chain; kept elsewhere, it shows later that nothing up to it was changed."""

    seq: int = 0
    hash: str = GENESIS


class AuditBreak(Model):
    """The first thing that doesn't hold."""

    seq: int | None = None
    """The row of the chain, when it is one."""
    subject: str
    """What the row, or the record without a good row, is about."""
    reason: str


class AuditVerification(Model):
    """What the verification of chain and record found."""

    rows: int
    """Rows of the chain that hold."""
    transitions: int = 0
    decisions: int = 0
    revisions: int = 0
    erased: int = 0
    """Revisions whose text was erased, so that only their digest is left."""
    head: AuditHead
    """To keep elsewhere and to be expected next time."""
    broken: AuditBreak | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing was found broken."""
        return self.broken is None


def encoding(row: AuditRow) -> bytes:
    """Return the bytes that a row's hash is taken over; no other row has the same."""
    values: list[str | None] = [
        FORMAT,
        str(row.seq),
        str(instant(row.at)),
        row.actor_id,
        row.action,
        row.subject,
        None if row.revision is None else str(row.revision),
        row.digest,
        row.cause_id,
        str(len(row.details)),
    ]
    for name in sorted(row.details, key=str.encode):
        values += [name, row.details[name]]
    values.append(row.previous)
    return b"".join(_value(each) for each in values)


def row_hash(row: AuditRow) -> str:
    """Return the hash that the row must carry."""
    return hashlib.sha256(encoding(row)).hexdigest()


def check_link(before: AuditHead, row: AuditRow) -> str:
    """Return why `row` is not the one that was appended after `before`; "" when it is."""
    if row.seq != before.seq + 1:
        return f"row {before.seq + 1} is missing" if row.seq > before.seq else "its number is below the row before it"
    if row.previous != before.hash:
        return "it does not follow the row before it"
    if row.hash != row_hash(row):
        return "its content is not what was appended"
    return ""


def _value(value: str | None) -> bytes:
    if value is None:
        return b"-"
    content = value.encode()
    return b"%d:%b" % (len(content), content)
