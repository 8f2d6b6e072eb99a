"""The retrieval engine on fakes of its ports: what it reads, drops, labels and admits (R5, R10, R15 to R17)."""

from __future__ import annotations

import asyncio
import threading
import unicodedata
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from temporalio.exceptions import ApplicationError

from activities.refusals import as_application_error, from_application_error
from activities.retrieval.activity import RetrievalActivities
from activities.retrieval.budget import CHARACTERS_PER_TOKEN, LEAST_EXTRACT, cut, fit, room
from activities.retrieval.engine import RetrievalEngine, TimeLimits
from activities.retrieval.extracts import Words
from contracts.candidates import CandidateRecord, CanonicalLookup, Found, Past, Resolution, RetrievalTask
from contracts.cases import Case, CaseFacts, Effort, Origin
from contracts.errors import (
    CaseloreError,
    EmbeddingUnavailable,
    IndexUnavailable,
    InvalidField,
    UnknownRetrieval,
    every_error,
)
from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis
from contracts.identity import Profile
from contracts.index import DenseQuery, Filter, Hit, IndexChange, LexicalQuery, Scope, Stored
from contracts.labels import CandidateKind, CaseState, Collection, Outcome, ProofLevel, UnitKind
from contracts.outbox import Watermark
from contracts.rankings import Rankings
from contracts.retrieval import (
    Answer,
    Candidate,
    OriginRef,
    RetrievalRequest,
    RouteReport,
    RouteState,
    ValidityState,
)
from contracts.strategies import DATA_INVESTIGATION, DEVELOPMENT, EFFORT_ASSESSMENT, ROOT_CLASSIFICATION
from contracts.strategy import Route, Strategy

NOW = datetime(2026, 3, 1, tzinfo=UTC)
REQUEST = str(uuid.UUID(int=1))
NOT_SUCCEEDED = [outcome for outcome in Outcome if outcome is not Outcome.SUCCEEDED]


def watermark(collection: Collection, *, position: int = 7, pending: int = 0) -> Watermark:
    return Watermark(
        collection=collection, position=position, head=7, pending=pending, lag_seconds=4.0 * pending, as_of=NOW
    )


def draft(outcome: Outcome = Outcome.SUCCEEDED, *, text: str = "Insert the row.", **given: Any) -> Draft:
    succeeded = outcome is Outcome.SUCCEEDED
    proof = ProofLevel.VERIFIED if succeeded else ProofLevel.REPORTED
    unit = KnowledgeUnit(
        id="u1",
        kind=UnitKind.PRESCRIPTION if succeeded else UnitKind.PROPOSITION,
        text=text,
        concepts=("register",),
        intent="restore printing",
        outcome=outcome,
        proof_level=proof,
        use_when=given.pop("use_when", ""),
    )
    synopsis = RoutingSynopsis(
        request_type="printing", route="data investigation", disposition="repaired", text="A document did not print."
    )
    return Draft(
        title="Missing register row",
        domain_id="data",
        outcome=outcome,
        proof_level=proof,
        synopsis=synopsis,
        units=(unit,),
        **given,
    )


def experience(name: str = "a", current: Draft | None = None, **given: Any) -> CandidateRecord:
    current = current or draft()
    record = CandidateRecord(
        target=f"experience/{name}",
        kind=CandidateKind.EXPERIENCE,
        revision=1,
        title=current.title,
        owner=current.domain_id,
        state="current",
        draft=current,
        case=None,
        source_case=None,
        source_origin=None,
        published_at=NOW,
    )
    return replace(record, **given)


def live_case(name: str = "c") -> CandidateRecord:
    case = Case(
        id=name,
        origin=Origin(tenant_id="north", source="desk", external_id="SD-9"),
        title="Printing stopped",
        body="Anna Weber writes that printing stopped.",
        state=CaseState.WAITING,
        waiting_on="template owner",
        facts=CaseFacts(domain_id="data", request_type="printing"),
        opened_at=NOW,
        revision=1,
    )
    return CandidateRecord(
        target=f"case/{name}",
        kind=CandidateKind.CASE,
        revision=1,
        title=case.title,
        owner="data",
        state=case.state,
        draft=None,
        case=case,
        source_case=f"case/{name}",
        source_origin=OriginRef(source="desk", external_id="SD-9"),
        published_at=None,
    )


