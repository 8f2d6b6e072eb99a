"""A vote of nearest neighbours: which label the likest records carry, with the records behind it.

The vote proposes; it decides nothing and goes nowhere by itself (R15, R20).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from contracts.index import Hit


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What one route found, best first, and what its voice counts for."""

    hits: Sequence[Hit]
    weight: float = 1.0
    sharpness: float = 4.0
    """How fast a voice fades with distance; 0 counts heads. Scores of words fall faster than cosines: less will do."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A label with its share of the vote and the records that carry it."""

    label: str
    share: float
    """Of the whole vote, 0 to 1."""
    targets: tuple[str, ...]
    """The records behind it, the weightiest first."""


def vote(lists: Sequence[Neighbours], labels: Mapping[str, str], *, nearest: int) -> list[Proposal]:
    """Return the labels of the nearest records, by descending share, then by label.

    In each list a record counts for its score beside the best one's, raised to the list's sharpness, and a list's
    voices add up to its weight: lists whose scores mean different things are heard alike. A record without a label
    says nothing.

    Args:
        lists: What each route found.
        labels: Label of each target that has one.
        nearest: Records of each list that are heard.
    """
    voices: dict[str, list[float]] = {}
    for each in lists:
        heard = [(hit.target, _nearness(hit, each.hits[0]) ** each.sharpness) for hit in each.hits[:nearest]]
        whole = fsum(voice for _, voice in heard)
        for target, voice in heard:
            part = each.weight * voice / whole if whole > 0 else 0.0
            if part > 0 and target in labels:  # a voice that faded to nothing is none
                voices.setdefault(target, []).append(part)
    total = fsum(part for parts in voices.values() for part in parts)
    by_label: dict[str, list[tuple[float, str]]] = {}
    for target, parts in voices.items():
        by_label.setdefault(labels[target], []).append((fsum(parts), target))
    proposals = [
        Proposal(
            label,
            fsum(voice for voice, _ in behind) / total if total > 0 else 0.0,
            tuple(target for _, target in sorted(behind, key=lambda each: (-each[0], each[1]))),
        )
        for label, behind in by_label.items()
    ]
    return sorted(proposals, key=lambda proposal: (-proposal.share, proposal.label))


def _nearness(hit: Hit, best: Hit) -> float:
    return max(hit.score, 0.0) / best.score if best.score > 0 else 0.0
