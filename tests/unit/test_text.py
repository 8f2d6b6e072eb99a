"""Text rules: what is stored, and what one digest covers (R7, R22)."""

import json
import unicodedata
import uuid
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from contracts import limits
from contracts.errors import InvalidField, TextTooLong, UnstorableText
from contracts.model import Model
from contracts.text import (
    Body,
    Id,
    Identifier,
    Labels,
    Line,
    OptionalLine,
    OptionalParagraph,
    Paragraph,
    check_text,
    digest,
    normalise,
)

steady = settings(deadline=None)  # a busy machine is not a failure
texts = st.text(st.characters(exclude_categories=["Cs"]))
visible = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1)
json_like: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdef", max_size=3), inner, max_size=4),
    max_leaves=12,
)


class Texts(Model):
    identifier: Identifier = "x"
    line: Line = "x"
    paragraph: Paragraph = "x"
    optional_line: OptionalLine = ""
    optional_paragraph: OptionalParagraph = ""
    body: Body = ""
    labels: Labels = ()
    id: Id = "00000000-0000-0000-0000-000000000001"


def _by_json(fields: dict[str, str]) -> Texts:
    return Texts.model_validate_json(json.dumps(fields))


LIMITS = {
    "identifier": limits.IDENTIFIER,
    "line": limits.LINE,
    "paragraph": limits.PARAGRAPH,
    "optional_line": limits.LINE,
    "optional_paragraph": limits.PARAGRAPH,
    "body": limits.BODY,
}
NEEDED = ("identifier", "line", "paragraph")


class TestWhatCanBeStored:
    @given(before=texts, after=texts)
    @steady
    def test_r22_nul_is_refused_wherever_it_stands(self, before: str, after: str) -> None:
        with pytest.raises(UnstorableText) as refusal:
            check_text(f"{before}\x00{after}", field="body", limit=10**6)
        assert refusal.value.field == "body"

    @given(before=texts, surrogate=st.characters(categories=["Cs"]), after=texts)
    @example(before="", surrogate="\ud800", after="")
    @example(before="", surrogate="\udfff", after="")
    @steady
    def test_r22_an_unpaired_surrogate_is_refused(self, before: str, surrogate: str, after: str) -> None:
        with pytest.raises(UnstorableText) as refusal:
            check_text(before + surrogate + after, field="body", limit=10**6)
        assert refusal.value.field == "body"

    @given(text=texts)
    @example(text="\ud7ff\ue000\U0010ffff")
    @steady
    def test_r22_any_other_text_is_kept_as_it_is(self, text: str) -> None:
        assume("\x00" not in text)
        assert check_text(text, field="f", limit=10**6, allow_blank=True) == text

    @given(limit=st.integers(1, 50), over=st.integers(1, 50))
    @steady
    def test_r22_the_limit_is_the_last_length_that_fits(self, limit: int, over: int) -> None:
        assert check_text("ä" * limit, field="f", limit=limit) == "ä" * limit
        with pytest.raises(TextTooLong) as refusal:
            check_text("ä" * (limit + over), field="f", limit=limit)
        assert (refusal.value.field, str(limit) in refusal.value.accepted) == ("f", True)

    @given(blank=st.text(" \t\r\n\u00a0\u2003\u3000"))
    @steady
    def test_r22_a_blank_is_a_value_only_where_none_is_needed(self, blank: str) -> None:
        assert check_text(blank, field="f", limit=1000, allow_blank=True) == blank
        with pytest.raises(InvalidField):
            check_text(blank, field="f", limit=1000)

    @pytest.mark.parametrize("unseen", ["\u200b", "\ufeff", "\u2060 \u200d", "\u00ad"])
    def test_r22_characters_that_nobody_sees_are_no_value(self, unseen: str) -> None:
        """The refusal promises `at least one visible character`."""
        with pytest.raises(InvalidField):
            check_text(unseen, field="f", limit=1000)


