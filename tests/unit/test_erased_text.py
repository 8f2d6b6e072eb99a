"""Every spelling of a value is found, and nothing else changes (R11)."""

from __future__ import annotations

import html
import json
import unicodedata
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.erased_text import ERASED, Eraser, check_value, fold
from contracts.errors import InvalidField

ANNA = Eraser(["Anna Möller", "anna.moeller@example.org", "+49 30 123456-7"])
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)
VALUES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=3, max_size=30).filter(
    lambda value: sum(map(str.isalnum, fold(value))) >= 3 and sum(map(str.isdigit, fold(value))) < 6
)


@pytest.mark.parametrize(
    "spelling",
    [
        "Anna Möller",
        "ANNA MÖLLER",
        "anna  \n\tmöller",
        "Anna\u00a0Möller",
        unicodedata.normalize("NFD", "Anna Möller"),
        "An\u00adna Möl\u200bler",
        "\uff21nna Möller",
        "Anna M&ouml;ller",
        "Anna M&#246;ller",
        "Anna M\\u00f6ller",
        "Anna\\nM\\u00f6ller",
        "Anna%20M%C3%B6ller",
        "ANNA.Moeller@Example.ORG",
        "anna.moeller%40example.org",
        "49301234567",
        "49) 30 / 123.456.7",
    ],
)
def test_r11_every_spelling_is_found(spelling: str) -> None:
    text = f"Dear {spelling}, thank you."
    assert ANNA.count(text) == 1
    erased = ANNA.erased(text)
    assert erased == f"Dear {ERASED}, thank you."
    assert ANNA.count(erased) == 0


@pytest.mark.parametrize("text", ["Anna Müller", "Ann Möller", "annamöller", "moeller@example.org", "+49 30 123456-8"])
def test_what_is_not_the_value_stays(text: str) -> None:
    assert ANNA.count(text) == 0
    assert ANNA.erased(text) == text


def test_values_that_overlap_become_one_placeholder() -> None:
    assert Eraser(["Anna Moeller", "Moeller GmbH"]).erased("To Anna Moeller GmbH, Bonn") == f"To {ERASED}, Bonn"


def test_a_placeholder_is_never_longer_than_what_it_replaces() -> None:
    """R22: a line at its limit stays within it."""
    assert Eraser(["Ann"]).erased("Ann and Ann") == "[-] and [-]"


@given(WORDS, WORDS, VALUES)
def test_r11_what_was_erased_is_not_found_again(before: str, after: str, value: str) -> None:
    eraser = Eraser([value])
    text = f"{before}{value}{after}"
    assert eraser.count(text) >= 1
    assert fold(value) not in fold(eraser.erased(text)) or fold(value) in fold("[erased][-]")


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


MARKS = st.text(st.sampled_from("\u0300\u0301\u0308\u0316\u0334\u0899\u05b0\u200d\u0f73"), max_size=5)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("00\u00c8", "00\u00c8\u0899"),  # canonical order puts the second mark before the first
        ("00\u00c8", "00E\u0301\u200d\u0316\u0300"),
        ("\u00c8va", "E\u0899\u0300va"),
        ("\u1fb4\u03b2\u03b3", "\u03b1\u0345\u0301\u03b2\u03b3"),  # the iota below stands before the accent
        ("e\u0301\u200d\u0316va", "\u00e9\u0316va"),
        ("\u0300abc", "e\u035c\u0300abc"),
    ],
)
def test_r11_marks_in_another_order_or_besides_hide_nothing(value: str, text: str) -> None:
    assert Eraser([value]).erased(f"To {text}, here.") in {f"To {ERASED}, here.", "To [-], here."}
    assert Eraser([value]).count(f"To {unicodedata.normalize('NFC', text)}, here.") == 1


def test_a_letter_with_a_mark_is_not_the_letter_without() -> None:
    assert Eraser(["M\u00f6ller"]).count("Moller, Mo\u0301ller, Mo\u0316ller") == 0
    assert Eraser(["Moller"]).count("M\u00f6ller") == 0


@given(VALUES, st.lists(MARKS, min_size=30, max_size=30), st.lists(MARKS, min_size=30, max_size=30), MARKS)
def test_r11_a_marked_value_is_found_whatever_stands_around(
    letters: str, own: list[str], other: list[str], before: str
) -> None:
    value = "".join(f"{letter}{marks}" for letter, marks in zip(letters, own, strict=False))
    text = f"{before}{value}{other[0]}"
    eraser = Eraser([value])
    assert eraser.count(text) >= 1
    assert eraser.count(unicodedata.normalize("NFC", text)) >= 1
    assert eraser.count(unicodedata.normalize("NFD", text)) >= 1
    assert eraser.count(eraser.erased(text)) == 0 or fold(value) in fold("[erased][-]")


@given(WORDS, VALUES, st.sampled_from([quote, html.escape, _in_json]))
def test_r11_encoded_texts_are_read(around: str, value: str, encode: Callable[[str], str]) -> None:
    assert Eraser([value]).count(encode(f"{around} {value} {around}")) >= 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | WORDS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
        max_leaves=8,
    ),
    VALUES,
)
def test_json_stays_json(document: object, value: str) -> None:
    eraser = Eraser([value])
    written = json.dumps({"first": value, value: [value, document]}, ensure_ascii=False)
    erased = eraser.erased_json(written)
    json.loads(erased)
    if fold(value) not in fold("[erased][-]first"):
        assert eraser.count_json(erased) == 0


def test_numbers_and_keys_of_a_model_stay() -> None:
    """A phone number may stand in JSON as a number; a model's own numbers and field names are nobody's."""
    eraser = Eraser(["4930123456", "owner"])
    document = '{"owner": 4930123456, "big": 12345678901234567890.125, "note": "to the owner"}'
    assert json.loads(eraser.erased_json(document))["[-]"] == ERASED
    assert '"big": 12345678901234567890.125' in eraser.erased_json(document)
    assert eraser.erased_json(document, free=False) == document.replace("to the owner", "to the [-]")
    assert eraser.count_json(document) == 3


@pytest.mark.parametrize("value", ["ab", "a.b", "  a  b ", "\u200b\u200b\u200b", "--- --- ---", "Erased", "ased"])
def test_r22_a_value_without_letters_is_refused(value: str) -> None:
    with pytest.raises(InvalidField, match=r"everywhere|placeholder"):
        check_value(value, field="subject.0")


def test_ids_digests_and_moments_of_a_model_are_nobodys_number() -> None:
    eraser = Eraser(["12345678", "2026-03-02"])
    ours = ["12345678-1234-4123-8123-123456789012", "case/12345678-1234-4123-8123-123456789012", "2026-03-02T12:00:00Z"]
    assert eraser.count_json(json.dumps(ours), free=False) == 0
    assert eraser.count_json(json.dumps({"note": "born 2026-03-02, number 1234 5678"}), free=False) == 2
    assert eraser.count("0123456789") == 0


def test_values_are_not_shown_in_a_log() -> None:
    assert "Anna" not in repr(ANNA)
