"""What doesn't clear the strategy's bar is called far, and nothing counts on it (R15, R19)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.embedding import offline_minilm
from activities.retrieval.bar import FAR
from activities.retrieval.rerun import Rerunner
from contracts.candidates import CandidateRecord
from contracts.cases import Effort
from contracts.effort import Comparison
from contracts.errors import IndexUnavailable
from contracts.experience import Limits
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, Scope, VectorName
from contracts.labels import CandidateKind, Collection, Outcome
from contracts.strategies import (
    DATA_INVESTIGATION_2,
    DATA_INVESTIGATION_3,
    EFFORT_ASSESSMENT_3,
    ROOT_CLASSIFICATION_2,
    SHIPPED,
)
from contracts.strategy import Strategy
from tests.unit.test_retrieval_engine import REQUEST, Memory, draft, experience, live_case, watermark

BAR = DATA_INVESTIGATION_3.bar
assert BAR is not None
ABOVE, BELOW = BAR.cosine + 0.01, BAR.cosine - 0.01


@dataclass
class Measuring(Memory):
    """A memory whose dense hits have a likeness, the shipped model's by default."""

    strategy: Strategy = DATA_INVESTIGATION_3
    likeness: dict[str, float] = field(default_factory=dict[str, float])
    words_only: dict[Collection, list[str]] = field(default_factory=dict[Collection, list[str]])
    """Found by words, and by no meaning."""
    led_to: list[str] = field(default_factory=list[str])
    """Named by the first hits, and sharing their concepts."""

    lost: VectorName | None = None
    """A vector whose searches fail."""

    model = f"{offline_minilm.NAME}@12345678"

    async def search(
        self, collection: Collection, query: DenseQuery | LexicalQuery, *, scope: Scope, where: Filter, limit: int
    ) -> list[Hit]:
        if where.names or where.links:
            led_to = self.led_to if collection is Collection.DETAIL else []
            return [Hit(each, 1, "", CandidateKind.EXPERIENCE, 0.0, where.links, 0, where.names) for each in led_to]
        hits = await Memory.search(self, collection, query, scope=scope, where=where, limit=limit)
        if isinstance(query, LexicalQuery):
            return [
                *hits,
                *(Hit(each, 1, "", CandidateKind.EXPERIENCE, 1.0) for each in self.words_only.get(collection, [])),
            ]
        if query.name is self.lost:
            raise IndexUnavailable("The index is down.")
        return sorted((hit.scored(self.likeness[hit.target]) for hit in hits), key=lambda hit: -hit.score)

    # RetrievalHistory


def detail(likeness: dict[str, float], *records: CandidateRecord, **given: Any) -> Measuring:
    memory = Measuring(hits={Collection.DETAIL: [record.target for record in records]}, likeness=likeness, **given)
    memory.holds(*records)
    return memory


OTHER = draft(text="Feed the cat.")
NEAR, UNLIKE = experience("near", OTHER), experience("unlike", OTHER)


def test_the_shipped_bar_is_measured_with_the_shipped_model() -> None:
    assert {strategy.bar.model for strategy in SHIPPED if strategy.bar} == {offline_minilm.NAME}


async def test_what_is_below_the_bar_is_listed_and_called_far_r15() -> None:
    answer = await detail({NEAR.target: ABOVE, UNLIKE.target: BELOW}, UNLIKE, NEAR).answer()
    assert {each.ref: each.far for each in answer.candidates} == {NEAR.target: "", UNLIKE.target: FAR}
    assert (answer.abstained, answer.nearest) == (False, ())


async def test_an_answer_abstains_when_nothing_clears_the_bar_and_names_the_nearest_r15() -> None:
    answer = await detail({UNLIKE.target: BELOW}, UNLIKE).answer()
    assert answer.abstained
    assert [(each.ref, each.why) for each in answer.nearest] == [(UNLIKE.target, (FAR,))]
    assert [each.ref for each in answer.candidates] == [UNLIKE.target], "it is still there to weigh"


