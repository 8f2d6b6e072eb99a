"""`caselore retrieval`: one past retrieval from question to result, and its answer composed again (R20).

The operator reads as the system, like `caselore audit verify`: any past retrieval is shown, whoever asked.
"""

from __future__ import annotations

from pathlib import Path

import typer

from activities.records.database import Database
from activities.records.retrieval_history import RetrievalHistoryTable
from activities.retrieval.rerun import Rerunner
from contracts.broadening import stated
from contracts.consultation import ConsultationView
from contracts.effort_words import own_words, summary_lines
from contracts.feedback_words import earlier_use
from contracts.retrieval import Answer, Candidate, Match, RetrievalRequest, RouteState
from contracts.retrieval_record import BroadeningDone, Rerun, RetrievalRecord, UseDone
from deploy.commands.attach import attached
from deploy.commands.progress import console, say
from deploy.commands.results import write_json
from deploy.settings import Settings


async def show_retrieval(settings: Settings, request_id: str, *, again: bool, json_file: Path | None) -> None:
    """Print everything that is recorded of a retrieval and, when asked, whether its answer comes out again.

    Raises:
        UnknownRetrieval: There is no such retrieval, or nothing is kept to compose its answer from.
        typer.Exit: Code 1 when the answer comes out otherwise.
    """
    if settings.system_database_url is not None:  # nothing has to run to read the record
        record, rerun = await read_retrieval(settings.system_database_url, request_id, again=again)
    else:
        async with attached(settings, progress=say) as target:
            record, rerun = await read_retrieval(target.system_database_url, request_id, again=again)
    told = {"record": record.model_dump(mode="json"), "rerun": rerun.model_dump(mode="json") if rerun else None}
    write_json(json_file, told)
    for line in lines_of(record):
        console.print(line, markup=False, soft_wrap=True)
    if rerun is None:
        return
    for line in rerun_lines(rerun):
        console.print(line, markup=False, soft_wrap=True)
    if not rerun.same:
        raise typer.Exit(1)


async def read_retrieval(
    system_database_url: str, request_id: str, *, again: bool
) -> tuple[RetrievalRecord, Rerun | None]:
    """Return what is recorded of a retrieval, and with `again` its answer composed again."""
    database = Database(system_database_url, system_database_url)
    try:
        history = RetrievalHistoryTable(database)
        record = await history.record(None, request_id)
        return record, await Rerunner(history).rerun(request_id) if again else None
    finally:
        await database.close()


def lines_of(record: RetrievalRecord) -> list[str]:
    """Return a retrieval in lines for a terminal."""
    strategy, request = record.strategy, record.request
    return [
        f"retrieval {record.request_id}",
        f"  asked by {record.principal_id} as {record.profile_id} at {record.requested_at:%Y-%m-%d %H:%M:%S}",
        f"  strategy {strategy.id} version {strategy.version}, digest {record.strategy_digest}",
        f"  purpose: {request.purpose}",
        f"  objective: {request.objective}",
        *_held_against(request),
        *(_answer(record.answer) if record.answer else ["  no answer yet"]),
        *(f"  read in full: {each.ref} revision {each.revision}" for each in record.reads),
        *(line for use in record.uses for line in _use(use)),
        *([f"  {record.uses_left_out} more decisions, left out here"] if record.uses_left_out else []),
        *(line for each in record.consultations for line in _consulted(each)),
        *(line for each in record.broadenings for line in _broadened(each)),
        *([f"  {record.broadenings_left_out} more broadenings, left out here"] if record.broadenings_left_out else []),
    ]


def rerun_lines(rerun: Rerun) -> list[str]:
    """Return a rerun in lines for a terminal."""
    verdict = "the same candidates" if rerun.same else "other candidates"
    return [
        f"composed again as of {rerun.as_of:%Y-%m-%d %H:%M:%S.%f}: {verdict}",
        *(
            f"  rank {each.rank}: {each.then or 'nothing'} then, {each.again or 'nothing'} now"
            + (f" ({', '.join(each.fields)})" if each.fields else "")
            for each in rerun.differences
        ),
        *(f"  not as of then: {each}" for each in rerun.unknown),
    ]


