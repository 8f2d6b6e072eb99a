"""The links of records: which words make one, and which of a text may."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contracts.concept_links import LONGEST, kind_of_link, links_in, links_of

WORDS = st.lists(
    st.sampled_from(["renewal", "register", "Straße", "PDF", "tariff-cell", "żółć"]), min_size=1, max_size=4
)


def test_spelling_makes_no_two_links_of_one_term() -> None:
    assert links_of(["Renewal Register", "renewal  register", "\uff32\uff25newal register"]) == (
        "concept: renewal register",
    )
    assert links_of(["e-mail"]) == links_of(["E mail"])


def test_a_concept_and_an_intent_of_the_same_words_are_two_links() -> None:
    assert links_of(["restore printing"], ["Restore printing"]) == (
        "concept: restore printing",
        "intent: restore printing",
    )
    assert [kind_of_link(link) for link in links_of(["a: b"], ["c d e"])] == ["concept", "intent"]


def test_what_is_too_short_to_mean_anything_links_nothing() -> None:
    assert links_of(["", "  ", "a", "it", "!?"], ["", "go"]) == ()


@given(WORDS, st.text(max_size=40), st.text(max_size=40))
def test_a_concept_that_a_text_names_is_among_its_links(words: list[str], before: str, after: str) -> None:
    concept = " ".join(words)
    spelled = links_of([concept])
    short_enough = len(spelled[0].split()) - 1 <= LONGEST
    assert not short_enough or set(spelled) <= set(links_in(f"{before} {concept.upper()} {after}"))
