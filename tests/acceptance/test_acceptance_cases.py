"""The spec's eight acceptance cases (section 5), each as it should be, with the projector stopped, the index dropped.

On the case family, through the public API. What an answer says of its own making is checked with every one of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.effort import Comparison
from contracts.errors import OutcomeOverstated, UnknownArticle
from contracts.labels import CandidateKind, CaseState, Collection, Outcome, UnitKind
from contracts.lifecycle import Stage
from contracts.projection import outcome_label
from contracts.related import Relation
from contracts.retrieval import (
    CheckOutcome,
    CheckResult,
    Citation,
    CitationVerdict,
    FreshCheck,
    MemoryUse,
    OriginRef,
    ValidityState,
)
from contracts.review import ChangeCommand, ChangeKind
from contracts.strategies import EFFORT_ASSESSMENT_3
from contracts.strategy import Route
from deploy.importing import delivery_of, experience_id, proposal_of
from tests.acceptance.case_family import (
    NUMBER_ARTICLE,
    PARSING_OBJECTIVE,
    REGISTER_OBJECTIVE,
    STALE_OBJECTIVE,
    TARIFF_OBJECTIVE,
    open_request,
)
from tests.acceptance.conditions import EDITIONS, Condition, State, in_condition, mark_of
from tests.acceptance.crew import hired
from tests.acceptance.office import by_ref, fresh, ref_of, running_office, settings_in
from tests.acceptance.searches import Standing

pytestmark = pytest.mark.timeout(240)


@pytest_asyncio.fixture(scope="module")
async def standing(folder: Path) -> AsyncIterator[Standing]:
    with hired() as crew:
        async with running_office(settings_in(folder)) as (runtime, office):
            yield Standing(runtime, office, crew)


@pytest_asyncio.fixture(scope="module", params=list(State), ids=lambda state: state.replace(" ", "_"))
async def condition(standing: Standing, request: pytest.FixtureRequest) -> AsyncIterator[Condition]:
    async with in_condition(standing, request.param, EDITIONS[request.param]) as made:
        yield made


async def test_1_a_duplicate_delivery_attaches_once(condition: Condition) -> None:
    """R1: one case, one arrival, one candidate; found by its identity whether or not an index knows it."""
    asked = open_request(condition.edition, 101, "Documents of Friday are missing", "18 documents are not in the list.")
    proposer, sent = condition.standing.office.cast.proposer, delivery_of(asked)
    first = await proposer.deliver(sent)
    later = sent.model_copy(
        update={"delivery_id": "sent once more", "received_at": sent.received_at + timedelta(hours=2)}
    )
    again = await proposer.deliver(later)
    assert (first.redelivered, again.redelivered) == (False, True)
    assert (again.case_id, again.arrival_id, again.disposition) == (first.case_id, first.arrival_id, first.disposition)
    history = await proposer.arrivals(first.case_id)
    assert (history.total, history.conflicts, history.arrivals[0].redeliveries) == (1, 0, 1)
    await condition.settle()

    origin = OriginRef(source=asked.source, external_id=asked.external_id)
    answer = await condition.ask(asked.subject, "root-support", origin=origin)
    same = [candidate for candidate in answer.candidates if candidate.source_origin == origin]
    assert [(candidate.rank, candidate.ref) for candidate in same] == [(1, f"case/{first.case_id}")]
    assert "origin" in {name for match in same[0].reason if match.route is Route.REGISTRY for name in match.fields}
    condition.check_way(same[0])
    condition.check_account(answer, Collection.CASES)


async def test_2_similar_independent_cases_remain_separate(condition: Condition) -> None:
    """R2: the likeness is listed with its reason, and nothing joins the two but somebody's decision."""
    words = "Renewal documents of the Easter batch can't be found in the list."
    pair = [
        open_request(condition.edition, number, f"Renewal documents not found, branch {number}", words)
        for number in (111, 112)
    ]
    office = condition.standing.office
    await office.bring(*pair)
    await condition.settle()
    one, other = [await office.case_id(record) for record in pair]
    assert one != other

    agent = office.agents["north"]
    related = await agent.related(other)
    found = next(each for each in related.cases if each.case_id == one)
    assert {reason.relation for reason in found.reasons} == {Relation.SIMILAR}
    assert related.watermark.is_current is condition.is_projecting
    assert any(line.startswith("cases: pending events") for line in related.not_read) is not condition.is_projecting

    answer = await condition.ask(words, "root-support", case_id=other)
    shown = by_ref(answer)[f"case/{one}"]
    assert (shown.state, shown.outcome, shown.validity.state) == (CaseState.OPEN, None, ValidityState.REVALIDATE)
    assert f"case/{other}" not in by_ref(answer), "the case that the work is for is no precedent of itself"
    condition.check_way(shown)
    condition.check_account(answer, Collection.CASES)
    for case_id in (one, other):
        case = await agent.get_case(case_id)
        assert (case.state, case.merged_into) == (CaseState.OPEN, None)
        assert (await agent.case_links(case_id)).links == ()


