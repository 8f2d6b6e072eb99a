"""Finding every spelling of a value in a text, and writing a placeholder in its place (R11).

A value meets its spellings as `fold` leaves them: NFKD, case folded, invisible characters dropped, blanks of any kind
and number as one. Where a letter of it carries marks, so must the letter of the text; that one may carry more. A value
of mostly digits (a phone number, an account) also meets itself with other blanks, dots, dashes and brackets between its
characters, though not inside a longer number. Each text is looked through as it stands, and as it reads when it is
JSON, HTML or percent-encoded.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from urllib.parse import unquote

from contracts.errors import InvalidField

ERASED = "[erased]"
"""What stands where a text was."""
_SHORT = "[-]"
"""Where the text was shorter than `ERASED`: no field gets longer than it was, and so over its limit."""
LETTERS = 3
"""Letters and digits that a value must have at least."""

_WORDLESS = re.compile(r"[\W_]+")
_SEPARATORS = " -/.()+"
_MOSTLY_DIGITS = 6
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*')
_OURS = re.compile(
    r'"(?:(?:[a-z]+/)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+))"'
)
"""An id, a reference, a digest or a moment, as models write them."""
_ESCAPES: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("\\", re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\[\"\\/bfnrt]"), lambda found: _unescaped(found)),
    ("&", re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"), html.unescape),
    ("%", re.compile(r"(?:%[0-9a-fA-F]{2})+"), unquote),
)


def fold(text: str) -> str:
    """Return a text as values are compared: invisible characters dropped, NFKD, case folded, blanks as one space."""
    return " ".join(_bare(text).split())


def _bare(text: str) -> str:
    """Return the text with invisible characters dropped, NFKD and case folded."""
    seen = text if text.isascii() else "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", seen).casefold())


def check_value(value: str, *, field: str) -> None:
    """Refuse a value that is too short to be anybody's, or a part of the placeholder itself.

    Raises:
        InvalidField: It has fewer than `LETTERS` letters and digits, or is "erased".
    """
    if fold(value) in ERASED:
        raise InvalidField("The value is a part of the placeholder.", field=field, accepted="another value")
    if sum(character.isalnum() for character in fold(value)) < LETTERS:
        raise InvalidField(
            "The value is too short: it would be found everywhere.",
            field=field,
            accepted=f"at least {LETTERS} letters and digits",
        )


@dataclass(frozen=True)
class Eraser:
    """Finds values in texts and writes placeholders in their place.

    Args:
        values: What to find.
    """

    values: Sequence[str] = field(repr=False)

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(_pattern(fold(value))) for value in self.values]

    @cached_property
    def _cores(self) -> list[str]:
        return [_WORDLESS.sub("", fold(value)) for value in self.values]

    def count(self, text: str) -> int:
        """Return in how many places a value is found."""
        return len(self._places(text))

    def erased(self, text: str) -> str:
        """Return the text with a placeholder in place of every value."""
        for begin, end in reversed(self._places(text)):
            text = text[:begin] + (ERASED if end - begin >= len(ERASED) else _SHORT) + text[end:]
        return text

    def count_json(self, document: str, *, free: bool = True) -> int:
        """Return in how many places of a JSON text a value is found.

        Args:
            document: JSON.
            free: Whether keys and numbers are somebody's own as well; false where a model gives both.
        """
        return sum(self.count(text) for text, _ in _json_texts(document, free=free)) if self._may(document) else 0

    def erased_json(self, document: str, *, free: bool = True) -> str:
        """Return a JSON text with every value replaced; what holds none stays as it is, to the last digit.

        Two keys of one object may become the same; the later one then counts.
        """
        if not self._may(document):
            return document
        parts: list[str] = []
        at = 0
        for text, (begin, end) in _json_texts(document, free=free):
            replaced = self.erased(text)
            if replaced != text:
                parts += [document[at:begin], json.dumps(replaced, ensure_ascii=False)]
                at = end
        return "".join([*parts, document[at:]])

    def _may(self, text: str) -> bool:
        """Whether it is worth a closer look: cheap, and never false where a value is."""
        for read in (text, *(pattern.sub(_whole(decode), text) for mark, pattern, decode in _ESCAPES if mark in text)):
            core = _WORDLESS.sub("", unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", read).casefold()))
            if any(each in core for each in self._cores):
                return True
        return False

    def _readings(self, text: str) -> Iterator[_Reading]:
        if self._may(text):
            yield _read((character, 1) for character in text)
            for mark, pattern, decode in _ESCAPES:
                if mark in text and pattern.search(text):
                    yield _read(_units(text, pattern, decode))

    def _places(self, text: str) -> list[tuple[int, int]]:
        """Return where the values are, in order; places that touch or overlap are one."""
        found = sorted(
            place for read in self._readings(text) for pattern in self._patterns for place in _matches(pattern, read)
        )
        merged: list[tuple[int, int]] = []
        for begin, end in found:
            if merged and begin <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((begin, end))
        return merged


@dataclass(frozen=True, slots=True)
class _Reading:
    """A folded text, and for each of its characters the place in the original that it comes from."""

    text: str
    begins: list[int]
    ends: list[int]


def _read(units: Iterator[tuple[str, int]]) -> _Reading:
    """Fold a text letter by letter, each with its marks. A unit is what it reads as, and its length in the original."""
    letters: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for written, begin, end in _with_marks(units):
        for letter in _bare(written):
            if letter.isspace():
                if letters and letters[-1] == " ":
                    ends[-1] = end
                    continue
                letter = " "
            letters.append(letter)
            begins.append(begin)
            ends.append(end)
    return _Reading("".join(letters), begins, ends)


def _with_marks(units: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int, int]]:
    """Return each unit together with the marks and invisible characters after it, and its place in the original."""
    written: list[str] = []
    begin = at = 0
    for unit, length in units:
        if written and not _goes_with_the_last(unit):
            yield "".join(written), begin, at
            written, begin = [], at
        written.append(unit)
        at += length
    if written:
        yield "".join(written), begin, at


def _goes_with_the_last(unit: str) -> bool:
    return not unit.isascii() and unicodedata.combining((_bare(unit) or "\u0300")[0]) > 0


def _units(text: str, pattern: re.Pattern[str], decode: Callable[[str], str]) -> Iterator[tuple[str, int]]:
    at = 0
    for match in pattern.finditer(text):
        yield from ((character, 1) for character in text[at : match.start()])
        yield decode(match.group()), match.end() - match.start()
        at = match.end()
    yield from ((character, 1) for character in text[at:])


def _whole(decode: Callable[[str], str]) -> Callable[[re.Match[str]], str]:
    return lambda match: decode(match.group())


def _unescaped(found: str) -> str:
    try:
        return str(json.loads(f'"{found}"'))
    except ValueError:
        return found


def _matches(pattern: re.Pattern[str], read: _Reading) -> list[tuple[int, int]]:
    return [
        (min(read.begins[match.start() : match.end()]), max(read.ends[match.start() : match.end()]))
        for match in pattern.finditer(read.text)
    ]


def _pattern(folded: str) -> str:
    letters = _letters(folded)
    written = [letter for letter in letters if letter not in _SEPARATORS]
    digits = sum(letter[0].isdigit() for letter in written)
    if digits >= _MOSTLY_DIGITS and digits * 2 > len(written):
        joined = f"[{re.escape(_SEPARATORS)}]*".join(map(_letter_pattern, written))
        return f"(?<![a-z0-9]){joined}(?![a-z0-9])"  # a part of a longer number is another number
    return "".join(map(_letter_pattern, letters))


def _letters(folded: str) -> list[str]:
    """Return each letter with its marks; marks that no letter precedes are one too."""
    letters: list[str] = []
    for character in folded:
        if letters and unicodedata.combining(character):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _letter_pattern(letter: str) -> str:
    """Match the letter with its marks, and others besides: the canonical order may put those in between."""
    base, marks = ("", letter) if unicodedata.combining(letter[0]) else (letter[0], letter[1:])
    if not marks:
        return re.escape(base)
    found = "".join(f"(?:(?!{mark}){_any_mark()})*+{mark}" for mark in marks)
    return f"{re.escape(base) if base else f'(?<!{_any_mark()})'}{found}{_any_mark()}*+"


@cache
def _any_mark() -> str:
    codes = [code for code in range(0x110000) if unicodedata.combining(chr(code))]
    begins = [code for code, before in zip(codes, [-1, *codes], strict=False) if before != code - 1]
    ends = [code for code, after in zip(codes, [*codes[1:], -1], strict=True) if after != code + 1]
    return f"[{''.join(f'{chr(begin)}-{chr(end)}' for begin, end in zip(begins, ends, strict=True))}]"


def _json_texts(document: str, *, free: bool) -> Iterator[tuple[str, tuple[int, int]]]:
    """Return each string and number of a JSON text, decoded, with its place."""
    tokens = [*_JSON_TOKEN.finditer(document), None]
    for token, after in pairwise(tokens):
        assert token is not None  # noqa: S101 - only the last one is
        written = token.group()
        if not written.startswith('"'):
            if free:
                yield written, token.span()
            continue
        between = document[token.end() : after.start() if after else len(document)]
        if free or not (between.lstrip().startswith(":") or _OURS.fullmatch(written)):
            yield json.loads(written), token.span()
