"""Nearness in time: it orders what is alike, and neither adds nor hides anything (R2)."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from contracts.fusion import Fused
from contracts.nearness import Nearness, nearer_first

NEARNESS = Nearness(strength=4.0, days=100.0)
DAYS = st.floats(0, 10_000)
TARGETS = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.floats(0.001, 1), DAYS))


def listed(scores: dict[str, tuple[float, float]], nearness: Nearness = NEARNESS) -> list[str]:
    fused = [Fused(target, score, ()) for target, (score, _) in scores.items()]
    apart = {target: timedelta(days=days) for target, (_, days) in scores.items()}
    return [each.target for each in nearer_first(fused, apart, nearness)]


def test_of_two_that_are_as_much_alike_the_nearer_comes_first() -> None:
    assert listed({"a": (0.5, 300), "b": (0.5, 2)}) == ["b", "a"]


def test_an_old_case_that_is_far_more_alike_stays_first() -> None:
    assert listed({"old": (1.0, 10_000), "near": (0.19, 0)}) == ["old", "near"]


def test_before_and_after_count_alike() -> None:
    assert NEARNESS.factor(timedelta(days=-3)) == NEARNESS.factor(timedelta(days=3))


def test_the_same_moment_gains_the_whole_strength_and_half_of_it_is_left_at_the_stated_days() -> None:
    assert NEARNESS.factor(timedelta(0)) == 5.0
    assert NEARNESS.factor(timedelta(days=100)) == 3.0


def test_a_case_without_a_known_time_gains_nothing() -> None:
    found = nearer_first([Fused("a", 0.4, ()), Fused("b", 0.3, ())], {"b": timedelta(0)}, NEARNESS)
    assert [(each.target, each.score) for each in found] == [("b", 1.5), ("a", 0.4)]


@given(TARGETS)
def test_every_target_is_listed_once_and_equal_scores_go_by_target(scores: dict[str, tuple[float, float]]) -> None:
    assert sorted(listed(scores)) == sorted(scores)
    assert listed(dict.fromkeys(scores, (0.5, 7.0))) == sorted(scores)


@given(TARGETS)
def test_without_strength_the_order_is_that_of_likeness(scores: dict[str, tuple[float, float]]) -> None:
    by_score = sorted(scores, key=lambda target: (-scores[target][0], target))
    assert listed(scores, Nearness(strength=0.0, days=100.0)) == by_score


@given(DAYS, DAYS)
def test_nearness_never_grows_with_distance(first: float, second: float) -> None:
    near, far = sorted((first, second))
    assert 5.0 >= NEARNESS.factor(timedelta(days=near)) >= NEARNESS.factor(timedelta(days=far)) > 1.0
