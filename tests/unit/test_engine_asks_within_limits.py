"""What doesn't apply doesn't crowd out what may: the index is asked again within what a request states (R15, R17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from activities.retrieval.narrowing import AGAIN
from activities.retrieval.rerun import Rerunner
from contracts.candidates import CandidateRecord
from contracts.cases import Effort
from contracts.errors import IndexUnavailable
from contracts.experience import Limits
from contracts.index import UNLIMITED, DenseQuery, Filter, Hit, LexicalQuery, Scope
from contracts.labels import Collection
from contracts.projection import experience_source
from contracts.retrieval import RouteState
from contracts.strategies import EFFORT_ASSESSMENT_2
from tests.unit.test_engine_looks_further import Watched
from tests.unit.test_retrieval_engine import REQUEST, Memory, draft, experience

DEPTH = 50


@dataclass
class Filtering(Watched):
    """An index that holds what it finds to the limits that it is asked with."""

    within: list[Filter] = field(default_factory=list[Filter])
    fails_within: bool = False

    async def search(
        self, collection: Collection, query: DenseQuery | LexicalQuery, *, scope: Scope, where: Filter, limit: int
    ) -> list[Hit]:
        is_narrower = bool(where.within_products or where.within_systems or where.has_effort)
        if is_narrower:
            self.within.append(where)
            if self.fails_within:
                raise IndexUnavailable("away", field="index")
        hits = await Memory.search(self, collection, query, scope=scope, where=where, limit=10_000)
        return [hit for hit in hits if not is_narrower or self._fits(hit.target, where)][:limit]

    def _fits(self, target: str, where: Filter) -> bool:
        record = self.current[target]
        assert record.draft is not None
        (_, entry) = experience_source(
            target.partition("/")[2], "north", revision=1, content_hash="", draft=record.draft
        ).entries
        payload = entry.payload
        return all(
            not wanted or set(wanted) & set(held)
            for wanted, held in (
                (where.within_products, payload.within_products),
                (where.within_systems, payload.within_systems),
                (where.has_effort, (payload.has_effort,)),
            )
        )


def crowded(near: Sequence[CandidateRecord], far: Sequence[CandidateRecord], **given: Any) -> Filtering:
    """Return a memory whose index finds `near` before `far`."""
    found = [*near, *far]
    memory = Filtering(hits={Collection.DETAIL: [each.target for each in found]}, **given)
    memory.holds(*found)
    return memory


def of(product: str, number: int, **changes: Any) -> CandidateRecord:
    return experience(f"{product[:1]}{number}", draft(limits=Limits(products=(product,)), **changes))


async def test_another_product_does_not_crowd_out_the_one_that_was_asked_for_r17() -> None:
    memory = crowded(
        [of("Vega", number) for number in range(DEPTH + 10)],
        [of("Polaris", 0), experience("general", draft())],
        asked={"product": " POLARIS\u200b"},
    )
    answer = await memory.answer()
    assert [each.ref for each in answer.candidates[:2]] == ["experience/P0", "experience/general"]
    assert not answer.abstained
    assert {each.validity.state for each in answer.candidates[2:]} == {"out_of_range"}
    assert len(answer.candidates) == memory.strategy.results
    assert {filter_.within_products for filter_ in memory.within} == {("polaris", UNLIMITED)}
    detail = [each for each in answer.routes if each.collection is Collection.DETAIL and each.found]
    assert {(each.state, each.why) for each in detail} == {(RouteState.OK, AGAIN)}


async def test_a_rerun_composes_what_was_found_within_the_limits_too_r20() -> None:
    memory = crowded([of("Vega", number) for number in range(DEPTH)], [of("Polaris", 0)], asked={"product": "Polaris"})
    answer = await memory.answer()
    rerun = await Rerunner(memory).rerun(REQUEST)
    assert rerun.same
    assert [each.ref for each in rerun.candidates] == [each.ref for each in answer.candidates]


@pytest.mark.parametrize(
    ("near", "asked"),
    [
        ([of("Vega", number) for number in range(DEPTH - 1)], {"product": "Polaris"}),
        ([of("Vega", number) for number in range(DEPTH)], {}),
        ([of("Polaris" if number < 10 else "Vega", number) for number in range(DEPTH)], {"product": "Polaris"}),
    ],
    ids=["the index had no more", "nothing is stated", "every place is taken"],
)  # fmt: skip
async def test_most_answers_ask_once(near: list[CandidateRecord], asked: dict[str, str]) -> None:
    memory = crowded(near, [], asked=asked)
    await memory.answer()
    assert memory.within == []


async def test_work_without_hours_does_not_crowd_out_what_compares_r19() -> None:
    depth = EFFORT_ASSESSMENT_2.steps[0].depth
    hours = Effort(estimate_hours=2, active_hours=3)
    memory = crowded(
        [experience(f"n{number}", draft()) for number in range(depth)],
        [experience(f"h{number}", draft(effort=hours)) for number in range(6)],
        strategy=EFFORT_ASSESSMENT_2,
    )
    answer = await memory.answer()
    assert answer.effort is not None
    assert answer.effort.active.n == 6


async def test_a_second_question_that_fails_is_named_and_takes_nothing_away_r15() -> None:
    memory = crowded(
        [of("Vega", number) for number in range(DEPTH)], [], asked={"product": "Polaris"}, fails_within=True
    )
    answer = await memory.answer()
    assert len(answer.candidates) == memory.strategy.results
    assert any(each.why.startswith(f"{AGAIN}: away") for each in answer.routes)
