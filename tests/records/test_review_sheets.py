"""What a reviewer's page shows, under the reviewer's own access (R4, R7, R10, R16)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from activities.index.edge import EdgeIndex
from activities.projection import Projector
from activities.records.review_sheets import ReviewSheetsTable
from activities.review_sheet import ReviewDesk
from contracts.draft_difference import FieldChangeKind
from contracts.errors import EmbeddingUnavailable, InvalidField, UnknownExperience
from contracts.experience import Draft, Limits, Proposal
from contracts.labels import Outcome, PaperKind, UnitKind
from contracts.lifecycle import Event
from contracts.resemblance import ResemblanceKind
from contracts.review import ChangeKind, FieldComment
from contracts.review_sheet import SPAN_TEXT, ReviewSheet
from contracts.scope_difference import ScopeRelation
from tests.api.world import AwayIndex, Letters
from tests.records.world import World, draft, new_id


class NoModel(Letters):
    """A model that can't be loaded."""

    def embed(self, texts: Any) -> Any:
        raise EmbeddingUnavailable("gone")


@pytest_asyncio.fixture(scope="module", name="index")
async def fixture_index(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[EdgeIndex]:
    folder: Path = tmp_path_factory.mktemp("index")
    index = EdgeIndex(folder, Letters.model, Letters.dimensions)
    await index.open()
    yield index
    await index.close()


@pytest.fixture(name="desk")
def fixture_desk(shared: World, index: EdgeIndex) -> ReviewDesk:
    return ReviewDesk(ReviewSheetsTable(shared.database), index, Letters())


async def project(world: World, index: EdgeIndex) -> None:
    projector = Projector(world.outbox, world.projections, index, Letters())
    while await projector.project_batch(200):
        pass


def advice(intent: str, **changes: Any) -> Draft:
    content = draft(**changes)
    unit = content.units[0].model_copy(update={"kind": UnitKind.PRESCRIPTION, "intent": intent})
    return Draft.model_validate(content.model_copy(update={"units": (unit,)}).model_dump())


def warning(intent: str, **changes: Any) -> Draft:
    content = draft(outcome=Outcome.FAILED, text="Adding it changed nothing.", **changes)
    unit = content.units[0].model_copy(update={"intent": intent, "concepts": ("other",)})
    return content.model_copy(update={"units": (unit,)})


def found(sheet: ReviewSheet, kind: ResemblanceKind) -> dict[str, tuple[str, ...]]:
    return {each.ref.partition("/")[2]: each.reasons for each in sheet.resemblances.listed if each.kind is kind}


async def test_one_page_holds_the_draft_its_binding_and_its_findings(shared: World, desk: ReviewDesk) -> None:
    """R7: what a decision sends back is on it."""
    experience_id = await shared.propose()
    now = await shared.lifecycle.load(experience_id)
    sheet = await desk.sheet("cora", experience_id)
    assert (sheet.stage, sheet.digest, sheet.revision) == (now.stage, now.digest, 1)
    assert sheet.text.digest() == sheet.digest
    assert sheet.admission.examined_at is not None
    assert [entry.event for entry in sheet.history] == ["propose"]
    assert (sheet.since_earlier, sheet.since_current, sheet.scope, sheet.claim) == (None, None, None, None)


async def test_papers_are_shown_to_who_may_see_the_case_and_their_absence_is_told(
    shared: World, desk: ReviewDesk
) -> None:
    """R4: a role in the domain is no grant for the case."""
    result = await shared.result(await shared.open_case())
    content = draft(span_paper=result.proof_paper_id)
    await shared.experiences.propose(
        "ann", made := Proposal(experience_id=new_id(), result_id=result.id, draft=content)
    )
    closed = await desk.sheet("cora", made.experience_id)
    assert not closed.proof.is_visible
    assert "no grant" in closed.proof.note
    assert (closed.proof.result, closed.proof.papers, closed.proof.spans) == (None, (), ())
    assert "printed" not in closed.proof.model_dump_json()
    opened = await desk.sheet("ann", made.experience_id)
    assert opened.proof.result == result
    assert [paper.kind for paper in opened.proof.papers] == [PaperKind.EXECUTION, PaperKind.PROOF]
    (span,) = opened.proof.spans
    assert (span.field, span.text, span.is_cut) == ("units[0].spans[0]", "The d", False)


async def test_a_span_is_quoted_in_bounds_and_only_from_its_own_case(shared: World, desk: ReviewDesk) -> None:
    """R4, R22: a draft can't be used to read a paper of another case, nor a place that isn't there."""
    await shared.tenant("elsewhere")
    await shared.principal("eve", "elsewhere")
    foreign = await shared.result(await shared.open_case(by="eve", tenant="elsewhere"), by="eve")
    result = await shared.result(await shared.open_case())
    span = draft(span_paper=result.proof_paper_id).units[0].spans[0]
    spans = (
        span.model_copy(update={"paper_id": foreign.proof_paper_id}),
        span.model_copy(update={"paper_id": "no id"}),
        span.model_copy(update={"start": 900, "end": 2**40}),
        span.model_copy(update={"start": 0, "end": 2**40}),
    )
    content = draft()
    content = content.model_copy(update={"units": (content.units[0].model_copy(update={"spans": spans}),)})
    await shared.experiences.propose(
        "ann", made := Proposal(experience_id=new_id(), result_id=result.id, draft=content)
    )
    shown = (await desk.sheet("ann", made.experience_id)).proof.spans
    assert [each.text for each in shown] == [None, None, None, "The document printed."]
    assert len(shown[3].text or "") <= SPAN_TEXT


async def test_nobody_else_gets_a_page(shared: World, desk: ReviewDesk) -> None:
    """R4."""
    experience_id = await shared.propose()
    await shared.tenant("third")
    await shared.principal("ulf", "third")
    for who, what in (("ulf", experience_id), ("nobody", experience_id), ("cora", new_id()), ("cora", "no id")):
        with pytest.raises(UnknownExperience):
            await desk.sheet(who, what)


async def test_a_correction_shows_both_differences_and_its_scope(shared: World, desk: ReviewDesk) -> None:
    """R10."""
    experience_id = await shared.published(draft(limits=Limits(products=("P",))))
    wider = draft(title="Missing register rows")
    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=wider)
    await shared.decide(experience_id, "cora", Event.RETURN)
    third = wider.model_copy(update={"title": "Register rows are missing"})
    await shared.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=third)
    sheet = await desk.sheet("carl", experience_id)
    assert sheet.since_earlier is not None
    assert sheet.since_current is not None
    assert (sheet.since_earlier.from_revision, sheet.since_earlier.to_revision) == (2, 3)
    assert [change.field for change in sheet.since_earlier.changes] == ["title"]
    assert (sheet.since_current.from_revision, sheet.since_current.to_revision) == (1, 3)
    removed = [change for change in sheet.since_current.changes if change.kind is FieldChangeKind.REMOVED]
    assert [change.field for change in removed] == ["limits.products[0]"]
    assert sheet.scope is not None
    assert sheet.scope.relation is ScopeRelation.WIDENED
    between = await shared.experiences.difference("ann", experience_id, from_revision=1, to_revision=3)
    assert between == sheet.since_current
    with pytest.raises(InvalidField) as refused:
        await shared.experiences.difference("ann", experience_id, from_revision=1, to_revision=4)
    assert (refused.value.field, refused.value.accepted) == ("to", "1, 2, 3")


