"""The finder on the labelled sample of public lines and on values put into them (R6)."""

from __future__ import annotations

import pytest

from tests.benchmarks.personal_data import DATA, measure

STRUCTURED_RECALL = 0.95
PRECISION = 0.9


@pytest.mark.skipif(not DATA.is_dir(), reason="the public data is not beside the repository")
def test_r6_structured_kinds_are_found_and_little_else_is() -> None:
    results = measure(DATA)
    inserted = results["inserted"]
    for kind, count in inserted.counts.items():
        assert (count.recall or 0) >= STRUCTURED_RECALL, f"{kind}: {inserted.missed}"
    labelled = results["labelled"].whole()
    assert labelled.wanted >= 15, "the sample has labels"
    assert (labelled.precision or 0) >= PRECISION, f"{results['labelled'].wrong}"
