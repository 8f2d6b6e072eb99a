"""The token budget: shared fairly between candidates, each cut where a sentence or a word ends (R13).

It bounds what a candidate says: its extract, and its head, which is its title, the reasons of its validity and its
limits. A head within `HEAD` costs nothing, and ordinary ones are; what is more counts towards the candidate's share,
up to half of it, and beyond that reasons and the note are shortened and say so. Lists of labels stay whole in the
record of an answer, and count for `LABELS` at most: whoever puts them into text shortens them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from activities.retrieval.extracts import Words
from contracts.experience import Limits
from contracts.retrieval import Validity

CHARACTERS_PER_TOKEN = 4
"""An approximation; a budget is a bound on size, not a count of any one model's tokens."""
LEAST_EXTRACT = 80
"""Characters that each listed candidate gets at least; every outcome label fits."""
HEAD = 800
"""Characters of a candidate's title, reasons and limits beside its share."""
LABELS = 200
"""Characters that the limits of a head count for at most, their note apart."""

_REASON = 300
"""Characters of one reason, where not all have room."""
_MORE = " [...]"
"""After what is shortened in a head."""
_LEFT_OUT = "[...] "
"""Before an extract that begins where the text was found."""

_JOINER = "\u200d"
"""Between the parts of one sign."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


def room(tokens: int) -> int:
    """Return how many candidates a budget has room for."""
    return tokens * CHARACTERS_PER_TOKEN // LEAST_EXTRACT


def fit(extracts: Sequence[Words], tokens: int, beside: Sequence[int] = ()) -> list[tuple[str, bool]]:
    """Return each extract within its share of the budget, and whether it is complete.

    Short extracts leave what they don't need to the longer ones. At most `room(tokens)` extracts fit.

    Args:
        extracts: What each candidate says.
        tokens: The budget.
        beside: What each candidate's head takes of its share (see `head`); () for nothing.
    """
    left = tokens * CHARACTERS_PER_TOKEN
    heads = beside or (0,) * len(extracts)
    wanted = [len(extract) + taken for extract, taken in zip(extracts, heads, strict=True)]
    shares: dict[int, int] = {}
    by_length = sorted(range(len(extracts)), key=lambda place: (wanted[place], place))
    for taken, place in enumerate(by_length):
        shares[place] = min(wanted[place], left // (len(extracts) - taken))
        left -= shares[place]
    return [_within(extract, shares[place] - heads[place]) for place, extract in enumerate(extracts)]


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before a candidate's extract, as it is shown."""

    validity: Validity
    limits: Limits
    beside: int
    """Characters that it takes of the candidate's share."""


def head(title: str, validity: Validity, limits: Limits, *, tokens: int, places: int) -> Head:
    """Return a candidate's head within its room; by its own words alone, so that it is the same beside any others.

    Args:
        title: Of the candidate.
        validity: With every reason.
        limits: With the whole note.
        tokens: The budget.
        places: Candidates that the answer lists at most.
    """
    share = tokens * CHARACTERS_PER_TOKEN // max(1, places)
    most = HEAD + max(0, min(share // 2, share - LEAST_EXTRACT))
    fixed = len(title) + min(LABELS, _characters(limits))
    wanted = fixed + sum(map(len, validity.reasons)) + len(limits.note)
    if wanted <= most:
        return Head(validity, limits, max(0, wanted - HEAD))
    left = max(_REASON, most - fixed)
    reasons = _capped(validity.reasons, left - min(len(limits.note), left // 4))
    note = _shortened(limits.note, left - sum(map(len, reasons)))
    return Head(validity.model_copy(update={"reasons": reasons}), limits.model_copy(update={"note": note}), most - HEAD)


def _characters(limits: Limits) -> int:
    values = limits.model_dump(exclude={"note"}).values()
    return sum(len(value) if isinstance(value, str) else sum(map(len, value)) for value in values)


def _capped(reasons: tuple[str, ...], most: int) -> tuple[str, ...]:
    """Return reasons of at most `most` characters, the first ones first, and how many were left out."""
    if sum(map(len, reasons)) <= most:
        return reasons
    short = [_shortened(reason, _REASON) for reason in reasons]  # one long list doesn't push out the others
    if sum(map(len, short)) <= most:
        return tuple(short)
    left, kept = most - len(more_reasons(len(reasons))), list[str]()
    for reason in short:
        if len(reason) > left:
            break
        kept.append(reason)
        left -= len(reason)
    kept = kept or [_shortened(short[0], left)]
    return (*kept, more_reasons(len(reasons) - len(kept))) if len(kept) < len(reasons) else tuple(kept)


def more_reasons(number: int) -> str:
    """Return how many reasons aren't shown, in words."""
    return f"and {number} more reason{'' if number == 1 else 's'}"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else cut(text, max(0, most - len(_MORE))) + _MORE


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