async def test_what_was_said_on_which_field_is_told_to_the_author(shared: World, desk: ReviewDesk) -> None:
    """R7: a returned draft says what to change, and where."""
    experience_id = await shared.propose()
    remarks = (FieldComment(field="units[0].text", text="Which table?"), FieldComment(field="title", text="Too short."))
    await shared.decide(experience_id, "cora", Event.RETURN, comment="Two things.", comments=remarks)
    view = await shared.experiences.view("ann", experience_id)
    last = view.history[-1]
    assert (last.event, last.actor_id, last.comment, last.comments) == ("return", "cora", "Two things.", remarks)
    assert (await desk.sheet("ann", experience_id)).history == view.history


async def test_a_comment_on_a_field_that_is_not_there_is_refused(shared: World) -> None:
    """R22: with the fields that there are, and nothing is stored."""
    experience_id = await shared.propose()
    before = shared.everything()
    remark = FieldComment(field="units[3].text", text="Which?")
    with pytest.raises(InvalidField) as refused:
        await shared.decide(experience_id, "cora", Event.RETURN, comments=(remark,))
    assert refused.value.field == "comments[0].field"
    assert "units[0].text" in refused.value.accepted
    assert shared.everything() == before


async def test_near_duplicates_and_contradictions_are_listed_with_reasons(world: World, index: EdgeIndex) -> None:
    """Across tenants, since what is published is read by all; never itself, never what is unpublished."""
    await world.tenant("elsewhere")
    await world.principal("eve", "elsewhere")
    intent = "Print the blank document"
    twin = await world.published(advice(intent), by="eve", tenant="elsewhere")
    opposed = await world.published(warning(intent.upper(), title="Quite another matter"))
    elsewhere = await world.published(warning(intent, limits=Limits(products=("Q",))))
    retired = await world.published(advice(intent))
    await world.change(retired, ChangeKind.RETIRE)
    await world.propose(advice(intent))
    await project(world, index)
    experience_id = await world.propose(advice(intent, limits=Limits(products=("P",))))
    sheet = await ReviewDesk(ReviewSheetsTable(world.database), index, Letters()).sheet("cora", experience_id)
    duplicates, contradicting = (found(sheet, kind) for kind in ResemblanceKind)
    assert twin in duplicates
    assert "the same title" in duplicates[twin]
    assert not {experience_id, retired} & (set(duplicates) | set(contradicting))
    assert list(contradicting) == [opposed]
    assert "the same intent" in contradicting[opposed][0]
    assert elsewhere not in contradicting
    assert sheet.resemblances.not_read == ()
    assert {mark.collection.value for mark in sheet.resemblances.watermarks} == {"routing", "detail"}
    published = next(each for each in sheet.resemblances.listed if each.ref == f"experience/{twin}")
    assert "elsewhere" not in published.model_dump_json()


