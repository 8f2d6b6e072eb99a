"""Several gold passages to a question: are all of them among the first ten that the product's routes give?

Passages become articles of a domain, by the product's projection, in the product's index; a question becomes a
retrieval's objective, and `Routes` reads it by a strategy with an identifier hop. No language model takes part.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from activities.index.edge import EdgeIndex
from activities.retrieval.candidates import in_order
from activities.retrieval.routes import Routes
from contracts.articles import ArticleDraft, ArticleKind, SourceKind, SourceReference
from contracts.candidates import CandidateRecord, RetrievalTask
from contracts.identity import Profile
from contracts.index import Scope
from contracts.labels import CandidateKind, Collection
from contracts.outbox import Watermark
from contracts.projection import article_source
from contracts.retrieval import RetrievalRequest
from contracts.strategy import Hop, Route, SourceStep, Strategy
from tests.benchmarks.duplicate_reports import RememberingEmbedder
from tests.benchmarks.quality_data import Passage, Question, fill, id_of

FIRST = 10
SECONDS = 60.0


@dataclass(frozen=True)
class Setting:
    """What is chosen: how much a title's vector counts, and the hop."""

    title: float
    hop: Hop | None

    def strategy(self) -> Strategy:
        """Return the strategy with this setting."""
        article = (CandidateKind.ARTICLE,)
        whole = SourceStep(
            collection=Collection.DETAIL,
            routes=(Route.LEXICAL, Route.DENSE_BODY),
            kinds=article,
            own_domain_only=True,
            hop=self.hop,
        )
        titles = SourceStep(
            collection=Collection.DETAIL,
            routes=(Route.DENSE_TITLE,),
            kinds=article,
            own_domain_only=True,
            weight=self.title or 1.0,
        )
        steps = (whole, titles) if self.title else (whole,)
        return Strategy(id="measured", version=1, title="Measured", guide="Find every passage.", steps=steps)

    def __str__(self) -> str:
        if self.hop is None:
            return f"title {self.title:g}, no hop"
        hop = self.hop
        follow = f"names of {hop.follow} by {hop.follow_weight:g}" if hop.follow else "no follow-up"
        return f"title {self.title:g}, hop from {hop.first} by {hop.weight:g}, {follow}"


def _hops() -> list[Hop | None]:
    follows = [(0, 1.0), *itertools.product((2, 3), (0.3, 0.6, 1.0))]
    hops = itertools.product((1.5, 2.0), follows)
    return [None, *(Hop(weight=weight, follow=follow, follow_weight=by) for weight, (follow, by) in hops)]


SETTINGS = tuple(Setting(title, hop) for title in (0.0, 0.5) for hop in _hops())
SHIPPED = Setting(0.0, Hop())
"""The default of `contracts.strategy.Hop`. It was chosen with both corpora in view, so its counts are no scores."""


def _article(passage: Passage) -> ArticleDraft:
    return ArticleDraft(
        kind=ArticleKind.MEMORY,
        title=passage.title,
        domain_id=passage.source,
        body=passage.text,
        sources=(SourceReference(kind=SourceKind.DOCUMENT, locator=passage.id),),
    )


