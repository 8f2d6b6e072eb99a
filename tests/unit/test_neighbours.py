"""The vote of nearest neighbours: fair between lists, the same in every order, and open about who is behind it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.index import Hit
from contracts.labels import CandidateKind
from contracts.neighbours import Neighbours, vote

LABELS = {"case/1": "hardware", "case/2": "access", "case/3": "access", "case/4": "hardware"}


def hits(*scores: tuple[str, float]) -> list[Hit]:
    return [Hit(target, 1, "", CandidateKind.CASE, score) for target, score in scores]


def test_the_nearest_outvotes_two_that_are_far() -> None:
    found = hits(("case/1", 1.0), ("case/2", 0.5), ("case/3", 0.5))
    near, far = vote([Neighbours(found, sharpness=4.0)], LABELS, nearest=3)
    assert (near.label, near.targets) == ("hardware", ("case/1",))
    assert (far.label, far.targets) == ("access", ("case/2", "case/3"))
    assert near.share + far.share == pytest.approx(1.0)


def test_without_sharpness_heads_are_counted() -> None:
    found = hits(("case/1", 1.0), ("case/2", 0.1), ("case/3", 0.1))
    assert vote([Neighbours(found, sharpness=0.0)], LABELS, nearest=3)[0].label == "access"


def test_lists_are_heard_by_weight_whatever_their_scores_are() -> None:
    lexical, dense = hits(("case/1", 40.0)), hits(("case/2", 0.9))
    heard = vote([Neighbours(lexical, 1.0), Neighbours(dense, 2.0)], LABELS, nearest=5)
    assert [(each.label, round(each.share, 6)) for each in heard] == [("access", 0.666667), ("hardware", 0.333333)]


def test_only_the_nearest_of_each_list_are_heard() -> None:
    found = hits(("case/1", 1.0), ("case/2", 1.0), ("case/3", 1.0))
    assert [each.label for each in vote([Neighbours(found)], LABELS, nearest=1)] == ["hardware"]


def test_who_has_no_label_says_nothing() -> None:
    assert vote([Neighbours(hits(("case/9", 1.0)))], LABELS, nearest=3) == []
    assert vote([Neighbours([])], LABELS, nearest=3) == []
    assert vote([Neighbours(hits(("case/1", 0.0)))], LABELS, nearest=3) == []


def test_a_voice_that_faded_to_nothing_proposes_nothing() -> None:
    found = hits(("case/9", 50.0), ("case/1", 1e-60))
    assert vote([Neighbours(found, sharpness=8.0)], LABELS, nearest=3) == []


_LISTS = st.lists(
    st.lists(st.tuples(st.sampled_from([*LABELS, "case/9"]), st.floats(0, 50)), max_size=6, unique_by=lambda e: e[0]),
    max_size=4,
)


def test_each_list_fades_as_it_says() -> None:
    """The same two records in both lists; only the one that counts heads hears the far one as much as the near one."""
    found = hits(("case/1", 1.0), ("case/2", 0.5))
    near, far = vote([Neighbours(found, sharpness=1.0), Neighbours(found, sharpness=0.0)], LABELS, nearest=2)
    assert (near.label, far.label) == ("hardware", "access")
    assert near.share == pytest.approx((2 / 3 + 1 / 2) / 2)


@given(_LISTS, st.integers(1, 6), st.floats(0, 8))
def test_the_order_of_the_lists_changes_nothing_and_shares_add_up(
    lists: list[list[tuple[str, float]]], nearest: int, sharpness: float
) -> None:
    heard = [
        Neighbours(hits(*sorted(each, key=lambda pair: (-pair[1], pair[0]))), sharpness=sharpness) for each in lists
    ]
    result = vote(heard, LABELS, nearest=nearest)
    assert vote(heard[::-1], LABELS, nearest=nearest) == result
    assert not result or sum(each.share for each in result) == pytest.approx(1.0)
