"""Texts as people are shown them: what can't be seen, or turns a line around, is spelled out."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_KEPT = frozenset("\n\t\u200c\u200d")
"""Line ends and tabs, and the joiners that Persian, Indic scripts and emoji are written with."""


def visible(text: str) -> str:
    """Return `text` with each control, direction and zero-width character spelled out, as in `[U+202E]`.

    Such a character could hide words, or show a line in another order than it is read by programs. Carriage returns
    before a line end are left out.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character
    return f"[U+{ord(character):04X}]"
