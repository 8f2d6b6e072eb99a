"""Keys under which spellings of one thing meet, and identities that never do.

*Origins* (source, external id): blanks around the id are dropped and Unicode is brought to NFC, nothing else. Case,
inner blanks, leading zeros, punctuation, zero-width joiners and other spellings of a UUID keep ids apart: only the
source knows whether `42` and `042` are one request (R1).

*Labels* (product, system, environment, tags): compared by `label_key`, which folds what people can't see or don't
mean. Stored text is never rewritten to its key.
"""

from __future__ import annotations

import unicodedata

_BLANK_FILLERS = dict.fromkeys(map(ord, "\u115f\u1160\u2800\u3164\uffa0"), " ")
"""Letters and symbols that show as a blank."""


def identity(text: str) -> str:
    """Return an origin's source or external id in its canonical spelling."""
    return unicodedata.normalize("NFC", text).strip()


def spellings(text: str) -> tuple[str, str]:
    """Return the composed and the decomposed spelling of an identity: what was stored before may have either."""
    return identity(text), unicodedata.normalize("NFD", text).strip()


def label_key(text: str) -> str:
    """Return the key of a label: NFKC, case folded, invisible characters dropped, blanks joined into one space.

    Letters of other scripts stay what they are, so a look-alike is another label (see `is_confusable`).
    """
    if text.isascii():  # as most labels are
        return " ".join(text.casefold().split())
    folded = unicodedata.normalize("NFKC", text.translate(_BLANK_FILLERS)).translate(_BLANK_FILLERS).casefold()
    seen = "".join(character for character in folded if unicodedata.category(character) != "Cf")
    return unicodedata.normalize("NFC", " ".join(seen.split()))


def is_confusable(text: str) -> bool:
    """Whether one word of `text` mixes letters of scripts that look alike (Latin, Greek, Cyrillic)."""
    return any(len(_scripts(word)) > 1 for word in text.split())


def _scripts(word: str) -> set[str]:
    names = (unicodedata.name(character, "") for character in word if character.isalpha())
    return {script for name in names if (script := name.partition(" ")[0]) in ("LATIN", "GREEK", "CYRILLIC")}