@dataclass
class Memory:
    """Records and index in one: what each finds, and what became of it."""

    strategy: Strategy = DATA_INVESTIGATION
    asked: dict[str, Any] = field(default_factory=dict[str, Any])
    scope: Scope = field(default_factory=lambda: Scope(tenants=frozenset({"north"})))
    current: dict[str, CandidateRecord] = field(default_factory=dict[str, CandidateRecord])
    hits: dict[Collection, list[str]] = field(default_factory=dict[Collection, list[str]])
    in_registry: list[str] = field(default_factory=list[str])
    in_record: list[str] = field(default_factory=list[str])
    withdrawn: set[str] = field(default_factory=set[str])
    not_permitted: set[str] = field(default_factory=set[str])
    marks: list[Watermark] = field(default_factory=lambda: [watermark(each) for each in Collection])
    broken: dict[Collection, CaseloreError | Exception] = field(
        default_factory=dict[Collection, CaseloreError | Exception]
    )
    slow: frozenset[Collection] = frozenset()
    embedding: CaseloreError | None = None
    lookups: list[CanonicalLookup] = field(default_factory=list[CanonicalLookup])
    filters: list[Filter] = field(default_factory=list[Filter])
    searched: list[tuple[Collection, Filter]] = field(default_factory=list[tuple[Collection, Filter]])
    calls: list[str] = field(default_factory=list[str])
    embedded: list[tuple[list[str], bool]] = field(default_factory=list[tuple[list[str], bool]])
    stored_answer: Answer | None = None
    kept: Rankings | None = None

    def holds(self, *records: CandidateRecord) -> Memory:
        self.current.update({record.target: record for record in records})
        return self

    # RetrievalRecords
    async def load(self, request_id: str) -> RetrievalTask:
        if request_id != REQUEST:
            raise UnknownRetrieval("No such retrieval.", field="request_id")
        request = RetrievalRequest(
            request_id=request_id, profile_id="p", purpose="support", objective="printing fails", **self.asked
        )
        profile = Profile(
            id="p", domain_id="data", strategy_id=self.strategy.id, strategy_version=self.strategy.version
        )
        return RetrievalTask(request, "agent-1", profile, self.strategy, self.scope, self.stored_answer)

    async def registry(self, task: RetrievalTask, limit: int) -> list[Found]:
        return [Found(target, 1, ("origin",)) for target in self.in_registry[:limit]]

    async def canonical(self, task: RetrievalTask, lookup: CanonicalLookup) -> list[Found]:
        self.calls.append("canonical")
        self.lookups.append(lookup)
        return [Found(target, 1, ("text",)) for target in self.in_record]

    async def resolve(self, task: RetrievalTask, targets: Sequence[str], others: Sequence[str] = ()) -> Resolution:
        gone = self.withdrawn | self.not_permitted
        kept = {target: self.current[target] for target in targets if target in self.current and target not in gone}
        asked = {*targets, *others}
        return Resolution(kept, frozenset(self.withdrawn & asked), frozenset(self.not_permitted & asked))

    async def seen(self, task: RetrievalTask, targets: Sequence[str]) -> dict[str, CandidateRecord]:
        return (await Memory.resolve(self, task, targets)).records

    async def watermarks(self) -> list[Watermark]:
        return self.marks

    async def save(self, task: RetrievalTask, answer: Answer, rankings: Rankings) -> Answer:
        self.kept = self.kept or rankings
        self.stored_answer = self.stored_answer or answer
        return self.stored_answer

    # RetrievalHistory
    async def rankings(self, request_id: str) -> Rankings | None:
        return self.kept

    async def as_of(self, task: RetrievalTask, targets: Sequence[str], rankings: Rankings, at: Any) -> Past:
        assert at == NOW
        return Past(await Memory.resolve(self, task, targets), {})

    # SearchIndex
    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def apply(self, changes: Sequence[IndexChange]) -> None: ...

    async def stored(self, collection: Collection) -> list[Stored]:
        return []

    async def drop(self, collection: Collection) -> None: ...

    async def compact(self, collection: Collection) -> None: ...

    async def search(
        self, collection: Collection, query: DenseQuery | LexicalQuery, *, scope: Scope, where: Filter, limit: int
    ) -> list[Hit]:
        self.calls.append("search")
        self.filters.append(where)
        self.searched.append((collection, where))
        if collection in self.broken:
            raise self.broken[collection]
        if collection in self.slow:
            await asyncio.sleep(5)
        found = [target for target in self.hits.get(collection, []) if target not in where.not_targets]
        return [Hit(target, 1, "", CandidateKind.EXPERIENCE, 1.0) for target in found[:limit]]

    # Embedder
    model = "fake"
    dimensions = 2

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.embedded.append((list(texts), threading.current_thread() is threading.main_thread()))
        if self.embedding is not None:
            raise self.embedding
        return [[1.0, 0.0] for _ in texts]

    # Clock
    def now(self) -> datetime:
        return NOW

    def engine(self) -> RetrievalEngine:
        # Long enough for a busy machine; what is slow on purpose is given up sooner.
        route = 0.5 if self.slow else 10.0
        return RetrievalEngine(self, self, self, self, TimeLimits(route=route, watermark=0.05, watermark_every=0.01))

    async def answer(self) -> Answer:
        receipt = await self.engine().answer(REQUEST)
        assert self.stored_answer is not None
        assert receipt.candidates == len(self.stored_answer.candidates)
        return self.stored_answer

    async def only(self) -> Candidate:
        (candidate,) = (await self.answer()).candidates
        return candidate


