"""A brief names nobody's case; feedback names each candidate once (R18, R21)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.consultation import require_scoped
from contracts.errors import InvalidField
from contracts.feedback import CandidateOutcome, Feedback, Usefulness

ID = "0d5bb3a4-5e0c-4e0e-9a45-6a2f3f0f8a11"
WORDS = st.text("abcdefgh ", max_size=40)
HANDLES = st.from_regex(r"[A-Z]{2,4}[-/ _.][0-9]{2,6}", fullmatch=True)


@given(handle=HANDLES, first=WORDS, last=WORDS, mark=st.sampled_from(["-", "/", " ", "_", ".", ": "]))
def test_r21_a_handle_is_found_however_it_is_written(handle: str, first: str, last: str, mark: str) -> None:
    """In other case, with other marks between its parts, beside any mark; and the refusal doesn't repeat it."""
    written = "".join(character if character.isalnum() else mark for character in handle.lower())
    with pytest.raises(InvalidField) as refused:
        require_scoped(f"{first} ({written}) {last}", [handle])
    assert refused.value.field == "brief"
    assert handle not in str(refused.value)


@pytest.mark.parametrize("written", ["Mu\u0308ller-7", "M\u00dcLLER 7", "\uff2d\u00fcller\uff0d\uff17"])
def test_r21_a_handle_is_found_in_every_spelling_of_its_letters(written: str) -> None:
    with pytest.raises(InvalidField):
        require_scoped(f"What does {written} need?", ["M\u00fcller-7"])


@given(text=WORDS, handle=st.from_regex(r"[XYZ]{1,3}[0-9]{3,6}", fullmatch=True))
def test_r21_a_brief_without_handles_passes(text: str, handle: str) -> None:
    require_scoped(f"{text} {handle}9 is another one", [handle, "ab", "", " - "])


def test_r20_feedback_names_each_candidate_once() -> None:
    outcome = CandidateOutcome(ref="experience/1", revision=1, usefulness=Usefulness.HELPED)
    other = outcome.model_copy(update={"usefulness": Usefulness.MISLED})
    with pytest.raises(InvalidField):
        Feedback(feedback_id=ID, decision_id=ID, outcomes=(outcome, other))
    later = other.model_copy(update={"revision": 2})
    assert len(Feedback(feedback_id=ID, decision_id=ID, outcomes=(outcome, later)).outcomes) == 2