class TestFieldTypes:
    @given(
        text=st.text(st.characters() | st.sampled_from("\x00 \n\u200b\u0301\ud800a²é")),
        name=st.sampled_from(["line", "optional_line"]),
    )
    @example(text="\u0301", name="line")
    @example(text="a\n\x00", name="line")
    @example(text="a\n", name="line")
    @steady
    def test_r22_a_field_takes_what_the_check_takes(self, text: str, name: str) -> None:
        """Most texts are told by a pattern in place of the check."""
        try:
            wanted: str | type[Exception] = check_text(
                text, field=name, limit=limits.LINE, allow_blank=name not in NEEDED
            )
        except (InvalidField, TextTooLong, UnstorableText) as refusal:
            wanted = type(refusal)
        for validate in (Texts.model_validate, _by_json):
            if isinstance(wanted, str):
                assert getattr(validate({name: text}), name) == wanted
            elif validate is _by_json and any("\ud800" <= character <= "\udfff" for character in text):
                continue  # no JSON to pydantic
            else:
                with pytest.raises(wanted):
                    validate({name: text})

    @pytest.mark.parametrize("name", LIMITS)
    def test_r22_each_type_has_its_limit_and_names_its_field(self, name: str) -> None:
        limit = LIMITS[name]
        assert getattr(Texts.model_validate({name: "x" * limit}), name) == "x" * limit
        with pytest.raises(TextTooLong) as refusal:
            Texts.model_validate({name: "x" * (limit + 1)})
        assert refusal.value.field == name

    @pytest.mark.parametrize("name", LIMITS)
    @pytest.mark.parametrize("bad", ["a\x00b", "a\ud800"])
    def test_r22_each_type_refuses_what_postgres_cannot_hold(self, name: str, bad: str) -> None:
        with pytest.raises(UnstorableText) as refusal:
            Texts.model_validate({name: bad})
        assert refusal.value.field == name

    @pytest.mark.parametrize("name", LIMITS)
    def test_r22_blank_is_refused_exactly_where_a_value_is_needed(self, name: str) -> None:
        if name in NEEDED:
            with pytest.raises(InvalidField) as refusal:
                Texts.model_validate({name: " \n"})
            assert refusal.value.field == name
        else:
            assert getattr(Texts.model_validate({name: " \n"}), name) == " \n"

    @pytest.mark.parametrize("name", [*LIMITS, "id"])
    def test_r22_what_is_no_text_is_refused_by_name(self, name: str) -> None:
        with pytest.raises(ValidationError) as refusal:
            Texts.model_validate({name: 7})
        (error,) = refusal.value.errors()
        assert error["loc"] == (name,)
        assert error["type"] == "string_type" or name == "id"

    def test_r22_labels_are_counted_and_each_is_a_line(self) -> None:
        most = ("x",) * limits.LABELS_PER_FIELD
        assert Texts(labels=most).labels == most
        with pytest.raises(ValidationError):
            Texts(labels=(*most, "x"))
        for bad, error in (("\x00", UnstorableText), ("x" * (limits.LINE + 1), TextTooLong), (" ", InvalidField)):
            with pytest.raises(error) as refusal:
                Texts(labels=("fine", bad))
            assert refusal.value.field == "labels"


class TestId:
    @given(value=st.uuids())
    @steady
    def test_spellings_of_one_uuid_are_one_id(self, value: uuid.UUID) -> None:
        spellings = (str(value), str(value).upper(), value.hex, value.urn, f"{{{value}}}")
        assert {TypeAdapter[str](Id).validate_python(spelling) for spelling in spellings} == {str(value)}

    @pytest.mark.parametrize(
        "bad",
        ["", "1", "case-17", "../../etc", "0" * 31, "0" * 33, "g" * 32, "\x00" * 32, "0" * 100_000],
    )
    def test_r22_what_is_not_a_uuid_is_refused_by_name(self, bad: str) -> None:
        with pytest.raises(InvalidField) as refusal:
            Texts(id=bad)
        assert refusal.value.field == "id"

    @pytest.mark.parametrize("bad", ["+" + "0" * 31, "0_" * 15 + "00", "\uff10" * 32, " " + "0" * 31])
    def test_r22_what_only_int_would_read_is_not_a_uuid(self, bad: str) -> None:
        """`uuid.UUID` hands its argument to `int(..., 16)`, which takes signs, blanks and other scripts' digits."""
        with pytest.raises(InvalidField):
            Texts(id=bad)


class TestNormalise:
    @given(text=texts)
    @example(text="e\u0301 \r\n\r\u2000\n")
    @steady
    def test_normalising_again_changes_nothing(self, text: str) -> None:
        assert normalise(normalise(text)) == normalise(text)

    @given(text=texts)
    @steady
    def test_the_normal_spelling_is_nfc_with_lf_and_no_outer_blanks(self, text: str) -> None:
        result = normalise(text)
        assert unicodedata.is_normalized("NFC", result)
        assert "\r" not in result
        assert result == result.strip("\n")
        assert all(line == line.rstrip() for line in result.split("\n"))


