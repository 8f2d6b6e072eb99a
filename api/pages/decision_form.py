"""The form of a review decision: what it sends, as a decision; and what it shows again after a refusal (R7)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from api.pages.forms import Posted, record_of
from contracts.errors import InvalidField
from contracts.lifecycle import VERDICTS
from contracts.review import ReviewDecision


@dataclass(frozen=True)
class DecisionForm:
    """What is in the fields of the form."""

    decision_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    """Made with the form: the same form sent twice is one decision."""
    verdict: str = ""
    comment: str = ""
    comments: dict[str, str] = field(default_factory=dict[str, str])
    """By path of a field."""
    dismissals: dict[str, str] = field(default_factory=dict[str, str])
    """Reasons by id of a finding."""
    declined: tuple[str, ...] = ()
    acknowledged: str = ""

    @property
    def is_typed(self) -> bool:
        """Whether anything was written."""
        return bool(self.comment.strip() or self.comments or self.dismissals)


def decision_form(posted: Posted, *, decision_id: str | None = None) -> DecisionForm:
    """Return what was in the fields of a posted form, under a new id unless one is given."""
    return DecisionForm(
        decision_id=decision_id or str(uuid.uuid4()),
        verdict=posted.line("verdict"),
        comment=posted.text("comment"),
        comments=posted.under("comment:"),
        dismissals=posted.under("dismiss:"),
        declined=posted.all("decline"),
        acknowledged=posted.line("acknowledged_scope"),
    )


def decision_of(experience_id: str, posted: Posted) -> ReviewDecision:
    """Return the decision that a form sends.

    Raises:
        InvalidInput: A field is at fault.
    """
    form = decision_form(posted)
    if form.verdict not in VERDICTS:
        raise InvalidField("No decision is chosen.", field="verdict", accepted="accept, return or reject")
    is_accept = form.verdict == "accept"
    return record_of(
        ReviewDecision,
        {
            "decision_id": posted.line("decision_id"),
            "experience_id": experience_id,
            "stage": posted.line("stage"),
            "digest": posted.line("digest"),
            "verdict": form.verdict,
            "comment": form.comment,
            "comments": [{"field": path, "text": text} for path, text in form.comments.items()],
            # Boxes that belong to an acceptance may have been ticked before its reader decided otherwise.
            "declined_units": form.declined if is_accept else (),
            "dismissed": [{"finding_id": id_, "reason": reason} for id_, reason in form.dismissals.items()],
            "acknowledged_scope": form.acknowledged if is_accept else "",
        },
    )
