"""Query parameters as forms send them: what is left open comes as an empty text."""

from __future__ import annotations

from pydantic import BeforeValidator

OPEN = BeforeValidator(lambda value: None if value == "" else value)
"""An empty text counts as not sent."""
