"""What is kept of a retrieval's reads composes the same answer again, and what differs is found (R20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.retrieval.candidates import in_order
from activities.retrieval.rankings import kept, reads_of
from activities.retrieval.reads import Read
from activities.retrieval.rerun import Rerunner
from contracts.candidates import NOTHING, Earlier, Found, Past, Resolution, RetrievalTask
from contracts.experience import Limits
from contracts.identity import Profile
from contracts.index import Scope
from contracts.labels import CandidateKind, Collection, Outcome
from contracts.rankings import MOST_TARGETS, KeptEarlier, KeptFinding, Rankings
from contracts.retrieval import Candidate, RetrievalRequest, ValidityState
from contracts.retrieval_record import AgainCandidate, Rerun, RerunDifference, cases_in, differences, without_cases
from contracts.strategies import DATA_INVESTIGATION, DATA_INVESTIGATION_2
from contracts.strategy import Route
from tests.unit.test_retrieval_engine import NOW, REQUEST, Memory, detail_of, draft, experience, live_case

TASK = RetrievalTask(
    request=RetrievalRequest(request_id=REQUEST, profile_id="p", purpose="x", objective="y"),
    principal_id="agent",
    profile=Profile(id="p", domain_id="data", strategy_id="data-investigation", strategy_version=2),
    strategy=DATA_INVESTIGATION_2,
    scope=Scope(),
    answer=None,
)
FOUND = st.builds(
    Found,
    target=st.sampled_from([f"experience/{name}" for name in "abcdef"]),
    revision=st.integers(1, 2),
    fields=st.sampled_from([("text",), ("body",), ("named in experience/a",), ()]),
    section=st.integers(0, 3),
)


@st.composite
def reads(draw: st.DrawFn) -> list[Read]:
    steps = list(enumerate(TASK.strategy.steps, start=1))
    drawn: list[Read] = []
    for number, step in steps:
        for route in (*step.routes, Route.IDENTIFIER_HOP, Route.CONCEPT_LINKS):
            found = tuple(draw(st.lists(FOUND, max_size=6)))
            drawn.append(Read(number, step, route, draw(st.sampled_from([0.5, 1.0, 4.0])), found=found))
    return drawn


@given(reads())
def test_what_is_kept_gives_the_same_order_with_the_same_reasons_r20(given_reads: list[Read]) -> None:
    rankings = kept(TASK, given_reads, Resolution({}, frozenset(), frozenset()))
    again = reads_of(TASK.strategy, Rankings.model_validate_json(rankings.model_dump_json(exclude_defaults=True)))
    assert in_order(again, 60) == in_order(given_reads, 60)
    named = {read.name: read for read in given_reads if read.found}
    assert {read.name: read.weight for read in again} == {name: read.weight for name, read in named.items()}
    assert {read.name: [(f.target, f.revision, f.section) for f in read.found] for read in again} == {
        name: [(f.target, f.revision, f.section) for f in read.found] for name, read in named.items()
    }


def test_of_a_concept_only_its_kind_is_kept_r11() -> None:
    step = TASK.strategy.steps[0]
    found = Found("experience/a", 1, ("concept: anna weber", "intent: call her"))
    rankings = kept(
        TASK, [Read(1, step, Route.CONCEPT_LINKS, 1.0, found=(found,))], Resolution({}, frozenset(), frozenset())
    )
    assert rankings.fields == (("concept", "intent"),)
    assert "weber" not in rankings.model_dump_json()


def test_what_is_kept_has_an_end() -> None:
    found = tuple(Found(f"case/{number}", 1, ()) for number in range(MOST_TARGETS + 50))
    read = Read(1, TASK.strategy.steps[0], Route.LEXICAL, 1.0, found=found)
    rankings = kept(TASK, [read], Resolution({}, frozenset(), frozenset()))
    assert (len(rankings.findings), len(rankings.resolved or ())) == (MOST_TARGETS, MOST_TARGETS)


def test_hidden_targets_and_cases_are_kept_as_they_were() -> None:
    resolution = Resolution({"case/c": live_case()}, frozenset({"experience/w"}), frozenset({"case/hidden"}))
    rankings = kept(TASK, [], resolution)
    assert (rankings.not_permitted, rankings.cases) == (("case/hidden",), {"case/c": 1})


def test_the_current_revision_of_each_that_was_looked_at_is_kept_r20() -> None:
    """R20: also where a route found another revision; what was not current has none."""
    named = (("article/a", 0), ("article/a", 2), ("case/c", 0), ("experience/b", 0), ("experience/gone", 0))
    found = tuple(Found(target, 1, (), section) for target, section in named)
    earlier = Earlier("experience/old", 2, Limits())
    resolution = Resolution(
        {
            "article/a": replace(experience("a"), target="article/a", kind=CandidateKind.ARTICLE, revision=3),
            "experience/b": experience("b", supersedes=(earlier,)),
            "case/c": live_case(),
        },
        frozenset({"experience/gone"}),
        frozenset(),
    )
    rankings = kept(TASK, [Read(1, TASK.strategy.steps[0], Route.LEXICAL, 1.0, found=found)], resolution)
    stored = rankings.model_dump_json(exclude_defaults=True)
    assert '"resolved":[3,3,0,1,0]' in stored, "it is short, for there is one for every finding"
    again = Rankings.model_validate_json(stored)
    assert again.current() == {"article/a": 3, "experience/b": 1}
    assert again.earlier == {"experience/b": (KeptEarlier(ref="experience/old", revision=2),)}


def test_rankings_from_before_tell_no_revision_and_those_of_nothing_tell_that_r20() -> None:
    before = Rankings(domain_id="data", findings=(KeptFinding(ref="experience/a", revision=1),))
    assert Rankings.model_validate_json(before.model_dump_json(exclude_defaults=True)).current() is None
    nothing = kept(TASK, [], NOTHING)
    assert Rankings.model_validate_json(nothing.model_dump_json(exclude_defaults=True)).current() == {}


@dataclass
class Moving(Memory):
    """A record in which nothing is current at the first look, and everything at the later ones."""

    looked: list[list[str]] = field(default_factory=list[list[str]])

    async def resolve(self, task: RetrievalTask, targets: Sequence[str], others: Sequence[str] = ()) -> Resolution:
        self.looked.append(sorted(targets))
        if len(self.looked) > 1:
            return await super().resolve(task, targets, others)
        return Resolution({}, frozenset(targets), frozenset())

    async def rankings(self, request_id: str) -> Rankings | None:
        return self.kept

    async def as_of(self, task: RetrievalTask, targets: Sequence[str], rankings: Rankings, at: datetime) -> Past:
        return Past(await self.resolve(task, targets), {})


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_rerun_looks_at_all_that_the_engine_looked_at_r20(is_kept: bool) -> None:
    records = [experience(name) for name in "abcd"]
    memory = Moving(hits={Collection.DETAIL: [record.target for record in records]}, asked={"results": 1})
    await memory.holds(*records).answer()
    first, second = memory.looked
    assert (len(first), len(second)) == (2, 4)
    assert memory.kept is not None
    if not is_kept:
        memory.kept = memory.kept.model_copy(update={"resolved": None})
    assert (await Rerunner(memory).rerun(REQUEST)).same
    assert memory.looked[2:] == [second if is_kept else first], "one look is enough by what is current now"


async def test_an_answer_keeps_what_it_was_composed_from_r20() -> None:
    memory = detail_of(experience("a"), experience("b"))
    answer = await memory.answer()
    assert memory.kept is not None
    again = reads_of(DATA_INVESTIGATION, memory.kept)
    assert [item.target for item in in_order(again, 60)] == [each.ref for each in answer.candidates]


async def _candidates() -> tuple[Candidate, ...]:
    return (await detail_of(experience("a"), experience("b"), asked={"tokens": 4000}).answer()).candidates


async def test_no_difference_is_found_where_there_is_none() -> None:
    first, second = await _candidates()
    assert differences((first, second), (first, second)) == ()
    elsewhere = first.model_copy(update={"source_case": "case/c"})
    assert differences((first, second), (elsewhere, second)) == (), "grants of then are not kept"


async def test_every_kind_of_difference_is_found_and_named_r20() -> None:
    first, second = await _candidates()
    (missing,) = differences((first, second), (first,))
    assert (missing.rank, missing.then, missing.again) == (2, "experience/b revision 1", None)
    swapped = differences((first, second), (second, first))
    assert [(each.then, each.again) for each in swapped] == [
        ("experience/a revision 1", "experience/b revision 1"),
        ("experience/b revision 1", "experience/a revision 1"),
    ]
    changes: dict[str, Any] = {
        "revision": 2,
        "title": "Other",
        "extract": "Other",
        "outcome": Outcome.FAILED,
        "contrast": "shown to contrast: failed",
        "validity": first.validity.model_copy(update={"state": ValidityState.REVALIDATE}),
        "reason": first.reason[:1],
        "limits": Limits(products=("Atlas",)),
    }
    for name, value in changes.items():
        (found,) = differences((first, second), (first.model_copy(update={name: value}), second))
        assert (found.rank, found.fields) == (1, (name,))


async def test_a_text_that_is_not_known_any_more_is_not_compared() -> None:
    first, second = await _candidates()
    moved = first.model_copy(update={"title": "Other", "revision": 2, "extract": "x", "state": "waiting"})
    cut = second.model_copy(update={"extract": "Cut elsewhere."})
    assert differences((first, second), (moved, cut), changed=(first.ref,)) == ()
    assert differences((first, second), (moved, cut.model_copy(update={"title": "Other"})), changed=(first.ref,))


async def test_an_erased_candidate_is_no_difference_and_its_place_goes_to_the_next_r11_r20() -> None:
    three = (await detail_of(*(experience(name) for name in "abc"), asked={"tokens": 4000}).answer()).candidates
    first, second, third = three
    erased = {second.ref}
    assert differences((first, second), (first,), erased=erased) == ()
    assert differences((first, second), (first, third), erased=erased) == ()
    assert differences((first, second), (third, first), erased=erased) == (), "what comes next may stand anywhere"
    fourth = third.model_copy(update={"ref": "experience/d"})
    (more,) = differences((first, second), (first, third, fourth), erased=erased)
    assert (more.then, more.again) == (None, "experience/d revision 1"), "one place was free, not two"
    assert differences((first, second), (third,), erased=erased), "what is not erased must still be there"
    assert differences((first, second), (first, third)), "without an erasure both are differences"
    assert differences((first, second), (first.model_copy(update={"title": "Other"}), third), erased=erased)


def test_a_reader_is_told_of_no_case_outside_its_scope_r21() -> None:
    hidden, shown = "case/hidden", "case/shown"
    given_to = [
        AgainCandidate(rank=1, ref=ref, revision=1, validity=ValidityState.OK)
        for ref in (hidden, shown, "experience/a")
    ]
    rerun = Rerun(
        request_id=REQUEST,
        as_of=NOW,
        same=False,
        candidates=tuple(given_to),
        differences=(
            RerunDifference(rank=1, then=f"{hidden} revision 1"),
            RerunDifference(rank=2, then=f"{shown} revision 1", again=f"{hidden} revision 2"),
            RerunDifference(rank=3, then=f"{shown} revision 1", again="experience/a revision 1"),
        ),
        unknown=(f"{hidden}: has changed since", "grants: as now"),
    )
    assert cases_in(rerun) == (hidden, shown)
    told = without_cases(rerun, {hidden})
    assert "hidden" not in told.model_dump_json()
    assert ([each.ref for each in told.candidates], len(told.differences)) == ([shown, "experience/a"], 1)
    assert (told.same, told.unknown) == (False, ("grants: as now",))
    assert without_cases(rerun, ()) == rerun


# Abstention (R15)


async def test_an_answer_that_abstains_names_the_nearest_and_why_they_do_not_apply_r15() -> None:
    names = ("a", "b", "c", "d")
    others = [experience(name, draft(limits=Limits(products=("Vega",)))) for name in names]
    answer = await detail_of(*others, asked={"product": "Polaris"}).answer()
    assert answer.abstained
    assert [each.ref for each in answer.nearest] == ["experience/a", "experience/b", "experience/c"]
    assert answer.nearest[0].why == ("product Polaris is outside its limits: Vega",)


async def test_what_the_strategy_does_not_accept_is_named_with_why_when_nothing_else_is_there_r15() -> None:
    answer = await detail_of(experience("a", owner="configuration")).answer()
    (nearest,) = answer.nearest
    assert answer.candidates == ()
    assert (nearest.ref, nearest.revision) == ("experience/a", 1)
    assert nearest.why == ("it belongs to domain configuration, and only data is read here",)


async def test_an_answer_that_does_not_abstain_names_no_nearest() -> None:
    assert (await detail_of(experience("a")).answer()).nearest == ()
    assert (await Memory().answer()).nearest == ()
    assert (await Memory(hits={Collection.CASES: ["case/c"]}).holds(live_case()).answer()).nearest == ()
