"""The engine on a broadened request, and what feedback beside a candidate does: nothing but to be shown (R18)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.retrieval.candidates import in_order
from activities.retrieval.composing import Composed, compose
from activities.retrieval.routes import Read
from contracts.candidates import CandidateRecord, Found, Resolution, RetrievalTask
from contracts.feedback import CandidateFeedback, UsefulnessCounts
from contracts.identity import Profile
from contracts.index import Filter, Scope
from contracts.labels import Collection
from contracts.retrieval import RetrievalRequest
from contracts.strategies import DATA_INVESTIGATION, ROOT_CLASSIFICATION
from contracts.strategy import Route
from contracts.widening import BroadenedFrom, Widening
from tests.unit.test_retrieval_engine import REQUEST, Memory, draft, experience

BEFORE = BroadenedFrom(request_id="first", reason="Nothing fits.", widened=Widening(domains=("development",)), depth=1)
TASK = RetrievalTask(
    request=RetrievalRequest(request_id=REQUEST, profile_id="p", purpose="p", objective="printing fails"),
    principal_id="agent",
    profile=Profile(id="p", domain_id="data", strategy_id="data-investigation", strategy_version=1),
    strategy=DATA_INVESTIGATION,
    scope=Scope(),
    answer=None,
)
COUNTS = st.builds(UsefulnessCounts, helped=st.integers(0, 9), misled=st.integers(0, 9), not_applicable=st.just(0))
FEEDBACK = st.builds(CandidateFeedback, own=COUNTS, everywhere=st.none() | COUNTS)


@dataclass
class Broadened(Memory):
    """A request whose own-domain steps read these domains."""

    domains: tuple[str, ...] | None = None

    async def load(self, request_id: str) -> RetrievalTask:
        broadened = None if self.domains is None else BEFORE
        return replace(await super().load(request_id), domains=self.domains, broadened=broadened)


def domains_read(memory: Memory) -> set[tuple[str, ...]]:
    """Return what the index was asked for beside cases."""
    return {where.domains for collection, where in memory.searched if collection is not Collection.CASES}


@pytest.mark.parametrize(
    ("domains", "read", "shown"),
    [
        (None, ("data",), {"experience/a"}),
        (("data", "development"), ("data", "development"), {"experience/a", "experience/b"}),
        ((), (), {"experience/a", "experience/b", "experience/c"}),
    ],
)
async def test_r18_own_domain_steps_read_what_was_broadened(
    domains: tuple[str, ...] | None, read: tuple[str, ...], shown: set[str]
) -> None:
    """In the index's filter, in the record's word, and where the index is away."""
    records = [
        experience(name, owner=owner) for name, owner in zip("abc", ("data", "development", "root"), strict=True)
    ]
    targets = [record.target for record in records]
    memory = Broadened(domains=domains, hits={Collection.DETAIL: targets})
    memory.holds(*records)
    answer = await memory.answer()
    assert {each.ref for each in answer.candidates} == shown
    assert domains_read(memory) == {read}
    assert answer.broadened == (None if domains is None else BEFORE)
    assert any("Broadened from retrieval first: also development" in note for note in answer.notes) == (
        domains is not None
    )
    away = Broadened(domains=domains, in_record=targets, broken={Collection.DETAIL: ConnectionError("away")})
    away.holds(*records)
    assert {each.ref for each in (await away.answer()).candidates} == shown
    assert {lookup.domains for lookup in away.lookups if lookup.kinds != ("case",)} == {read}


@pytest.mark.parametrize("domains", [None, ("data", "development"), ()])
async def test_r16_what_was_not_read_names_the_domains_that_were(domains: tuple[str, ...] | None) -> None:
    lines = (await Broadened(domains=domains).answer()).not_read
    said = [line for line in lines if "was read" in line]
    named = ", ".join(domains or ("data",))
    assert said == ([] if domains == () else [f"detail: only domain {named} was read"])


async def test_r18_a_strategy_that_reads_every_domain_is_not_narrowed_by_a_broadening() -> None:
    memory = Broadened(strategy=ROOT_CLASSIFICATION, domains=("data", "development"))
    await memory.answer()
    assert domains_read(memory) == {Filter().domains}


@given(feedback=st.lists(FEEDBACK, min_size=6, max_size=6), order=st.permutations(range(6)))
def test_r20_feedback_moves_no_candidate_and_bars_none(feedback: list[CandidateFeedback], order: list[int]) -> None:
    """Whatever is counted: order, eligibility, validity and text are those without it; only the counts show."""
    plain = [
        experience(name, draft(text=f"Insert the row {name}."), owner=owner)
        for name, owner in zip("abcdef", ("data",) * 5 + ("root",), strict=True)
    ]
    counted = [replace(record, feedback=each) for record, each in zip(plain, feedback, strict=True)]
    step = DATA_INVESTIGATION.steps[0]
    found = tuple(Found(plain[place].target, 1, ("text",)) for place in order)
    reads = [Read(1, step, route, step.weight, found=found) for route in (Route.LEXICAL, Route.DENSE_BODY)]

    def composed(records: list[CandidateRecord]) -> Composed:
        found = {each.target: each for each in records}
        return compose(TASK, reads, in_order(reads, 60), Resolution(found, frozenset(), frozenset()))

    without, with_counts = composed(plain), composed(counted)
    assert len(without.candidates) == 5
    shown = {each.ref: each.feedback for each in with_counts.candidates}
    assert shown == {record.target: record.feedback for record in counted[:5]}
    blank = [each.model_copy(update={"feedback": CandidateFeedback()}) for each in with_counts.candidates]
    assert blank == list(without.candidates)
