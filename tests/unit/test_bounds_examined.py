"""Limits that no request can meet hold an acceptance up (R17, R22)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.admission import FROM_TEXT_ALONE, SEVERITIES, Check, Severity, examine_bounds
from contracts.articles import ArticleDraft, ArticleKind, SourceKind, SourceReference
from contracts.experience import Limits
from contracts.retrieval import ValidityState
from contracts.validity import judge_limits
from tests.unit.test_admission import PROVEN, draft, found, unit
from tests.unit.test_validity import VERSIONS, request

UNREADABLE, INVERTED = Check.BOUND_UNREADABLE, Check.BOUNDS_INVERTED
BOUND = st.just("") | VERSIONS | st.sampled_from(["latest", "1.0.2a", " ", "print-3"])
BOUNDS = st.builds(
    Limits, version_from=BOUND, version_to=BOUND, schema_version=BOUND, schema_from=BOUND, schema_to=BOUND
)


@pytest.mark.parametrize(
    ("limits", "findings"),
    [
        (Limits(version_from="8", version_to="7"), [(INVERTED, "version_to")]),
        (Limits(version_from="7.10", version_to="7.9"), [(INVERTED, "version_to")]),
        (Limits(schema_from="12", schema_to="11"), [(INVERTED, "schema_to")]),
        (Limits(version_to="latest"), [(UNREADABLE, "version_to")]),
        (Limits(version_from="1.0.2a", version_to="x"), [(UNREADABLE, "version_from"), (UNREADABLE, "version_to")]),
        (Limits(schema_from="spring"), [(UNREADABLE, "schema_from")]),
        (Limits(schema_version="13", schema_to="12"), [(INVERTED, "schema_to")]),
        (Limits(schema_version="print-3", schema_to="12"), [(UNREADABLE, "schema_version")]),
        (Limits(schema_version="print-3"), []),
        (Limits(version_from="7.4", version_to="7.4.0", schema_version="11", schema_from="9", schema_to="12"), []),
    ],
)
def test_r22_bounds_that_nothing_meets_are_found_in_revision_unit_and_article(
    limits: Limits, findings: list[tuple[Check, str]]
) -> None:
    assert found(draft(limits=limits)) == [(check, f"limits.{name}") for check, name in findings]
    in_unit = found(draft(unit(), unit("u2", limits=limits)))
    assert in_unit == [(check, f"units[1].limits.{name}") for check, name in findings]
    source = SourceReference(kind=SourceKind.DOCUMENT, locator="manual")
    article = ArticleDraft(
        kind=ArticleKind.METHOD, title="t", domain_id="data", body="b", limits=limits, sources=(source,)
    )
    assert [each.check for each in examine_bounds(article)] == [check for check, _ in findings]


def test_r22_they_can_not_be_dismissed() -> None:
    assert {SEVERITIES[check] for check in FROM_TEXT_ALONE} == {Severity.MUST_FIX}


@given(BOUNDS)
def test_r17_without_a_finding_there_is_a_request_that_meets_the_limits(limits: Limits) -> None:
    if found(draft(limits=limits), PROVEN):
        return
    version = limits.version_to.strip() or limits.version_from
    schema = limits.schema_version.strip() or limits.schema_to.strip() or limits.schema_from
    assert judge_limits(limits, request(version=version, schema_version=schema)).state is ValidityState.OK


@given(BOUNDS, VERSIONS)
def test_r17_with_a_finding_no_version_meets_them(limits: Limits, stated: str) -> None:
    if found(draft(limits=limits), PROVEN):
        asked = request(version=stated, schema_version=stated)
        assert judge_limits(limits, asked).state is not ValidityState.OK
