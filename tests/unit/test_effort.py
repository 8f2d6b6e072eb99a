"""Effort ranges: quantiles with their sample, work and waiting apart, and no range on too few items (R19)."""

from __future__ import annotations

import json
import random
from math import isfinite
from statistics import quantiles as exclusive
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.cases import Effort
from contracts.effort import (
    ComparedEffort,
    Comparison,
    EffortRange,
    EffortSummary,
    Finished,
    Quantiles,
    compared,
    quantiles,
    summary,
)
from contracts.effort_words import summary_lines
from contracts.labels import Outcome, ValidityState

HOURS = st.floats(min_value=0, max_value=1e6)
SOME = st.lists(HOURS, min_size=1, max_size=40)
EFFORTS = st.builds(
    Effort,
    estimate_hours=st.none() | HOURS,
    active_hours=st.none() | HOURS,
    waiting_hours=st.none() | HOURS,
    changed_scope=st.sampled_from(["", "", " ", "A second form."]),
)
ITEMS = st.lists(st.tuples(EFFORTS, st.sampled_from(Outcome), st.sampled_from(ValidityState)), max_size=25).map(
    lambda drawn: [_item(number, *each) for number, each in enumerate(drawn)]
)
NEEDED = st.integers(2, 12)
TOLD_AGAIN = ITEMS.flatmap(
    lambda items: st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=len(items), max_size=len(items)).map(
        lambda keys: [item.model_copy(update={"work": key}) for item, key in zip(items, keys, strict=True)]
    )
)


def _item(
    number: int,
    effort: Effort,
    outcome: Outcome = Outcome.SUCCEEDED,
    validity: ValidityState = ValidityState.OK,
    *,
    is_far: bool = False,
) -> Finished:
    return Finished(
        ref=f"experience/{number}", revision=1, effort=effort, outcome=outcome, validity=validity, is_far=is_far
    )


def _items(*hours: float, **given_: Any) -> list[Finished]:
    return [_item(number, Effort(active_hours=active, **given_)) for number, active in enumerate(hours)]


def _ranges(found: EffortSummary) -> dict[str, EffortRange]:
    return {"active": found.active, "waiting": found.waiting, "error": found.error}


@given(SOME)
def test_quantiles_lie_in_order_between_the_least_and_the_most(hours: list[float]) -> None:
    found = quantiles(hours)
    assert min(hours) == found.least <= found.p10 <= found.p50 <= found.p90 <= found.most == max(hours)
    assert 0 <= found.covers <= 0.8


@given(SOME)
def test_adding_a_larger_item_lowers_no_quantile(hours: list[float]) -> None:
    before, after = quantiles(hours), quantiles([*hours, max(hours)])
    # Not `>=`: interpolation between the same neighbours may differ in its last digit.
    assert all(
        getattr(after, name) >= getattr(before, name) * (1 - 1e-12) for name in ("least", "p10", "p50", "p90", "most")
    )


@given(st.lists(HOURS, min_size=9, max_size=40))
def test_from_nine_items_on_the_method_is_the_textbook_one(hours: list[float]) -> None:
    tenths, found = exclusive(hours, n=10), quantiles(hours)
    assert (found.p10, found.p50, found.p90) == pytest.approx((tenths[0], tenths[4], tenths[8]))
    assert found.covers == pytest.approx(0.8)


def test_small_samples_are_shown_whole_and_say_how_little_they_cover() -> None:
    found = quantiles([3, 1, 2, 9, 5])
    assert (found.p10, found.p50, found.p90) == (1, 3, 9)
    assert found.covers == pytest.approx(4 / 6)


def test_covers_is_what_the_range_holds_of_further_work() -> None:
    """Counted on seeded draws of an arbitrary distribution: it holds for each."""
    drawn = random.Random(5)
    for n in (5, 9, 14):
        held = 0
        for _ in range(4_000):
            *known, new = (drawn.lognormvariate(1, 1.5) for _ in range(n + 1))
            found = quantiles(known)
            held += found.p10 <= new <= found.p90
        assert held / 4_000 == pytest.approx(quantiles(range(n)).covers, abs=0.025)


