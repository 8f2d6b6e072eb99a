"""`caselore retrieval decide`, `check` and `feedback`: a cited decision, its checks, and how it turned out (R20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from api.made_ids import made_id
from contracts.feedback import Feedback, Usefulness
from contracts.retrieval import CheckOutcome, CheckResult, CitationVerdict, MemoryUse
from deploy.commands.calling import calling
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.commands.typed import Cited, again, record_of
from deploy.settings import Settings


async def decide(
    settings: Settings,
    request_id: str,
    *,
    summary: str,
    verdicts: Mapping[str, Sequence[Cited]],
    checks: Sequence[str],
    caller: str | None,
    json_file: Path | None,
) -> None:
    """Record a decision, and print its id and how to report on it; the same command again is the same decision.

    Args:
        settings: Of the process.
        request_id: The retrieval that is decided on.
        summary: What will be done, and what that rests on.
        verdicts: Citations with their reasons, by `CitationVerdict`.
        checks: Fresh checks that are needed; they are called `check-1`, `check-2`, ...
        caller: Whose key it is.
        json_file: Where the decision goes as JSON.
    """
    said = {
        "request_id": request_id,
        "summary": summary,
        "citations": [
            {"ref": each.ref, "revision": each.revision, "verdict": CitationVerdict(verdict), "why": each.said}
            for verdict, cited in verdicts.items()
            for each in cited
        ],
        "checks": [{"check_id": f"check-{number}", "text": text} for number, text in enumerate(checks, start=1)],
    }
    use = record_of(MemoryUse, {**said, "decision_id": made_id("decision", caller, said)})
    async with calling(settings, caller) as client:
        use = await client.record_use(use)
    write_json(json_file, use.model_dump(mode="json"))
    _print(f"Recorded decision {use.decision_id} with {len(use.citations)} citations.")
    for check in use.checks:
        _print(f"  {check.check_id}: {check.text}")
    if use.checks:
        report = again(f"retrieval check {use.decision_id} CHECK --held", caller)
        _print(f"Report each check, with --held or --failed: {report}")
    if use.citations:
        first = use.citations[0]
        told = again(f"retrieval feedback {use.decision_id} --helped {first.ref}@{first.revision}", caller)
        _print(f"Say later how it turned out: {told}")


async def check(
    settings: Settings,
    decision_id: str,
    check_id: str,
    *,
    outcome: CheckOutcome,
    note: str,
    caller: str | None,
    json_file: Path | None,
) -> None:
    """Record how a fresh check came out."""
    reported = {"decision_id": decision_id, "check_id": check_id, "outcome": outcome, "note": note}
    async with calling(settings, caller) as client:
        result = await client.settle_check(record_of(CheckResult, reported))
    write_json(json_file, result.model_dump(mode="json"))
    _print(f"Recorded: {result.check_id} of decision {result.decision_id} {result.outcome}.")
    if result.outcome is CheckOutcome.FAILED:
        _print("What was chosen doesn't hold here: decide anew, with what you saw.")


async def feedback(
    settings: Settings,
    decision_id: str,
    *,
    outcomes: Mapping[str, Sequence[Cited]],
    replaces: str | None,
    caller: str | None,
    json_file: Path | None,
) -> None:
    """Record how cited candidates turned out; it is counted beside them and moves no rank.

    Args:
        settings: Of the process.
        decision_id: The decision that cites them.
        outcomes: Candidates with a note each, by `Usefulness`.
        replaces: The feedback that was given last, when there is one (R24).
        caller: Whose key it is.
        json_file: Where the feedback goes as JSON.
    """
    said = {
        "decision_id": decision_id,
        "replaces": replaces,
        "outcomes": [
            {"ref": each.ref, "revision": each.revision, "usefulness": Usefulness(usefulness), "note": each.said}
            for usefulness, cited in outcomes.items()
            for each in cited
        ],
    }
    asked = record_of(Feedback, {**said, "feedback_id": made_id("feedback", caller, said)})
    async with calling(settings, caller) as client:
        given = await client.give_feedback(asked)
    write_json(json_file, given.model_dump(mode="json"))
    _print(f"Recorded feedback {given.feedback_id}: counted beside what it names; it moves no rank.")


def _print(line: str) -> None:
    console.print(line, markup=False, soft_wrap=True)
