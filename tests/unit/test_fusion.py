"""Fusion: one deterministic order, and for each target where it came from (R14, R15)."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from contracts.fusion import Place, Ranking, fuse

TARGETS = st.lists(st.sampled_from([f"case/{letter}" for letter in "abcdefgh"]), max_size=8)
RANKINGS = st.lists(st.tuples(TARGETS, st.sampled_from([0.5, 1.0, 1.5, 4.0])), max_size=6).map(
    lambda drawn: [Ranking(f"r{number}", tuple(found), weight) for number, (found, weight) in enumerate(drawn)]
)


def test_two_rankings_add_up_and_say_where_each_target_was() -> None:
    fused = fuse([Ranking("title", ("a", "b")), Ranking("body", ("b", "c"))], 60)

    assert [item.target for item in fused] == ["b", "a", "c"]
    assert fused[0].places == (Place("title", 2), Place("body", 1))
    assert fused[0].score == 1 / 62 + 1 / 61


def test_ties_go_by_target() -> None:
    assert [item.target for item in fuse([Ranking("x", ("b",)), Ranking("y", ("a",))], 60)] == ["a", "b"]


def test_weight_four_leads_three_best_places() -> None:
    similar = [Ranking(name, ("case/similar",)) for name in ("lexical", "title", "body")]

    fused = fuse([Ranking("registry", ("case/same-origin", "case/same-object"), 4.0), *similar], 60)

    assert [item.target for item in fused] == ["case/same-origin", "case/same-object", "case/similar"]


@given(RANKINGS)
def test_every_target_once_with_its_best_place_in_each_ranking(rankings: list[Ranking]) -> None:
    fused = fuse(rankings, 60)

    assert sorted(item.target for item in fused) == sorted({t for ranking in rankings for t in ranking.targets})
    for item in fused:
        for place in item.places:
            ranking = next(ranking for ranking in rankings if ranking.name == place.ranking)
            assert list(dict.fromkeys(ranking.targets)).index(item.target) + 1 == place.rank
        assert len({place.ranking for place in item.places}) == len(item.places)


@given(RANKINGS, st.randoms(use_true_random=False))
def test_order_of_rankings_changes_nothing(rankings: list[Ranking], chance: random.Random) -> None:
    shuffled = rankings.copy()
    chance.shuffle(shuffled)

    def order(given: list[Ranking]) -> list[tuple[str, float]]:
        return [(item.target, item.score) for item in fuse(given, 60)]

    assert order(shuffled) == order(rankings)


@given(st.lists(st.text(min_size=1), unique=True))
def test_a_single_ranking_keeps_its_order(targets: list[str]) -> None:
    assert [item.target for item in fuse([Ranking("only", tuple(targets))], 1)] == targets
