"""The token budget: shared fairly between candidates, each cut where a sentence or a word ends (R13)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from activities.retrieval.extracts import Words

CHARACTERS_PER_TOKEN = 4
"""An approximation; a budget is a bound on size, not a count of any one model's tokens."""
LEAST_EXTRACT = 80
"""Characters that each listed candidate gets at least; every outcome label fits."""

_LEFT_OUT = "[...] "
"""Before an extract that begins where the text was found."""

_JOINER = "\u200d"
"""Between the parts of one sign."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


def room(tokens: int) -> int:
    """Return how many candidates a budget has room for."""
    return tokens * CHARACTERS_PER_TOKEN // LEAST_EXTRACT


def fit(extracts: Sequence[Words], tokens: int) -> list[tuple[str, bool]]:
    """Return each extract within its share of the budget, and whether it is complete.

    Short extracts leave what they don't need to the longer ones. At most `room(tokens)` extracts fit.
    """
    left = tokens * CHARACTERS_PER_TOKEN
    shares: dict[int, int] = {}
    by_length = sorted(range(len(extracts)), key=lambda place: (len(extracts[place]), place))
    for taken, place in enumerate(by_length):
        shares[place] = min(len(extracts[place]), left // (len(extracts) - taken))
        left -= shares[place]
    return [_within(extract, shares[place]) for place, extract in enumerate(extracts)]


def cut(text: str, limit: int) -> str:
    """Return the beginning of `text`, at most `limit` characters, up to the end of a sentence or else a word."""
    if len(text) <= limit:
        return text
    window = text[: limit + 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(window) if limit // 2 <= match.end() <= limit]
    if ends:
        return window[: ends[-1]].rstrip()
    words_end = next((place for place in range(len(window) - 1, 0, -1) if window[place].isspace()), 0) or limit
    while words_end > 1 and _joins(text[words_end - 1 : words_end + 1]):  # a letter keeps its accents
        words_end -= 1
    return window[:words_end].rstrip()


def _joins(pair: str) -> bool:
    """Whether the second of two characters belongs to the first, or the first joins what follows."""
    before, after = pair
    return unicodedata.category(after)[0] == "M" or _JOINER in (before, after)


def _within(extract: Words, share: int) -> tuple[str, bool]:
    if len(extract) <= share:
        return extract.whole(), True
    left = max(0, share - len(extract.label) - 1)
    text = cut(extract.text, left)
    if extract.best:
        text = _LEFT_OUT + cut(extract.text[extract.best :], max(0, left - len(_LEFT_OUT)))
    return Words(extract.label, text).whole(), False