async def test_3_a_rejected_route_informs_classification_and_is_no_fix(condition: Condition) -> None:
    """R5: root sees that it was tried and turned down; no profile is given it as something to do."""
    rejected, taken = condition.family.parsing_by_hand, condition.family.shared_parsing
    label = outcome_label(Outcome.REJECTED_ROUTE)
    answer = await condition.ask(PARSING_OBJECTIVE, "root-support")
    found = by_ref(answer)
    assert found[ref_of(taken)].outcome is Outcome.SUCCEEDED
    assert "Assessment and offer, then Development" in found[ref_of(taken)].extract
    assert "Rejected: the next import refused them" in found[ref_of(rejected)].extract
    condition.check_account(answer, Collection.CASES, Collection.ROUTING)

    agent = condition.standing.office.agents["north"]
    for profile in ("root-support", "data-specialist"):
        answer = await condition.ask(PARSING_OBJECTIVE, profile)
        shown = by_ref(answer)[ref_of(rejected)]
        assert shown.outcome is Outcome.REJECTED_ROUTE
        assert shown.extract.startswith(label)
        assert label in shown.validity.reasons
        condition.check_way(shown)
        read = (await agent.read(answer.request_id, shown.ref, shown.revision)).draft
        assert read is not None
        assert (read.outcome, {unit.kind for unit in read.units}) == (Outcome.REJECTED_ROUTE, {UnitKind.PROPOSITION})
    proposal = proposal_of(rejected)
    better = proposal.draft.model_copy(update={"outcome": Outcome.SUCCEEDED, "title": "Set amounts by hand"})
    with pytest.raises(OutcomeOverstated):
        await condition.standing.office.cast.proposer.propose(
            proposal.model_copy(update={"experience_id": fresh(), "draft": better})
        )


async def test_4_a_stale_version_or_schema_causes_revalidation(condition: Condition) -> None:
    """R17: outside its limits, or where a limit isn't stated, it is shown with the reason and never as fitting."""
    ref = ref_of(condition.family.stale_pdf)
    for version, schema, reasons in (
        ("7.4.2", "print-3", ["version 7.4.2 is outside 7.2 to 7.3.9"]),
        ("7.3.1", "print-4", ["schema version print-4 is outside its limits: print-3"]),
        ("7.4.2", "print-4", ["version 7.4.2 is outside", "schema version print-4 is outside"]),
        ("7.3.1", "", ["schema version not stated; known for print-3"]),
        ("7.3.1", "print-3", []),
    ):
        for profile in ("data-specialist", "root-support"):
            answer = await condition.ask(STALE_OBJECTIVE, profile, version=version, schema_version=schema)
            shown = by_ref(answer)[ref]
            said = [line for line in shown.validity.reasons if "version" in line and "check that" not in line]
            assert len(said) == len(reasons), (profile, version, schema, said)
            assert all(line.startswith(start) for line, start in zip(said, reasons, strict=True)), said
            if reasons:
                assert shown.validity.state is ValidityState.REVALIDATE
            condition.check_way(shown)
            collection = Collection.DETAIL if profile == "data-specialist" else Collection.ROUTING
            condition.check_account(answer, collection)


