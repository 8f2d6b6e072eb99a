"""What may be said of an unexpected failure: its type and where it was raised, never its message.

Messages of databases and validators quote the values they choked on, and those can be case text (R11).
"""

from __future__ import annotations

import traceback
from pathlib import Path

_PLACES = 6


def failure_line(error: BaseException) -> str:
    """Return an unexpected error in a line: its type and where it was raised."""
    fields = failure_fields(error)
    return f"{fields['error']} at {fields['at']}"


def failure_fields(error: BaseException) -> dict[str, str]:
    """Return log fields for an unexpected error: its type, and the places that it came through, the innermost first."""
    frames = traceback.extract_tb(error.__traceback__)[-_PLACES:]
    return {
        "error": type(error).__name__,
        "at": " < ".join(f"{frame.name} {Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames)),
    }
