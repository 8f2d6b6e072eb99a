"""The token budget: shared fairly between candidates, each cut where a sentence or a word ends (R13)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from activities.retrieval.extracts import Words

CHARACTERS_PER_TOKEN = 4
"""An approximation; a budget is a bound on size, not a count of any one model's tokens."""
LEAST_EXTRACT = 80
"""Characters that each listed candidate gets at least; every outcome label fits."""

_LEFT_OUT = "[...] "
"""Before an extract that begins where the text was found."""

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
    words_end = max(window.rfind(" "), window.rfind("\n"))
    return window[: words_end if words_end > 0 else limit].rstrip()


def _within(extract: Words, share: int) -> tuple[str, bool]:
    if len(extract) <= share:
        return extract.whole(), True
    left = max(0, share - len(extract.label) - 1)
    text = cut(extract.text, left)
    if extract.best:
        text = _LEFT_OUT + cut(extract.text[extract.best :], max(0, left - len(_LEFT_OUT)))
    return Words(extract.label, text).whole(), False
