"""What published experience resembles a draft or speaks against it: listed with reasons, never resolved.

The rules are deterministic. A near-duplicate is alike in words or meaning; a contradiction says another outcome, or
forbids what the other recommends, about the same concept or intent where both apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from contracts.experience import Draft, KnowledgeUnit, Limits
from contracts.keys import label_key
from contracts.labels import Outcome, UnitKind
from contracts.model import Model
from contracts.validity import is_same_schema, schema_bounds, version_key

ALIKE_MEANING = 0.85
"""Cosine of title and synopsis from which two experiences are listed as near-duplicates."""
ALIKE_WORDS = 0.6
"""Share of common words from which they are."""
_WORD = re.compile(r"\w+")
_OPPOSED = frozenset({Outcome.FAILED, Outcome.REJECTED_ROUTE})


class ResemblanceKind(StrEnum):
    """Why a published experience is listed beside a draft."""

    NEAR_DUPLICATE = "near_duplicate"
    CONTRADICTION = "contradiction"


class Resemblance(Model):
    """A published experience to look at beside a draft; what it means is the reviewer's to say."""

    kind: ResemblanceKind
    ref: str
    """`experience/<id>` or `article/<id>`, as a citation names it."""
    revision: int
    title: str
    domain_id: str
    outcome: Outcome | None
    """None: an article."""
    score: float
    """How alike title and text are, 0 to 1; for the order only."""
    reasons: tuple[str, ...]


def words_of(draft: Draft) -> frozenset[str]:
    """Return the distinct words of title, synopsis and units."""
    texts = (draft.title, draft.synopsis.text, *(unit.text for unit in draft.units))
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def meaning_of(draft: Draft) -> str:
    """Return the text that two experiences are compared by in meaning."""
    return f"{draft.title}. {draft.synopsis.text}"


def common_words(one: Draft, other: Draft) -> float:
    """Return the share of the words of both that are in each of them, 0 to 1."""
    mine, theirs = words_of(one), words_of(other)
    together = mine | theirs
    return len(mine & theirs) / len(together) if together else 0.0


def likeness_reasons(one: Draft, other: Draft, meaning: float | None) -> tuple[str, ...]:
    """Return why two experiences are near-duplicates; () when they aren't.

    Args:
        one: The draft.
        other: What is published.
        meaning: Cosine of their `meaning_of`; None when it could not be told.
    """
    reasons: list[str] = []
    if one.digest() == other.digest():
        reasons.append("the same text")
    elif label_key(one.title) == label_key(other.title):
        reasons.append("the same title")
    if meaning is not None and meaning >= ALIKE_MEANING:
        reasons.append(f"title and synopsis mean nearly the same ({meaning:.2f})")
    shared = common_words(one, other)
    if shared >= ALIKE_WORDS:
        reasons.append(f"{shared:.0%} of the words are in both")
    return tuple(reasons)


def contradictions(one: Draft, other: Draft) -> tuple[str, ...]:
    """Return where two experiences speak against each other, in words that name both units; () when nowhere."""
    if not scopes_overlap(one.limits, other.limits):
        return ()
    return tuple(
        dict.fromkeys(
            reason
            for mine in one.units
            for theirs in other.units
            if scopes_overlap(mine.limits, theirs.limits)
            and scopes_overlap(one.limits, theirs.limits)
            and scopes_overlap(mine.limits, other.limits)
            for reason in _between(mine, theirs)
        )
    )


def _between(mine: KnowledgeUnit, theirs: KnowledgeUnit) -> Iterator[str]:
    pair = f"unit {mine.id} against unit {theirs.id}"
    outcomes = f"{_spoken(mine.outcome)} here, {_spoken(theirs.outcome)} there"
    is_opposed = _opposed(mine.outcome, theirs.outcome)
    if mine.intent.strip() and label_key(mine.intent) == label_key(theirs.intent):
        for recommends, other in ((mine, theirs), (theirs, mine)):
            if recommends.kind is UnitKind.PRESCRIPTION and other.outcome is not Outcome.SUCCEEDED:
                yield f"{pair}: one prescribes what the other saw not succeed, with the same intent ({outcomes})"
                return
        if is_opposed:
            yield f"{pair}: the same intent, {outcomes}"
            return
    if is_opposed:
        shared = sorted({label_key(name) for name in mine.concepts} & {label_key(name) for name in theirs.concepts})
        if shared:
            yield f"{pair}: the same concept ({', '.join(shared)}), {outcomes}"


def _opposed(one: Outcome, other: Outcome) -> bool:
    return (one is Outcome.SUCCEEDED and other in _OPPOSED) or (other is Outcome.SUCCEEDED and one in _OPPOSED)


def _spoken(outcome: Outcome) -> str:
    return outcome.replace("_", " ")


def scopes_overlap(one: Limits, other: Limits) -> bool:
    """Whether there can be a place where both apply; bounds that can't be compared are taken to overlap."""
    return (
        all(
            _labels_overlap(getattr(one, name), getattr(other, name))
            for name in ("products", "systems", "environments")
        )
        and _schemas_overlap(one, other)
        and not _is_below(one.version_to, other.version_from)
        and not _is_below(other.version_to, one.version_from)
    )


def _schemas_overlap(one: Limits, other: Limits) -> bool:
    if one.schema_version.strip() and other.schema_version.strip():
        return is_same_schema(one.schema_version, other.schema_version)
    (my_low, my_high), (their_low, their_high) = schema_bounds(one), schema_bounds(other)
    return not _is_below(my_high, their_low) and not _is_below(their_high, my_low)


def _labels_overlap(one: Iterable[str], other: Iterable[str]) -> bool:
    mine, theirs = {label_key(name) for name in one}, {label_key(name) for name in other}
    return not mine or not theirs or bool(mine & theirs)


def _is_below(highest: str, lowest: str) -> bool:
    high, low = version_key(highest), version_key(lowest)
    return high is not None and low is not None and high < low
