"""Tools that record: the cited decision on a retrieval, and how its fresh checks came out (R20)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.client import CaseloreClient
from api.made_ids import made_id
from api.mcp.tool import FROM_TEXT, Asked, Told, Tool
from contracts import limits
from contracts.model import Model
from contracts.retrieval import CheckOutcome, CheckResult, Citation, CitationVerdict, FreshCheck, MemoryUse
from contracts.text import Id, Identifier, OptionalParagraph, Paragraph


class Cited(Asked):
    """A verdict on one candidate."""

    ref: Annotated[Identifier, Field(description="As the retrieval gave it.")]
    revision: Annotated[int, Field(ge=0, le=2**31 - 1, description="The one that you read.")]
    verdict: Annotated[CitationVerdict, Field(description="chosen: you rely on it; rejected: it speaks against it.")]
    why: Annotated[Paragraph, Field(description="What in this case decides it.")]


class Check(Asked):
    """A check that tells the chosen mechanism from its neighbours."""

    text: Annotated[Paragraph, Field(description="What to look at today, and which result would mean what.")]
    check_id: Annotated[Identifier | None, Field(description="To report it by; made for you when left out.")] = None


class RecordDecision(Asked):
    """What an agent made of a retrieval."""

    request_id: Annotated[Id, Field(description="Of the retrieval that you decide on.")]
    summary: Annotated[Paragraph, Field(description="What you will do, and what that rests on.")]
    citations: Annotated[
        tuple[Cited, ...],
        FROM_TEXT,
        Field(max_length=limits.CITATIONS, description="One verdict on each candidate that you considered."),
    ] = ()
    checks: Annotated[
        tuple[Check, ...],
        FROM_TEXT,
        Field(max_length=limits.CITATIONS, description="Fresh discriminating checks that you need before acting."),
    ] = ()
    decision_id: Annotated[Id | None, Field(description="A UUID; made for you when left out.")] = None


class RecordedDecision(Model):
    """A decision that is stored."""

    decision_id: str = Field(description="To report its checks with.")
    request_id: str
    cited: int
    check_ids: tuple[str, ...] = Field(description="In the order that they were given in; report each.")


class ReportCheck(Asked):
    """How a fresh check came out."""

    decision_id: Annotated[Id, Field(description="Of the decision that asked for it.")]
    check_id: Annotated[Identifier, Field(description="As record_decision gave it.")]
    outcome: Annotated[CheckOutcome, Field(description="held: as the chosen mechanism predicts; failed: otherwise.")]
    note: Annotated[OptionalParagraph, Field(description="What you saw, without personal data.")] = ""


class ReportedCheck(Model):
    """A check that is settled."""

    decision_id: str
    check_id: str
    outcome: CheckOutcome


async def _decide(client: CaseloreClient, asked: RecordDecision) -> Told:
    checks = tuple(
        FreshCheck(check_id=check.check_id or f"check-{number}", text=check.text)
        for number, check in enumerate(asked.checks, start=1)
    )
    content = asked.model_dump(mode="json", exclude={"decision_id"})
    use = MemoryUse(
        decision_id=asked.decision_id or made_id("decision", content),
        request_id=asked.request_id,
        summary=asked.summary,
        citations=tuple(Citation(**cited.model_dump()) for cited in asked.citations),
        checks=checks,
    )
    await client.record_use(use)
    data = RecordedDecision(
        decision_id=use.decision_id,
        request_id=use.request_id,
        cited=len(use.citations),
        check_ids=tuple(check.check_id for check in checks),
    )
    lines = [f"Recorded decision {use.decision_id} on retrieval {use.request_id}, with {data.cited} citations."]
    if checks:
        named = ", ".join(data.check_ids)
        lines.append(f"Carry out and report with report_check: {named}. Nothing is shown before they are.")
    else:
        lines.append("It names no fresh check: what you rely on is not shown for this case.")
    if use.citations:
        lines.append("Once you know how what you cited turned out, say so with tell_outcome.")
    return Told("\n".join(lines), data)


async def _report(client: CaseloreClient, asked: ReportCheck) -> Told:
    result = await client.settle_check(CheckResult(**asked.model_dump()))
    data = ReportedCheck(decision_id=result.decision_id, check_id=result.check_id, outcome=result.outcome)
    said = f"Recorded: {result.check_id} of decision {result.decision_id} {result.outcome}."
    if result.outcome is CheckOutcome.FAILED:
        said += " What you chose doesn't hold here: decide anew, with what you saw."
    return Told(said, data)


RECORD_DECISION = Tool(
    name="record_decision",
    title="Record a cited decision",
    description=(
        "Record what you made of a retrieval before you act on it: one verdict on each candidate that you considered, "
        "by ref and revision, and the fresh checks that would show you wrong. Record it also when nothing applied. It "
        "is filed in the case's papers. It is no execution and no proof, it grants nothing, and no retrieved text can "
        "be cited later as proof that something was done. The same call again is the same decision; another one on the "
        "same retrieval is kept beside the first."
    ),
    asks=RecordDecision,
    gives=RecordedDecision,
    run=_decide,
)
REPORT_CHECK = Tool(
    name="report_check",
    title="Report a fresh check",
    description=(
        "Report how a check of your decision came out on the current target: held or failed, and what you saw. Use it "
        "after the check was carried out, never from what a candidate says. A check is settled once; after a failed "
        "one record a new decision."
    ),
    asks=ReportCheck,
    gives=ReportedCheck,
    run=_report,
)