def detail_of(*records: CandidateRecord, **given: Any) -> Memory:
    memory = Memory(hits={Collection.DETAIL: [record.target for record in records]}, **given)
    return memory.holds(*records)


def ended(answer: Answer, state: RouteState) -> list[RouteReport]:
    return [report for report in answer.routes if report.state is state]


# What is read, and what is said about what is not (R15, R16)


async def test_an_answer_says_why_each_candidate_was_found_and_how_far_the_indexes_were_r15() -> None:
    memory = detail_of(experience())
    answer = await memory.answer()

    (candidate,) = answer.candidates
    assert [(match.route, match.collection, match.rank) for match in candidate.reason] == [
        (route, Collection.DETAIL, 1) for route in (Route.LEXICAL, Route.DENSE_TITLE, Route.DENSE_BODY)
    ]
    assert (candidate.ref, candidate.revision, candidate.owner, candidate.outcome, candidate.proof_level) == (
        "experience/a",
        1,
        "data",
        Outcome.SUCCEEDED,
        ProofLevel.VERIFIED,
    )
    assert answer.watermarks == tuple(memory.marks)
    assert answer.strategy_digest == DATA_INVESTIGATION.digest()
    assert (answer.abstained, answer.answered_at) == (False, NOW)


async def test_the_objective_is_embedded_once_off_the_event_loop() -> None:
    memory = detail_of(experience())
    await memory.answer()
    assert memory.embedded == [(["printing fails"], False)]


async def test_nothing_is_embedded_without_a_dense_route() -> None:
    lexical = DEVELOPMENT.model_copy(update={"steps": DEVELOPMENT.steps[:1]})
    memory = detail_of(experience(), strategy=lexical)
    await memory.answer()
    assert memory.embedded == []


async def test_a_failed_index_is_named_and_read_from_the_record_instead_r16() -> None:
    memory = Memory(broken={Collection.DETAIL: IndexUnavailable("The index is down.")}, in_record=["experience/a"])
    answer = await memory.holds(experience()).answer()

    assert [candidate.ref for candidate in answer.candidates] == ["experience/a"]
    assert answer.candidates[0].reason[0].route is Route.CANONICAL
    assert {report.why for report in ended(answer, RouteState.FAILED)} == {"The index is down."}
    assert "detail by lexical: The index is down." in answer.not_read
    assert "detail: read from the record by full text instead of lexical, dense_title, dense_body." in answer.notes
    assert [(lookup.pending_only, lookup.domains) for lookup in memory.lookups] == [(False, ("data",))]


