"""Ids that derive from what is said, so that a call that is sent again is the same act (R24)."""

from __future__ import annotations

import uuid

from contracts.text import digest


def made_id(*content: object) -> str:
    """Return the same id for the same content."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "caselore:" + digest(list(content))))
