"""A strategy with an identifier hop: what it adds to an answer, how it says so, and what it never reads (R10, R15)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from activities.retrieval.engine import RetrievalEngine, TimeLimits
from contracts.errors import EmbeddingUnavailable, IndexUnavailable
from contracts.identifiers import keys_of
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, Scope
from contracts.labels import CandidateKind, Collection
from contracts.retrieval import RouteState
from contracts.strategies import DATA_INVESTIGATION, newest
from contracts.strategy import Hop, Route, Strategy
from tests.unit.test_retrieval_engine import Memory, draft, ended, experience, live_case

FIRST = DATA_INVESTIGATION.steps[0].model_copy(update={"hop": Hop(follow=1)})
FOLLOWING: Strategy = DATA_INVESTIGATION.model_copy(update={"steps": (FIRST,)})
NAMED = "experience/b"


@dataclass
class Named(Memory):
    """An index that knows one more record, by name alone."""

    broken_for_names: bool = False
    texts: list[str] = field(default_factory=list[str])

    def engine(self) -> RetrievalEngine:
        return RetrievalEngine(self, self, self, self, TimeLimits(route=10.0))

    async def search(
        self, collection: Collection, query: DenseQuery | LexicalQuery, *, scope: Scope, where: Filter, limit: int
    ) -> list[Hit]:
        if isinstance(query, LexicalQuery):
            self.texts.append(query.text)
        if not where.names:
            return await super().search(collection, query, scope=scope, where=where, limit=limit)
        if self.broken_for_names:
            raise IndexUnavailable("The index is down.")
        called = {*keys_of(["Register of Renewals"])} & {*where.names}
        found = called and NAMED not in where.not_targets
        return [Hit(NAMED, 1, "", CandidateKind.EXPERIENCE, 1.0, names=where.names)] if found else []


def _memory(**given: object) -> Named:
    first = experience("a", draft(text="See the Register of Renewals."))
    named = experience("b", draft(text="How it is filled."))
    memory = Named(strategy=FOLLOWING, hits={Collection.DETAIL: [first.target]})
    for name, value in given.items():
        setattr(memory, name, value)
    memory.holds(first, named)
    return memory


async def test_a_record_that_the_first_hit_names_is_a_candidate_with_that_reason_r15() -> None:
    answer = await _memory().answer()
    assert [each.ref for each in answer.candidates] == ["experience/a", NAMED]
    (why,) = answer.candidates[1].reason
    assert (why.route, why.fields) == (Route.IDENTIFIER_HOP, ("named in experience/a",))


async def test_names_are_looked_for_with_what_the_hit_leaves_open() -> None:
    memory = _memory()
    await memory.answer()
    followed = [text for text in memory.texts if "Register of Renewals" in text]
    assert followed
    assert all(text.startswith("fails ") for text in followed), "`printing` is what the hit's synopsis says already"


async def test_a_text_that_the_caller_may_not_see_is_not_followed_r10() -> None:
    for hidden in ("withdrawn", "not_permitted"):
        answer = await _memory(**{hidden: {"experience/a"}}).answer()
        assert answer.candidates == ()


async def test_a_failed_hop_is_named_and_takes_nothing_else_with_it_r15() -> None:
    answer = await _memory(broken_for_names=True).answer()
    assert [each.ref for each in answer.candidates] == ["experience/a"]
    assert [report.route for report in ended(answer, RouteState.FAILED)] == [Route.IDENTIFIER_HOP]
    assert "detail by identifier_hop: The index is down." in answer.not_read


async def test_without_a_vector_the_words_are_still_followed_r15() -> None:
    memory = _memory(embedding=EmbeddingUnavailable("The model is missing."))
    answer = await memory.answer()
    assert Route.IDENTIFIER_HOP in [report.route for report in ended(answer, RouteState.FAILED)]
    assert any("Register of Renewals" in text for text in memory.texts)


async def test_nothing_found_leaves_nothing_to_follow() -> None:
    answer = await _memory(hits={}).answer()
    skipped = [report.why for report in ended(answer, RouteState.SKIPPED) if report.route is Route.IDENTIFIER_HOP]
    assert skipped == ["nothing was found whose names could be followed"]


async def test_a_strategy_without_a_hop_asks_nothing_more() -> None:
    memory = _memory(strategy=DATA_INVESTIGATION)
    answer = await memory.answer()
    assert Route.IDENTIFIER_HOP not in [report.route for report in answer.routes]
    assert not any(where.names for where in memory.filters)


@dataclass
class NamingCases(Memory):
    """An index that knows a live case by its id in the source."""

    searched_names: list[tuple[Collection, Scope]] = field(default_factory=list[tuple[Collection, Scope]])

    async def search(
        self, collection: Collection, query: DenseQuery | LexicalQuery, *, scope: Scope, where: Filter, limit: int
    ) -> list[Hit]:
        if not where.names:
            return await super().search(collection, query, scope=scope, where=where, limit=limit)
        self.searched_names.append((collection, scope))
        is_called = collection is Collection.CASES and set(keys_of(["SD-9"])) & {*where.names}
        return [Hit("case/c", 1, "", CandidateKind.CASE, 1.0, names=where.names)] if is_called else []


@pytest.mark.parametrize("strategy_id", ["data-investigation", "configuration", "development"])
async def test_a_live_case_that_a_hit_names_is_a_candidate_inside_the_scope_r4_r15(strategy_id: str) -> None:
    """Ids and object references in a hit lead to the caller's own cases, by the versions that follow them there."""
    first = experience("a", draft(text="Same as sd-9, on policy:4711."))
    strategy = newest(strategy_id)
    memory = NamingCases(strategy=strategy, hits={Collection.DETAIL: [first.target]}).holds(first, live_case())
    assert isinstance(memory, NamingCases)
    answer = await memory.answer()
    found = {each.ref: each for each in answer.candidates}
    (why,) = found["case/c"].reason
    assert (why.route, why.collection, why.fields) == (
        Route.IDENTIFIER_HOP, Collection.CASES, ("named in experience/a",),
    )  # fmt: skip
    assert (Collection.CASES, memory.scope) in memory.searched_names

    hidden = NamingCases(strategy=strategy, hits={Collection.DETAIL: [first.target]}, not_permitted={"case/c"})
    answer = await hidden.holds(first, live_case()).answer()
    assert [each.ref for each in answer.candidates] == [first.target]
    assert answer.omitted_by_permission == 1

    nobody = NamingCases(strategy=strategy, hits={Collection.DETAIL: [first.target]}, scope=Scope())
    await nobody.holds(first, live_case()).answer()
    assert {collection for collection, _ in nobody.searched_names} == {Collection.DETAIL}