class TestDigestOfOneText:
    """R7: a reviewer's decision holds for every spelling of the text that was seen, and for no other text."""

    @given(text=texts)
    @example(text="Zürich")
    @example(text="각\u1100\u1161")
    @steady
    def test_r7_nfc_and_nfd_are_one_text(self, text: str) -> None:
        assert digest(unicodedata.normalize("NFD", text)) == digest(unicodedata.normalize("NFC", text)) == digest(text)

    @given(lines=st.lists(visible, min_size=1), ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1))
    @steady
    def test_r7_line_ends_are_one_text(self, lines: list[str], ends: list[str]) -> None:
        mixed = "".join(line + ends[number % len(ends)] for number, line in enumerate(lines))
        assert digest(mixed) == digest("\n".join(lines))

    @given(lines=st.lists(visible, min_size=1), blanks=st.text(" \t\u00a0"), around=st.text("\n \t"))
    @steady
    def test_r7_blanks_at_line_ends_and_blank_lines_around_are_one_text(
        self, lines: list[str], blanks: str, around: str
    ) -> None:
        plain = "\n".join(lines)
        assert digest(f"{around}\n" + f"{blanks}\n".join(lines) + blanks + f"\n{around}") == digest(plain)

    @given(first=texts, second=texts)
    @steady
    def test_r7_texts_have_one_digest_only_when_their_normal_spellings_are_one(self, first: str, second: str) -> None:
        assert (digest(first) == digest(second)) == (normalise(first) == normalise(second))

    @given(text=visible)
    @example(text="sd-1598")
    @steady
    def test_r7_case_is_never_folded(self, text: str) -> None:
        assume(text.swapcase() != text)
        assume(normalise(text.swapcase()) != normalise(text))
        assert digest(text) != digest(text.swapcase())

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("register row", "register  row"),
            ("register row", "registerrow"),
            ("row", " row"),
            ("a\nb", "a\n\nb"),
            ("a\nb", "a b"),
            ("a\tb", "a b"),
            ("SD-1598", "sd-1598"),
            ("ﬁeld", "field"),
            ("x²", "x2"),
            ("paypal", "pаypal"),  # noqa: RUF001 - the second has a Cyrillic letter
        ],
    )
    def test_r7_inner_spaces_letters_and_lookalikes_differ(self, one: str, other: str) -> None:
        assert digest(one) != digest(other)


class TestDigestOfRecords:
    @given(content=st.dictionaries(st.text("abcdef", max_size=3), json_like, max_size=6), data=st.data())
    @steady
    def test_the_order_of_keys_does_not_matter(self, content: dict[str, Any], data: st.DataObject) -> None:
        keys = data.draw(st.permutations(list(content)))
        assert digest({key: content[key] for key in keys}) == digest(content)

    @given(one=json_like, other=json_like)
    @steady
    def test_two_contents_never_share_a_digest(self, one: Any, other: Any) -> None:
        def spelled(content: Any) -> str:
            if isinstance(content, str):
                return json.dumps(normalise(content))
            if isinstance(content, dict):
                return "{" + ",".join(f"{key!r}:{spelled(content[key])}" for key in sorted(content)) + "}"
            if isinstance(content, list):
                return "[" + ",".join(spelled(value) for value in content) + "]"
            return f"{type(content).__name__} {content!r}"

        assert (digest(one) == digest(other)) == (spelled(one) == spelled(other))

    @given(parts=st.lists(visible, min_size=2, max_size=4), cut=st.integers(1, 5))
    @example(parts=["ab", "c"], cut=1)
    @example(parts=['a","b', "c"], cut=3)
    @steady
    def test_parts_do_not_run_together(self, parts: list[str], cut: int) -> None:
        joined = parts[0] + parts[1]
        assume(cut < len(joined) and joined[:cut] != parts[0])
        assume([normalise(part) for part in (joined[:cut], joined[cut:])] != [normalise(part) for part in parts[:2]])
        assert digest(parts) != digest([joined[:cut], joined[cut:], *parts[2:]])
        assert digest(parts) != digest(["".join(parts)])

    @given(items=st.lists(visible, min_size=2, unique_by=normalise))
    @steady
    def test_the_order_of_a_list_matters(self, items: list[str]) -> None:
        assert digest(items) != digest(items[::-1])
        assert digest(items) == digest(tuple(items))

    @pytest.mark.parametrize(
        ("one", "other"),
        [(None, ""), (None, "null"), (True, 1), (1, "1"), ([], ""), ([], {}), ({"a": None}, {}), ([[]], [])],
    )
    def test_kinds_of_values_differ(self, one: Any, other: Any) -> None:
        assert digest(one) != digest(other)

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_a_number_that_json_does_not_have_is_refused(self, value: float) -> None:
        with pytest.raises(ValueError, match="JSON"):
            digest({"hours": value})

    def test_the_digest_of_a_known_text_never_changes(self) -> None:
        """Stored digests outlive releases: a changed rule would void every decision."""
        assert digest({"title": "Zürich ", "n": [1, None]}) == (
            "b03f61eef510e0a4c1949b1ae18ef0cc97ab23b1e3e501c908d9ca8d159d42fa"
        )
