"""How a benchmark chooses: a setting among good ones, not a lucky one among bad ones."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.grids import safest


def test_a_good_setting_among_good_ones_beats_a_lucky_one() -> None:
    assert safest(np.array([[0.5, 0.9, 0.5, 0.5], [0.5, 0.5, 0.8, 0.8], [0.5, 0.5, 0.8, 0.8]])) == (2, 3)


def test_an_axis_with_one_value_and_the_first_of_equals() -> None:
    assert safest(np.array([[0.1, 0.7, 0.7, 0.7]])) == (0, 2)
    assert safest(np.ones((2, 3))) == (0, 0)
