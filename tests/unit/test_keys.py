"""Spellings of one label meet, look-alikes don't, and origins fold almost nothing (R1)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.keys import identity, is_confusable, label_key

CAFE = "Café Zürich"


class TestLabelKey:
    @pytest.mark.parametrize(
        "spelling",
        [
            unicodedata.normalize("NFD", CAFE),
            f"\ufeff{CAFE}",
            "Café\xa0Zürich",
            "Ca\u200bfé Zürich",
            "Café\u3164Zürich",
            "CAFÉ   ZÜRICH ",
            "\uff23afé Zürich",  # full-width C
        ],
    )
    def test_spellings_of_one_product_have_one_key(self, spelling: str) -> None:
        assert label_key(spelling) == label_key(CAFE)

    def test_a_look_alike_is_another_product_and_is_flagged(self) -> None:
        impostor = "C\u0430fé Zürich"  # Cyrillic a
        assert label_key(impostor) != label_key(CAFE)
        assert is_confusable(impostor)
        assert not is_confusable(CAFE)

    @pytest.mark.parametrize(("one", "other"), [("7.4", "7.40"), ("A-1", "A1"), ("register 1", "register 2")])
    def test_codes_stay_apart(self, one: str, other: str) -> None:
        assert label_key(one) != label_key(other)

    @given(st.text())
    def test_a_key_is_its_own_key(self, text: str) -> None:
        assert label_key(label_key(text)) == label_key(text)

    @given(st.text())
    def test_normal_forms_and_case_have_one_key(self, text: str) -> None:
        for form in ("NFC", "NFD"):
            assert label_key(unicodedata.normalize(form, text)) == label_key(text)


class TestIdentity:
    def test_r1_blanks_around_and_the_normal_form_are_folded(self) -> None:
        assert identity(" CASE-é\n") == identity("CASE-e\u0301") == "CASE-é"

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("42", "042"),
            ("ACME", "acme"),
            ("a b", "a  b"),
            ("7f1c2f8e-8f0e-4d0e-9c55-0a4d2f6b1c11", "7F1C2F8E8F0E4D0E9C550A4D2F6B1C11"),
            ("\U0001f469\u200d\U0001f527", "\U0001f469\U0001f527"),
            ("A", "\u0410"),
            ("\uff21", "A"),
        ],
    )
    def test_r1_nothing_else_is_folded(self, one: str, other: str) -> None:
        assert identity(one) != identity(other)

    @given(st.text())
    def test_it_is_its_own_identity(self, text: str) -> None:
        assert identity(identity(text)) == identity(text)
