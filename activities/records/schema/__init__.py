"""The tables, by subject. `metadata` holds them all; migrations must lead to exactly it (tested)."""

from activities.records.schema import experience, knowledge, outbox, registry, retrieval
from activities.records.schema.base import metadata

__all__ = ["experience", "knowledge", "metadata", "outbox", "registry", "retrieval"]
