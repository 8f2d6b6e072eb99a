"""What a new text changes about where knowledge applies, and which exceptions it drops (R10)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis
from contracts.labels import Outcome, ProofLevel, UnitKind
from contracts.scope_difference import ScopeRelation, scope_difference

steady = settings(deadline=None)
SAME, NARROWED, WIDENED, REPLACED = ScopeRelation


def unit(id_: str = "u1", text: str = "Insert the row.", **changes: Any) -> KnowledgeUnit:
    plain = {
        "id": id_,
        "kind": UnitKind.PRESCRIPTION,
        "text": text,
        "intent": "have it printed",
        "outcome": Outcome.SUCCEEDED,
        "proof_level": ProofLevel.VERIFIED,
    }
    return KnowledgeUnit.model_validate({**plain, **changes})


def draft(*units: KnowledgeUnit, **limits: Any) -> Draft:
    return Draft(
        title="A row is missing",
        domain_id="data",
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
        synopsis=RoutingSynopsis(request_type="printing", route="data", disposition="repaired", text="Repaired."),
        units=units or (unit(),),
        limits=Limits(**limits),
    )


@pytest.mark.parametrize(
    ("before", "after", "relation"),
    [
        ({}, {}, SAME),
        ({"products": ("Policy",)}, {"products": (" policy ",)}, SAME),
        ({"products": ("A", "B")}, {"products": ("B", "A", "a")}, SAME),
        ({}, {"products": ("A",)}, NARROWED),
        ({"products": ("A", "B")}, {"products": ("A",)}, NARROWED),
        ({"products": ("A",)}, {}, WIDENED),
        ({"products": ("A",)}, {"products": ("A", "B")}, WIDENED),
        ({"products": ("A",)}, {"products": ("B",)}, REPLACED),
        ({"products": ("A", "B")}, {"products": ("B", "C")}, REPLACED),
        ({"systems": ("A",)}, {}, WIDENED),
        ({"environments": ("A",)}, {"environments": ("B",)}, REPLACED),
        ({"version_from": "7.2"}, {"version_from": "7.10"}, NARROWED),
        ({"version_from": "7.10"}, {"version_from": "7.2"}, WIDENED),
        ({"version_from": "7.4"}, {"version_from": "7.4.0"}, SAME),
        ({"version_to": "7.2"}, {"version_to": "7.10"}, WIDENED),
        ({"version_to": "7.2"}, {}, WIDENED),
        ({}, {"version_from": "1"}, NARROWED),
        ({"version_from": "1", "version_to": "2"}, {"version_from": "3", "version_to": "4"}, REPLACED),
        ({"version_from": "1", "version_to": "4"}, {"version_from": "2", "version_to": "3"}, NARROWED),
        ({"version_from": "spring"}, {"version_from": "autumn"}, REPLACED),
        ({"schema_version": "3"}, {"schema_version": "4"}, REPLACED),
        ({"schema_version": "3"}, {}, WIDENED),
        ({"note": "Only with the cache."}, {"note": "Only with the cache. \n"}, SAME),
        ({"note": "Only with the cache."}, {}, WIDENED),
        ({"products": ("A",)}, {"systems": ("B",)}, REPLACED),
        ({"products": ("A",), "systems": ("S",)}, {"systems": ("S",)}, WIDENED),
    ],
)
def test_r10_each_limit_is_compared_as_it_is_applied(
    before: dict[str, Any], after: dict[str, Any], relation: ScopeRelation
) -> None:
    for found in (
        scope_difference(draft(**before), draft(**after)),
        scope_difference(draft(unit(limits=Limits(**before))), draft(unit(limits=Limits(**after)))),
    ):
        assert found.relation is relation
        assert bool(found.lines()) is (relation is not SAME)


def test_r10_every_limit_of_the_revision_is_told_and_of_units_what_changed() -> None:
    found = scope_difference(draft(products=("A",)), draft(unit(avoid_when="Never created."), products=("A",)))
    assert [(field.place, field.relation) for field in found.fields] == [
        ("limits.products", SAME), ("limits.systems", SAME), ("limits.environments", SAME), ("limits.version", SAME),
        ("limits.schema_version", SAME), ("limits.note", SAME), ("units[u1].avoid_when", NARROWED),
    ]  # fmt: skip
    assert found.lines() == ("units[u1].avoid_when narrowed: no limit -> 'Never created.'",)


class TestExceptions:
    EXCEPTION = unit("u2", "Not for renewals that were never created.")

    def test_r10_a_wider_restatement_that_drops_an_exception_says_so(self) -> None:
        """The trap: an old unit that said where not to do it is gone, and the limits are wider."""
        before = draft(unit(), self.EXCEPTION, products=("A",))
        after = draft(unit(), products=("A", "B"))
        found = scope_difference(before, after)
        assert found.relation is REPLACED
        assert [(each.place, each.text) for each in found.dropped] == [("units[u2]", self.EXCEPTION.text)]
        assert "no longer said, units[u2]: 'Not for renewals that were never created.'" in found.lines()

    def test_r10_an_exception_is_dropped_by_other_words_too(self) -> None:
        """The same trap with the limits untouched: the rule is restated without its exception, in place or anew."""
        before = draft(unit(), self.EXCEPTION)
        for restated in (unit(text="Always insert the row."), unit("u9", "Always insert the row.")):
            found = scope_difference(before, draft(restated))
            assert "units[u2]" in [each.place for each in found.dropped]

    @pytest.mark.parametrize("left", ["", "Never on Sundays."])
    def test_r10_a_condition_that_is_gone_or_reworded_is_listed(self, left: str) -> None:
        before = draft(unit(avoid_when="The letters were never created."), note="Not before the cut-over.")
        found = scope_difference(before, draft(unit(avoid_when=left), note=left))
        assert [each.place for each in found.dropped] == ["limits.note", "units[u1].avoid_when"]

    def test_r10_what_is_only_left_out_is_a_narrower_text(self) -> None:
        found = scope_difference(draft(unit(), self.EXCEPTION), draft(unit()))
        assert (found.relation, found.removed_units, found.dropped) == (NARROWED, ("u2",), ())
        assert found.lines() == ("unit u2 removed",)

    def test_r10_a_further_unit_changes_no_scope(self) -> None:
        assert scope_difference(draft(unit()), draft(unit(), self.EXCEPTION)).relation is SAME


names = st.lists(st.sampled_from(["A", "B", "C", " a"]), max_size=3).map(tuple)
versions = st.sampled_from(["", "1.2", "1.10", "2.0-rc1", "2", "spring"])
any_limits = st.builds(
    dict, products=names, systems=names, version_from=versions, version_to=versions, note=st.sampled_from(["", "n"])
)
units = st.lists(st.sampled_from(["u1", "u2", "u3"]), min_size=1, unique=True).flatmap(
    lambda ids: st.tuples(*(st.builds(unit, st.just(id_), avoid_when=st.sampled_from(["", "x"])) for id_ in ids))
)


def built(parts: tuple[KnowledgeUnit, ...], limits: dict[str, Any]) -> Draft:
    return draft(*parts, **limits)


drafts = st.builds(built, units, any_limits)
OPPOSITE = {SAME: SAME, NARROWED: WIDENED, WIDENED: NARROWED, REPLACED: REPLACED}


@given(one=drafts, other=drafts)
@steady
def test_r10_a_digest_tells_differences_apart_and_the_way_back_is_the_opposite(one: Draft, other: Draft) -> None:
    there, back = scope_difference(one, other), scope_difference(other, one)
    assert there == scope_difference(one, other)
    if not there.removed_units and not back.removed_units:
        assert back.relation is OPPOSITE[there.relation]
    assert (there.digest == back.digest) is (there.relation is SAME and back.relation is SAME)
    assert scope_difference(one, one).relation is SAME


@given(one=drafts, other=drafts)
@steady
def test_r10_whatever_the_old_text_excepted_is_kept_or_listed_or_nothing_got_wider(one: Draft, other: Draft) -> None:
    found = scope_difference(one, other)
    listed = {each.place for each in found.dropped}
    kept = {each.id: each for each in other.units}
    for each in one.units:
        if each.id in kept and each.avoid_when != kept[each.id].avoid_when and each.avoid_when:
            assert f"units[{each.id}].avoid_when" in listed
        if each.id not in kept:
            assert f"units[{each.id}]" in listed or found.relation is NARROWED
