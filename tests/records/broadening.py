"""Broadenings, consultations and feedback, as tests need them."""

from __future__ import annotations

from typing import Any

from contracts.broadening import Broadening
from contracts.consultation import Consultation, ConsultReply
from contracts.feedback import CandidateOutcome, Feedback, Usefulness
from contracts.retrieval import MemoryUse
from tests.records.world import new_id


def broadening(**fields: Any) -> Broadening:
    values: dict[str, Any] = {
        "request_id": new_id(),
        "reason": "Nothing of the domain's own fits.",
        "every_domain": not fields,
    }
    return Broadening(**{**values, **fields})


def consultation(domain: str = "development", **fields: Any) -> Consultation:
    values: dict[str, Any] = {
        "consultation_id": new_id(),
        "domain_id": domain,
        "brief": "Does the print run skip a letter type whose register row is missing?",
        "reason": "The data is right.",
    }
    return Consultation(**{**values, **fields})


def reply(**fields: Any) -> ConsultReply:
    values: dict[str, Any] = {"reply_id": new_id(), "text": "It skips it, and says so in its log."}
    return ConsultReply(**{**values, **fields})


def feedback(use: MemoryUse, usefulness: Usefulness = Usefulness.HELPED, **fields: Any) -> Feedback:
    """Return feedback on everything that a decision cites."""
    values: dict[str, Any] = {
        "feedback_id": new_id(),
        "decision_id": use.decision_id,
        "outcomes": tuple(
            CandidateOutcome(ref=cited.ref, revision=cited.revision, usefulness=usefulness, note="As it says.")
            for cited in use.citations
        ),
    }
    return Feedback(**{**values, **fields})
