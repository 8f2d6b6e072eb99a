"""Consultations: another domain is asked, by a scoped brief, and answers from its own knowledge (R18).

The reply is evidence: no grant, no adopted conclusion, and no proof of anything that was done.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from contracts import limits
from contracts.errors import InvalidField
from contracts.model import Model
from contracts.text import Id, Identifier, OptionalParagraph, Paragraph

REPLY_TITLE = "Consult reply: evidence, no grant and no conclusion"
"""The title of the paper that a reply is filed as."""
_LEAST_HANDLE = 4
"""Characters of an identity handle that is looked for in a brief; shorter ones are words and numbers of any text."""


class Consultation(Model):
    """What an agent or person asks another domain. `consultation_id` is the idempotency key.

    The brief is all that the other side is told: neither case nor tenant, nor who asks or why.
    """

    consultation_id: Id
    domain_id: Identifier
    brief: Paragraph
    """Scoped and without personal data: it may be read by people with no grant for the case."""
    reason: Paragraph
    """Why the work needs it; stays with the asker."""


class ConsultationState(StrEnum):
    """How far it is."""

    OPEN = "open"
    REPLIED = "replied"
    WITHDRAWN = "withdrawn"
    """Its asker needs no reply any more, or its case was erased; the other side doesn't see it any longer."""


class ReplyCitation(Model):
    """A candidate of the replier's own answer that the reply rests on."""

    ref: Identifier
    revision: int
    why: OptionalParagraph = ""


class ConsultReply(Model):
    """What the consulted side answers. `reply_id` is the idempotency key; the first reply closes the consultation."""

    reply_id: Id
    text: Paragraph
    request_id: Id | None = None
    """The replier's own retrieval for this consultation; citations are from its answer."""
    citations: tuple[ReplyCitation, ...] = Field(default=(), max_length=limits.CITATIONS)


class ReplyView(Model):
    """A reply as both sides see it."""

    text: str
    citations: tuple[ReplyCitation, ...] = ()
    replied_as: str
    """`owner`, `curator`, or the profile; whoever it is, for the domain."""
    replied_at: datetime
    note: str = REPLY_TITLE


class Asked(Model):
    """What only the asking side sees of a consultation."""

    request_id: str
    case_id: str | None = None
    reason: str
    asked_by: str


class ConsultationView(Model):
    """A consultation as its reader may see it."""

    consultation_id: str
    domain_id: str
    brief: str
    asked_at: datetime
    state: ConsultationState
    reply: ReplyView | None = None
    withdrawn_at: datetime | None = None
    is_consulted: bool = False
    """Whether a domain of the reader's is asked: by a profile or a review role there."""
    asked: Asked | None = None
    """None for the consulted side (R21)."""


def require_scoped(brief: str, handles: Iterable[str]) -> None:
    """Refuse a brief that names whose case it is about (R21).

    Args:
        brief: What the other side would be told.
        handles: Identity handles of the case and its tenant.

    Raises:
        InvalidField: It holds one; says nothing about which, since refusals are logged.
    """
    text = _folded(brief)
    for handle in map(_folded, handles):
        if len(handle.strip()) >= _LEAST_HANDLE and f" {handle.strip()} " in text:
            raise InvalidField(
                "The brief names the case or its tenant.",
                field="brief",
                accepted="a question without ids of requests, objects, cases or tenants",
            )


def _folded(text: str) -> str:
    """Return words alone in one spelling, one space between them and one at either end."""
    spelt = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    words = "".join(character if character.isalnum() else " " for character in spelt).split()
    return f" {' '.join(words)} "
