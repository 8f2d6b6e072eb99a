"""Ids as callers write them: what is no UUID names nothing, and must not reach a cast."""

from __future__ import annotations

import uuid


def is_id(value: str) -> bool:
    """Return whether `value` can be the id of a record."""
    try:
        uuid.UUID(value)
    except ValueError:
        return False
    return True
