"""The tables, by subject. `metadata` holds them all; migrations must lead to exactly it (tested)."""

from activities.records.schema import (
    admission,
    audit,
    delegations,
    erasure,
    experience,
    knowledge,
    outbox,
    placeholders,
    registry,
    retrieval,
)
from activities.records.schema.base import metadata

__all__ = [
    "admission",
    "audit",
    "delegations",
    "erasure",
    "experience",
    "knowledge",
    "metadata",
    "outbox",
    "placeholders",
    "registry",
    "retrieval",
]
