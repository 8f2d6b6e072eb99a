"""From records to index entries: a pure copy of approved fields and references (R5, R9, R10)."""

import uuid
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from contracts.cases import Case, CaseFacts, Origin
from contracts.concept_links import links_of_draft
from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis
from contracts.identifiers import keys_of
from contracts.index import FILTERED_FIELDS, UNLIMITED, Payload
from contracts.keys import label_key
from contracts.labels import CandidateKind, CaseState, Collection, Outcome, ProofLevel, UnitKind
from contracts.projection import Entry, case_source, experience_source, point_id, unit_text

steady = settings(deadline=None)
KEY, TENANT, HASH = "9d3d8a52-0a35-4d5a-8f3e-7f1f3c7b0001", "acme", "0" * 64
OPENED = datetime(2026, 3, 1, tzinfo=UTC)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10)
paragraphs = st.lists(words, min_size=1, max_size=4).map(" ".join)


def unit(**changes: Any) -> KnowledgeUnit:
    plain = {
        "id": "u1",
        "kind": UnitKind.PROPOSITION,
        "text": "UNITTEXT the register row was missing",
        "concepts": ("register",),
        "intent": "UNITINTENT",
        "use_when": "UNITUSE",
        "avoid_when": "UNITAVOID",
        "outcome": Outcome.SUCCEEDED,
        "proof_level": ProofLevel.REPORTED,
    }
    return KnowledgeUnit.model_validate({**plain, **changes})


def draft(**changes: Any) -> Draft:
    plain = {
        "title": "Document printed",
        "domain_id": "data",
        "outcome": Outcome.SUCCEEDED,
        "proof_level": ProofLevel.EXECUTED,
        "synopsis": RoutingSynopsis(
            request_type="printing",
            symptom_tags=("no document", "empty page"),
            product="Household",
            system="print server",
            route="data investigation",
            disposition="verified document",
            text="A printing request went to data.",
        ),
        "units": (unit(),),
        "limits": Limits(products=("Motor", "Household"), systems=("register",), environments=("production",)),
    }
    return Draft.model_validate({**plain, **changes})


def case(**changes: Any) -> Case:
    plain = {
        "id": KEY,
        "origin": Origin(tenant_id=TENANT, source="desk", external_id="SD-1598"),
        "title": "No document",
        "body": "The page stays empty.",
        "state": CaseState.OPEN,
        "facts": CaseFacts(domain_id="data", request_type="printing", product="Household", symptom_tags=("empty",)),
        "opened_at": OPENED,
        "revision": 3,
    }
    return Case.model_validate({**plain, **changes})


@st.composite
def drafts(make: st.DrawFn) -> Draft:
    outcome = make(st.sampled_from(Outcome))
    labels = st.lists(words, max_size=3)
    optional = st.just("") | paragraphs
    units = [
        unit(
            id=f"u{number}",
            text=make(paragraphs),
            concepts=make(st.lists(words, min_size=1, max_size=3)),
            intent=make(optional),
            use_when=make(optional),
            avoid_when=make(optional),
            outcome=outcome,
        )
        for number in range(make(st.integers(1, 3)))
    ]
    return draft(
        title=make(paragraphs),
        domain_id=make(words),
        outcome=outcome,
        synopsis=RoutingSynopsis(
            request_type=make(words),
            symptom_tags=tuple(make(labels)),
            product=make(optional),
            system=make(optional),
            route=make(paragraphs),
            disposition=make(paragraphs),
            text=make(paragraphs),
        ),
        units=units,
        limits=Limits(products=tuple(make(labels)), systems=tuple(make(labels)), environments=tuple(make(labels))),
    )


def strings(content: Any) -> set[str]:
    if isinstance(content, str):
        return {str(content)}
    if isinstance(content, dict):
        return {text for value in content.values() for text in strings(value)}
    if isinstance(content, (list, tuple)):
        return {text for value in content for text in strings(value)}
    return set()


def entries(of: Draft) -> dict[Collection, Entry]:
    return {entry.collection: entry for entry in experience_source(KEY, TENANT, 2, HASH, of).entries}