@given(ITEMS, NEEDED, st.randoms(use_true_random=False))
def test_the_order_of_the_items_changes_nothing(items: list[Finished], needed: int, drawn: random.Random) -> None:
    shuffled = drawn.sample(items, len(items))
    found, again = summary(items, needed), summary([*shuffled, *shuffled[:3]], needed)
    assert again.model_copy(update={"apart": ()}) == found.model_copy(update={"apart": ()})
    assert {(each.ref, each.why) for each in again.apart} == {(each.ref, each.why) for each in found.apart}


@given(ITEMS, NEEDED)
def test_every_item_is_counted_or_set_apart_and_each_figure_says_its_own_n(items: list[Finished], needed: int) -> None:
    found = summary(items, needed)
    rows = {item.ref: row for item, row in zip(items, compared(items), strict=True)}
    counted = [row for row in rows.values() if row.comparison is Comparison.COUNTED]
    assert {each.ref: each.why for each in found.apart} == {
        ref: row.comparison for ref, row in rows.items() if row.comparison is not Comparison.COUNTED
    }
    assert found.active.n == len(counted) == len(items) - len(found.apart)
    assert found.waiting.n == sum(row.waiting_hours is not None for row in counted)
    assert found.error.n == sum(row.error is not None for row in counted)
    assert found.revalidate == sum(
        item.validity is ValidityState.REVALIDATE and rows[item.ref].comparison is Comparison.COUNTED for item in items
    )


@given(ITEMS, NEEDED)
def test_below_the_minimum_a_figure_is_refused_in_words_and_above_it_given(items: list[Finished], needed: int) -> None:
    for figure in _ranges(summary(items, needed)).values():
        assert (figure.quantiles is None) == (figure.n < needed) == bool(figure.withheld)
        if figure.withheld:
            assert figure.withheld.startswith(f"{figure.n} comparable item")
            assert f"{needed} needed" in figure.withheld


@given(ITEMS, NEEDED, st.floats(min_value=1, max_value=1e6))
def test_waiting_never_moves_the_range_of_work(items: list[Finished], needed: int, waiting: float) -> None:
    waited = [
        item.model_copy(update={"effort": item.effort.model_copy(update={"waiting_hours": waiting})}) for item in items
    ]
    found, other = summary(items, needed), summary(waited, needed)
    assert (other.active, other.error, other.apart) == (found.active, found.error, found.apart)
    if other.waiting.quantiles:
        assert other.waiting.quantiles.p10 == other.waiting.quantiles.p90 == waiting


def test_there_is_no_sum_of_work_and_waiting_and_no_price_or_date() -> None:
    """As plain as can be tested: no figure of the summary holds the two together."""
    found = summary(_items(1, 2, 3, 4, 5, waiting_hours=100), 5)
    assert found.active.quantiles
    assert found.waiting.quantiles
    assert (found.active.quantiles.most, found.waiting.quantiles.most) == (5, 100)
    assert set(EffortSummary.model_fields) == {
        "needed", "active", "waiting", "error", "revalidate", "apart", "method", "not_given",
    }  # fmt: skip
    assert "105" not in found.model_dump_json()


@pytest.mark.parametrize(
    ("why", "item"),
    [
        (Comparison.SCOPE_CHANGED, _item(9, Effort(active_hours=900, changed_scope="A second form."))),
        (Comparison.NOT_SUCCEEDED, _item(9, Effort(active_hours=900), Outcome.REJECTED_ROUTE)),
        (Comparison.NOT_SUCCEEDED, _item(9, Effort(active_hours=900), Outcome.FAILED)),
        (Comparison.OUTSIDE_LIMITS, _item(9, Effort(active_hours=900), validity=ValidityState.OUT_OF_RANGE)),
        (Comparison.FAR, _item(9, Effort(active_hours=900), is_far=True)),
        (Comparison.NO_ACTIVE_HOURS, _item(9, Effort(estimate_hours=900, waiting_hours=900))),
    ],
)
def test_what_does_not_compare_is_named_and_moves_nothing(why: Comparison, item: Finished) -> None:
    others = _items(1, 2, 3, 4, 5, estimate_hours=2, waiting_hours=7)
    found = summary([*others, item], 5)
    assert _ranges(found) == _ranges(summary(others, 5))
    assert [(each.ref, each.revision, each.why) for each in found.apart] == [("experience/9", 1, why)]


