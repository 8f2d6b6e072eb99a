"""What may be said of an unexpected failure: its type and where it was raised, never its message.

Messages of databases and validators quote the values they choked on, and those can be case text (R11).
"""

from __future__ import annotations

import traceback


def failure_line(error: BaseException) -> str:
    """Return an unexpected error in a line: its type and where it was raised."""
    fields = failure_fields(error)
    return f"{fields['error']} at {fields['at']}"


def failure_fields(error: BaseException) -> dict[str, str]:
    """Return log fields for an unexpected error."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return {
        "error": type(error).__name__,
        "at": " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames)),
    }