class TestPointIds:
    @given(
        first=st.tuples(st.sampled_from(Collection), keys, st.integers(0, 10**6)),
        second=st.tuples(st.sampled_from(Collection), keys, st.integers(0, 10**6)),
    )
    @example(first=(Collection.CASES, "case/1", 23), second=(Collection.CASES, "case/12", 3))
    @example(first=(Collection.CASES, "a", 1), second=(Collection.CASES, "a\x00", 1))
    @example(first=(Collection.CASES, "é", 1), second=(Collection.CASES, "e\u0301", 1))
    @steady
    def test_r9_different_entries_have_different_ids(
        self, first: tuple[Collection, str, int], second: tuple[Collection, str, int]
    ) -> None:
        assert (point_id(*first) == point_id(*second)) == (first == second)

    def test_r9_keys_that_look_like_parts_of_an_id_stay_apart(self) -> None:
        awkward = ["", "1", "1:1", "11", "case/1", "case/1:1", "case/1/1", "7:routing", "routing", "1:17:routing0:1:1"]
        awkward += [f"{key}{tail}" for key in awkward for tail in ("0", ":", "1:0", " ")]
        spelled = [
            (collection, key, revision) for collection in Collection for key in set(awkward) for revision in (0, 1, 11)
        ]
        assert len({point_id(*parts) for parts in spelled}) == len(spelled)

    @given(key=keys, revision=st.integers(0, 10**9))
    @steady
    def test_r9_an_id_is_a_uuid_and_repeats(self, key: str, revision: int) -> None:
        made = point_id(Collection.ROUTING, key, revision)
        assert str(uuid.UUID(made)) == made
        assert made == point_id(Collection.ROUTING, key, revision)


class TestExperience:
    @given(of=drafts(), revision=st.integers(1, 99))
    @steady
    def test_r9_the_same_draft_gives_the_same_entries(self, of: Draft, revision: int) -> None:
        again = Draft.model_validate_json(of.model_dump_json())
        made = experience_source(KEY, TENANT, revision, HASH, of)
        assert made == experience_source(KEY, TENANT, revision, HASH, again)
        assert [entry.payload.digest() for entry in made.entries] == [
            entry.payload.digest() for entry in experience_source(KEY, TENANT, revision, HASH, again).entries
        ]

    def test_one_entry_for_each_collection_under_the_key_and_revision(self) -> None:
        made = experience_source(KEY, TENANT, 2, HASH, draft())
        assert (made.key, made.revision, made.content_hash) == (f"experience/{KEY}", 2, HASH)
        assert [entry.collection for entry in made.entries] == [Collection.ROUTING, Collection.DETAIL]
        assert set(made.collections) == {Collection.ROUTING, Collection.DETAIL}
        for entry in made.entries:
            assert entry.id == point_id(entry.collection, made.key, 2)
            assert (entry.payload.target, entry.payload.revision, entry.payload.content_hash) == (made.key, 2, HASH)

    def test_r10_what_is_not_current_has_no_entries_and_names_where_it_had_some(self) -> None:
        made = experience_source(KEY, TENANT, 2, HASH, None)
        assert made.entries == ()
        assert set(made.collections) == {Collection.ROUTING, Collection.DETAIL}
        assert (made.key, made.revision) == (f"experience/{KEY}", 2)

    @given(of=drafts())
    @steady
    def test_r5_every_entry_carries_outcome_and_proof_level_of_the_draft(self, of: Draft) -> None:
        for entry in entries(of).values():
            assert (entry.payload.outcome, entry.payload.proof_level) == (of.outcome, of.proof_level)
            assert (entry.payload.kind, entry.payload.tenant) == (CandidateKind.EXPERIENCE, TENANT)

    @pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.REJECTED_ROUTE, Outcome.UNVERIFIED])
    def test_r5_a_unit_that_did_not_succeed_says_so_inside_a_success(self, outcome: Outcome) -> None:
        """A succeeded revision may tell what failed on the way; its text must not read as a part of the fix."""
        told = unit(text="Restart the print server.", outcome=outcome)
        assert outcome.value.replace("_", " ") in unit_text(told).lower().replace("_", " ")

    def test_the_routing_entry_has_no_unit_text(self) -> None:
        """Root reads synopses, without technical detail (spec section 3)."""
        routing, detail = entries(draft())[Collection.ROUTING], entries(draft())[Collection.DETAIL]
        for hidden in ("UNITTEXT", "UNITINTENT", "UNITUSE", "UNITAVOID"):
            assert hidden not in f"{routing.title}\n{routing.body}\n{routing.payload.model_dump_json()}"
            assert hidden in detail.body

    @given(of=drafts(), data=st.data())
    @steady
    def test_another_unit_text_leaves_the_routing_entry_alone(self, of: Draft, data: st.DataObject) -> None:
        other = data.draw(paragraphs)
        assume(other != of.units[0].text)
        altered = of.model_copy(update={"units": (of.units[0].model_copy(update={"text": other}), *of.units[1:])})
        assert entries(altered)[Collection.ROUTING] == entries(of)[Collection.ROUTING]
        assert entries(altered)[Collection.DETAIL].body != entries(of)[Collection.DETAIL].body

    @given(of=drafts())
    @steady
    def test_r9_a_payload_holds_nothing_but_the_draft_and_the_references(self, of: Draft) -> None:
        approved = strings(of.model_dump(mode="json")) | set(keys_of([of.title])) | set(links_of_draft(of))
        approved |= set(map(label_key, (*of.limits.products, *of.limits.systems)))
        called = keys_of([f"experience/{KEY}", KEY])
        references = {f"experience/{KEY}", *called, TENANT, HASH, CandidateKind.EXPERIENCE.value, "current", ""}
        references |= {UNLIMITED, "yes", "no"}
        for entry in entries(of).values():
            assert strings(entry.payload.model_dump(mode="json")) <= approved | references
            assert entry.title == of.title

    @given(of=drafts())
    @steady
    def test_r9_a_body_is_made_of_approved_lines_only(self, of: Draft) -> None:
        synopsis = of.synopsis
        routing = {
            synopsis.text,
            synopsis.request_type,
            " ".join(synopsis.symptom_tags),
            synopsis.route,
            synopsis.disposition,
        }
        assert set(entries(of)[Collection.ROUTING].body.split("\n")) == routing - {""}
        told = {synopsis.text} | {line for part in of.units for line in unit_text(part).split("\n")}
        assert set(entries(of)[Collection.DETAIL].body.split("\n")) == told

    def test_r9_a_unit_is_told_with_its_conditions(self) -> None:
        assert unit_text(unit(text="Add the row.")) == (
            "Add the row.\nIntent: UNITINTENT\nUse when: UNITUSE\nAvoid when: UNITAVOID"
        )
        assert unit_text(unit(text="Add the row.", intent="", use_when="", avoid_when="")) == "Add the row."

    def test_filters_see_the_union_of_synopsis_and_limits_once_each(self) -> None:
        payload = entries(draft(units=(unit(concepts=("b", "a")), unit(id="u2", concepts=("a", "c")))))[
            Collection.DETAIL
        ].payload
        assert payload.products == ("Motor", "Household")
        assert payload.systems == ("register", "print server")
        assert payload.environments == ("production",)
        assert payload.concepts == ("b", "a", "c")
        assert payload.symptom_tags == ("no document", "empty page")
        assert (payload.request_type, payload.domain, payload.state) == ("printing", "data", "current")


