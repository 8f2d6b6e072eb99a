"""When a text answers to an objective by its words (R15)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.identifiers import READ
from contracts.likeness import SHARED, SHORTEST_WORD, answers, wanted_of

WORDS = st.lists(st.text("abcdefghij", min_size=SHORTEST_WORD, max_size=9), min_size=1, max_size=10, unique=True)


@given(WORDS, st.data())
def test_enough_of_the_words_answer_and_fewer_do_not(words: list[str], data: st.DataObject) -> None:
    shared = data.draw(st.integers(0, len(words)))
    text = " ".join([*words[:shared], "unrelated"])
    assert answers(text, wanted_of(" ".join(words))) == (Fraction(shared, len(words)) >= Fraction(str(SHARED)))


@given(st.text(max_size=300))
def test_a_text_answers_to_itself_when_it_has_a_word_to_answer_to(text: str) -> None:
    wanted = wanted_of(text)
    assert answers(text, wanted) or not (wanted.words or wanted.names)


@given(st.text(max_size=300))
def test_nothing_answers_to_an_objective_without_words(text: str) -> None:
    assert not answers(text, wanted_of("it is so, or is it?"))


@pytest.mark.parametrize(
    ("objective", "text"),
    [
        ("What does E-4711 mean after a nightly import of tariffs?", "The job ends with e-4711."),
        ("Why is contract/12-3 shown twice in every portal list?", "A second row for contract/12-3 was found."),
        ("PRINT_QUEUE_SIZE was changed and everything stopped working", "Raise print_queue_size on both nodes."),
        ('The log says "no such renderer" since Tuesday morning', "It had No such renderer in its log."),
        ("Zinsstaffel falsch berechnet", "Die Zinsstaffel wurde berechnet, doch aus dem alten Stand."),
        ("\uff25-4711 after importing", "e-4711"),
    ],
)
def test_a_name_or_most_of_the_words_answer(objective: str, text: str) -> None:
    assert answers(text, wanted_of(objective))


@pytest.mark.parametrize(
    ("objective", "text"),
    [
        ("What does E-4711 mean after a nightly import of tariffs?", "The job ends with E-47115."),
        ("Since 7.4.2 the portal shows nothing at all", "Holds from 7.4.2 on."),
        ("Who wrote the opera that Venice commissioned?", "The portal commissioned a new render service."),
        ("", "Anything."),
        ("Anything at all", ""),
    ],
)
def test_a_version_or_few_words_do_not(objective: str, text: str) -> None:
    assert not answers(text, wanted_of(objective))


def test_a_text_is_read_to_a_bound() -> None:
    assert not answers(" " * READ + "register", wanted_of("register"))