async def test_5_a_retired_article_disappears_from_current_candidates(condition: Condition) -> None:
    """R10: from the commit on and for every profile, also while the index still has it."""
    office, ref = condition.standing.office, f"article/{condition.article_id}"
    before = by_ref(await condition.ask(NUMBER_ARTICLE, "data-specialist"))[ref]
    assert (before.kind, before.state, NUMBER_ARTICLE in before.extract) == (CandidateKind.ARTICLE, "current", True)

    command = ChangeCommand(
        command_id=fresh(), experience_id=condition.article_id, kind=ChangeKind.RETIRE, reason="The parser changed."
    )
    view = await office.cast.owner.change(command, wait=20)
    assert (view.state, view.outcome) == ("applied", Stage.RETIRED)
    await condition.settle()
    held = ref in await condition.indexed()
    assert held is (condition.state is State.STOPPED), "a stopped projector leaves it in the index"
    for profile in ("data-specialist", "root-support", "development-specialist", "configuration-specialist"):
        answer = await condition.ask(f"{NUMBER_ARTICLE} {condition.article.title}", profile)
        assert ref not in by_ref(answer)
        own = [c for c in answer.candidates if condition.article.title in f"{c.title} {c.extract}"]
        assert own == [], profile
        assert answer.withdrawn == (1 if held and profile == "data-specialist" else 0), profile
        condition.check_account(answer, Collection.CASES if profile == "root-support" else Collection.DETAIL)
    with pytest.raises(UnknownArticle):
        await office.agents["north"].get_article(condition.article_id)


async def test_6_index_lag_is_visible(condition: Condition) -> None:
    """R15, R16, R23: saved and searchable are told apart, and an answer names what its indexes lack."""
    record = condition.family.missing_row
    view = await condition.standing.office.cast.proposer.get_experience(experience_id(record))
    assert (view.stage, view.searchable) == (Stage.PUBLISHED, condition.is_projecting)
    answer = await condition.ask("archived documents, register row absent", "data-specialist")
    condition.check_way(by_ref(answer)[ref_of(record)])
    condition.check_account(answer, Collection.DETAIL, Collection.CASES)
    live = {mark.collection: mark for mark in await condition.standing.office.admin.watermarks()}
    for collection in Collection:
        mark = mark_of(answer, collection)
        assert (mark.position, mark.head, mark.pending) == (
            live[collection].position, live[collection].head, live[collection].pending,
        )  # fmt: skip
    if condition.is_projecting:
        # What was just saved can be waited for.
        late = open_request(condition.edition, 161, "Late request", "A quince crate is late.")
        await condition.standing.office.cast.proposer.deliver(delivery_of(late))
        head = max(mark.head for mark in await condition.standing.office.admin.watermarks())
        waited = await condition.ask("quince crate", "root-support", wait_for_position=head)
        assert mark_of(waited, Collection.CASES).position >= head
        condition.check_way(next(c for c in waited.candidates if c.title == "Late request"))
    elif condition.state is State.DROPPED:
        nothing = await condition.ask("zwyx", "data-specialist")
        assert nothing.candidates == ()
        assert nothing.abstained
        assert "detail: its index had no hit; that is not proof of absence." in nothing.notes
        assert any(line.startswith("routing: ") for line in nothing.not_read), "it names what it doesn't read at all"
        condition.check_account(nothing, Collection.DETAIL, Collection.CASES)


