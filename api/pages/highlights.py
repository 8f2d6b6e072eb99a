"""Findings of admission in their places: a text cut into the pieces that have them and those that don't (R6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from contracts.admission import Severity
from contracts.review_sheet import ListedFinding

_ORDER = tuple(Severity)


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A run of a text with what was found in it."""

    text: str
    found: tuple[ListedFinding, ...] = ()

    @property
    def severity(self) -> str:
        """The most urgent of what was found and still holds an acceptance up; `settled` when nothing does."""
        still_open = [each.finding.severity for each in self.found if each.is_open]
        if still_open:
            return min(still_open, key=_ORDER.index)
        return "settled" if any(each.dismissal for each in self.found) else Severity.NOTICE

    @property
    def message(self) -> str:
        """What is the matter, for a tooltip."""
        return " ".join(dict.fromkeys(each.finding.message for each in self.found))


def pieces(text: str, findings: Iterable[ListedFinding]) -> tuple[TextPiece, ...]:
    """Return the text in pieces, each with every finding that covers it; joined they are the text.

    A finding of the field as a whole, with no place of its own, covers nothing here.
    """
    placed = [each for each in findings if each.finding.start < min(each.finding.end, len(text))]
    cuts = sorted({0, len(text), *(min(end, len(text)) for each in placed for end in _ends(each))})
    cut = [
        TextPiece(
            text[start:end],
            tuple(each for each in placed if each.finding.start <= start and end <= each.finding.end),
        )
        for start, end in pairwise(cuts)
    ]
    return tuple(cut) or (TextPiece(text),)


def _ends(listed: ListedFinding) -> tuple[int, int]:
    return listed.finding.start, listed.finding.end


def of_field(findings: Sequence[ListedFinding], path: str) -> list[ListedFinding]:
    """Return what was found in one field."""
    return [each for each in findings if each.finding.field == path]


def within(findings: Sequence[ListedFinding], path: str) -> list[ListedFinding]:
    """Return what was found in a field and in those that it holds."""
    return [
        each
        for each in findings
        if each.finding.field == path or each.finding.field.startswith((f"{path}.", f"{path}["))
    ]
