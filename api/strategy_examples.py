"""Examples of adopting a strategy version, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi.openapi.models import Example

from contracts.strategies import DATA_INVESTIGATION, DATA_INVESTIGATION_2

ADOPTION_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a20"
ADOPTION_DECISION_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a21"
_PROPOSED: dict[str, Any] = {
    "id": ADOPTION_ID,
    "profile_id": "data-investigator",
    "pin": {"strategy_id": DATA_INVESTIGATION_2.id, "version": DATA_INVESTIGATION_2.version},
    "digest": DATA_INVESTIGATION_2.digest(),
    "expected": {"strategy_id": DATA_INVESTIGATION.id, "version": DATA_INVESTIGATION.version},
    "reason": "It follows what the first hits name, and keeps failed repairs apart.",
}
ADOPTION = {"example": Example(summary="Start from the second version", value=_PROPOSED)}
ADOPTION_DECISION = {
    "example": Example(
        summary="Adopt it",
        value={
            "decision_id": ADOPTION_DECISION_ID,
            "verdict": "adopt",
            "digest": DATA_INVESTIGATION_2.digest(),
            "reason": "Tried on last month's cases.",
        },
    )
}