def test_what_asks_to_be_revalidated_counts_and_is_said() -> None:
    doubtful = _item(9, Effort(active_hours=6), validity=ValidityState.REVALIDATE)
    found = summary([*_items(1, 2, 3, 4), doubtful], 5)
    assert (found.active.n, found.revalidate, found.apart) == (5, 1, ())


def test_the_error_is_work_against_the_estimate_never_waiting() -> None:
    efforts = (
        Effort(estimate_hours=4, active_hours=6, waiting_hours=90),
        Effort(estimate_hours=0, active_hours=6),
        Effort(estimate_hours=4, waiting_hours=90),
    )
    rows = compared([_item(number, effort) for number, effort in enumerate(efforts)])
    assert [row.error for row in rows] == [1.5, None, None]


def test_a_refusal_says_how_many_there_are_and_how_many_are_needed() -> None:
    assert summary(_items(1), 5).active.withheld == "1 comparable item with active hours; 5 needed for a range."
    assert summary([], 5).waiting.withheld == "0 comparable items with waiting hours; 5 needed for a range."


@given(TOLD_AGAIN, NEEDED)
def test_r19_a_job_counts_once_however_often_it_is_told(items: list[Finished], needed: int) -> None:
    """The first item that compares stands for its job; what doesn't compare takes no other item's place."""
    alone = [compared([item])[0].comparison for item in items]
    compares = [item for item, comparison in zip(items, alone, strict=True) if comparison is Comparison.COUNTED]
    first = {item.work: item.ref for item in reversed(compares) if item.work}
    stands = [item for item in compares if not item.work or first[item.work] == item.ref]
    found, rows = summary(items, needed), compared(items)
    assert _ranges(found) == _ranges(summary(stands, needed))
    assert found.active.n == len(stands)
    counted = [item.ref for item, row in zip(items, rows, strict=True) if row.comparison is Comparison.COUNTED]
    assert counted == [item.ref for item in stands]
    again = {item.ref for item in compares} - {item.ref for item in stands}
    assert {each.ref for each in found.apart if each.why is Comparison.SAME_WORK} == again


def test_r19_five_texts_on_one_job_are_one_item() -> None:
    items = [item.model_copy(update={"work": "k"}) for item in _items(20, 20, 20, 20, 20)]
    found = summary(items, 5)
    assert (found.active.n, found.active.quantiles) == (1, None)
    assert [each.ref for each in found.apart] == [f"experience/{number}" for number in range(1, 5)]


TINY = st.floats(min_value=0, max_value=1e-300)


@given(st.lists(st.tuples(TINY, HOURS), min_size=1, max_size=12))
def test_r19_no_estimate_makes_a_figure_that_json_cannot_hold(hours: list[tuple[float, float]]) -> None:
    efforts = [Effort(estimate_hours=estimate, active_hours=active) for estimate, active in hours]
    items = [_item(number, effort) for number, effort in enumerate(efforts)]
    found = summary(items, 1)
    assert EffortSummary.model_validate_json(found.model_dump_json()) == found
    assert all(row.error is None or isfinite(row.error) for row in compared(items))


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_figures_are_finite(number: float) -> None:
    good = quantiles([1, 2, 3]).model_dump()
    for name in Quantiles.model_fields:
        with pytest.raises(ValidationError):
            Quantiles.model_validate({**good, name: number})
    for name in ("estimate_hours", "active_hours", "waiting_hours", "error"):
        with pytest.raises(ValidationError):
            ComparedEffort.model_validate({name: number, "comparison": "counted"})


def test_a_range_that_was_stored_with_a_figure_lost_still_reads_and_says_so() -> None:
    stored = json.loads(summary(_items(1, 2, 3, 4, 5, estimate_hours=2), 5).model_dump_json())
    stored["error"]["quantiles"] |= {"p90": None, "most": None}
    found = EffortSummary.model_validate_json(json.dumps(stored))
    assert (found.error.n, found.error.quantiles) == (5, None)
    assert found.active.quantiles is not None
    assert any(line == f"Active/estimate: {found.error.withheld}" for line in summary_lines(found))
    assert found.error.withheld
    assert EffortSummary.model_validate(found.model_dump()) == found
