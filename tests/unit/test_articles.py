"""Articles as records: kinds, references, sections, and the rules that they share with experience (spec section 4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.admission import NO_CASE, Check, examine_draft
from contracts.articles import ArticleDraft, ArticleKind, ArticleProposal, draft_of, is_reference, kind_of, sections
from contracts.draft_difference import draft_difference
from contracts.errors import CaseloreError, InvalidField, TextTooLong
from contracts.experience import Limits
from contracts.index import Payload
from contracts.labels import CandidateKind
from contracts.limits import ARTICLE_BODY, ARTICLE_SECTION
from contracts.personal_data import Certainty, PersonalData, PersonalDataKind
from contracts.projection import article_source
from contracts.review import ChangeCommand, ChangeKind
from contracts.scope_difference import ScopeRelation, scope_difference
from tests.records.articles import article
from tests.records.world import draft, new_id

ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a01"
BODIES = st.lists(
    st.text("ab é\n#. ", max_size=400) | st.just("word " * 400) | st.just("x" * 3_000) | st.just("\n\n## Head\n"),
    max_size=12,
).map("".join)


def test_a_stored_text_says_itself_which_kind_it_is() -> None:
    for text, kind in ((article(), CandidateKind.ARTICLE), (draft(), CandidateKind.EXPERIENCE)):
        again = draft_of(text.model_dump(mode="json"))
        assert (again, kind_of(again), again.digest()) == (text, kind, text.digest())


@pytest.mark.parametrize("content", [None, "", [], {}, {"body": "a"}, {"units": []}, {"body": 1, "units": 2}])
def test_what_is_neither_is_no_text(content: Any) -> None:
    with pytest.raises((ValidationError, CaseloreError)):
        draft_of(content)


@pytest.mark.parametrize(
    ("named", "kept"),
    [
        (f"article/{ID}", f"article/{ID}"),
        (f" Experience/{ID.upper()} ", f"experience/{ID}"),
    ],
)
def test_a_reference_has_one_spelling(named: str, kept: str) -> None:
    assert article(references=(named,)).references == (kept,)
    assert is_reference(kept)


@pytest.mark.parametrize(
    "named", ["", ID, f"case/{ID}", "article/", f"article/{ID}/1", f"article/{ID} and more", "a/b"]
)
def test_r22_a_reference_to_anything_else_is_refused(named: str) -> None:
    with pytest.raises(InvalidField) as refusal:
        article(references=(named,))
    assert refusal.value.field == "references"


@pytest.mark.parametrize(
    "given",
    [{"sources": ()}, {"sources": article().sources * 31}, {"kind": "note"}, {"references": (f"article/{ID}",) * 31}],
)
def test_r22_an_article_names_its_kind_and_its_sources(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        article(**given)


def test_r22_the_body_has_a_limit() -> None:
    assert len(article(body="x" * ARTICLE_BODY).body) == ARTICLE_BODY
    for body in ("x" * (ARTICLE_BODY + 1), " ", "a\x00"):
        with pytest.raises(CaseloreError) as refusal:
            article(body=body)
        assert refusal.value.field == "body"
    with pytest.raises(TextTooLong):
        article(body="x" * (ARTICLE_BODY + 1))


@given(body=BODIES)
@settings(deadline=None)
def test_sections_hold_every_word_in_order_and_are_short(body: str) -> None:
    parts = sections(body)
    assert all(part == part.strip() and 0 < len(part) <= ARTICLE_SECTION for part in parts)
    assert "".join("".join(parts).split()) == "".join(body.split())
    assert len(parts) <= 2 * len(body) // (ARTICLE_SECTION // 2) + 1
    assert sections(body) == parts


def test_a_section_begins_at_a_heading_when_the_one_before_says_enough() -> None:
    long = "Enough words. " * 60
    assert [part[:6] for part in sections(f"# One\n{long}\n# Two\nshort\n\n# Three\nshort")] == ["# One\n", "# Two\n"]


def test_r9_each_section_is_an_entry_of_its_own_under_one_key() -> None:
    text = article(body="\n\n".join(f"# P{n}\n\n{'Some words. ' * 70}" for n in range(4)))
    source = article_source(ID, "data", 3, text.digest(), text)
    assert len(source.entries) == 4
    assert len({entry.id for entry in source.entries}) == 4
    assert all(entry.meaning.startswith("How a letter type is registered. # P") for entry in source.entries)
    assert [entry.payload.section for entry in source.entries] == [0, 1, 2, 3]
    payloads = {entry.payload.model_copy(update={"section": 0}).model_dump_json() for entry in source.entries}
    assert len(payloads) == 1
    payload = Payload.model_validate_json(payloads.pop())
    assert (payload.target, payload.domain, payload.tenant, payload.outcome) == (f"article/{ID}", "data", "", None)
    assert article_source(ID, "data", 3, text.digest(), text) == source
    assert article_source(ID, "data", 3, text.digest(), None).entries == ()
    later = article_source(ID, "data", 4, text.digest(), text)
    assert {entry.id for entry in later.entries}.isdisjoint(entry.id for entry in source.entries)


def test_r10_an_article_s_scope_is_its_limits() -> None:
    narrower = article(limits=Limits(products=("Policy",), version_from="7.3", version_to="7.4"))
    difference = scope_difference(article(), narrower)
    assert difference.relation is ScopeRelation.NARROWED
    assert scope_difference(article(), article(body="Other words.")).relation is ScopeRelation.SAME
    noted = article(limits=Limits(note="Not for group policies."))
    assert [each.text for each in scope_difference(noted, article(limits=Limits())).dropped] == [
        "Not for group policies."
    ]


def test_two_articles_differ_field_by_field() -> None:
    changed = article(kind=ArticleKind.SKILL, body=article().body.replace("first", "twice"))
    assert [change.field for change in draft_difference(article(), changed)] == ["kind", "body"]


def test_r6_an_article_is_examined_for_personal_data_and_uses_no_placeholder() -> None:
    text = article(body="Ask Jane. [NAME 1] knows, too.")
    place = PersonalData(kind=PersonalDataKind.NAME, start=4, end=8, certainty=Certainty.LIKELY)
    found = examine_draft(text, NO_CASE, {"body": (place,)})
    assert {finding.field for finding in found} == {"body"}
    assert {finding.check for finding in found} >= {Check.PERSONAL_DATA}
    assert examine_draft(article(), NO_CASE, {}) == ()


def test_r7_an_article_is_accepted_as_a_whole() -> None:
    assert article().without_units(()) == article()
    with pytest.raises(InvalidField) as refusal:
        article().without_units(("u1",))
    assert refusal.value.field == "declined_units"


def test_a_change_brings_one_text_of_one_kind() -> None:
    given: dict[str, Any] = {"command_id": new_id(), "experience_id": ID, "kind": ChangeKind.CORRECT, "reason": "So."}
    assert ChangeCommand(**given, article=article()).text == article()
    assert ChangeCommand(**given, draft=draft()).text == draft()
    wrongs: list[dict[str, Any]] = [{}, {"draft": draft(), "article": article()}]
    for wrong in wrongs:
        with pytest.raises(InvalidField):
            ChangeCommand(**given, **wrong)
    assert "article" not in ChangeCommand(**given, draft=draft()).model_dump(exclude_defaults=True)


def test_a_proposal_is_kept_under_one_spelling_of_its_id() -> None:
    proposal = ArticleProposal(article_id=ID.upper(), article=article())
    assert (proposal.article_id, type(proposal.article)) == (ID, ArticleDraft)
