"""Masking: what was found is gone, one value has one placeholder, and nothing else changes (R6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.personal_data.finder import RuleFinder
from contracts.masking import (
    PLACEHOLDER,
    WORDS,
    declared_placeholders,
    mask,
    normalised,
    numbers_of,
    placeholder,
    spread_names,
    values_of,
)
from contracts.personal_data import Certainty, PersonalData, PersonalDataKind
from tests.unit.test_personal_data import FOUND, KEPT

FINDER = RuleFinder()
Kind = PersonalDataKind


def masked(texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts masked as a case's are, with numbers in order."""
    found = spread_names(texts, {field: FINDER.find(text) for field, text in texts.items()})
    values = values_of(texts, found)
    counts: dict[PersonalDataKind, int] = {}
    numbers: list[int] = []
    for value in values:
        counts[value.kind] = counts.get(value.kind, 0) + 1
        numbers.append(counts[value.kind])
    known = numbers_of(values, numbers)
    return {field: mask(text, found[field], known)[0] for field, text in texts.items()}


def one(text: str) -> str:
    return masked({"text": text})["text"]


LETTER = (
    "Hi Anna,\nplease call Alex. The mandate of Sample-Person was refused after 10.14.2.0.\n"
    "Kind regards\nAlex Sample-Person\nTel. +44 20 7946 0958\nalex.sample-person@example.org"
)


def test_r6_a_letter_is_masked_and_keeps_its_version() -> None:
    assert one(LETTER) == (
        "Hi [person 1],\nplease call [person 2]. The mandate of [person 2] was refused after 10.14.2.0.\n"
        "Kind regards\n[person 2]\nTel. [phone 1]\n[mail 1]"
    )


def test_r6_a_name_found_in_one_text_is_masked_in_every_text_of_the_case() -> None:
    texts = masked({"title": "Alex cannot print", "text": LETTER, "paper": "Told Sample-Person and alexandria."})
    assert texts["title"] == "[person 1] cannot print"
    assert texts["paper"] == "Told [person 1] and alexandria."


@pytest.mark.parametrize(
    "text", ["com.alex.Alex.run()", "/home/Alex/log", "AlexService", "@Alex", "Alex.java:12", "alex_id", "Alex(1)"]
)
def test_r6_a_name_inside_a_path_or_a_program_stays(text: str) -> None:
    assert masked({"letter": LETTER, "text": text})["text"] == text


def test_r6_common_words_of_a_name_are_masked_within_the_name_only() -> None:
    texts = masked(
        {"text": "Kind regards\nMark Sampleton", "paper": "Mark the row. Will it print? Mark Sampleton asks."}
    )
    assert texts["paper"] == "Mark the row. Will it print? [person 1] asks."


def test_r6_a_shorter_form_is_the_same_person_unless_two_share_it() -> None:
    assert one("Hi Alex,\n\nKind regards\nAlex Sample") == "Hi [person 1],\n\nKind regards\n[person 1]"
    shared = one("Hi Alex,\n\nKind regards\nAlex Sample\n\n\n\nRegards\nAlex Elsewhere")
    assert shared == "Hi [person 1],\n\nKind regards\n[person 2]\n\n\n\nRegards\n[person 3]"


@pytest.mark.parametrize(
    ("kind", "spellings"),
    [
        (Kind.PHONE, ["+44 20 7946 0958", "020 7946 0958", "0044 (0)20 7946-0958",
                      "+442079460958", "020 7946 0958 ext. 12"]),
        (Kind.MAIL, ["A.Sample@Example.org", "a.sample@example.org", "a.sample (at) example (dot) org",
                     "a.sample%40example.org"]),
        (Kind.BANK_ACCOUNT, ["DE89 3704 0044 0532 0130 00", "de89370400440532013000", "DE89-3704-0044-0532-0130-00"]),
        (Kind.CARD, ["4111 1111 1111 1111", "4111-1111-1111-1111"]),
        (Kind.NATIONAL_ID, ["12345678Z", "12345678-z"]),
        (Kind.NAME, ["Alex Sample", "alex  sample", "Dr. Alex Sample", "Sample, Alex", "Alex Sample's"]),
        (Kind.POSTAL_ADDRESS, ["1 Invented Street, Sampletown", "1 invented street\nSampletown"]),
    ],
)  # fmt: skip
def test_r6_spellings_of_one_value_are_one(kind: PersonalDataKind, spellings: list[str]) -> None:
    assert len({normalised(kind, spelling) for spelling in spellings}) == 1


def test_r6_different_values_stay_apart() -> None:
    pairs = [
        (Kind.PHONE, "020 7946 0958", "020 7946 0959"),
        (Kind.MAIL, "a@example.org", "b@example.org"),
        (Kind.CREDENTIAL, "Geheim", "geheim"),
        (Kind.NAME, "Alex Sample", "Alex Elsewhere"),
    ]
    assert all(normalised(kind, one) != normalised(kind, other) for kind, one, other in pairs)


def test_r6_placeholders_are_told_from_other_brackets() -> None:
    text = "[person 2] and [mail 1], [person 2] again; [x 1], [person 0], [person], [WARN], [phone 1234567]"
    assert declared_placeholders(text) == ("[person 2]", "[mail 1]")
    assert set(WORDS) == set(Kind)
    assert all(PLACEHOLDER.fullmatch(placeholder(kind, 7)) for kind in Kind)


def test_r6_a_value_is_masked_again_where_no_word_tells_what_it_is() -> None:
    assert one("Tel. 020 7946 0958, or so: 020 7946 0958.") == "Tel. [phone 1], or so: [phone 1]."
    assert one("host 10.14.2.7 is down; version 10.14.2.7") == "host [machine 1] is down; version 10.14.2.7"


PIECES = st.lists(
    st.sampled_from([f"{before}{value}{after}" for _, before, value, after in FOUND] + KEPT), min_size=1, max_size=6
).map("\n\n\n".join)


@settings(deadline=None)  # a first match compiles much, and machines are shared
@given(PIECES)
def test_r6_what_was_found_is_gone_and_the_rest_is_as_it_was(text: str) -> None:
    found = FINDER.find(text)
    after = one(text)
    for place in found:
        value = text[place.start : place.end]
        if len(value) > 8:
            assert value not in after
    kept = [piece for piece in KEPT if piece in text and "[" not in piece]
    assert all(piece in after for piece in kept)


@settings(deadline=None)  # a first match compiles much, and machines are shared
@given(PIECES)
def test_r6_masking_masked_text_changes_nothing(text: str) -> None:
    once = one(text)
    assert FINDER.find(once) == ()
    assert one(once) == once


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), max_size=6)


def _apart(spans: Sequence[tuple[int, int]]) -> list[PersonalData]:
    places: list[PersonalData] = []
    for start, size in sorted(spans):
        if not places or start >= places[-1].end:
            places.append(PersonalData(kind=Kind.MAIL, certainty=Certainty.CHECKED, start=start, end=start + size))
    return places


@settings(deadline=None)  # a first match compiles much, and machines are shared
@given(st.text(min_size=46, max_size=60), SPANS)
def test_r6_masking_replaces_exactly_the_places(text: str, spans: list[tuple[int, int]]) -> None:
    places = _apart(spans)
    texts = {"text": text}
    values = values_of(texts, {"text": places})
    after, used = mask(text, places, numbers_of(values, list(range(1, len(values) + 1))))
    assert len(used) == len(places)
    back, at = [], 0
    for place, word in zip(places, used, strict=True):
        assert word.startswith("[mail ")
        back += [text[at : place.start], word]
        at = place.end
    assert after == "".join([*back, text[at:]])
