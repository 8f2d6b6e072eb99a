"""A strategy as an agent reads it says everything that bears on an answer (R14)."""

from __future__ import annotations

import pytest

from api.mcp.guide import strategy_text
from contracts.strategies import (
    DATA_INVESTIGATION,
    DATA_INVESTIGATION_3,
    EFFORT_ASSESSMENT_3,
    ROOT_CLASSIFICATION_2,
    SHIPPED,
)
from contracts.strategy import Strategy


@pytest.mark.parametrize("strategy", SHIPPED, ids=lambda each: f"{each.id}-{each.version}")
def test_every_read_is_named_in_its_order(strategy: Strategy) -> None:
    text = strategy_text(strategy)
    assert strategy.guide in text
    assert f"At most {strategy.results} candidates" in text
    for number, step in enumerate(strategy.steps, start=1):
        (line,) = [each for each in text.splitlines() if each.startswith(f"{number}. ")]
        assert f"from `{step.collection}` by {', '.join(step.routes)}" in line
        assert ("names" in line, "concepts" in line) == (step.hop is not None, step.links is not None)
        assert ("recorded effort" in line) == step.needs_effort


def test_what_sets_a_version_apart_is_said() -> None:
    first, third = strategy_text(DATA_INVESTIGATION), strategy_text(DATA_INVESTIGATION_3)
    for said in ("2 places are kept for what did not succeed.", "less like the objective than 0.25"):
        assert said in third
        assert said not in first
    assert "A range of hours takes 5 comparable items." in strategy_text(EFFORT_ASSESSMENT_3)
    assert "without technical detail" in strategy_text(ROOT_CLASSIFICATION_2)
