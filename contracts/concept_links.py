"""Links between records: the concepts of propositions and the intents of prescriptions that two of them share.

A link is a word of the vocabulary with its kind, `concept: renewal register`, in the one spelling that names are
compared by. Nothing is inferred: two records are linked when reviewers accepted the same words in both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from contracts.experience import Draft
from contracts.identifiers import READ, name_key

SHORTEST = 3
"""Characters of a key: a shorter one is a word of many texts."""
LONGEST = 4
"""Words of a concept that an objective is read for."""
MOST = 300
"""Links that are followed at once, in their order."""

_CONCEPT = "concept"
_INTENT = "intent"
_WORD = re.compile(r"\w+")


def links_of(concepts: Iterable[str], intents: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the links of a record with these concepts and intents, each once."""
    keys = [*((_CONCEPT, concept) for concept in concepts), *((_INTENT, intent) for intent in intents)]
    return tuple(dict.fromkeys(f"{kind}: {key}" for kind, text in keys if len(key := name_key(text)) >= SHORTEST))


def links_of_draft(draft: Draft) -> tuple[str, ...]:
    """Return the links of an experience: of all its units."""
    return links_of(
        (concept for unit in draft.units for concept in unit.concepts), (unit.intent for unit in draft.units)
    )


def links_in(text: str) -> tuple[str, ...]:
    """Return the concepts that `text` may speak of: every run of up to `LONGEST` words, in their order.

    A concept that no record has is found nowhere, so too many cost a little time and never a wrong record.
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text[:READ]).casefold())
    runs = (
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + LONGEST) + 1)
    )
    return tuple(dict.fromkeys(f"{_CONCEPT}: {run}" for run in runs if len(run) >= SHORTEST))


def kind_of_link(link: str) -> str:
    """Return whether a link is a `concept` or an `intent`: what may be kept of it where no text may be (R11)."""
    return link.partition(":")[0]
