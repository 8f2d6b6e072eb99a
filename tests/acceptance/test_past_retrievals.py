"""A past retrieval is shown from question to check, and comes out again whatever happened since (R5, R10, R14, R20)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from contracts.casefile import CaseRecord
from contracts.labels import Outcome
from contracts.lifecycle import Event, Stage
from contracts.retrieval import Answer, CheckOutcome, CheckResult, Citation, CitationVerdict, FreshCheck, MemoryUse
from contracts.retrieval_record import Rerun
from contracts.review import ChangeKind, ReviewDecision
from contracts.strategies import DATA_INVESTIGATION_3
from contracts.strategy import Route
from deploy.commands.retrieval import lines_of, read_retrieval, rerun_lines
from deploy.importing import experience_id, proposal_of
from deploy.runtime import Runtime
from tests.acceptance.office import Office, by_ref, fresh, ref_of, running_office, settings_in
from tests.acceptance.samples import case, rewritten, with_concept

OBJECTIVE = "The harbour ledger of the pilot boats lost its tide rows."


@pytest_asyncio.fixture(name="standing", scope="module")
async def fixture_standing(folder: Path) -> AsyncIterator[tuple[Runtime, Office]]:
    async with running_office(settings_in(folder)) as (runtime, office):
        yield runtime, office


def about(external_id: str, title: str, outcome: Outcome = Outcome.SUCCEEDED) -> CaseRecord:
    return case(
        external_id, title, f"The harbour ledger of the pilot boats lost its tide rows. {title}.", outcome=outcome
    )


def sharing(external_id: str, concept: str) -> CaseRecord:
    """Return a case whose words have nothing in common with the objective; only a concept does."""
    return with_concept(
        case(external_id, "Moon almanac reloaded", "Almanac pages were reloaded after midnight."), concept
    )


def refs(answer: Answer | Rerun) -> list[tuple[str, int]]:
    return [(each.ref, each.revision) for each in answer.candidates]


async def correct(office: Office, record: CaseRecord) -> None:
    """Correct a published experience, through both reviews."""
    text = rewritten(record, "Tide rows, told anew", "The tide rows are filled by the nightly run.")
    await office.change(record, ChangeKind.CORRECT, draft=text)
    for client, stage in ((office.cast.curator, Stage.CURATOR_REVIEW), (office.cast.owner, Stage.OWNER_REVIEW)):
        await client.decide(
            ReviewDecision(
                decision_id=fresh(),
                experience_id=experience_id(record),
                stage=stage,
                digest=text.digest(),
                verdict=Event.ACCEPT,
            )
        )


async def test_r20_the_same_state_gives_the_same_candidates_and_a_live_question_the_new_ones(
    standing: tuple[Runtime, Office],
) -> None:
    runtime, office = standing
    retired, corrected, superseded, successor, failed = records = [
        about("LED-1", "Rows written again"),
        about("LED-2", "Ledger reopened"),
        about("LED-3", "Pilot list merged"),
        about("LED-4", "Pilot list merged for good"),
        about("LED-5", "A restart of the ledger", Outcome.FAILED),
    ]
    linked = sharing("LED-6", "Harbour Ledger")
    await office.publish(*records, linked)
    first = await office.ask(OBJECTIVE, tokens=8000)
    assert (first.strategy_id, first.strategy_version) == (DATA_INVESTIGATION_3.id, DATA_INVESTIGATION_3.version)
    shown = by_ref(first)
    assert shown[ref_of(failed)].contrast == "shown to contrast: failed"
    assert {ref_of(each) for each in records} <= set(shown)
    by_concept = [match.fields for match in shown[ref_of(linked)].reason if match.route is Route.CONCEPT_LINKS]
    assert by_concept == [("concept: harbour ledger",)]

    await office.change(retired, ChangeKind.RETIRE)
    await correct(office, corrected)
    ended = await office.change(superseded, ChangeKind.SUPERSEDE, superseded_by=experience_id(successor))
    assert ended.outcome == Stage.SUPERSEDED
    later = about("LED-7", "Tide rows, once more")
    await office.publish(later)

    again = await office.agents["north"].rerun(first.request_id)
    assert (again.same, again.differences, again.as_of) == (True, (), first.answered_at)
    assert refs(again) == refs(first)

    live = await office.ask(OBJECTIVE, tokens=8000)
    now = dict(refs(live))
    assert {ref_of(retired), ref_of(superseded)} & set(now) == set()
    assert (now[ref_of(corrected)], now[ref_of(successor)]) == (2, 1)
    assert ref_of(later) in set(now) - set(shown)
    record, rerun = await read_retrieval(runtime.addresses.system_database_url, live.request_id, again=True)
    assert rerun is not None
    assert rerun.same, rerun_lines(rerun)
    assert record.answer == live


async def test_r20_the_operator_is_shown_question_candidates_reads_verdict_and_checks(
    standing: tuple[Runtime, Office],
) -> None:
    runtime, office = standing
    record = about("LOG-1", "The log of the lock keeper")
    await office.publish(record)
    agent = office.agents["north"]
    answer = await office.ask("The log of the lock keeper is empty.")
    ref = ref_of(record)
    await agent.read(answer.request_id, ref, 1)
    use = MemoryUse(
        decision_id=fresh(),
        request_id=answer.request_id,
        summary="Look at the log first.",
        citations=(Citation(ref=ref, revision=1, verdict=CitationVerdict.CHOSEN, why="The same sign."),),
        checks=(FreshCheck(check_id="log", text="Is the log empty now?"),),
    )
    await agent.record_use(use)
    await agent.settle_check(CheckResult(decision_id=use.decision_id, check_id="log", outcome=CheckOutcome.HELD))

    found, _ = await read_retrieval(runtime.addresses.system_database_url, answer.request_id, again=False)
    told = "\n".join(lines_of(found))
    for part in (
        f"strategy data-investigation version 3, digest {answer.strategy_digest}",
        "objective: The log of the lock keeper is empty.",
        f"{ref} revision 1: {proposal_of(record).draft.title}",
        f"read in full: {ref} revision 1",
        f"chosen: {ref} revision 1: The same sign.",
        "check log: Is the log empty now?: held",
    ):
        assert part in told
