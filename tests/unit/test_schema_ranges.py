"""Schema limits as ranges, letters after a version, a synopsis' product, and freshness on one day (R17)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.client import CaseloreClient
from api.mcp.candidates import limits_line as told_to_a_model
from api.mcp.proposing import PROPOSE_EXPERIENCE, ProposeExperience
from api.pages import draft_form
from api.pages.forms import Posted
from api.pages.render import environment
from api.pages.words import field_words
from contracts.broadening import Broadening, broadened
from contracts.casefile import parse_line
from contracts.errors import InvalidCaseFile
from contracts.experience import Limits, Proposal
from contracts.labels import Collection
from contracts.resemblance import scopes_overlap
from contracts.retrieval import RetrievalRequest, ValidityState
from contracts.scope_difference import ScopeRelation, scope_difference
from contracts.strategies import DATA_INVESTIGATION, DATA_INVESTIGATION_3, ROOT_CLASSIFICATION, ROOT_CLASSIFICATION_2
from contracts.strategy import Strategy
from contracts.validity import (
    is_same_schema,
    judge,
    judge_limits,
    judge_synopsis,
    lost_limits,
    stated_outside,
    version_key,
)
from contracts.widening import RequestFact
from deploy.commands.drafts import limits_line as told_on_a_terminal
from tests.unit.test_retrieval_engine import Memory, draft, experience
from tests.unit.test_validity import VERSIONS, request
from tests.unit.test_validity import WORDS as ANY_WORDS

OK, REVALIDATE, _ = ValidityState
RANGE = Limits(schema_from="9", schema_to="v12")
PHASED = st.tuples(st.integers(0, 20), st.sampled_from(["a1", "b2", "-alpha", "rc1", "m2", " p1", "-a", "u-3"]))


class TestSchemas:
    @given(VERSIONS, VERSIONS, VERSIONS)
    def test_r17_a_range_of_schemas_is_judged_as_one_of_versions(self, low: str, asked: str, high: str) -> None:
        schemas = judge_limits(Limits(schema_from=low, schema_to=high), request(schema_version=asked))
        versions = judge_limits(Limits(version_from=low, version_to=high), request(version=asked))
        assert schemas.state is versions.state
        assert schemas.reasons == tuple(f"schema {reason}" for reason in versions.reasons)

    @given(ANY_WORDS, ANY_WORDS, ANY_WORDS)
    def test_r17_what_cannot_be_compared_with_a_range_is_never_ok(self, low: str, asked: str, high: str) -> None:
        state = judge_limits(Limits(schema_from=low, schema_to=high), request(schema_version=asked)).state
        if low.strip() or high.strip():
            keys = [version_key(text) for text in (asked, *filter(str.strip, (low, high)))]
            assert None not in keys or state is REVALIDATE

    @pytest.mark.parametrize("stated", ["11", "v11", "011", "11.0", " 11 "])
    def test_r17_an_exact_schema_is_one_version_in_every_spelling(self, stated: str) -> None:
        assert judge_limits(Limits(schema_version="11"), request(schema_version=stated)).state is OK

    @pytest.mark.parametrize(
        ("exact", "stated", "state"),
        [
            ("print-3", " PRINT-3", OK),
            ("print-3", "3", REVALIDATE),
            ("11-13", "12", REVALIDATE),
            ("11", "", REVALIDATE),
        ],
    )
    def test_r17_an_exact_schema_without_order_is_a_label(self, exact: str, stated: str, state: ValidityState) -> None:
        assert judge_limits(Limits(schema_version=exact), request(schema_version=stated)).state is state

    @given(VERSIONS, VERSIONS)
    def test_r17_exact_is_a_range_of_one(self, exact: str, stated: str) -> None:
        as_range = judge_limits(Limits(schema_from=exact, schema_to=exact), request(schema_version=stated))
        as_exact = judge_limits(Limits(schema_version=exact), request(schema_version=stated))
        assert as_exact.state is as_range.state
        assert is_same_schema(exact, stated) is (as_exact.state is OK)

    def test_r10_a_stated_schema_outside_the_range_is_told(self) -> None:
        asked = request(schema_version="13")
        assert stated_outside(RANGE, asked) == ("schema version 13",)
        assert lost_limits(RANGE, Limits(), asked) == ("schema version 13",)


@pytest.mark.parametrize(
    ("before", "after", "relation"),
    [
        ({"schema_from": "9"}, {"schema_from": "10"}, ScopeRelation.NARROWED),
        ({"schema_to": "9"}, {"schema_to": "10"}, ScopeRelation.WIDENED),
        ({"schema_to": "9"}, {}, ScopeRelation.WIDENED),
        ({"schema_version": "11"}, {"schema_from": "10", "schema_to": "12"}, ScopeRelation.WIDENED),
        ({"schema_from": "10"}, {"schema_version": "11"}, ScopeRelation.NARROWED),
        ({"schema_version": "11"}, {"schema_from": "12"}, ScopeRelation.REPLACED),
        ({"schema_version": "11"}, {"schema_version": "v11.0"}, ScopeRelation.SAME),
        ({"schema_version": "é-1"}, {"schema_version": "e\u0301-1"}, ScopeRelation.SAME),
    ],
)
def test_r10_a_change_of_the_schemas_is_told(
    before: dict[str, Any], after: dict[str, Any], relation: ScopeRelation
) -> None:
    found = scope_difference(draft(limits=Limits(**before)), draft(limits=Limits(**after)))
    (field,) = [each for each in found.fields if each.place == "limits.schema_version"]
    assert found.relation is field.relation is relation


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ({"schema_to": "9"}, {"schema_from": "10"}, False),
        ({"schema_to": "10"}, {"schema_from": "10"}, True),
        ({"schema_version": "9"}, {"schema_from": "10"}, False),
        ({"schema_version": "11"}, {"schema_from": "10"}, True),
        ({"schema_version": "v11"}, {"schema_version": "11.0"}, True),
        ({"schema_version": "print-3"}, {"schema_version": "print-4"}, False),
        ({"schema_version": "print-3"}, {"schema_from": "4"}, True),
    ],
)
def test_r17_scopes_overlap_by_their_schemas(one: dict[str, Any], other: dict[str, Any], overlap: bool) -> None:
    assert scopes_overlap(Limits(**one), Limits(**other)) is scopes_overlap(Limits(**other), Limits(**one)) is overlap


class TestShown:
    def test_r17_a_range_of_schemas_is_told_wherever_limits_are(self) -> None:
        assert told_to_a_model(RANGE) == "schemas 9 to v12"
        assert told_to_a_model(Limits(schema_to="12")) == "schemas any to 12"
        assert told_on_a_terminal(RANGE) == "schemas 9 to v12"
        parts: Any = cast(Any, environment()).get_template("parts.html").module
        assert "<dt>Schemas</dt><dd><bdi>9</bdi> to <bdi>any</bdi></dd>" in parts.bounds(Limits(schema_from="9"))
        assert field_words("limits.schema_from") == "Limits, lowest schema version"

    def test_r17_the_form_of_a_change_keeps_and_takes_them(self) -> None:
        text = draft(limits=RANGE)
        form = draft_form.fields_of(text)
        assert (form.values["limits.schema_from"], form.values["limits.schema_to"]) == ("9", "v12")
        assert draft_form.draft_in(form, text).limits == RANGE
        names = {name: [value] for name, value in form.values.items()}
        assert draft_form.fields_in(Posted(names)).values["limits.schema_to"] == "v12"

    async def test_r17_an_agent_proposes_them(self) -> None:
        proposals: list[Proposal] = []

        async def propose(proposal: Proposal) -> object:
            proposals.append(proposal)
            return SimpleNamespace(outcome="curator_review", state="done")

        async def get_experience(_: str) -> object:
            return SimpleNamespace(admission=None)

        client = cast(CaseloreClient, SimpleNamespace(propose=propose, get_experience=get_experience))
        words = dict.fromkeys(("title", "domain_id", "request_type", "route", "disposition", "synopsis"), "words")
        asked = ProposeExperience.model_validate(
            {
                **words,
                "result_id": "00000000-0000-0000-0000-000000000001",
                "outcome": "failed",
                "proof_level": "executed",
                "statements": [{"kind": "proposition", "text": "words", "concepts": ["register"]}],
                "schema_from": "9",
                "schema_to": "v12",
                "limits_note": "note",
            }
        )
        await PROPOSE_EXPERIENCE.run(client, asked)
        assert proposals[0].draft.limits == RANGE.model_copy(update={"note": "note"})

    def test_r22_a_case_file_carries_them_and_no_misspelt_one(self) -> None:
        text = draft(limits=RANGE).model_dump(mode="json")
        line: dict[str, Any] = {
            "record": "case",
            "tenant": "t",
            "source": "s",
            "external_id": "1",
            "occurred_at": "2026-01-01T00:00:00Z",
            "subject": "s",
            "body": "b",
            "facts": {"domain_id": "data"},
            "papers": [
                {"id": "e", "kind": "execution", "title": "e", "text": "e"},
                {"id": "p", "kind": "proof", "title": "p", "text": "p"},
            ],
            "result": {
                "outcome": "succeeded",
                "proof_level": "verified",
                "summary": "s",
                "execution": "e",
                "proof": "p",
            },
            "experience": {name: text[name] for name in ("title", "synopsis", "units", "limits")},
        }
        record: Any = parse_line(json.dumps(line), 1)
        assert record.experience.limits == RANGE
        line["experience"]["limits"]["schema_until"] = "12"
        with pytest.raises(InvalidCaseFile):
            parse_line(json.dumps(line), 1)


class TestLetters:
    @pytest.mark.parametrize("text", ["1.0.2a", "1.0.2m", "1.0.2p", "1.0.2u+b1", "v9b", "1.0.2A"])
    def test_r17_a_letter_alone_has_no_order(self, text: str) -> None:
        assert version_key(text) is None
        assert judge_limits(Limits(version_to="1.0.2"), request(version=text)).state is REVALIDATE

    @pytest.mark.parametrize(
        ("lower", "higher"),
        [
            ("1.0.2-a1", "1.0.2"),
            ("1.0a1", "1.0b2"),
            ("2.0-alpha", "2.0"),
            ("1.0b2", "1.0rc1"),
            ("1.0rc1", "1.0"),
            ("7.4m2", "7.4"),
            ("1.0.2-a", "1.0.2"),
        ],
    )
    def test_r17_a_phase_keeps_its_order(self, lower: str, higher: str) -> None:
        low, high = version_key(lower), version_key(higher)
        assert low is not None
        assert high is not None
        assert low < high

    @given(st.integers(0, 20), st.sampled_from("abcdefghijklmnopqrstuvwxyzABZ"))
    def test_r17_no_lone_letter_is_ever_taken_as_inside_a_bound(self, number: int, letter: str) -> None:
        stated = request(version=f"1.{number}{letter}")
        for limits in (Limits(version_from="0"), Limits(version_to="2"), Limits(version_from="0", version_to="99")):
            assert judge_limits(limits, stated).state is REVALIDATE

    @given(PHASED)
    def test_r17_a_letter_with_separator_or_number_has_a_key(self, parts: tuple[int, str]) -> None:
        assert version_key(f"1.{parts[0]}{parts[1]}") is not None


def of_polaris(**limits: Any) -> Any:
    text = draft(limits=Limits(**limits))
    synopsis = text.synopsis.model_copy(update={"product": "Polaris", "system": "register"})
    return text.model_copy(update={"synopsis": synopsis})


class TestSynopsis:
    @pytest.mark.parametrize(
        ("strategy", "collection"),
        [(DATA_INVESTIGATION_3, Collection.DETAIL), (ROOT_CLASSIFICATION_2, Collection.ROUTING)],
    )
    async def test_r17_another_product_than_the_synopsis_tells_asks_to_revalidate(
        self, strategy: Strategy, collection: Collection
    ) -> None:
        memory = Memory(strategy=strategy, hits={collection: ["experience/a"]}, asked={"product": "Vega"})
        answer = await memory.holds(experience("a", of_polaris())).answer()
        validity = answer.candidates[0].validity
        assert validity.state is REVALIDATE
        assert validity.reasons == ("product Vega: known for product Polaris by its synopsis",)

    @pytest.mark.parametrize(
        ("strategy", "collection"),
        [(DATA_INVESTIGATION, Collection.DETAIL), (ROOT_CLASSIFICATION, Collection.ROUTING)],
    )
    async def test_r14_an_earlier_version_judges_as_it_did(self, strategy: Strategy, collection: Collection) -> None:
        memory = Memory(strategy=strategy, hits={collection: ["experience/a"]}, asked={"product": "Vega"})
        answer = await memory.holds(experience("a", of_polaris())).answer()
        assert answer.candidates[0].validity.state is OK

    @pytest.mark.parametrize(
        "stated", [{}, {"product": " polaris"}, {"system": "Register"}, {"product": "POLARIS", "system": "register"}]
    )
    def test_r17_the_same_in_another_spelling_or_nothing_stated_is_no_doubt(self, stated: dict[str, str]) -> None:
        assert judge_synopsis(of_polaris(), request(**stated)).state is OK

    def test_r17_limits_of_its_own_have_the_word(self) -> None:
        assert judge_synopsis(of_polaris(products=("Polaris", "Vega")), request(product="Vega")).state is OK
        both = judge_synopsis(of_polaris(), request(product="Vega", system="print"))
        assert both.reasons[1] == "system print: known for system register by its synopsis"

    def test_r18_dropping_the_product_makes_nothing_applicable(self) -> None:
        broadening = Broadening(
            request_id="00000000-0000-0000-0000-000000000002", reason="r", dropped=(RequestFact.PRODUCT,)
        )
        wider: RetrievalRequest = broadened(request(product="Vega"), broadening, results_before=10)
        judged = judge_synopsis(of_polaris(), wider, dropped=broadening.dropped)
        assert judged.reasons == ("product not stated; known for product Polaris by its synopsis",)


class TestFreshness:
    @given(
        st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
        st.timedeltas(timedelta(microseconds=1), timedelta(days=3)),
        st.integers(-12, 12),
    )
    def test_r17_a_reason_never_contradicts_itself(self, asked: datetime, before: timedelta, zone: int) -> None:
        oldest = asked.replace(tzinfo=timezone(timedelta(hours=zone)))
        dated = (oldest - before).astimezone(UTC)
        (reason,) = judge(Limits(), request(not_older_than=oldest), proof_level=None, dated=dated).reasons
        told, _, wanted = reason.partition("; not older than ")
        assert told.removeprefix("dated ") < wanted.removesuffix(" was asked for")

    def test_r17_on_one_day_both_are_told_in_utc_with_the_time(self) -> None:
        asked = request(not_older_than=datetime(2026, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))))
        judged = judge(Limits(), asked, proof_level=None, dated=datetime(2025, 12, 31, 22, tzinfo=UTC))
        assert judged.reasons == (
            "dated 2025-12-31 22:00:00 UTC; not older than 2025-12-31 22:30:00 UTC was asked for",
        )
