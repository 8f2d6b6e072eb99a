"""The simple reference: textbook BM25, cosine over the whole vectors, and their reciprocal ranks. No product code."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.benchmarks.duplicate_reports import Pair, Report

Embed = Callable[[Sequence[str]], list[list[float]]]
DEPTH = 100
_WORD = re.compile(r"[a-z0-9]+")


class Bm25:
    """BM25 with k1 1.2 and b 0.75."""

    def __init__(self, texts: Sequence[str]) -> None:
        terms = [Counter(_WORD.findall(each.lower())) for each in texts]
        size = np.array([sum(each.values()) for each in terms])
        self._norm = 1.2 * (0.25 + 0.75 * size / size.mean())
        places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, each in enumerate(terms):
            for word, count in each.items():
                places[word].append((place, count))
        self._places = {word: np.array(found).T for word, found in places.items()}

    def scores(self, query: str) -> Any:
        """Return a score for each text."""
        found = np.zeros(len(self._norm))
        for word in sorted(self._places.keys() & _WORD.findall(query.lower())):
            places, counts = self._places[word]
            rarity = math.log(1 + (len(found) - len(places) + 0.5) / (len(places) + 0.5))
            found[places] += rarity * counts * 2.2 / (counts + self._norm[places])
        return found


@dataclass
class SimpleSearch:
    """All reports of a project, ranked by each simple method."""

    reports: Sequence[Report]
    embed: Embed | None

    def __post_init__(self) -> None:
        self._place = {report.id: place for place, report in enumerate(self.reports)}
        self._created = np.array([report.created.timestamp() for report in self.reports])
        self._texts = [f"{each.title} {each.title} {each.body}" for each in self.reports]
        self._bm25 = Bm25(self._texts)
        if self.embed is not None:
            whole = [f"{each.title}. {each.body}" if each.body else each.title for each in self.reports]
            self._whole = np.array(self.embed(whole))
            self._title = np.array(self.embed([each.title for each in self.reports]))

    def found(self, pairs: Sequence[Pair], first: int = 10) -> Counter[str]:
        """Return for how many pairs each method has the earlier report among its first."""
        counts: Counter[str] = Counter()
        for pair in pairs:
            for method, ranking in self._rankings(self._place[pair.later]).items():
                counts[method] += self._place[pair.earlier] in ranking[:first]
        return counts

    def _rankings(self, asked: int) -> dict[str, list[int]]:
        bm25 = self._ranked(asked, self._bm25.scores(self._texts[asked]))
        if self.embed is None:
            return {"bm25": bm25}
        dense = self._ranked(asked, self._whole @ self._whole[asked])
        title = self._ranked(asked, self._title @ self._title[asked])
        return {"bm25": bm25, "dense": dense, "rrf": fused(bm25, dense), "rrf + title": fused(bm25, dense, title)}

    def _ranked(self, asked: int, scores: Any) -> list[int]:
        order = np.argsort(-scores)
        return [int(each) for each in order if self._created[each] < self._created[asked]][:DEPTH]


def fused(*rankings: Sequence[int]) -> list[int]:
    """Return what the rankings hold, fused by reciprocal rank."""
    scores: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, place in enumerate(ranking, start=1):
            scores[place] += 1 / (60 + rank)
    return sorted(scores, key=lambda place: -scores[place])
