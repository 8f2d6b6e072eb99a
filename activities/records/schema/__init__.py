"""The tables, by subject. `metadata` holds them all; migrations must lead to exactly it (tested)."""

from activities.records.schema import (
    admission,
    audit,
    broadening,
    delegations,
    erasure,
    experience,
    knowledge,
    outbox,
    placeholders,
    registry,
    retrieval,
    sign_in,
)
from activities.records.schema.base import metadata

__all__ = [
    "admission",
    "audit",
    "broadening",
    "delegations",
    "erasure",
    "experience",
    "knowledge",
    "metadata",
    "outbox",
    "placeholders",
    "registry",
    "retrieval",
    "sign_in",
]
