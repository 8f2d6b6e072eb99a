"""What a supersession leaves without a successor is said, and nothing else is (R10, R17)."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis
from contracts.labels import Outcome, ProofLevel, UnitKind
from contracts.retrieval import RetrievalRequest, ValidityState
from contracts.validity import judge_limits, lost_cover, stated_outside

VERSIONS = st.sampled_from(["", "1", "4", "7", "9", "unknown"])
NAMES = st.sampled_from(["", "atlas", "borealis"])
LIMITS = st.builds(
    Limits,
    products=st.sets(st.sampled_from(["atlas", "borealis"])).map(tuple),
    environments=st.sets(st.sampled_from(["test", "production"])).map(tuple),
    version_from=VERSIONS,
    version_to=VERSIONS,
)
REQUESTS = st.fixed_dictionaries(
    {"product": NAMES, "environment": st.sampled_from(["", "test", "stage"]), "version": VERSIONS}
)


def request(**stated: Any) -> RetrievalRequest:
    return RetrievalRequest(
        request_id=str(uuid.UUID(int=1)), profile_id="data-agent", purpose="support", objective="symptom", **stated
    )


def draft(limits: Limits, *of_units: Limits) -> Draft:
    units = tuple(
        KnowledgeUnit(
            id=f"u{number}",
            kind=UnitKind.PROPOSITION,
            text="It holds.",
            concepts=("it",),
            limits=each,
            outcome=Outcome.SUCCEEDED,
            proof_level=ProofLevel.EXECUTED,
        )
        for number, each in enumerate(of_units or (Limits(),))
    )
    synopsis = RoutingSynopsis(request_type="question", route="data", disposition="answered", text="It holds.")
    return Draft(
        title="It",
        domain_id="data",
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.EXECUTED,
        synopsis=synopsis,
        units=units,
        limits=limits,
    )


NEW = Limits(products=("Atlas",), version_from="7", version_to="9")
OLD = Limits(products=("Atlas", "Borealis"), version_to="6")


@pytest.mark.parametrize(
    ("stated", "lost"),
    [
        ({"product": "atlas", "version": "4"}, ("version 4",)),
        ({"product": "borealis", "version": "4"}, ("product borealis", "version 4")),
        ({"product": "atlas", "version": "8"}, ()),  # the new one covers it
        ({"product": "atlas", "version": "12"}, ()),  # nothing ever did
        ({"product": "corona", "version": "4"}, ()),
        ({"product": "atlas"}, ()),  # not stated: nobody can say
        ({"product": "atlas", "version": "latest"}, ()),  # can't be compared with either
    ],
)
def test_r10_what_only_the_superseded_one_covered_is_lost(stated: dict[str, str], lost: tuple[str, ...]) -> None:
    assert lost_cover(draft(NEW), OLD, request(**stated)) == lost


def test_r10_a_draft_covers_no_more_than_its_units() -> None:
    of_units = (Limits(environments=("production",)), Limits(environments=("stage",)))
    assert lost_cover(draft(Limits(), *of_units), Limits(), request(environment="test")) == ("environment test",)
    assert lost_cover(draft(Limits(), Limits(), *of_units), Limits(), request(environment="test")) == ()


@given(new=LIMITS, old=LIMITS, stated=REQUESTS)
def test_r10_something_is_lost_only_where_the_new_one_is_in_doubt(
    new: Limits, old: Limits, stated: dict[str, str]
) -> None:
    asked = request(**stated)
    if lost := lost_cover(draft(new), old, asked):
        assert judge_limits(new, asked).state is not ValidityState.OK
        assert lost == stated_outside(new, asked)
        assert stated_outside(old, asked) == ()


@given(limits=LIMITS, stated=REQUESTS)
def test_r10_nothing_is_lost_between_equal_limits(limits: Limits, stated: dict[str, str]) -> None:
    assert lost_cover(draft(limits), limits, request(**stated)) == ()