async def test_a_slow_route_fails_alone_and_is_named_r15() -> None:
    memory = detail_of(experience(), slow=frozenset({Collection.CASES}))
    answer = await memory.answer()

    assert [candidate.ref for candidate in answer.candidates] == ["experience/a"]
    assert {(report.collection, report.why) for report in ended(answer, RouteState.FAILED)} == {
        (Collection.CASES, "no answer within 0.5 s")
    }


async def test_an_unexpected_fault_is_reported_without_its_text_r22() -> None:
    memory = detail_of(experience(), broken={Collection.CASES: ValueError("password=secret")})
    answer = await memory.answer()

    assert {report.why for report in ended(answer, RouteState.FAILED)} == {"unexpected ValueError"}


async def test_without_a_vector_only_the_dense_routes_fail_r15() -> None:
    memory = detail_of(experience(), embedding=EmbeddingUnavailable("The model is missing."))
    answer = await memory.answer()

    assert {report.route for report in ended(answer, RouteState.FAILED)} == {Route.DENSE_TITLE, Route.DENSE_BODY}
    assert answer.candidates[0].reason[0].route is Route.LEXICAL
    assert len(memory.embedded) == 1


async def test_a_lagging_index_has_its_pending_part_read_from_the_record_first_r16() -> None:
    memory = Memory(in_record=["experience/new"])
    memory.marks[2] = watermark(Collection.DETAIL, position=5, pending=2)
    answer = await memory.holds(experience("new")).answer()

    assert [candidate.ref for candidate in answer.candidates] == ["experience/new"]
    assert [lookup.pending_only for lookup in memory.lookups] == [True]
    assert memory.calls[0] == "canonical", "an event projected in between must be in one of the two reads"
    assert "detail: pending events not in the index yet: 2, oldest 8 s" in answer.not_read
    assert "detail: read from the record by full text for pending events (2)." in answer.notes


async def test_an_index_without_a_watermark_is_not_trusted_r16() -> None:
    memory = detail_of(experience())
    memory.marks = [mark for mark in memory.marks if mark.collection is not Collection.DETAIL]
    answer = await memory.answer()

    assert [lookup.pending_only for lookup in memory.lookups] == [False]
    assert "detail: the index has no watermark, so anything may be missing from it" in answer.not_read


async def test_zero_hits_name_what_was_not_read_and_abstain_r16() -> None:
    answer = await Memory().answer()

    assert answer.abstained
    assert answer.candidates == ()
    assert "routing: data-investigation version 1 doesn't read it" in answer.not_read
    assert "detail: only domain data was read" in answer.not_read
    assert "cases by registry: the request names no origin, no object and no case" in answer.not_read
    assert "detail: its index had no hit; that is not proof of absence." in answer.notes
    assert "cases: its index had no hit; that is not proof of absence." in answer.notes


async def test_without_a_tenant_in_scope_cases_are_skipped_and_said_so_r4() -> None:
    memory = Memory(strategy=ROOT_CLASSIFICATION, scope=Scope(), hits={Collection.CASES: ["case/c"]})
    answer = await memory.holds(live_case()).answer()

    assert answer.candidates == ()
    assert {report.collection for report in ended(answer, RouteState.SKIPPED)} == {Collection.CASES}
    assert "cases by lexical: no tenant or case is in the caller's scope" in answer.not_read


async def test_waiting_for_a_position_is_bounded_and_a_miss_is_noted_r23() -> None:
    memory = detail_of(experience(), asked={"wait_for_position": 9})
    answer = await memory.answer()
    assert "Waited 0.05 s for position 9: cases at 7, routing at 7, detail at 7." in answer.notes


