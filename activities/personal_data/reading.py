"""A text as the recognisers read it: one spelling of blanks, dashes and digits, with the way back to the original.

Characters that nobody sees (zero-width blanks, soft hyphens) are left out, so that they hide nothing. What has been
masked already, by a placeholder or by a token such as `<email>`, is a wall that no finding reaches across.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from activities.personal_data.letters import Signature, signatures
from contracts.masking import PLACEHOLDER
from contracts.personal_data import Certainty, PersonalData, PersonalDataKind

_WALL = "\ufffc"
_TOKEN = re.compile(r"<[a-z_]{1,20}>")
_UNSEEN = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_BREAKS = frozenset("\u2028\u2029\u0085\v\f\r")

# Numbers and codes that only look like personal data.
_LOOK_ALIKES = re.compile(
    r"""
      (?<![0-9a-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-z])              # UUID
    | (?<![0-9a-z])(?=[0-9]{0,128}[a-f])[0-9a-f]{12,128}(?![0-9a-z])                    # digest
    | (?<!\d)(?:19|20)\d\d[-/.][01]?\d[-/.][0-3]?\d
        (?:[T ,]{1,2}[0-2]?\d:[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?(?!\d)
    | (?<![\d.])[0-3]?\d[-/.][01]?\d[-/.](?:19|20)\d\d(?:,?\ [0-2]?\d:[0-5]\d(?::[0-5]\d)?)?(?![\d-])
    | (?<!\d)[0-2]?\d:[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?\s?(?:[+-]\d\d:?\d\d)?(?!\d)  # time of day
    | (?<![\d.])-?\d{1,3}\.\d{3,12}\s?[,;]\s?-?\d{1,3}\.\d{3,12}(?![\d.])               # coordinates
    """,
    re.VERBOSE | re.IGNORECASE,
)


class _Folding(dict[int, int]):
    """Each character's plain spelling, found out when it is first met."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        plain = code
        if character in _BREAKS:
            plain = ord("\n")
        elif unicodedata.category(character) == "Zs":
            plain = ord(" ")
        elif unicodedata.category(character) == "Pd" or character == "\u2212":
            plain = ord("-")
        elif (digit := unicodedata.decimal(character, None)) is not None:
            plain = ord("0") + int(digit)
        elif 0xFF01 <= code <= 0xFF5E:
            plain = code - 0xFEE0
        self[code] = plain
        return plain


_FOLDING = _Folding({ord("\r"): ord("\n")})


@dataclass(frozen=True)
class Place:
    """A finding in the text as read."""

    start: int
    end: int
    kind: PersonalDataKind
    certainty: Certainty

    @property
    def is_checked(self) -> bool:
        """Whether it rests on a checksum, a numbering plan or a fixed form."""
        return self.certainty is Certainty.CHECKED


class Reading:
    """A text made plain for the recognisers.

    Args:
        original: The text as it is kept.
    """

    def __init__(self, original: str) -> None:
        self._kept_places: list[int] | None = None
        text = original if original.isascii() and "\r" not in original else original.translate(_FOLDING)
        if _UNSEEN.search(text):
            self._kept_places = [place for place, character in enumerate(text) if not _UNSEEN.match(character)]
            text = _UNSEEN.sub("", text)
        text = PLACEHOLDER.sub(lambda found: _WALL * len(found[0]), text)
        self.text = _TOKEN.sub(lambda found: _WALL * len(found[0]), text)

    def found(self, place: Place) -> PersonalData:
        """Return a finding as a place of the original text."""
        start, end = place.start, place.end
        if self._kept_places is not None:
            start, end = self._kept_places[start], self._kept_places[end - 1] + 1
        return PersonalData(kind=place.kind, certainty=place.certainty, start=start, end=end)

    def before(self, place: int, width: int) -> str:
        """Return at most `width` characters that stand before a place in its line."""
        start = max(0, place - width)
        return self.text[max(start, self.text.rfind("\n", start, place) + 1) : place]

    def after(self, place: int, width: int) -> str:
        """Return at most `width` characters that follow a place in its line."""
        return self.text[place : place + width].partition("\n")[0]

    @cached_property
    def _look_alikes(self) -> tuple[list[int], list[int]]:
        found = [match.span() for match in _LOOK_ALIKES.finditer(self.text)]
        return [start for start, _ in found], [end for _, end in found]

    @cached_property
    def folded(self) -> str:
        """The text in small letters, to see whether it holds a word; its places are not the text's."""
        return self.text.lower()

    @cached_property
    def signatures(self) -> list[Signature]:
        """Where letters are signed."""
        return list(signatures(self.text))

    def looks_alike(self, start: int, end: int) -> bool:
        """Return whether a place touches a UUID, digest, date, time or position."""
        starts, ends = self._look_alikes
        return bisect_right(ends, start) < bisect_left(starts, end)


def _rank(place: Place) -> tuple[bool, bool, int, int]:
    is_secret = place.kind is PersonalDataKind.CREDENTIAL
    return (not place.is_checked, not is_secret, place.start - place.end, place.start)


def apart(places: Iterable[Place]) -> Iterator[Place]:
    """Yield the places in order without overlap: what is checked wins, then a credential, the longer, the earlier."""
    taken: list[tuple[int, int]] = []
    chosen: list[Place] = []
    for place in sorted(places, key=_rank):
        at = bisect_left(taken, (place.start, place.end))
        if at < len(taken) and taken[at][0] < place.end:
            continue
        if at and taken[at - 1][1] > place.start:
            continue
        taken.insert(at, (place.start, place.end))
        chosen.append(place)
    yield from sorted(chosen, key=lambda each: each.start)
