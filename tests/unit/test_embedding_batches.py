"""Batches of texts hold every text once and stay within their bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from activities.embedding.fastembed_model import batches


@given(st.lists(st.integers(min_value=0, max_value=5_000), max_size=200))
def test_every_text_is_in_one_batch_and_padding_is_bounded(lengths: list[int]) -> None:
    made = batches(lengths)
    assert sorted(position for batch in made for position in batch) == list(range(len(lengths)))
    for batch in made:
        longest = max(min(lengths[position], 1_400) for position in batch)
        assert len(batch) == 1 or (len(batch) <= 32 and len(batch) * longest <= 3_200)


def test_long_texts_go_by_two_and_short_ones_together() -> None:
    assert batches([1_600, 10, 90_000, 20, 5_000]) == [[1, 3], [0, 4], [2]]
    assert [len(batch) for batch in batches([60] * 64)] == [32, 32]
