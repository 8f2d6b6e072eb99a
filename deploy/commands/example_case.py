"""`caselore propose --example`: a closed case with what it taught, to write over."""

from __future__ import annotations

import json
from typing import Any

EXAMPLE: dict[str, Any] = {
    "record": "case",
    "tenant": "acme",
    "source": "desk",
    "external_id": "1",
    "occurred_at": "2026-01-15T09:00:00Z",
    "subject": "What was asked, in one line",
    "body": "The request as it came.",
    "facts": {"domain_id": "data", "request_type": "question", "product": "Product", "version": "1.0"},
    "papers": [
        {"id": "done", "kind": "execution", "title": "What was done", "text": "The steps that were carried out."},
        {"id": "seen", "kind": "proof", "title": "How it was checked", "text": "What was seen afterwards."},
    ],
    "result": {
        "outcome": "succeeded",
        "proof_level": "verified",
        "summary": "What it ended with.",
        "execution": "done",
        "proof": "seen",
        "effort": {"estimate_hours": 2, "active_hours": 3, "waiting_hours": 5},
    },
    "experience": {
        "title": "What the case taught, in one line",
        "synopsis": {
            "request_type": "question",
            "route": "Who took it",
            "disposition": "What became of it",
            "text": "How to recognise such a request, without technical detail.",
        },
        "units": [
            {
                "id": "cause",
                "kind": "proposition",
                "text": "How things are: the mechanism behind it.",
                "concepts": ["mechanism"],
                "outcome": "succeeded",
                "proof_level": "verified",
            },
            {
                "id": "remedy",
                "kind": "prescription",
                "intent": "What it is meant to achieve",
                "text": "What to do.",
                "use_when": "What has to be true first.",
                "outcome": "succeeded",
                "proof_level": "verified",
            },
        ],
        "limits": {"products": ["Product"], "version_from": "1.0"},
    },
}
"""A whole case to write over; the format's page says what each field means."""


def print_example() -> None:
    """Print a case to write over."""
    print(json.dumps(EXAMPLE, indent=2, ensure_ascii=False))