class Passages:
    """The records of a corpus: current articles, which everybody may see."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._records = {
            f"article/{id_of(each.id)}": CandidateRecord(
                target=f"article/{id_of(each.id)}",
                kind=CandidateKind.ARTICLE,
                revision=1,
                title=each.title,
                owner=each.source,
                state="current",
                draft=None,
                case=None,
                source_case=None,
                source_origin=None,
                published_at=None,
                text=each.text,
            )
            for each in passages
        }

    async def seen(self, task: RetrievalTask, targets: Sequence[str]) -> dict[str, CandidateRecord]:
        """Return what was asked for."""
        del task
        return {target: self._records[target] for target in targets if target in self._records}


class Corpus:
    """A corpus in the index, and its questions."""

    def __init__(self, name: str, questions: Sequence[Question], routes: Routes) -> None:
        self.name = name
        self.questions = questions
        self._routes = routes

    async def first(self, question: Question, setting: Setting) -> list[str]:
        """Return the first passages to a question."""
        strategy = setting.strategy()
        request = RetrievalRequest(
            request_id=id_of(question.id), profile_id="reader", purpose="measurement", objective=question.text
        )
        task = RetrievalTask(
            request=request,
            principal_id="measurement",
            profile=Profile(id="reader", domain_id=self.name, strategy_id=strategy.id, strategy_version=1),
            strategy=strategy,
            scope=Scope(),
            answer=None,
        )
        mark = Watermark(
            collection=Collection.DETAIL, position=0, head=0, pending=0, lag_seconds=0.0, as_of=datetime.now(UTC)
        )
        reads = await self._routes.read(task, [mark])
        assert all(read.state != "failed" for read in reads), [read.why for read in reads]
        return [each.target for each in in_order(reads, strategy.rrf_k)[:FIRST]]

    async def shares(self, setting: Setting) -> list[float]:
        """Return for each question which share of its gold passages is among the first."""
        found: list[float] = []
        for question in self.questions:
            first = await self.first(question, setting)
            gold = [f"article/{id_of(each)}" for each in question.gold]
            found.append(sum(each in first for each in gold) / len(gold))
        return found

    async def milliseconds(self, setting: Setting) -> float:
        """Return the median time of a question; its vector is made beforehand."""
        times: list[float] = []
        for question in self.questions:
            began = time.perf_counter()
            await self.first(question, setting)
            times.append(time.perf_counter() - began)
        return round(median(times) * 1000, 1)


@asynccontextmanager
async def opened(
    name: str, passages: Sequence[Passage], questions: Sequence[Question], embedder: RememberingEmbedder
) -> AsyncGenerator[Corpus]:
    """Index a corpus in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="caselore-") as folder:
        index = EdgeIndex(Path(folder), embedder.model, embedder.dimensions)
        await index.open()
        try:
            sources = [article_source(id_of(each.id), each.source, 1, each.id, _article(each)) for each in passages]
            await fill(index, embedder, sources)
            records: Any = Passages(passages)  # with a current watermark nothing else of the record is read
            yield Corpus(name, questions, Routes(records, index, embedder, SECONDS))
        finally:
            await index.close()


async def measured(corpora: Sequence[Corpus]) -> dict[str, Any]:
    """Return how many questions have all their passages, each corpus with the setting chosen on the others alone."""
    shares = {corpus.name: {setting: await corpus.shares(setting) for setting in SETTINGS} for corpus in corpora}
    plain = SETTINGS[0]
    results: dict[str, Any] = {}
    for corpus in corpora:
        others = [shares[each.name] for each in corpora if each is not corpus]
        chosen = max(SETTINGS, key=lambda setting: _merit(others, setting))  # the first of equals, in their order
        here = shares[corpus.name]
        results[corpus.name] = {
            "questions": len(corpus.questions),
            "all gold passages": complete(here[chosen]),
            "chosen on": [each.name for each in corpora if each is not corpus],
            "chosen": str(chosen),
            "without a hop": complete(here[plain]),
            "shipped setting": str(SHIPPED),
            "all gold passages, shipped setting": complete(here[SHIPPED]),
            "ms a question without a hop": await corpus.milliseconds(plain),
            "ms a question with the shipped setting": await corpus.milliseconds(SHIPPED),
            "every setting": {str(setting): complete(found) for setting, found in here.items()},
        }
    return results


def complete(shares: Sequence[float]) -> int:
    """Return how many questions have all their passages."""
    return sum(share == 1.0 for share in shares)


def _merit(corpora: Sequence[Mapping[Setting, Sequence[float]]], setting: Setting) -> tuple[int, float]:
    """Return what a setting is chosen by: complete questions, then the mean share of passages."""
    return (
        sum(complete(shares[setting]) for shares in corpora),
        sum(sum(shares[setting]) / len(shares[setting]) for shares in corpora),
    )
