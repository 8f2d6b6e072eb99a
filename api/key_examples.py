"""Examples of keys and identities in the OpenAPI document."""

from __future__ import annotations

from typing import Any

KEY_ID = "6f1d2f0e-52a8-4a53-9c86-0d5a2b6a7f10"
ISSUER = "https://id.example.org"

KEY: dict[str, Any] = {
    "reading": {
        "summary": "A key that asks and reads, within one tenant",
        "value": {
            "id": KEY_ID,
            "principal_id": "triage-agent",
            "label": "Night shift",
            "abilities": ["read", "retrieve"],
            "tenants": ["north"],
            "expires_at": "2099-09-30T00:00:00Z",
        },
    },
    "whole": {
        "summary": "A key for everything that the principal may do",
        "value": {
            "id": "3c9b4a1e-0d27-4f0c-8a35-5f0a6f6c2b11",
            "principal_id": "triage-agent",
            "label": "Triage service",
            "expires_at": "2099-09-30T00:00:00Z",
        },
    },
}
IDENTITY: dict[str, Any] = {
    "person": {
        "summary": "A person of the organisation's issuer",
        "value": {"issuer": ISSUER, "subject": "00u1a2b3c4", "principal_id": "dana"},
    }
}
