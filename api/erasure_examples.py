"""Examples of erasure for the OpenAPI document."""

from __future__ import annotations

from typing import Any

_SUBJECT = {"tenant_id": "north", "subject": ["Anna Example", "anna@example.org", "+49 30 1234567"]}
_CASE = {"tenant_id": "north", "case_id": "0d5bb3a4-5e0c-4e0e-9a45-6a2f3f0f8a11"}
_ORDER = {"erasure_id": "f3a0a1f6-8f5e-4c1e-9a54-0c2a7f0f5b10", "reason": "Request 2026-114"}

TARGET: dict[str, Any] = {
    "subject": {"summary": "A person, by every way in which they are named", "value": _SUBJECT},
    "case": {"summary": "A case", "value": _CASE},
}
ERASURE: dict[str, Any] = {
    "subject": {"summary": "A person", "value": {**_SUBJECT, **_ORDER}},
    "case": {
        "summary": "A case, but for its published experience",
        "value": {**_CASE, **_ORDER, "keep_published": True},
    },
}
