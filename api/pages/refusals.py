"""Refusals in the words of the pages: what happened, and what its reader can do about it (R22)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from api.pages.words import field_words
from api.problems import title_of
from contracts.errors import (
    CaseloreError,
    Conflict,
    CrossSite,
    IdempotencyConflict,
    InvalidInput,
    LifecycleClosed,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    NotPublished,
    NotReviewer,
    ReviewClaimed,
    SamePerson,
    ScopeNotAcknowledged,
    StaleDigest,
    StaleStage,
    Unavailable,
    UnresolvedFindings,
)

_WAYS_ON: Mapping[type[CaseloreError], str] = {
    UnresolvedFindings: "Return the draft, edit it, or dismiss each finding that is none with a reason, beside it.",
    ScopeNotAcknowledged: "Read where it would hold, as this page shows it now, and tick the box below that says so.",
    ReviewClaimed: "Come back when the claim ends, or ask who holds it to leave it to others.",
    StaleDigest: "Read the text as it stands on this page, and decide on that.",
    StaleStage: "It moved on meanwhile: see its history for who decided what.",
    SamePerson: "Somebody else has to decide: two people review, and neither of them wrote it.",
    NotReviewer: "An administrator can give you the role, or somebody who has it can lend it to you.",
    LifecycleClosed: "Its page says what can still be done with it.",
    NotPublished: "Its page says where it stands.",
    IdempotencyConflict: "Load the page anew: this form was sent before with other content.",
    NotFound: "Check the address. What you may not see looks the same as what isn't there.",
    CrossSite: "Load the page anew, and send its form from there.",
    NotAuthenticated: "Sign in again, in another tab, and load the form anew there.",
    NotPermitted: "An administrator can give you the role or grant that this takes.",
    Conflict: "Load the page anew and look at what changed before you decide again.",
    InvalidInput: "Change it and send it again.",
    Unavailable: "Nothing was lost. Try again in a moment.",
}
"""By class, of which the nearest counts."""
_CITED = re.compile(r"\s*\((?:R\d+(?:, )?)+\)")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ToldRefusal:
    """A refusal as it is shown."""

    title: str
    message: str
    """"" when it says no more than the title."""
    field: str
    accepted: str
    """"" for what no person can make use of."""
    way_on: str


def told(refusal: CaseloreError) -> ToldRefusal:
    """Return a refusal in the words of the pages."""
    title, message = _plain(title_of(type(refusal))), _plain(refusal.message)
    way_on = next((_WAYS_ON[cls] for cls in type(refusal).__mro__ if cls in _WAYS_ON), "Try again in a moment.")
    return ToldRefusal(
        title=title,
        message="" if message == title else message,
        field=field_words(refusal.field) if refusal.field else "",
        accepted="" if _DIGEST.fullmatch(refusal.accepted) else refusal.accepted,
        way_on=way_on,
    )


def _plain(sentence: str) -> str:
    """Return a sentence without the numbers of requirements, and without its full stop twice."""
    return _CITED.sub("", sentence).strip()