def _held_against(request: RetrievalRequest) -> list[str]:
    """Return which case the work is for, and what candidates were held against."""
    facts = [f"{fact.replace('_', ' ')} {getattr(request, fact)}" for fact in stated(request)]
    return [
        *([f"  for case {request.case_id}"] if request.case_id else []),
        *([f"  for consultation {request.consultation_id}"] if request.consultation_id else []),
        *([f"  for objects: {', '.join(request.object_refs)}"] if request.object_refs else []),
        f"  held against: {', '.join(facts) or 'nothing stated'}",
    ]


def _answer(answer: Answer) -> list[str]:
    return [
        *(
            [
                f"  broadens {answer.broadened.request_id}: {answer.broadened.reason}",
                f"    widened: {answer.broadened.widened.described()}",
            ]
            if answer.broadened is not None
            else []
        ),
        f"  answered at {answer.answered_at:%Y-%m-%d %H:%M:%S.%f}" + (", abstained" if answer.abstained else ""),
        *(f"  {line}" for each in answer.candidates for line in _candidate(each)),
        *(f"  {line}" for line in (summary_lines(answer.effort) if answer.effort else ())),
        *(f"  nearest: {each.ref} revision {each.revision}: {'; '.join(each.why)}" for each in answer.nearest),
        *(
            f"  index {mark.collection}: position {mark.position} of {mark.head}, {mark.pending} pending"
            for mark in answer.watermarks
        ),
        *(
            f"  route {each.route} over {each.collection} {each.state}" + (f": {each.why}" if each.why else "")
            for each in answer.routes
            if each.state is not RouteState.OK
        ),
        *(f"  not read: {each}" for each in answer.not_read),
        f"  left out by grants: {answer.omitted_by_permission}; withdrawn: {answer.withdrawn}",
        *(f"  note: {each}" for each in answer.notes),
    ]


def _candidate(candidate: Candidate) -> list[str]:
    proof = f"proof {candidate.proof_level}" if candidate.proof_level else ""
    stands = "" if candidate.outcome and candidate.is_current else candidate.state
    labels = (candidate.outcome, stands, proof, candidate.validity.state, candidate.contrast, candidate.far)
    found_by = ", ".join(map(_match, candidate.reason))
    return [
        f"{candidate.rank:>3}  {candidate.ref} revision {candidate.revision}: {candidate.title}",
        f"     {', '.join(filter(None, labels))}; found by {found_by}",
        *([f"     {own_words(candidate.effort)}"] if candidate.effort else []),
        *([f"     {used}"] if (used := earlier_use(candidate.feedback)) else []),
    ]


def _match(match: Match) -> str:
    return f"{match.route} {match.rank}" + (f" ({', '.join(match.fields)})" if match.fields else "")


def _consulted(asked: ConsultationView) -> list[str]:
    told = [
        f"  consulted {asked.domain_id} at {asked.asked_at:%Y-%m-%d %H:%M:%S}: {asked.state},"
        f" consultation {asked.consultation_id}",
        f"    brief: {asked.brief}",
    ]
    if asked.reply is not None:
        told += [
            f"    reply as {asked.reply.replied_as} at {asked.reply.replied_at:%Y-%m-%d %H:%M:%S}: {asked.reply.text}",
            *(
                f"    rests on {each.ref} revision {each.revision}" + (f": {each.why}" if each.why else "")
                for each in asked.reply.citations
            ),
        ]
    return told


def _broadened(wider: BroadeningDone) -> list[str]:
    return [
        f"  broadened by {wider.request_id}, {wider.asked_by} at {wider.asked_at:%Y-%m-%d %H:%M:%S}: {wider.reason}",
        f"    widened: {wider.widened.described()}",
    ]


def _use(use: UseDone) -> list[str]:
    return [
        f"  decision {use.use.decision_id} by {use.decided_by} at {use.decided_at:%Y-%m-%d %H:%M:%S}",
        f"    {use.use.summary}",
        *(
            f"    {each.verdict.replace('_', ' ')}: {each.ref} revision {each.revision}: {each.why}"
            for each in use.use.citations
        ),
        *(
            f"    check {each.check_id}: {each.text}: {each.outcome or 'to come'}"
            + (f", reported by {each.settled_by}" if each.settled_by else "")
            + (f" ({each.note})" if each.note else "")
            for each in use.checks
        ),
        *(
            f"    feedback on {each.ref} revision {each.revision}: {each.usefulness.replace('_', ' ')}"
            for given in use.feedback
            for each in given.outcomes
        ),
    ]