class TestCases:
    def test_r4_a_case_goes_into_the_tenant_s_partition_only(self) -> None:
        made = case_source(case())
        assert made.collections == (Collection.CASES,)
        assert [entry.collection for entry in made.entries] == [Collection.CASES]
        payload = made.entries[0].payload
        assert (payload.tenant, payload.case_id, payload.target) == (TENANT, KEY, f"case/{KEY}")
        assert (payload.kind, payload.outcome, payload.proof_level) == (CandidateKind.CASE, None, None)

    @pytest.mark.parametrize("state", CaseState)
    def test_r3_every_live_state_is_projected_as_it_is(self, state: CaseState) -> None:
        (entry,) = case_source(case(state=state)).entries
        assert entry.payload.state == state.value
        assert (entry.title, entry.body) == ("No document", "The page stays empty.")

    def test_a_case_without_facts_is_projected_too(self) -> None:
        payload = case_source(case(facts=CaseFacts())).entries[0].payload
        assert (payload.domain, payload.products, payload.systems, payload.environments) == ("", (), (), ())

    def test_r9_the_content_hash_covers_what_is_projected(self) -> None:
        variants = [
            case(),
            case(title="Another"),
            case(body="Another"),
            case(state=CaseState.WAITING),
            case(facts=CaseFacts(domain_id="data")),
            case(title="No documentThe page", body=" stays empty."),  # the same letters, cut elsewhere
        ]
        for one, other in combinations(variants, 2):
            assert case_source(one).content_hash != case_source(other).content_hash
        assert case_source(case()).content_hash == case_source(case(waiting_on="owner")).content_hash

    def test_r4_one_external_id_in_two_tenants_is_two_entries(self) -> None:
        other = "9d3d8a52-0a35-4d5a-8f3e-7f1f3c7b0002"
        here = case_source(case())
        there = case_source(case(id=other, origin=Origin(tenant_id="birch", source="desk", external_id="SD-1598")))
        assert here.entries[0].id != there.entries[0].id
        assert (here.entries[0].payload.tenant, there.entries[0].payload.tenant) == ("acme", "birch")


def test_every_filtered_field_is_a_payload_field() -> None:
    assert set(FILTERED_FIELDS) <= set(Payload.model_fields)
    assert FILTERED_FIELDS.keys() >= {"tenant", "case_id", "state", "outcome", "proof_level", "target"}
