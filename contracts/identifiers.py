"""What a text names: identifiers, versions, object references and titles, by spelling alone and without a model.

A record is found by a key of one of its names; a text gives the keys of everything that it may name. A key that no
record has is found nowhere, so too many cost a little time and never a wrong record.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

SHORTEST_KEY = 4
"""Characters: a shorter key is a word of many texts (`may`, `it`), not a name, unless it has a digit."""
_SHORTEST_CODE = 3
"""Of a key with letters and digits, as in `E42`."""
LONGEST_NAME = 8
"""Words of a name that a text is read for."""
READ = 4_000
"""Characters of a text that are read for names."""
MOST_KEYS = 600
"""Keys of one text at most, in their order."""
MOST_NAMES = 40
"""Names of one text at most, in their order."""

_WORD = re.compile(r"\w+")
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
_MARKED = re.compile(r"\w+(?:[.-]\w+)*")
# Looked for in each word by itself: looking ahead for it from every place takes the square of a long word.
_CODED = re.compile(r"[\d_]|[a-z][A-Z]")
_VERSION = re.compile(r"\bv?\d+(?:\.\d+){1,3}(?:[-.]?(?:rc|beta|alpha|m)\d*)?(?!\.*\w)", re.IGNORECASE)
_OBJECT = re.compile(r"\b[A-Za-z][A-Za-z_]*[:/#][\w-]*\d[\w-]*")
# What begins with a small letter and isn't one word: the runs of words begin elsewhere.
_REFERENCE = re.compile(r"(?<![\w:/#.-])[a-z][a-z_]*(?:[:/#._-][\w-]+)+")
_QUOTED = re.compile(r"\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”|«([^»\n]{2,80})»|``([^'\n]{2,80})''")
_TOKEN = re.compile(r"\w+(?:['\u2019.&-]\w+)*")
_INITIAL = 2
"""Letters of a word at most that a full stop shortens: `St. Louis`, but no sentence's end."""
_LINKS = frozenset(
    ["of", "the", "and", "for", "in", "on", "at", "to", "de", "la", "le", "du", "di", "da", "del", "der", "von", "van"]
)
# A sentence's first word has a capital too.
_OPENER = re.compile(
    "an?|the|this|these|that|those|t?here|then|s?he|it|we|they|hi[sm]|hers?|its|their|you|i|wh(?:o|at|ich|en|ere|y)|how"
    "|if|not?|and|or|but|is|are|was|were|in|on|at|by|as|of|for|from|to|with|after|before|during|since",
    re.IGNORECASE,
)


class NameKind(StrEnum):
    """How a name is told from other words."""

    OBJECT = "object"
    """A kind and a key, such as `policy:4711` or `contract/12-3`."""
    VERSION = "version"
    CODE = "code"
    """A ticket, an error code, a setting, a name from a program."""
    QUOTED = "quoted"
    TITLE = "title"
    """Words with capitals that follow one another."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the text spells it."""

    kind: NameKind
    text: str


def name_key(name: str) -> str:
    """Return the one spelling of a name that two records' names are compared by: its words, in small letters."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", name).casefold()))


def keys_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the keys that a record with these names is found by.

    A title counts without the brackets at its end too: `Decade (album)` is called `Decade`.
    """
    keys = (name_key(each) for name in names for each in (name, _QUALIFIER.sub("", name)))
    return tuple(dict.fromkeys(key for key in keys if _is_key(key)))


def keys_in(text: str) -> tuple[str, ...]:
    """Return the keys of everything that `text` may name: runs of words that begin as a name does, and references.

    A reference or code is its own name whatever it begins with: `policy:4711`, `cfg.max_rows`, `sd-1598`.
    """
    read = unicodedata.normalize("NFKC", text[:READ])
    words = _WORD.findall(read)
    folded = [word.casefold() for word in words]
    references = map(name_key, dict.fromkeys(_REFERENCE.findall(read)))
    keys = {key: None for key in references if _is_key(key)}
    for start, word in enumerate(words):
        if not _begins_name(word):
            continue
        key = ""
        for following in folded[start : start + LONGEST_NAME]:
            key = f"{key} {following}" if key else following
            if len(key) >= SHORTEST_KEY or _is_short_code(key):
                keys[key] = None
        if len(keys) >= MOST_KEYS:
            break
    return tuple(keys)[:MOST_KEYS]


def names_in(text: str) -> tuple[Name, ...]:
    """Return the names in `text`, each once, by kind and then in their order."""
    text = text[:READ]
    found: dict[str, Name] = {}
    for kind, spelled in _spelled(text):
        found.setdefault(name_key(spelled), Name(kind, spelled))
    return tuple(name for key, name in found.items() if key)[:MOST_NAMES]


def new_names(text: str, known: str) -> tuple[Name, ...]:
    """Return the names in `text` with a word that `known` lacks."""
    words = set(name_key(known).split())
    return tuple(name for name in names_in(text) if not set(name_key(name.text).split()) <= words)


def lacking(text: str, known: str) -> str:
    """Return the words of `text` that `known` lacks, in their order."""
    words = set(name_key(known).split())
    return " ".join(word for word in _WORD.findall(text) if name_key(word) not in words)


def _spelled(text: str) -> Iterator[tuple[NameKind, str]]:
    yield from ((NameKind.OBJECT, match.group()) for match in _OBJECT.finditer(text))
    yield from ((NameKind.VERSION, match.group()) for match in _VERSION.finditer(text))
    yield from ((NameKind.CODE, match.group()) for match in _MARKED.finditer(text) if _is_code(match.group()))
    for match in _QUOTED.finditer(text):
        yield NameKind.QUOTED, next(filter(None, match.groups())).strip()
    yield from ((NameKind.TITLE, title) for title in _titles(text))


def _is_key(key: str) -> bool:
    return len(key) >= SHORTEST_KEY or _is_short_code(key)


def _is_short_code(key: str) -> bool:
    return len(key) == _SHORTEST_CODE and not key.isalpha() and any(map(str.isalpha, key))


def _begins_name(word: str) -> bool:
    if word.isalpha() and word.islower():  # as most words are
        return False
    return any(letter.isupper() or letter.isdigit() or letter == "_" for letter in word)


def _is_code(word: str) -> bool:
    return _CODED.search(word) is not None and any(letter.isalpha() for letter in word)


def _titles(text: str) -> Iterator[str]:
    """Give the longest runs of capitalised words; small link words may stand between two of them, not at an end."""
    start = end = -1  # of the run so far
    previous = -1  # where the word before ended
    length = 0  # of that word
    for match in _TOKEN.finditer(text):
        word = match.group()
        between = text[previous : match.start()] if previous >= 0 else ""
        joined = between == " " or (between == ". " and length <= _INITIAL)
        if start >= 0 and not joined:
            yield from _title(text[start:end])
            start = -1
        if word[0].isupper():
            start, end = (match.start() if start < 0 else start), match.end()
        elif start >= 0 and word not in _LINKS:
            yield from _title(text[start:end])
            start = -1
        previous, length = match.end(), len(word)
    if start >= 0:
        yield from _title(text[start:end])


def _title(run: str) -> Iterator[str]:
    if len(run) >= 3 and _OPENER.fullmatch(run) is None:
        yield run
