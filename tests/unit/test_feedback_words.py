"""How earlier use is told: the reader's own side, then all organisations, and nothing where nothing was said."""

from __future__ import annotations

import pytest

from contracts.feedback import CandidateFeedback, UsefulnessCounts
from contracts.feedback_words import earlier_use


@pytest.mark.parametrize(
    ("own", "everywhere", "said"),
    [
        (UsefulnessCounts(), None, ""),
        (UsefulnessCounts(), UsefulnessCounts(), ""),
        (UsefulnessCounts(helped=2, misled=1), None, "Earlier use, which moves no rank: helped 2, misled 1"),
        (
            UsefulnessCounts(not_applicable=1),
            UsefulnessCounts(helped=1_200, misled=2, not_applicable=3),
            "Earlier use, which moves no rank: did not apply 1; in all organisations: helped 1,200, misled 2, "
            "did not apply 3",
        ),
        (
            UsefulnessCounts(),
            UsefulnessCounts(misled=4),
            "Earlier use in all organisations, which moves no rank: misled 4",
        ),
    ],
)
def test_r15_both_counts_are_told_and_neither_is_made_up_r21(
    own: UsefulnessCounts, everywhere: UsefulnessCounts | None, said: str
) -> None:
    assert earlier_use(CandidateFeedback(own=own, everywhere=everywhere)) == said
