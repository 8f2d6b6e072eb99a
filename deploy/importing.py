"""Brings a case file into a running Caselore through its public API, as a person or system would.

Every id derives from the file's own identities, so that an interrupted import is simply run again (R1).
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from contracts.casefile import CaseRecord, DomainRecord, QuestionRecord, TenantRecord, parse_line
from contracts.cases import Delivery, Origin, Paper, Receipt
from contracts.errors import UnresolvedFindings
from contracts.experience import Proposal
from contracts.labels import CaseState
from contracts.lifecycle import Event, Stage
from contracts.review import ReviewDecision
from deploy.cast import Cast
from deploy.masked_drafts import masked_draft, personal_data_in, placeholders_of

_IDS = uuid.UUID("f2b7a4be-8f6c-5b0e-9d55-2d4f2d9a7c10")
_T = TypeVar("_T")
Step = Callable[[str], None]
"""Is told the name of each finished piece of work."""


@dataclass
class CaseFile:
    """The records of an import file."""

    tenants: list[TenantRecord] = field(default_factory=list[TenantRecord])
    domains: list[DomainRecord] = field(default_factory=list[DomainRecord])
    cases: list[CaseRecord] = field(default_factory=list[CaseRecord])
    questions: list[QuestionRecord] = field(default_factory=list[QuestionRecord])


@dataclass
class ImportReport:
    """What an import did; counts are of this run's file, also when it is run again."""

    arrivals: Counter[str] = field(default_factory=Counter[str])
    """By disposition; `redelivered` were there before."""
    results: int = 0
    proposed: int = 0
    published: int = 0
    rejected: int = 0
    queued: int = 0
    """Proposed and left to real reviewers."""
    masked: int = 0
    """Places of drafts where personal data gave way to a placeholder before they were proposed (R6)."""
    unresolved: int = 0
    """Rejected since admission found something else in the draft: the stand-ins dismiss nothing."""


def read_case_file(path: Path) -> CaseFile:
    """Return the records of a file, every line checked before anything is sent.

    Raises:
        InvalidCaseFile: Names line and field.
    """
    file = CaseFile()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        match parse_line(line, number):
            case TenantRecord() as tenant:
                file.tenants.append(tenant)
            case DomainRecord() as domain:
                file.domains.append(domain)
            case QuestionRecord() as question:
                file.questions.append(question)
            case CaseRecord() as record:
                file.cases.append(record)
    return file


async def import_cases(
    cast: Cast, cases: Sequence[CaseRecord], *, is_reviewed: bool, step: Step, side_by_side: int = 16
) -> ImportReport:
    """Send every case through the whole path: arrival, papers and result, proposal, and both reviews.

    Args:
        cast: The stand-ins that act.
        cases: What to send.
        is_reviewed: Whether the stand-ins review; false leaves proposals in the review queue.
        step: Is told "case", "proposed", "published" or "rejected" as each is done.
        side_by_side: Cases under way at once.
    """
    report = ImportReport()

    async def one(record: CaseRecord) -> None:
        receipt = await _register(cast, record, report)
        step("case")
        if record.result is None:
            return
        await _record_result(cast, record, receipt.case_id)
        report.results += 1
        if record.experience is None:
            return
        proposal = await _masked(cast, record, receipt.case_id, report)
        await cast.proposer.propose(proposal)
        report.proposed += 1
        step("proposed")
        if not is_reviewed:
            report.queued += 1
            return
        accepted = await _review(cast, proposal, record.experience.reject, report)
        report.published += accepted
        report.rejected += not accepted
        step("published" if accepted else "rejected")

    await bounded([lambda record=record: one(record) for record in cases], side_by_side)
    return report


async def propose_case(cast: Cast, record: CaseRecord, report: ImportReport) -> tuple[Receipt, Proposal]:
    """Deliver one case, record its result and propose what it taught; a repeat does nothing twice."""
    receipt = await _register(cast, record, report)
    await _record_result(cast, record, receipt.case_id)
    proposal = await _masked(cast, record, receipt.case_id, report)
    await cast.proposer.propose(proposal)
    return receipt, proposal


async def bounded(work: Sequence[Callable[[], Awaitable[_T]]], side_by_side: int) -> list[_T]:
    """Run `work` with at most `side_by_side` pieces under way; the first failure ends it all."""
    limit = asyncio.Semaphore(side_by_side)

    async def one(piece: Callable[[], Awaitable[_T]]) -> _T:
        async with limit:
            return await piece()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(piece)) for piece in work]
    return [task.result() for task in tasks]


