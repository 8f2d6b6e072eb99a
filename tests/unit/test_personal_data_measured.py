"""The finder on the labelled sample of public lines and on values put into them (R6)."""

from __future__ import annotations

import pytest

from tests.benchmarks.personal_data import DATA, STRUCTURED_KINDS, measure

STRUCTURED_RECALL = 0.95
PRECISION = 0.9


@pytest.mark.skipif(not DATA.is_dir(), reason="the public data is not beside the repository")
def test_r6_structured_kinds_are_found_and_little_else_is() -> None:
    results = measure(DATA)
    inserted = results["inserted"]
    for kind, count in inserted.counts.items():
        assert (count.recall or 0) >= STRUCTURED_RECALL, f"{kind}: {inserted.missed}"
    for name in ("labelled", "labelled, second sample"):
        structured = results[name].whole(STRUCTURED_KINDS)
        assert structured.wanted >= 15, "the sample has labels"
        assert (structured.recall or 0) >= STRUCTURED_RECALL, f"{results[name].missed}"
        assert (results[name].whole().precision or 0) >= PRECISION, f"{results[name].wrong}"
