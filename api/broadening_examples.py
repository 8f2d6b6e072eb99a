"""Examples of broadening, consulting and feedback for the OpenAPI document."""

from __future__ import annotations

from fastapi.openapi.models import Example

from api.examples import EXPERIENCE_ID, RETRIEVAL_ID, USE_ID

BROADENED_ID = "8f5d3a9e-6b1b-4a3c-9d5e-2f7c1f0b6a10"
CONSULTATION_ID = "8f5d3a9e-6b1b-4a3c-9d5e-2f7c1f0b6a11"
REPLY_ID = "8f5d3a9e-6b1b-4a3c-9d5e-2f7c1f0b6a12"
FEEDBACK_ID = "8f5d3a9e-6b1b-4a3c-9d5e-2f7c1f0b6a13"
LATER_FEEDBACK_ID = "8f5d3a9e-6b1b-4a3c-9d5e-2f7c1f0b6a14"
_REF = f"experience/{EXPERIENCE_ID}"

BROADENING: dict[str, Example] = {
    "domains": Example(
        summary="The domain's own cases don't fit: read every domain, whatever the environment",
        value={
            "request_id": BROADENED_ID,
            "reason": "The register row is there; none of the domain's own experience explains the missing letters.",
            "every_domain": True,
            "dropped": ["environment"],
            "results": 20,
        },
    ),
    "strategy": Example(
        summary="Look for an earlier change of the program",
        value={
            "request_id": BROADENED_ID,
            "reason": "The log shows that the renewal run itself was changed on Friday.",
            "strategy_id": "development",
            "domains": ["development"],
        },
    ),
}
CONSULTATION: dict[str, Example] = {
    "example": Example(
        summary="Ask the people of the print templates",
        value={
            "consultation_id": CONSULTATION_ID,
            "domain_id": "configuration",
            "brief": "Which template setting keeps renewal letters, and no other letter, out of the queue in 7.4?",
            "reason": "The data is right; the cause seems to be in the template.",
        },
    )
}
REPLY: dict[str, Example] = {
    "example": Example(
        summary="An answer that rests on an own retrieval",
        value={
            "reply_id": REPLY_ID,
            "text": "The template's selector has to name the renewal run since 7.4; compare it before changing it.",
            "request_id": RETRIEVAL_ID,
            "citations": [{"ref": _REF, "revision": 1, "why": "The same selector, in the same version."}],
        },
    )
}
FEEDBACK: dict[str, Example] = {
    "example": Example(
        summary="It helped",
        value={
            "feedback_id": FEEDBACK_ID,
            "decision_id": USE_ID,
            "outcomes": [
                {"ref": _REF, "revision": 1, "usefulness": "helped", "note": "The row was missing, as it says."}
            ],
        },
    ),
    "later": Example(
        summary="It turned out otherwise",
        value={
            "feedback_id": LATER_FEEDBACK_ID,
            "decision_id": USE_ID,
            "replaces": FEEDBACK_ID,
            "outcomes": [{"ref": _REF, "revision": 1, "usefulness": "misled", "note": "The row was gone again."}],
        },
    ),
}
