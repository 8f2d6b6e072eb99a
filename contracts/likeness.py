"""When a candidate answers to the objective by its words: the same names, or most of the same words (R15).

Meaning is measured by the embedding model; this rule stands beside it for what a model misses: an error code, an
object's key, the words of another language. It labels, and neither orders nor leaves anything out.
"""

from __future__ import annotations

from dataclasses import dataclass

from contracts.identifiers import READ, NameKind, name_key, names_in

SHARED = 0.6
"""The least share of the objective's words."""
SHORTEST_WORD = 5
"""Letters: most shorter words stand in any text."""
_TELLING = frozenset({NameKind.OBJECT, NameKind.CODE, NameKind.QUOTED})
"""Names that say what a text is about; versions and capitalised words stand in many."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of an objective is looked for in a text."""

    words: frozenset[str]
    names: frozenset[str]
    """Keys of its telling names, a blank at either end."""


def wanted_of(objective: str) -> Wanted:
    """Return what `answers` looks for."""
    words = frozenset(word for word in name_key(objective).split() if len(word) >= SHORTEST_WORD)
    names = {name_key(name.text) for name in names_in(objective) if name.kind in _TELLING}
    return Wanted(words, frozenset(f" {key} " for key in names if key))


def answers(text: str, wanted: Wanted) -> bool:
    """Return whether a text has one of the names, or enough of the words, of an objective.

    Args:
        text: Its first `contracts.identifiers.READ` characters are read.
        wanted: Of the objective.
    """
    said = name_key(text[:READ])
    if wanted.words and len(wanted.words.intersection(said.split())) >= SHARED * len(wanted.words):
        return True
    return any(name in f" {said} " for name in wanted.names)
