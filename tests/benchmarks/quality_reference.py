"""The simple reference for routing and passages: BM25, cosine, reciprocal ranks, a title hop. No product code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.benchmarks.quality_data import Passage, Question, Ticket
from tests.benchmarks.simple_search import DEPTH, Bm25, Embed, fused

NEIGHBOURS = 15
_FIRST = 10
_HOPS = 5
_SHORT = 3


def routed(tickets: Sequence[Ticket], names: Sequence[str], embed: Embed) -> dict[str, dict[str, float]]:
    """Return for each label the share of scored tickets that each method's fifteen neighbours name rightly."""
    known = [each for each in tickets if not each.is_scored]
    scored = [each for each in tickets if each.is_scored]
    bm25 = Bm25([_doubled(each) for each in known])
    vectors, asked = (
        np.array(embed([_whole(each) for each in known])),
        np.array(embed([_whole(each) for each in scored])),
    )
    right: dict[str, Counter[str]] = {name: Counter() for name in names}
    for ticket, vector in zip(scored, asked, strict=True):
        lists = {"bm25": _ranked(bm25.scores(_doubled(ticket))), "dense": _ranked(vectors @ vector)}
        lists["rrf"] = fused(lists["bm25"], lists["dense"])
        for name in names:
            if name in ticket.labels:
                for method, ranking in lists.items():
                    right[name][method] += _voted(ranking, known, name) == ticket.labels[name]
    return {
        name: {
            method: round(count / sum(name in each.labels for each in scored), 4) for method, count in counts.items()
        }
        for name, counts in right.items()
    }


def all_gold(passages: Sequence[Passage], questions: Sequence[Question], embed: Embed) -> dict[str, float]:
    """Return the share of questions that have all their passages among each method's first ten."""
    texts = [f"{each.title} {each.text}" for each in passages]
    bm25, vectors = Bm25(texts), np.array(embed(texts))
    asked = np.array(embed([each.text for each in questions]))
    counts: Counter[str] = Counter()
    for question, vector in zip(questions, asked, strict=True):
        lists = {"bm25": _ranked(bm25.scores(question.text)), "dense": _ranked(vectors @ vector)}
        rrf = lists["rrf"] = fused(lists["bm25"], lists["dense"])
        lists |= {"rrf + hop": _hopped(rrf, passages, rrf), "bm25 + hop": _hopped(lists["bm25"], passages, rrf)}
        for method, ranking in lists.items():
            counts[method] += set(question.gold) <= {passages[place].id for place in ranking[:_FIRST]}
    return {method: round(count / len(questions), 4) for method, count in counts.items()}


def _hopped(ranking: Sequence[int], passages: Sequence[Passage], order: Sequence[int]) -> list[int]:
    first = list(ranking[:_HOPS])
    said = [f" {passages[place].text.lower()} " for place in first]
    named = [
        place
        for place, each in enumerate(passages)
        if place not in first and len(each.title) > _SHORT and any(each.title.lower() in text for text in said)
    ]
    named.sort(key=lambda place: order.index(place) if place in order else len(passages))
    return [*first, *named[:_HOPS], *(place for place in ranking[_HOPS:] if place not in named)]


def _voted(ranking: Sequence[int], known: Sequence[Ticket], name: str) -> str:
    votes: dict[str, float] = defaultdict(float)
    for rank, place in enumerate(ranking[:NEIGHBOURS]):
        votes[known[place].labels.get(name, "")] += 1 / (rank + 3)
    return max(votes, key=lambda label: votes[label])


def _ranked(scores: Any) -> list[int]:
    return [int(each) for each in np.argsort(-scores)[:DEPTH]]


def _doubled(ticket: Ticket) -> str:
    return f"{ticket.title} {ticket.title} {ticket.body}"


def _whole(ticket: Ticket) -> str:
    return f"{ticket.title}. {ticket.body}" if ticket.title else ticket.body