async def test_far_and_out_of_range_together_leave_nothing_r15_r17() -> None:
    elsewhere = experience("elsewhere", draft(text="Feed the cat.", limits=Limits(products=("Other",))))
    memory = detail({UNLIKE.target: BELOW, elsewhere.target: 0.9}, UNLIKE, elsewhere, asked={"product": "Tarnwell"})
    answer = await memory.answer()
    assert answer.abstained
    assert [each.ref for each in answer.nearest] == [UNLIKE.target, elsewhere.target]


async def test_a_version_without_a_bar_calls_nothing_far_r14() -> None:
    answer = await detail({UNLIKE.target: 0.01}, UNLIKE, strategy=DATA_INVESTIGATION_2).answer()
    assert [each.far for each in answer.candidates] == [""]
    assert not answer.abstained


async def test_another_models_cosines_are_held_to_no_bar_and_the_answer_says_so() -> None:
    memory = detail({UNLIKE.target: 0.01}, UNLIKE)
    memory.model = "other@1"  # type: ignore[misc]
    answer = await memory.answer()
    assert [each.far for each in answer.candidates] == [""]
    assert any("other@1 is used" in note for note in answer.notes)


async def test_words_of_the_objective_clear_the_bar() -> None:
    said = experience("said", draft(text="The printing of it fails."))  # asked: printing fails
    answer = await detail({said.target: BELOW}, said).answer()
    assert [each.far for each in answer.candidates] == [""]


async def test_the_same_origin_clears_the_bar_r1() -> None:
    case = live_case()
    memory = Measuring(
        strategy=ROOT_CLASSIFICATION_2,
        asked={"origin": {"source": "desk", "external_id": "SD-9"}},
        in_registry=[case.target],
        hits={Collection.CASES: [case.target]},
        likeness={case.target: 0.01},
    ).holds(case)
    answer = await memory.answer()
    assert [each.far for each in answer.candidates] == [""]


async def test_a_live_case_below_the_bar_is_far_and_not_among_the_nearest() -> None:
    case = live_case()
    memory = Measuring(
        strategy=ROOT_CLASSIFICATION_2,
        hits={Collection.CASES: [case.target]},
        likeness={case.target: BELOW},
    ).holds(_silent(case))
    answer = await memory.answer()
    assert ([each.far for each in answer.candidates], answer.abstained, answer.nearest) == ([FAR], True, ())


def _silent(record: CandidateRecord) -> CandidateRecord:
    """Return a case that has none of the objective's words."""
    assert record.case is not None
    facts = record.case.facts.model_copy(update={"request_type": "other"})
    case = record.case.model_copy(update={"title": "Other", "body": "Something else.", "facts": facts})
    return replace(record, title="Other", case=case)


async def test_what_only_words_found_is_far_when_meaning_was_measured_down_to_the_bar() -> None:
    memory = detail({NEAR.target: ABOVE}, NEAR, words_only={Collection.DETAIL: [UNLIKE.target]}).holds(UNLIKE)
    answer = await memory.answer()
    assert {each.ref: each.far for each in answer.candidates} == {NEAR.target: "", UNLIKE.target: FAR}


@pytest.mark.parametrize(("first", "label"), [(ABOVE, ""), (BELOW, FAR)])
async def test_what_near_hits_lead_to_clears_the_bar_and_what_far_ones_do_does_not(first: float, label: str) -> None:
    memory = detail({NEAR.target: first}, NEAR, led_to=[UNLIKE.target], words_only={Collection.DETAIL: [UNLIKE.target]})
    answer = await memory.holds(UNLIKE).answer()
    assert {each.ref: each.far for each in answer.candidates} == {NEAR.target: label, UNLIKE.target: label}