async def test_a_lagging_index_is_told_and_the_record_is_read_for_what_it_lacks(world: World, tmp_path: Path) -> None:
    """R16: published a moment ago, not projected yet; and withdrawn a moment ago, still in the index."""
    index = EdgeIndex(tmp_path / "lag", Letters.model, Letters.dimensions)
    await index.open()
    try:
        withdrawn = await world.published()
        await project(world, index)
        await world.change(withdrawn, ChangeKind.RETIRE)
        twin = await world.published()
        experience_id = await world.propose()
        sheet = await ReviewDesk(ReviewSheetsTable(world.database), index, Letters()).sheet("cora", experience_id)
    finally:
        await index.close()
    assert list(found(sheet, ResemblanceKind.NEAR_DUPLICATE)) == [twin]
    assert len(sheet.resemblances.not_read) == 2
    assert "pending" in sheet.resemblances.not_read[0]


@pytest.mark.parametrize("away", ["index", "model"])
async def test_what_could_not_be_looked_through_is_told(world: World, index: EdgeIndex, away: str) -> None:
    """R16: an empty list never passes for a complete one, and words still find what they can."""
    twin = await world.published()
    experience_id = await world.propose()
    searched, model = (AwayIndex(), Letters()) if away == "index" else (index, NoModel())
    sheet = await ReviewDesk(ReviewSheetsTable(world.database), searched, model).sheet("cora", experience_id)
    assert twin in found(sheet, ResemblanceKind.NEAR_DUPLICATE)
    expected = "IndexUnavailable" if away == "index" else "EmbeddingUnavailable"
    assert any(expected in line for line in sheet.resemblances.not_read)


async def test_a_list_has_an_end_and_says_how_many_it_leaves_off(world: World, index: EdgeIndex) -> None:
    """R22."""
    for _ in range(12):
        await world.published()
    experience_id = await world.propose()
    sheet = await ReviewDesk(ReviewSheetsTable(world.database), AwayIndex(), Letters()).sheet("cora", experience_id)
    assert len(sheet.resemblances.listed) == 10
    assert sheet.resemblances.left_off == 2


async def test_phrases_without_a_word_find_nothing(shared: World) -> None:
    records = ReviewSheetsTable(shared.database)
    assert await records.by_phrases(["", " ", "!?", "'"], limit=5) == []
    assert await records.by_phrases([], limit=5) == []
    odd = await shared.published(advice("A 'quoted' | & ! (odd) phrase:*"))
    assert odd in await records.by_phrases(["a 'QUOTED' | & ! (odd) phrase:*"], limit=5)