async def _register(cast: Cast, record: CaseRecord, report: ImportReport) -> Receipt:
    receipt = await cast.proposer.deliver(delivery_of(record))
    report.arrivals["redelivered" if receipt.redelivered else receipt.disposition.value] += 1
    if record.state is CaseState.WAITING and not receipt.redelivered:
        case = await cast.proposer.get_case(receipt.case_id)
        await cast.proposer.change_state(
            receipt.case_id,
            CaseState.WAITING,
            expected_revision=case.revision,
            at=record.occurred_at,
            waiting_on=record.waiting_on,
        )
    return receipt


async def _record_result(cast: Cast, record: CaseRecord, case_id: str) -> None:
    ids = _paper_ids(record)
    papers = [Paper(id=ids[paper.id], kind=paper.kind, title=paper.title, text=paper.text) for paper in record.papers]
    result = record.case_result(_id(record, "result"), case_id, ids)
    await cast.proposer.record_result(result, papers, complete_at=record.occurred_at)


async def _masked(cast: Cast, record: CaseRecord, case_id: str, report: ImportReport) -> Proposal:
    """Return the proposal of a case with its personal data masked, as the case's own texts are (R6)."""
    proposal = proposal_of(record)
    of_case = [record.subject, record.body, *(paper.text for paper in record.papers)]
    places = await asyncio.to_thread(personal_data_in, proposal.draft, of_case, cast.finder)
    if not places:
        return proposal
    report.masked += sum(map(len, places.values()))
    ids = _paper_ids(record)
    known = placeholders_of(
        await cast.proposer.sanitised(case_id),
        await cast.proposer.get_case(case_id),
        {ids[paper.id]: (paper.title, paper.text) for paper in record.papers},
    )
    return proposal.model_copy(update={"draft": masked_draft(proposal.draft, places, known)})


async def _review(cast: Cast, proposal: Proposal, reject: str, report: ImportReport) -> bool:
    """Let curator and owner decide; return whether it was published."""
    try:
        return await _decided(cast, proposal, reject)
    except UnresolvedFindings:
        report.unresolved += 1
        return await _decided(cast, proposal, "Admission found what nobody here can resolve.", again=" unresolved")


async def _decided(cast: Cast, proposal: Proposal, reject: str, *, again: str = "") -> bool:
    digest = proposal.draft.digest()
    verdict = Event.REJECT if reject else Event.ACCEPT
    reviews = [(cast.curator, Stage.CURATOR_REVIEW, verdict)]
    if not reject:
        reviews.append((cast.owner, Stage.OWNER_REVIEW, Event.ACCEPT))
    for client, stage, decided in reviews:
        await client.decide(
            ReviewDecision(
                decision_id=str(uuid.uuid5(_IDS, f"{proposal.experience_id} {stage} {digest}{again}")),
                experience_id=proposal.experience_id,
                stage=stage,
                digest=digest,
                verdict=decided,
                comment=reject,
            ),
            wait=60,
        )
    return not reject


def delivery_of(record: CaseRecord | QuestionRecord) -> Delivery:
    """Return the arrival of a case or question."""
    revision = record.revision if isinstance(record, CaseRecord) else 1
    return Delivery(
        origin=Origin(tenant_id=record.tenant, source=record.source, external_id=record.external_id),
        revision=revision,
        delivery_id=f"import-{_id(record, f'delivery {revision}')}",
        occurred_at=record.occurred_at,
        received_at=datetime.now(UTC),
        subject=record.subject,
        body=record.body,
        facts=record.facts,
    )


def proposal_of(record: CaseRecord) -> Proposal:
    """Return the proposal that a case's `experience` asks for, its spans under the papers' real ids."""
    ids = _paper_ids(record)
    draft = record.draft()
    units = tuple(
        unit.model_copy(
            update={"spans": tuple(span.model_copy(update={"paper_id": ids[span.paper_id]}) for span in unit.spans)}
        )
        for unit in draft.units
    )
    return Proposal(
        experience_id=experience_id(record),
        result_id=_id(record, "result"),
        draft=draft.model_copy(update={"units": units}),
    )


def experience_id(record: CaseRecord) -> str:
    """Return the id under which a case's experience is proposed."""
    return _id(record, "experience")


def _id(record: CaseRecord | QuestionRecord, what: str) -> str:
    parts = (record.tenant, record.source, record.external_id, what)
    return str(uuid.uuid5(_IDS, "".join(f"{len(part)}:{part}" for part in parts)))


def _paper_ids(record: CaseRecord) -> dict[str, str]:
    return {paper.id: _id(record, f"paper {paper.id}") for paper in record.papers}
