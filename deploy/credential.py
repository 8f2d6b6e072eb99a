"""The variables that say where a command calls and with whose key; a key is never an argument, which others can see."""

from __future__ import annotations

URL = "CASELORE_URL"
KEY = "CASELORE_API_KEY"
