"""What may apply is listed before what can't and judged whole; an answer without any abstains (R5, R15, R16, R17)."""

from __future__ import annotations

import pytest

from activities.retrieval.bar import FAR
from contracts.experience import Limits
from contracts.labels import Collection, Outcome, ValidityState
from contracts.strategies import DATA_INVESTIGATION_3, DEVELOPMENT_3, ROOT_CLASSIFICATION, ROOT_CLASSIFICATION_2
from contracts.strategy import Route, Strategy
from tests.unit.test_engine_follows_names import FOLLOWING, NAMED, Named
from tests.unit.test_engine_holds_to_the_bar import ABOVE, BELOW, Measuring
from tests.unit.test_retrieval_engine import Memory, detail_of, draft, experience, watermark

CONDITION = "the renewal exists and its register row is absent"


def routed(strategy: Strategy, *, use_when: str) -> Memory:
    """Return a memory whose routing alone finds one experience."""
    record = experience(current=draft(use_when=use_when))
    return Memory(
        strategy=strategy, hits={Collection.ROUTING: [record.target]}, asked={"product": "Polaris", "version": "9"}
    ).holds(record)


@pytest.mark.parametrize("strategy", [ROOT_CLASSIFICATION_2, DEVELOPMENT_3], ids=["root", "development"])
async def test_uncreated_renewals_are_not_routed_by_the_missing_row_repair_as_applicable_r17(
    strategy: Strategy,
) -> None:
    """Its condition is technical detail that routing doesn't show, and holds all the same (R14)."""
    candidate = await routed(strategy, use_when=CONDITION).only()
    assert candidate.validity.state is ValidityState.REVALIDATE
    assert candidate.validity.reasons == (
        "the statements behind its synopsis have limits or conditions of their own, which are not shown here",
    )
    assert CONDITION not in candidate.model_dump_json()


async def test_a_version_that_never_judged_what_it_does_not_show_judges_as_it_did_r14() -> None:
    candidate = await routed(ROOT_CLASSIFICATION, use_when=CONDITION).only()
    assert (candidate.validity.state, candidate.validity.reasons) == (ValidityState.OK, ())


async def test_statements_that_are_all_out_of_range_leave_their_synopsis_out_too_r17() -> None:
    current = draft()
    (only,) = current.units
    units = (only.model_copy(update={"limits": Limits(products=("Vega",))}),)
    record = experience(current=current.model_copy(update={"units": units}))
    memory = Memory(
        strategy=ROOT_CLASSIFICATION_2, hits={Collection.ROUTING: [record.target]}, asked={"product": "Polaris"}
    ).holds(record)
    answer = await memory.answer()
    assert answer.abstained
    assert [each.validity.state for each in answer.candidates] == [ValidityState.OUT_OF_RANGE]
    assert "Vega" not in answer.model_dump_json(), "a statement's limit is technical detail here"


async def test_what_is_near_stands_before_what_is_far_and_no_answer_abstains_over_it_r15() -> None:
    """Many far ones, found by every route, must not hide the one that only its title brings near."""
    far = [experience(f"far{number:02d}", draft(text="Feed the cat.")) for number in range(30)]
    near = experience("near", draft(text="Feed the cat."))
    likeness = {each.target: BELOW for each in far} | {near.target: ABOVE}
    memory = Measuring(hits={Collection.DETAIL: [each.target for each in (*far, near)]}, likeness=likeness)
    answer = await memory.holds(*far, near).answer()
    assert (answer.candidates[0].ref, answer.candidates[0].far) == (near.target, "")
    assert {each.far for each in answer.candidates[1:]} == {FAR}
    assert not answer.abstained


@pytest.mark.parametrize("strategy", [DATA_INVESTIGATION_3, ROOT_CLASSIFICATION_2], ids=["data", "root"])
async def test_an_answer_of_failures_alone_abstains_and_names_them_r5_r15(strategy: Strategy) -> None:
    failed = experience(current=draft(Outcome.FAILED))
    collection = Collection.DETAIL if strategy.show_detail else Collection.ROUTING
    answer = await Memory(strategy=strategy, hits={collection: [failed.target]}).holds(failed).answer()
    assert answer.abstained
    assert [each.contrast for each in answer.candidates] == ["shown to contrast: failed"]
    assert [(each.ref, each.why) for each in answer.nearest] == [(failed.target, ("shown to contrast: failed",))]


async def test_a_place_in_a_lagging_index_does_not_count_beside_the_record_r16() -> None:
    """What is pending is read from the record; its place in the index is one that it had before."""
    memory = detail_of(experience("new"), experience("old"))
    memory.in_record = ["experience/new"]
    memory.marks[2] = watermark(Collection.DETAIL, position=5, pending=1)
    answer = await memory.answer()
    by_ref = {each.ref: {match.route for match in each.reason} for each in answer.candidates}
    assert by_ref["experience/new"] == {Route.CANONICAL}
    assert Route.LEXICAL in by_ref["experience/old"]


async def test_names_are_followed_from_what_only_the_record_has_r16() -> None:
    first = experience("a", draft(text="See the Register of Renewals."))
    memory = Named(strategy=FOLLOWING, in_record=[first.target])
    memory.marks[2] = watermark(Collection.DETAIL, position=5, pending=1)
    answer = await memory.holds(first, experience("b", draft(text="How it is filled."))).answer()
    assert [each.ref for each in answer.candidates] == [first.target, NAMED]


async def test_every_answer_names_what_its_strategy_leaves_unread_r15() -> None:
    """Also one that found much: what is not there may stand where nobody looked."""
    answer = await detail_of(experience()).answer()
    assert "routing: data-investigation version 1 doesn't read it" in answer.not_read
    assert "detail: only domain data was read" in answer.not_read
    assert "cases: its index had no hit; that is not proof of absence." in answer.notes
    assert not any(note.startswith("detail: its index") for note in answer.notes)