async def test_an_index_that_catches_up_ends_the_wait_r23() -> None:
    memory = detail_of(experience(), asked={"wait_for_position": 7})
    memory.marks[0] = watermark(Collection.CASES, position=6, pending=1)
    engine = RetrievalEngine(memory, memory, memory, memory, TimeLimits(watermark_every=0.01))
    waiting = asyncio.create_task(engine.answer(REQUEST))
    await asyncio.sleep(0.03)
    assert not waiting.done()

    memory.marks[0] = watermark(Collection.CASES, position=6)  # later events were for the other indexes
    await waiting
    assert memory.stored_answer is not None
    assert memory.stored_answer.notes == ("cases: its index had no hit; that is not proof of absence.",)


# What the record decides (R4, R10, R21)


async def test_a_withdrawn_target_is_dropped_and_counted_r10() -> None:
    memory = detail_of(experience("a"), experience("b"), withdrawn={"experience/a"})
    answer = await memory.answer()

    assert [candidate.ref for candidate in answer.candidates] == ["experience/b"]
    assert answer.withdrawn == 1


async def test_a_stale_hit_shows_the_current_revision_and_is_noted_r10() -> None:
    answer = await detail_of(experience(revision=2, title="Corrected")).answer()

    assert (answer.candidates[0].revision, answer.candidates[0].title) == (2, "Corrected")
    assert "1 of those looked at found at another revision; shown as the record holds them." in answer.notes


async def test_what_grants_leave_out_is_counted_and_another_tenants_is_not_r21() -> None:
    memory = Memory(
        strategy=ROOT_CLASSIFICATION,
        hits={Collection.CASES: ["case/ours", "case/theirs"]},
        not_permitted={"case/ours"},
    )
    answer = await memory.answer()

    assert answer.candidates == ()
    assert answer.omitted_by_permission == 1
    assert "case/theirs" not in answer.model_dump_json()


async def test_source_case_and_origin_come_only_from_the_record_r21() -> None:
    assert (await detail_of(experience()).only()).source_case is None
    inside = experience(source_case="case/c", source_origin=OriginRef(source="desk", external_id="SD-9"))
    shown = await detail_of(inside).only()
    assert (shown.source_case, shown.source_origin) == ("case/c", inside.source_origin)


async def test_the_record_rechecks_domain_outcome_and_effort_of_the_step() -> None:
    moved = await detail_of(experience(owner="configuration")).answer()
    assert moved.candidates == ()
    assert "1 of those looked at are left out: the strategy doesn't accept them." in moved.notes

    effort = draft(effort=Effort(estimate_hours=12, active_hours=9, waiting_hours=40))
    unverified = draft(Outcome.UNVERIFIED, effort=effort.effort)
    memory = detail_of(
        experience("none"), experience("open", unverified), experience("known", effort), strategy=EFFORT_ASSESSMENT
    )
    candidate = await memory.only()
    assert candidate.ref == "experience/known"
    assert "estimated 12 h, active 9 h, waiting 40 h, active against estimate -3 h" in candidate.extract
    assert memory.filters[0].outcomes == EFFORT_ASSESSMENT.steps[0].outcomes


async def test_a_case_is_no_precedent_of_itself_but_the_registry_names_it() -> None:
    own = str(uuid.UUID(int=7))
    memory = Memory(hits={Collection.CASES: [f"case/{own}"]}, asked={"case_id": own}).holds(live_case(own))
    assert (await memory.answer()).candidates == ()

    memory = Memory(in_registry=[f"case/{own}"], asked={"case_id": own, "object_refs": ("P-1",)})
    assert (await memory.holds(live_case(own)).only()).reason[0].fields == ("origin",)


# What is shown, and how (R5, R13, R17)


async def test_root_sees_synopses_and_no_technical_text_or_case_body() -> None:
    memory = Memory(
        strategy=ROOT_CLASSIFICATION,
        hits={Collection.ROUTING: ["experience/a"], Collection.CASES: ["case/c"]},
        in_registry=["case/c"],
        asked={"origin": {"source": "desk", "external_id": "SD-9"}},
    ).holds(experience(), live_case())
    case, routed = (await memory.answer()).candidates

    assert case.extract.splitlines()[0] == "Case: waiting, waiting on template owner"
    assert "Anna Weber" not in case.extract
    assert routed.extract.splitlines() == [
        "Request type: printing",
        "Route: data investigation",
        "Disposition: repaired",
        "Owner: data",
        "A document did not print.",
    ]