async def test_what_could_not_be_measured_is_never_far_r16() -> None:
    step = DATA_INVESTIGATION_3.steps[0].model_copy(update={"depth": 1})
    shallow = DATA_INVESTIGATION_3.model_copy(update={"steps": (step,)})
    memory = detail(
        {NEAR.target: ABOVE}, NEAR, strategy=shallow, words_only={Collection.DETAIL: [UNLIKE.target]}
    ).holds(UNLIKE)
    answer = await memory.answer()
    assert [each.far for each in answer.candidates] == ["", ""], "the ranking ended above the bar"

    broken = Measuring(
        broken={Collection.DETAIL: IndexUnavailable("The index is down.")}, in_record=[UNLIKE.target]
    ).holds(UNLIKE)
    answer = await broken.answer()
    assert ([each.far for each in answer.candidates], answer.abstained) == ([""], False)


async def test_what_the_index_has_not_taken_yet_is_never_far_r16() -> None:
    marks = [watermark(each, pending=1) for each in Collection]
    memory = detail({NEAR.target: ABOVE}, NEAR, in_record=[UNLIKE.target], marks=marks).holds(UNLIKE)
    answer = await memory.answer()
    assert {each.ref: each.far for each in answer.candidates} == {NEAR.target: "", UNLIKE.target: ""}


async def test_what_was_measured_at_another_revision_is_never_far_r10() -> None:
    answer = await detail({UNLIKE.target: BELOW}, replace(UNLIKE, revision=2)).answer()
    assert ([each.far for each in answer.candidates], answer.abstained) == ([""], False)


@pytest.mark.parametrize("by_words", [True, False])
@pytest.mark.parametrize("lost", [VectorName.TITLE, VectorName.BODY])
async def test_what_one_dense_route_alone_could_not_tell_is_never_far_r16(lost: VectorName, by_words: bool) -> None:
    """One of two dense routes doesn't have it near, and the other failed: a rerun says the same."""
    memory = detail({NEAR.target: ABOVE, UNLIKE.target: BELOW}, NEAR, lost=lost)
    memory.holds(UNLIKE)
    found = memory.words_only if by_words else memory.hits
    found.setdefault(Collection.DETAIL, []).append(UNLIKE.target)
    answer = await memory.answer()
    assert {each.ref: each.far for each in answer.candidates} == {NEAR.target: "", UNLIKE.target: ""}
    assert (await Rerunner(memory).rerun(REQUEST)).same


async def test_hours_of_far_work_are_shown_and_not_counted_r19() -> None:
    work = [
        experience(f"w{number}", draft(text="Feed the cat.", effort=Effort(active_hours=number)))
        for number in range(1, 8)
    ]
    likeness = {each.target: ABOVE for each in work[:5]} | {each.target: BELOW for each in work[5:]}
    answer = await detail(likeness, *work, strategy=EFFORT_ASSESSMENT_3).answer()
    assert answer.effort is not None
    assert (answer.effort.active.n, answer.effort.active.quantiles and answer.effort.active.quantiles.most) == (5, 5)
    assert {each.ref: each.why for each in answer.effort.apart} == {each.target: Comparison.FAR for each in work[5:]}
    assert {each.ref for each in answer.candidates} == {each.target for each in work}


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8), st.sampled_from(list(Outcome)))
async def test_a_rerun_calls_the_same_things_far_r20(cosines: list[float], outcome: Outcome) -> None:
    likeness = {f"experience/{number}": cosine for number, cosine in enumerate(cosines)}
    records = [experience(str(number), draft(outcome, text="Feed the cat.")) for number in range(len(cosines))]
    memory = detail(likeness, *records)
    answer = await memory.answer()
    rerun = await Rerunner(memory).rerun(REQUEST)
    assert rerun.same
    assert [(each.ref, each.far) for each in rerun.candidates] == [(each.ref, each.far) for each in answer.candidates]
    assert answer.abstained == all(each.far or each.contrast for each in answer.candidates)
