"""Near-duplicates and contradictions: by rules that anybody can follow, listed and never resolved."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.experience import Limits, RoutingSynopsis
from contracts.labels import Outcome, UnitKind
from contracts.resemblance import common_words, contradictions, likeness_reasons, scopes_overlap
from tests.unit.test_admission import draft, failed, unit

_VERSIONS = st.sampled_from(["", "7.2", "7.4", "8.0", "spring"])
_LABELS = st.lists(st.sampled_from(["P", "p ", "Q"]), max_size=2).map(tuple)
_LIMITS = st.builds(
    Limits,
    products=_LABELS,
    environments=_LABELS,
    version_from=_VERSIONS,
    version_to=_VERSIONS,
    schema_version=_VERSIONS,
)
ADVICE = draft(unit(kind=UnitKind.PRESCRIPTION, intent="Print the letter again"))
FAILED = failed(unit("f1", outcome=Outcome.FAILED, intent="print the  LETTER again", concepts=("queue",)))


def test_a_near_duplicate_says_why() -> None:
    same = draft()
    assert likeness_reasons(same, same, 1.0)[0] == "the same text"
    assert "the same title" in likeness_reasons(draft(title="missing ROW"), FAILED, None)
    other = draft(
        unit(text="Prices were wrong."),
        title="Tariff",
        synopsis=RoutingSynopsis(request_type="x", route="y", disposition="z", text="Nothing alike here."),
    )
    assert likeness_reasons(same, other, 0.2) == ()
    assert likeness_reasons(same, other, 0.9) == ("title and synopsis mean nearly the same (0.90)",)
    assert likeness_reasons(same, other, None) == ()


def test_common_words_are_the_same_from_both_sides() -> None:
    assert common_words(draft(), draft()) == 1.0
    assert common_words(ADVICE, FAILED) == common_words(FAILED, ADVICE)


def test_a_prescription_is_held_against_what_did_not_succeed_with_the_same_intent() -> None:
    (reason,) = contradictions(ADVICE, FAILED)
    assert "unit u1 against unit f1" in reason
    assert "succeeded here, failed there" in reason
    assert len(contradictions(FAILED, ADVICE)) == 1
    unverified = draft(unit(outcome=Outcome.UNVERIFIED, intent="Print the letter again"), outcome=Outcome.UNVERIFIED)
    assert "prescribes" in contradictions(ADVICE, unverified)[0]


def test_the_same_concept_with_another_outcome_is_a_contradiction() -> None:
    opposed = failed(unit("x", outcome=Outcome.FAILED, concepts=("Register", "queue")))
    assert "the same concept (register)" in contradictions(draft(), opposed)[0]
    assert contradictions(draft(), draft(unit("y", text="Another thing."))) == ()
    assert contradictions(draft(), failed(unit("x", outcome=Outcome.FAILED, concepts=("queue",)))) == ()
    unverified = draft(unit("x", outcome=Outcome.UNVERIFIED), outcome=Outcome.UNVERIFIED)
    assert contradictions(draft(), unverified) == ()


@pytest.mark.parametrize(
    "limits",
    [Limits(products=("Q",)), Limits(version_from="8.0"), Limits(environments=("test",)), Limits(schema_version="9")],
)
def test_what_applies_elsewhere_contradicts_nothing(limits: Limits) -> None:
    """R17: neither by the limits of the revision, nor of the unit, nor of one against the other."""
    here = Limits(products=("P",), version_to="7.4", environments=("production",), schema_version="8")
    opposed: dict[str, Any] = {"outcome": Outcome.FAILED, "concepts": ("register",)}
    mine = draft(limits=here)
    assert contradictions(mine, failed(unit(**opposed)))
    assert contradictions(mine, failed(unit(**opposed), limits=limits)) == ()
    assert contradictions(mine, failed(unit(**opposed, limits=limits))) == ()
    assert contradictions(draft(unit(limits=here)), failed(unit(**opposed, limits=limits))) == ()


@given(_LIMITS, _LIMITS)
def test_overlap_is_mutual_and_everything_overlaps_with_itself_or_no_limit(one: Limits, other: Limits) -> None:
    assert scopes_overlap(one, other) == scopes_overlap(other, one)
    assert scopes_overlap(one, Limits())
    narrowed = one.model_copy(update={"version_from": "", "version_to": ""})
    assert scopes_overlap(narrowed, narrowed)