async def test_routing_alone_opens_no_technical_text_for_a_specialist() -> None:
    memory = Memory(strategy=DEVELOPMENT, hits={Collection.ROUTING: ["experience/a"]}).holds(experience())
    assert "Insert the row." not in (await memory.only()).extract


@pytest.mark.parametrize("outcome", NOT_SUCCEEDED)
@pytest.mark.parametrize("strategy", [ROOT_CLASSIFICATION, DATA_INVESTIGATION], ids=lambda s: s.id)
async def test_what_did_not_succeed_says_so_first_and_survives_every_cut_r5(
    outcome: Outcome, strategy: Strategy
) -> None:
    records = [experience(f"{number:02}", draft(outcome, text="word " * 200)) for number in range(12)]
    targets = [record.target for record in records]
    memory = Memory(
        strategy=strategy,
        hits={Collection.ROUTING: targets, Collection.DETAIL: targets},
        asked={"tokens": 200, "results": 12},
    ).holds(*records)
    answer = await memory.answer()

    label = f"Outcome: {outcome.replace('_', ' ')}. Not a fix."
    assert len(answer.candidates) == 10
    assert "The token budget has room for 10 candidates." in answer.notes
    for candidate in answer.candidates:
        assert candidate.extract.splitlines()[0] == label
        assert candidate.outcome is outcome
        assert label in candidate.validity.reasons


async def test_a_success_carries_no_label() -> None:
    assert "Not a fix" not in (await detail_of(experience()).only()).extract


async def test_a_failure_inside_a_success_is_labelled_where_it_stands_r5() -> None:
    whole = draft()
    failed = whole.units[0].model_copy(
        update={"id": "u2", "kind": UnitKind.PROPOSITION, "outcome": Outcome.FAILED, "text": "A restart didn't help."}
    )
    candidate = await detail_of(experience(current=whole.model_copy(update={"units": (*whole.units, failed)}))).only()
    assert "Outcome: failed. Not a fix.\nA restart didn't help." in candidate.extract


async def test_version_outside_the_limits_is_revalidated_and_the_unit_says_it_too_r17() -> None:
    limited = draft(limits=Limits(version_from="7.2", version_to="7.4"))
    units = (limited.units[0].model_copy(update={"limits": limited.limits}),)
    memory = detail_of(
        experience(current=limited.model_copy(update={"units": units})), asked={"version": "7.10", "tokens": 4000}
    )
    candidate = await memory.only()

    assert candidate.validity.state is ValidityState.REVALIDATE
    assert candidate.validity.reasons[0] == "version 7.10 is outside 7.2 to 7.4"
    assert "Revalidate: version 7.10 is outside 7.2 to 7.4.\nInsert the row." in candidate.extract


async def test_uncreated_renewals_do_not_get_the_missing_row_repair_as_applicable_r17() -> None:
    repair = draft(use_when="the renewal exists and its register row is absent")
    candidate = await detail_of(experience(current=repair)).only()

    assert candidate.validity.state is ValidityState.REVALIDATE
    assert candidate.validity.reasons == (
        "u1: check that it holds now: the renewal exists and its register row is absent",
    )


async def test_another_product_comes_last_and_alone_abstains_but_stays_listed_r15() -> None:
    other = experience("a", draft(limits=Limits(products=("Vega",))))
    fitting = experience("b", draft(limits=Limits(products=("Polaris",))))
    asked = {"product": "Polaris"}

    both = await detail_of(other, fitting, asked=asked).answer()
    assert [(item.ref, item.validity.state) for item in both.candidates] == [
        ("experience/b", ValidityState.OK),
        ("experience/a", ValidityState.OUT_OF_RANGE),
    ]
    assert not both.abstained
    alone = await detail_of(other, asked=asked).answer()
    assert [item.ref for item in alone.candidates] == ["experience/a"]
    assert alone.abstained


async def test_a_live_case_is_never_shown_as_applicable_knowledge() -> None:
    memory = Memory(hits={Collection.CASES: ["case/c"]}).holds(live_case())
    candidate = await memory.only()
    assert candidate.validity.state is ValidityState.REVALIDATE
    assert (candidate.outcome, candidate.proof_level) == (None, None)