async def test_7_uncreated_renewals_do_not_get_the_missing_row_repair(condition: Condition) -> None:
    """R17, R20: the repair is shown with the condition that fails here, and the decision against it is kept."""
    repair, renewals = ref_of(condition.family.missing_row), ref_of(condition.family.uncreated_renewals)
    answer = await condition.ask(REGISTER_OBJECTIVE, "data-specialist")
    condition.check_account(answer, Collection.DETAIL, Collection.CASES)
    found = by_ref(answer)
    for ref in (repair, renewals):
        condition.check_way(found[ref])
    if condition.is_projecting:  # by meaning; full text alone goes by the words, and a rank is no verdict either way
        assert found[renewals].rank < found[repair].rank
    assert found[repair].validity.state is ValidityState.REVALIDATE
    assert any(
        "check that it doesn't hold now: The archive holds no file or no renewal exists" in reason
        for reason in found[repair].validity.reasons
    )
    own = [c for c in answer.candidates if c.limits.products == (condition.edition.product,)]
    assert not [c for c in own if "Add the missing register rows" in c.extract and c.validity.state == "ok"]

    use = MemoryUse(
        decision_id=fresh(),
        request_id=answer.request_id,
        summary="No renewal exists: the row's repair has nothing to register.",
        citations=(
            Citation(ref=repair, revision=1, verdict=CitationVerdict.NOT_APPLICABLE, why="No file, no renewal."),
            Citation(ref=renewals, revision=1, verdict=CitationVerdict.CHOSEN, why="No renewal version exists."),
        ),
        checks=(FreshCheck(check_id="renewal", text="Does a renewal version of the policy exist?"),),
    )
    agent = condition.standing.office.agents["north"]
    assert await agent.record_use(use) == use
    checked = CheckResult(decision_id=use.decision_id, check_id="renewal", outcome=CheckOutcome.HELD, note="None.")
    assert await agent.settle_check(checked) == checked
    # In the other direction as well: a row that is missing isn't answered by a renewal that is taken to fit.
    answer = await condition.ask("The archive holds the document, the register has no row.", "data-specialist")
    assert by_ref(answer)[renewals].validity.state is ValidityState.REVALIDATE


async def test_8_estimate_comparisons_keep_work_and_waiting_apart(condition: Condition) -> None:
    """R19: two ranges with their sample and no sum; changed scope and failed work beside them."""
    tariffs = condition.family.tariffs
    answer = await condition.ask(TARIFF_OBJECTIVE, "effort-assessor", strategy_version=EFFORT_ASSESSMENT_3.version)
    condition.check_account(answer, Collection.DETAIL)
    effort = answer.effort
    assert effort is not None
    assert effort.active.quantiles is not None
    assert effort.waiting.quantiles is not None
    active, waiting = effort.active.quantiles, effort.waiting.quantiles
    assert (effort.active.n, active.least, active.p50, active.most) == (5, 14, 20, 30)
    assert (effort.waiting.n, waiting.least, waiting.p50, waiting.most) == (5, 8, 64, 160)
    assert (effort.error.n, effort.error.quantiles) == (4, None)
    assert effort.error.withheld == "4 comparable items with both an estimate and active hours; 5 needed for a range."
    rows = {ref: candidate.effort for ref, candidate in by_ref(answer).items() if candidate.effort}
    for record in tariffs:
        row, told = rows[ref_of(record)], record.result.effort if record.result else None
        assert told is not None
        assert (row.estimate_hours, row.active_hours, row.waiting_hours, row.changed_scope) == (
            told.estimate_hours, told.active_hours, told.waiting_hours, told.changed_scope,
        )  # fmt: skip
        condition.check_way(by_ref(answer)[ref_of(record)])
    assert [rows[ref_of(record)].comparison for record in tariffs] == [
        *[Comparison.COUNTED] * 5, Comparison.SCOPE_CHANGED, Comparison.NOT_SUCCEEDED,
    ]  # fmt: skip
    apart = {each.ref: each.why for each in effort.apart}
    assert apart[ref_of(tariffs[5])] is Comparison.SCOPE_CHANGED
    assert apart[ref_of(tariffs[6])] is Comparison.NOT_SUCCEEDED
    others = set(rows) - {ref_of(record) for record in tariffs}
    assert {apart[ref] for ref in others} <= {Comparison.OUTSIDE_LIMITS}, "other products are shown and not counted"

    few = await condition.ask(
        TARIFF_OBJECTIVE, "effort-assessor", strategy_version=EFFORT_ASSESSMENT_3.version, results=3
    )
    assert few.effort is not None
    assert (few.effort.active.quantiles, few.effort.waiting.quantiles) == (None, None)
    assert few.effort.active.withheld.endswith("5 needed for a range.")
    assert len(few.candidates) == 3
