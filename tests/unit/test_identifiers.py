"""What a text names, told by spelling alone: the same on every run, bounded, and never a record that isn't named."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.identifiers import (
    LONGEST_NAME,
    MOST_KEYS,
    MOST_NAMES,
    READ,
    SHORTEST_KEY,
    NameKind,
    keys_in,
    keys_of,
    lacking,
    name_key,
    names_in,
    new_names,
)


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("as HADOOP-1234 says", NameKind.CODE, "HADOOP-1234"),
        ("the error ORA-00942 again", NameKind.CODE, "ORA-00942"),
        ("set fs.defaultFS first", NameKind.CODE, "fs.defaultFS"),
        ("the column order_line_id is empty", NameKind.CODE, "order_line_id"),
        ("since 2.7.1, at least", NameKind.VERSION, "2.7.1"),
        ("tried v3.1-rc2.", NameKind.VERSION, "v3.1-rc2"),
        ("the row of policy:4711 is missing", NameKind.OBJECT, "policy:4711"),
        ('choose "fast mode" there', NameKind.QUOTED, "fast mode"),
        ("made by The Rank Organisation itself", NameKind.TITLE, "The Rank Organisation"),
        ("at the University of the Arts in", NameKind.TITLE, "University of the Arts"),
        ("the bridge near St. Louis was", NameKind.TITLE, "St. Louis"),
    ],
)
def test_a_name_is_told_by_its_spelling(text: str, kind: NameKind, name: str) -> None:
    assert (kind, name) in [(each.kind, each.text) for each in names_in(text)]


def test_sentences_give_no_names_by_their_first_words_alone() -> None:
    assert names_in("The row is missing. It was there. He saw that.") == ()
    assert [name.text for name in names_in("seen in Prague. Then gone.")] == ["Prague"]


def test_a_record_is_found_by_its_title_with_and_without_the_qualifier() -> None:
    assert keys_of(["Decade (Neil Young album)"]) == ("decade neil young album", "decade")
    assert keys_of(["HADOOP-1", "policy:4711"]) == ("hadoop 1", "policy 4711")


def test_names_too_short_to_tell_anything_apart_are_no_keys() -> None:
    assert keys_of(["It", "May", "(album)"]) == ("album",)
    assert "may" not in keys_in("In May it came")


@given(st.text(max_size=60), st.text(max_size=60), st.text(min_size=1, max_size=40))
def test_a_text_that_spells_a_name_gives_its_key(before: str, after: str, name: str) -> None:
    words = [word.upper() for word in name_key(name).split()]
    key = name_key(" ".join(words))
    if not words or len(key) < SHORTEST_KEY or len(words) > LONGEST_NAME or not words[0][0].isupper():
        return
    if len(keys_in(before)) < MOST_KEYS // 2:
        assert key in keys_in(f"{before} {' '.join(words)} {after}")


@given(st.text(alphabet="aA1_.:/-\"'() ", max_size=6000))
def test_what_is_read_and_given_is_bounded(text: str) -> None:
    assert len(keys_in(text)) <= MOST_KEYS
    assert len(names_in(text)) <= MOST_NAMES
    assert all(len(key) >= SHORTEST_KEY or any(map(str.isdigit, key)) or not key.isalpha() for key in keys_in(text))
    assert names_in(text) == names_in(text[:READ])


@pytest.mark.parametrize(
    "reference",
    [
        "policy:4711", "contract/12-3", "cfg.max_rows", "sd-1598", "ora-00942", "E42", "printer#7",
        "article/abcdefab-1234-4abc-8def-001122334455", "experience/11111111-1234-4abc-8def-001122334455",
    ],
)  # fmt: skip
def test_r15_a_reference_in_a_text_leads_to_the_record_that_is_called_so(reference: str) -> None:
    """Object references, ids and codes, whatever letter they begin with."""
    for text in (f"Same as {reference}.", f"see {reference}, again", f"({reference})"):
        assert set(keys_of([reference])) <= set(keys_in(text)), text


def test_only_names_with_a_new_word_are_new() -> None:
    said = "Fist Power is a Hong Kong film by Aman Chang."
    assert [name.text for name in new_names(said, "who produced Fist Power in Hong Kong?")] == ["Aman Chang"]


def test_what_a_hit_leaves_open_are_the_words_it_lacks() -> None:
    assert lacking("When was the maker of Fist Power taken?", "Fist Power was made by the maker") == "When of taken"


@pytest.mark.parametrize("piece", ["a-", "a.", "aB.", "a_", "1.", "A ", "a:", "«a"])
def test_r22_the_time_grows_no_faster_than_the_text(piece: str) -> None:
    """A pattern that looks ahead from every place takes sixteen times as long for four times the text."""

    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        began = time.thread_time()
        names_in(text)
        return time.thread_time() - began

    small, large = seconds(READ // 4), seconds(READ)
    assert large < 6 * small + 0.1, f"{small:.3f} s, {large:.3f} s"