async def test_the_token_budget_cuts_at_a_sentence_and_says_so_r13() -> None:
    memory = detail_of(experience(current=draft(text="The register row was absent. " * 60)), asked={"tokens": 200})
    candidate = await memory.only()

    assert not candidate.extract_complete
    assert len(candidate.extract) <= 800
    assert candidate.extract.endswith("The register row was absent.")


@given(
    st.lists(st.tuples(st.sampled_from(["", "Outcome: rejected route. Not a fix."]), st.text(max_size=900))),
    st.integers(200, 1000),
)
def test_extracts_stay_within_the_budget_and_keep_their_labels_r13(drawn: list[tuple[str, str]], tokens: int) -> None:
    extracts = [Words(label, text) for label, text in drawn[: room(tokens)]]
    fitted = fit(extracts, tokens)

    assert sum(len(text) for text, _ in fitted) <= tokens * CHARACTERS_PER_TOKEN
    for words, (text, complete) in zip(extracts, fitted, strict=True):
        assert text.startswith(words.label)
        assert complete is (text == words.whole())
        assert complete or len(words) > LEAST_EXTRACT


@given(st.text(max_size=200), st.integers(0, 200))
def test_a_cut_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    assert text.startswith(cut(text, limit))
    assert len(cut(text, limit)) <= limit


@pytest.mark.parametrize("text", ["e\u0301" * 30, "\U0001f469\u200d\U0001f52c" * 20, "one\ttwo\u00a0three" * 5])
@pytest.mark.parametrize("limit", range(2, 24))
def test_a_cut_tears_no_letter_from_its_accent_and_ends_at_any_blank(text: str, limit: int) -> None:
    kept = cut(text, limit)
    assert text.startswith(kept)
    assert len(kept) <= limit
    rest = text[len(kept) :]
    assert len(kept) < 2 or not (unicodedata.combining(rest[0]) or "\u200d" in (kept[-1], rest[0]))
    blank = max((place for place in range(1, limit + 1) if text[place : place + 1].isspace()), default=0)
    assert not blank or kept == text[:blank]


# Once, and across Temporal (R20, R22)


async def test_a_repeat_returns_the_first_answer_without_reading_again_r20() -> None:
    memory = detail_of(experience())
    first = await memory.engine().answer(REQUEST)
    memory.calls.clear()
    memory.hits.clear()

    assert await memory.engine().answer(REQUEST) == first
    assert memory.calls == []


async def test_of_two_answers_at_once_the_first_stored_one_is_returned_r20() -> None:
    memory = detail_of(experience("a"), experience("b"))
    other = await detail_of(experience("a")).answer()
    task = await memory.load(REQUEST)

    async def unanswered(request_id: str) -> RetrievalTask:
        return task

    memory.load = unanswered
    memory.stored_answer = other
    assert (await memory.engine().answer(REQUEST)).candidates == 1


async def test_the_activity_refuses_under_the_errors_own_type_r22() -> None:
    activities = RetrievalActivities(Memory().engine())
    with pytest.raises(ApplicationError) as refused:
        await activities.answer_retrieval(str(uuid.UUID(int=2)))
    assert (refused.value.type, refused.value.non_retryable) == ("UnknownRetrieval", True)


@pytest.mark.parametrize("kind", every_error().values(), ids=lambda kind: kind.__name__)
def test_every_refusal_survives_the_way_through_temporal_r22(kind: type[CaseloreError]) -> None:
    error = kind("What is wrong.", field="version", accepted="7.2 to 7.4")
    back = from_application_error(as_application_error(error))
    assert (type(back), str(back)) == (kind, str(error))


def test_only_what_is_unavailable_is_retried() -> None:
    assert as_application_error(InvalidField("No.")).non_retryable
    assert not as_application_error(IndexUnavailable("Down.")).non_retryable


def test_a_foreign_failure_becomes_a_plain_refusal() -> None:
    assert type(from_application_error(ApplicationError("boom", type="KeyError"))) is CaseloreError
