"""Rules of intake, with generated examples (R1, R22)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import limits
from contracts.arrivals import (
    GAPS_LISTED,
    REPLACEMENT,
    Standing,
    canonical,
    case_state_of,
    clean,
    disposition_of,
    gaps,
    kept_body,
    origin_key,
)
from contracts.cases import Disposition, Origin
from contracts.errors import InvalidField, TextTooLong
from contracts.labels import CaseState

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TEXTS = st.text(st.characters() | st.sampled_from("\x00\ud800\udfff"), max_size=12)
STORABLE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def characters(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def leaves(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(leaves, value.values())) + len(value)
    return sum(map(leaves, value)) if isinstance(value, list) else 1


class TestCleaning:
    @given(st.dictionaries(TEXTS, VALUES, max_size=5))
    def test_what_is_cleaned_can_be_stored_and_loses_nothing(self, posted: dict[str, Any]) -> None:
        cleaned, changes = clean(posted)
        characters(cleaned).encode()
        assert "\x00" not in "".join(map(str, cleaned)) + json.dumps(cleaned, ensure_ascii=True).replace("\\\\", "")
        assert "\\u0000" not in json.dumps(cleaned).replace("\\\\", "")
        assert leaves(cleaned) == leaves(posted)
        again, nothing = clean(cleaned)
        assert (again, nothing) == (cleaned, ())
        assert bool(changes) == (cleaned != posted)

    @given(st.dictionaries(STORABLE, STORABLE))
    def test_storable_text_stays_as_it_is(self, posted: dict[str, Any]) -> None:
        assert clean(posted) == (posted, ())

    def test_each_change_is_told_with_its_place(self) -> None:
        posted: dict[str, Any] = {
            "body": "a\x00\ud83db",
            "attributes": {"k\x00": [{"n": "\x00"}]},
            "delivery_id": "d\x00",
        }
        cleaned, changes = clean(posted)
        assert cleaned["body"] == f"a{REPLACEMENT}{REPLACEMENT}b"
        assert cleaned["delivery_id"] == "d\x00"  # an id is refused, never rewritten
        assert [(change.path, change.nul, change.surrogates) for change in changes] == [
            ("body", 1, 1), ("attributes", 1, 0), (f"attributes.k{REPLACEMENT}.0.n", 1, 0),
        ]  # fmt: skip

    def test_the_text_that_only_looks_like_an_escape_is_kept(self) -> None:
        assert clean({"body": "\\u0000"}) == ({"body": "\\u0000"}, ())

    def test_keys_that_would_meet_stay_apart(self) -> None:
        cleaned, _ = clean({"attributes": {"a\x00": 1, "a\ud800": 2, f"a{REPLACEMENT}": 3}})
        assert isinstance(cleaned["attributes"], dict)
        assert sorted(cleaned["attributes"].values(), key=str) == [1, 2, 3]

    @pytest.mark.parametrize("value", [float("inf"), float("nan"), json.loads("[" * 60 + "]" * 60)])
    def test_what_json_or_the_record_has_no_form_for_is_refused(self, value: Any) -> None:
        with pytest.raises(InvalidField) as refusal:
            clean({"attributes": {"a": value}})
        assert refusal.value.field.startswith("attributes.a")


class TestStates:
    @pytest.mark.parametrize(
        "word", ["resolved", "Closed", "DONE", "completed", "fixed", "solved", "cancelled", " resolved "]
    )
    def test_finished_words_complete(self, word: str) -> None:
        found = case_state_of(word)
        assert found is not None
        assert found.state is CaseState.COMPLETED

    @pytest.mark.parametrize(
        ("word", "waiting_on"),
        [
            ("Awaiting User Info", "user info"), ("waiting_for_customer", "customer"), ("pending vendor", "vendor"),
            ("on hold", "on hold"), ("Pending", "pending"), ("waiting-on-owner", "owner"),
        ],
    )  # fmt: skip
    def test_waiting_words_say_on_whom(self, word: str, waiting_on: str) -> None:
        found = case_state_of(word)
        assert found is not None
        assert (found.state, found.waiting_on) == (CaseState.WAITING, waiting_on)

    @pytest.mark.parametrize("word", ["new", "Active", "in_progress", "not resolved", "pendingx", "?"])
    def test_everything_else_is_open(self, word: str) -> None:
        found = case_state_of(word)
        assert found is not None
        assert found.state is CaseState.OPEN

    def test_no_word_says_nothing_and_reopened_reopens(self) -> None:
        assert case_state_of(" ") is None
        reopened = case_state_of("Reopened")
        assert reopened is not None
        assert reopened.state is CaseState.REOPENED

    @given(st.text(max_size=limits.LINE))
    def test_a_waiting_case_always_says_on_whom(self, word: str) -> None:
        found = case_state_of(word)
        assert found is None or (found.state is CaseState.WAITING) == bool(found.waiting_on)


def standing(**given: Any) -> Standing:
    values: dict[str, Any] = {"source_revision": 5, "content_at": NOON, "state": CaseState.OPEN, "versions": 0}
    return Standing(**{**values, **given})


class TestOrder:
    @given(st.integers(0, 10), st.integers(-100, 100))
    def test_a_higher_revision_wins_whatever_the_times(self, revision: int, seconds: int) -> None:
        found, is_assumed = disposition_of(standing(), revision, NOON + timedelta(seconds=seconds), None)
        assert found is (Disposition.ATTACHED if revision > 5 else Disposition.LATE)
        assert not is_assumed

    def test_other_content_of_a_known_revision_is_a_conflict(self) -> None:
        assert disposition_of(standing(versions=1), 9, NOON, None) == (Disposition.CONFLICT, False)

    @given(st.integers(-100, 100).filter(bool), st.sampled_from([None, *CaseState]))
    def test_without_a_revision_the_later_time_wins(self, seconds: int, state: CaseState | None) -> None:
        found = disposition_of(standing(), None, NOON + timedelta(seconds=seconds), state)
        assert found == (Disposition.ATTACHED if seconds > 0 else Disposition.LATE, False)

    @pytest.mark.parametrize(
        ("stands", "comes", "expected"),
        [
            (CaseState.COMPLETED, CaseState.OPEN, Disposition.LATE),
            (CaseState.COMPLETED, CaseState.REOPENED, Disposition.LATE),
            (CaseState.COMPLETED, CaseState.COMPLETED, Disposition.ATTACHED),
            (CaseState.COMPLETED, None, Disposition.ATTACHED),
            (CaseState.OPEN, CaseState.COMPLETED, Disposition.ATTACHED),
            (CaseState.OPEN, CaseState.WAITING, Disposition.ATTACHED),
        ],
    )
    def test_at_equal_times_a_finished_state_stays_and_the_order_is_assumed(
        self, stands: CaseState, comes: CaseState | None, expected: Disposition
    ) -> None:
        assert disposition_of(standing(state=stands), None, NOON, comes) == (expected, True)


class TestGaps:
    @given(st.sets(st.integers(0, 300)))
    def test_missing_and_known_make_up_the_range(self, known: set[int]) -> None:
        found = gaps(known)
        whole = set(range(min(known), max(known) + 1)) if known else set[int]()
        assert set(found.missing) == whole - known
        assert found.count == len(found.missing)

    def test_a_wide_gap_is_counted_and_not_listed_whole(self) -> None:
        found = gaps([0, 2**31 - 1])
        assert (found.count, len(found.missing), found.missing[:2]) == (2**31 - 2, GAPS_LISTED, (1, 2))


class TestIdentity:
    def test_parts_can_not_run_together(self) -> None:
        names = ["a", "a:b", "b", "", '"', "a,b", ","]
        origins = [
            Origin(tenant_id=f"t{one}", source=f"s{two}", external_id=f"x{three}")
            for one in names for two in names for three in names
        ]  # fmt: skip
        assert len({origin_key(origin) for origin in origins}) == len(origins)

    def test_a_canonical_spelling_over_the_limit_is_refused(self) -> None:
        origin = Origin(tenant_id="t", source="s", external_id="\u0958" * limits.EXTERNAL_ID)
        with pytest.raises(TextTooLong):
            canonical(origin)


@given(st.text(max_size=50), st.integers(0, 3))
def test_a_kept_body_says_how_much_there_was(text: str, times: int) -> None:
    body = text * times
    kept = kept_body(body)
    assert (kept.text, kept.bytes, kept.is_whole) == (body, len(body.encode()), True)
    over = kept_body("é" * (limits.BODY + 1))
    assert (len(over.text), over.bytes, over.is_whole) == (limits.BODY, 2 * limits.BODY + 2, False)
