"""Validity: limits against a request; whatever can't be compared is never ok (R17)."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.experience import KnowledgeUnit, Limits
from contracts.labels import Outcome, ProofLevel, UnitKind
from contracts.retrieval import RetrievalRequest, Validity, ValidityState
from contracts.validity import combine, judge, judge_limits, judge_units, version_key

OK, REVALIDATE, OUT = ValidityState
NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=4)
VERSIONS = st.tuples(NUMBERS, st.sampled_from(["", "-rc1", "-rc.2", "-beta", "-SNAPSHOT", " SP1", "-final"])).map(
    lambda drawn: ".".join(map(str, drawn[0])) + drawn[1]
)
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


def request(**stated: Any) -> RetrievalRequest:
    return RetrievalRequest(
        request_id=str(uuid.UUID(int=1)), profile_id="data-agent", purpose="support", objective="symptom", **stated
    )


def unit(**given: Any) -> KnowledgeUnit:
    return KnowledgeUnit(
        id="u1",
        kind=UnitKind.PRESCRIPTION,
        text="Insert the register row again.",
        intent="restore printing",
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
        **given,
    )


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("2.9", "2.10"),
        ("7.4-rc1", "7.4"),
        ("7.4-rc2", "7.4-rc10"),
        ("7.4-alpha", "7.4-beta"),
        ("7.4-SNAPSHOT", "7.4-alpha"),
        ("7.4", "7.4 SP1"),
        ("7.4", "7.4.1-rc1"),
        ("v7.4", "V7.5"),
        ("2024-05-01", "2024-11-01"),
    ],
)
def test_versions_have_a_natural_order(lower: str, higher: str) -> None:
    low, high = version_key(lower), version_key(higher)
    assert low is not None
    assert high is not None
    assert low < high


@pytest.mark.parametrize("same", [("7.4", "7.4.0"), ("7.4", " v7.4 "), ("7.4-rc1", "7.4rc1"), ("7.4+b5", "7.4")])
def test_one_version_in_two_spellings_is_one(same: tuple[str, str]) -> None:
    assert version_key(same[0]) == version_key(same[1]) is not None


@pytest.mark.parametrize("text", ["", "latest", "7.x", "7.4-foo", "7..4", "7.4 or 7.5", "\u0667.\u0664"])
def test_what_is_no_version_has_no_key(text: str) -> None:
    assert version_key(text) is None


@given(WORDS)
def test_version_key_is_total(text: str) -> None:
    version_key(text)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_bounds_are_inclusive_and_nothing_outside_is_ok(low: str, asked: str, high: str) -> None:
    state = judge_limits(Limits(version_from=low, version_to=high), request(version=asked)).state

    low_key, key, high_key = version_key(low), version_key(asked), version_key(high)
    assert low_key is not None
    assert key is not None
    assert high_key is not None
    assert state is (OK if low_key <= key <= high_key else REVALIDATE)


@given(VERSIONS)
def test_a_version_is_inside_its_own_bounds(version: str) -> None:
    assert judge_limits(Limits(version_from=version, version_to=version), request(version=version)).state is OK


@given(VERSIONS, VERSIONS, VERSIONS)
def test_a_wider_bound_never_takes_validity_away(low: str, asked: str, high: str) -> None:
    narrow = judge_limits(Limits(version_from=low, version_to=high), request(version=asked))
    wide = judge_limits(Limits(version_to=high), request(version=asked))
    assert narrow.state is not OK or wide.state is OK


@given(WORDS, WORDS, WORDS)
def test_a_version_that_cannot_be_compared_is_never_ok(low: str, asked: str, high: str) -> None:
    validity = judge_limits(Limits(version_from=low, version_to=high), request(version=asked))
    compared = all(version_key(text) is not None for text in (asked, *filter(str.strip, (low, high))))
    if (low.strip() or high.strip()) and not compared:
        assert validity.state is REVALIDATE
    assert bool(validity.reasons) is (validity.state is not OK)


@pytest.mark.parametrize(
    ("limits", "stated", "state", "reason"),
    [
        (Limits(products=("Polaris",)), {"product": "polaris "}, OK, ""),
        (Limits(products=("Polaris",)), {"product": "Vega"}, OUT, "product Vega is outside its limits: Polaris"),
        (Limits(products=("Polaris",)), {}, REVALIDATE, "product not stated; known for Polaris"),
        (Limits(systems=("register",)), {"system": "print"}, OUT, "system print is outside its limits: register"),
        (
            Limits(environments=("production",)),
            {"environment": "test"},
            REVALIDATE,
            "environment test is outside its limits: production",
        ),
        (
            Limits(version_from="7.2", version_to="7.4"),
            {"version": "7.5"},
            REVALIDATE,
            "version 7.5 is outside 7.2 to 7.4",
        ),
        (Limits(version_to="7.4"), {}, REVALIDATE, "version not stated; known for any to 7.4"),
        (Limits(version_from="7.2"), {"version": "7.x"}, REVALIDATE, "version 7.x can't be compared with 7.2 to any"),
        (
            Limits(schema_version="11"),
            {"schema_version": "12"},
            REVALIDATE,
            "schema version 12 is outside its limits: 11",
        ),
        (Limits(schema_version="11"), {}, REVALIDATE, "schema version not stated; known for 11"),
        (Limits(), {}, OK, ""),
    ],
)
def test_each_limit_gives_its_state_and_a_readable_reason(
    limits: Limits, stated: dict[str, str], state: ValidityState, reason: str
) -> None:
    assert judge_limits(limits, request(**stated)) == Validity(state=state, reasons=tuple(filter(None, [reason])))


def test_another_product_outweighs_a_version_in_doubt_and_both_are_said() -> None:
    validity = judge_limits(Limits(products=("Polaris",), version_to="7.4"), request(product="Vega", version="8"))
    assert validity.state is OUT
    assert len(validity.reasons) == 2


@given(st.sampled_from(ProofLevel), st.sampled_from([None, *ProofLevel]))
def test_weaker_proof_than_asked_for_is_revalidated(asked: ProofLevel, held: ProofLevel | None) -> None:
    validity = judge(Limits(), request(required_proof=asked), proof_level=held, dated=None)
    assert validity.state is (OK if (held or ProofLevel.NONE).rank >= asked.rank else REVALIDATE)


@given(st.timedeltas(timedelta(-9), timedelta(9)), st.booleans())
def test_older_text_than_asked_for_is_revalidated(age: timedelta, zone: bool) -> None:
    limit = datetime(2026, 1, 1, tzinfo=UTC if zone else None)
    dated = datetime(2026, 1, 1, tzinfo=UTC) - age
    validity = judge(Limits(), request(not_older_than=limit), proof_level=None, dated=dated)
    assert validity.state is (REVALIDATE if age > timedelta() else OK)


def test_an_unknown_date_is_revalidated_when_freshness_is_asked_for() -> None:
    asked = request(not_older_than=datetime(2026, 1, 1, tzinfo=UTC))
    assert judge(Limits(), asked, proof_level=None, dated=None).state is REVALIDATE


def test_a_prescription_with_conditions_is_not_applicable_by_similarity_r17() -> None:
    repair = unit(use_when="the renewal exists and its register row is absent", avoid_when="no renewal was created")

    validity = judge_units([repair], request())

    assert validity.state is REVALIDATE
    assert validity.reasons == (
        "u1: check that it holds now: the renewal exists and its register row is absent",
        "u1: check that it doesn't hold now: no renewal was created",
    )


def test_units_add_doubt_and_only_all_of_them_out_of_range_end_it() -> None:
    here, elsewhere = unit(), unit(limits=Limits(products=("Vega",)))
    asked = request(product="Polaris")

    assert judge_units([here], asked).state is OK
    assert judge_units([here, elsewhere], asked).state is REVALIDATE
    assert judge_units([elsewhere], asked).state is OUT


@given(st.lists(st.sampled_from(ValidityState)))
def test_combining_takes_the_most_doubtful_state(states: list[ValidityState]) -> None:
    combined = combine(*(Validity(state=state, reasons=(state,)) for state in states))
    order = [OK, REVALIDATE, OUT]
    assert combined.state is max(states, key=order.index, default=OK)
    assert combined.reasons == tuple(states)
