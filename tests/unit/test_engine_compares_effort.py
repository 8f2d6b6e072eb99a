"""An effort strategy's answer: the rows, and a range over exactly these rows (R19)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from contracts.candidates import CandidateRecord
from contracts.cases import Effort
from contracts.effort import Comparison
from contracts.experience import Limits
from contracts.labels import Collection, Outcome, ValidityState
from contracts.strategies import EFFORT_ASSESSMENT, EFFORT_ASSESSMENT_2, SHIPPED
from tests.unit.test_retrieval_engine import detail_of, draft, experience, live_case


def work(name: str, active: float | None, outcome: Outcome = Outcome.SUCCEEDED, **given: Any) -> CandidateRecord:
    limits = given.pop("limits", Limits())
    effort = Effort(estimate_hours=2, active_hours=active, waiting_hours=50, **given)
    return experience(name, draft(outcome, effort=effort, limits=limits))


FIVE = [work(f"w{number}", number) for number in range(1, 6)]


async def test_r19_the_range_rests_on_the_rows_that_are_shown() -> None:
    changed = work("changed", 99, changed_scope="A second form, " * 100)
    failed = work("failed", 99, Outcome.FAILED)
    elsewhere = work("elsewhere", 99, limits=Limits(products=("other",)))
    asked = {"product": "atlas"}
    memory = detail_of(*FIVE, changed, failed, elsewhere, strategy=EFFORT_ASSESSMENT_2, asked=asked)
    answer = await memory.answer()
    assert answer.effort is not None
    assert answer.effort.active.quantiles is not None
    assert (answer.effort.active.n, answer.effort.active.quantiles.p50) == (5, 3)
    rows = {candidate.ref: candidate.effort for candidate in answer.candidates}
    assert {ref: row.comparison for ref, row in rows.items() if row} == {
        **{f"experience/w{number}": Comparison.COUNTED for number in range(1, 6)},
        "experience/changed": Comparison.SCOPE_CHANGED,
        "experience/failed": Comparison.NOT_SUCCEEDED,
        "experience/elsewhere": Comparison.OUTSIDE_LIMITS,
    }
    assert {each.ref for each in answer.effort.apart} == {
        "experience/changed", "experience/failed", "experience/elsewhere",
    }  # fmt: skip
    row = rows["experience/changed"]
    assert row is not None
    assert row.changed_scope.startswith("A second form")
    assert len(row.changed_scope) <= 300, "the token budget is the extract's"


async def test_r19_a_smaller_result_budget_narrows_rows_and_range_alike() -> None:
    answer = await detail_of(*FIVE, strategy=EFFORT_ASSESSMENT_2, asked={"results": 4}).answer()
    assert answer.effort is not None
    assert answer.effort.active.quantiles is None
    assert answer.effort.active.withheld == "4 comparable items with active hours; 5 needed for a range."
    assert len(answer.candidates) == 4, "the candidates still show"
    assert all(candidate.effort for candidate in answer.candidates)


async def test_r19_several_texts_on_one_job_count_once_and_its_key_is_shown_to_nobody() -> None:
    """R21: the key tells nothing that an answer holds."""
    told = [replace(record, work="key-of-one-job") for record in FIVE]
    answer = await detail_of(*told, strategy=EFFORT_ASSESSMENT_2).answer()
    assert answer.effort is not None
    assert (answer.effort.active.n, answer.effort.active.quantiles) == (1, None)
    first, *again = [candidate.effort.comparison for candidate in answer.candidates if candidate.effort]
    assert (first, set(again)) == (Comparison.COUNTED, {Comparison.SAME_WORK})
    assert len(again) == len(answer.effort.apart) == 4
    assert "key-of-one-job" not in answer.model_dump_json()


async def test_a_live_case_has_no_effort() -> None:
    memory = detail_of(*FIVE, strategy=EFFORT_ASSESSMENT_2).holds(live_case())
    memory.hits[Collection.CASES] = ["case/c"]
    memory.in_registry = ["case/c"]
    memory.asked = {"object_refs": ("O-1",)}
    answer = await memory.answer()
    case = next(candidate for candidate in answer.candidates if candidate.ref == "case/c")
    assert case.effort is None
    assert case.validity.state is ValidityState.REVALIDATE
    assert answer.effort is not None
    assert answer.effort.active.n == 5


async def test_a_strategy_without_a_minimum_compares_no_effort() -> None:
    answer = await detail_of(*FIVE, strategy=EFFORT_ASSESSMENT).answer()
    assert answer.effort is None
    assert all(candidate.effort is None for candidate in answer.candidates)
    assert {strategy.id for strategy in SHIPPED if strategy.effort_minimum is not None} == {"effort-assessment"}
