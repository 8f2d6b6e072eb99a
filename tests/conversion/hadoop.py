"""Turns the Hadoop issue reports of the shared data into a case file: `python -m tests.conversion.hadoop DATA OUT`.

Nothing is made up: a result, its papers and its experience hold the report's own words and the tracker's own facts.
A tracker's "Fixed" says that something was done, not that anybody has checked it, so no report is `verified`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from contracts import limits
from contracts.casefile import CaseRecord, DomainRecord, ExperienceRecord, PaperRecord, ResultRecord, TenantRecord
from contracts.cases import CaseFacts
from contracts.experience import KnowledgeUnit, Limits, RoutingSynopsis, SourceSpan
from contracts.labels import Outcome, PaperKind, ProofLevel, UnitKind
from contracts.validity import version_key

FILE = "duplicates_hadoop_reports.jsonl"
TENANT = TenantRecord(id="hadoop", name="Hadoop")
DOMAIN = DomainRecord(id="development", name="Development", description="Changes of Hadoop's source.")
SOURCE = "issues"
PRODUCT = "Hadoop"
REQUEST_TYPE = "bug report"

OUTCOMES = {
    **dict.fromkeys(("Fixed", "Done", "Implemented", "Resolved"), Outcome.SUCCEEDED),
    **dict.fromkeys(
        (
            "Won't Fix",
            "Won't Do",
            "Invalid",
            "Not A Problem",
            "Not A Bug",
            "Cannot Reproduce",
            "Works For Me",
            "Abandoned",
            "Information Provided",
        ),
        Outcome.REJECTED_ROUTE,
    ),
    **dict.fromkeys(("Duplicate", "Later", "Workaround", "Pending Closed"), Outcome.UNVERIFIED),
}
"""What a resolution of the tracker says was observed."""
_PROOF = {
    Outcome.SUCCEEDED: ProofLevel.EXECUTED,
    Outcome.REJECTED_ROUTE: ProofLevel.REPORTED,
    Outcome.UNVERIFIED: ProofLevel.NONE,
}
_SYNOPSIS = 600
"""Characters of a report that its synopsis quotes."""
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def read_reports(data: Path) -> list[dict[str, Any]]:
    """Return the reports of the data folder, in its order."""
    return [json.loads(line) for line in (data / FILE).read_text(encoding="utf-8").split("\n") if line.strip()]


def convert(reports: Iterable[dict[str, Any]]) -> list[CaseRecord]:
    """Return a case for each report: open without a resolution, else completed and with an experience."""
    return [_case(report) for report in reports]


def lines(cases: Sequence[CaseRecord]) -> Iterator[str]:
    """Return the lines of a case file."""
    for record in (TENANT, DOMAIN, *cases):
        yield json.dumps(record.model_dump(mode="json"), ensure_ascii=False)


def _case(report: dict[str, Any]) -> CaseRecord:
    title = _line(report["title"]) or report["id"]
    body = _text(report["body"]) or title
    version = _line(report["affects_versions"])
    outcome = OUTCOMES[report["resolution"]] if report["status"] == "Resolved" else None
    return CaseRecord(
        tenant=TENANT.id,
        source=SOURCE,
        external_id=report["id"],
        occurred_at=_moment(report["created"]),
        subject=title,
        body=body,
        facts=CaseFacts(domain_id=DOMAIN.id, request_type=REQUEST_TYPE, product=PRODUCT, version=version),
        papers=() if outcome is None else _papers(report, body, outcome),
        result=None if outcome is None else _result(report, outcome),
        experience=None if outcome is None else _experience(report, title, body, version, outcome),
    )


def _papers(report: dict[str, Any], body: str, outcome: Outcome) -> tuple[PaperRecord, ...]:
    evidence = PaperRecord(id="report", kind=PaperKind.EVIDENCE, title="The report", text=body)
    closing = PaperRecord(id="closing", kind=PaperKind.EVIDENCE, title="The tracker's record", text=_record(report))
    if outcome is not Outcome.SUCCEEDED:
        return evidence, closing
    done = PaperRecord(id="done", kind=PaperKind.EXECUTION, title="The tracker's closing", text=_closing(report))
    return evidence, done, closing.model_copy(update={"kind": PaperKind.PROOF})


def _result(report: dict[str, Any], outcome: Outcome) -> ResultRecord:
    has_succeeded = outcome is Outcome.SUCCEEDED
    return ResultRecord(
        outcome=outcome,
        proof_level=_PROOF[outcome],
        summary=_closing(report),
        execution="done" if has_succeeded else None,
        proof="closing" if has_succeeded else None,
    )


def _experience(report: dict[str, Any], title: str, body: str, version: str, outcome: Outcome) -> ExperienceRecord:
    words = body[: limits.PARAGRAPH]
    closing = _record(report)
    proof = _PROOF[outcome]
    return ExperienceRecord(
        title=title,
        synopsis=RoutingSynopsis(
            request_type=REQUEST_TYPE,
            product=PRODUCT,
            route=f"Development, priority {report['priority']}",
            disposition=_closing(report),
            text=_beginning(body),
        ),
        units=(
            KnowledgeUnit(
                id="report",
                kind=UnitKind.PROPOSITION,
                text=words,
                concepts=("reported behaviour",),
                spans=(SourceSpan(paper_id="report", start=0, end=len(words)),),
                outcome=outcome,
                proof_level=proof,
            ),
            KnowledgeUnit(
                id="closing",
                kind=UnitKind.PROPOSITION,
                text=closing,
                concepts=("resolution",),
                spans=(SourceSpan(paper_id="closing", start=0, end=len(closing)),),
                outcome=outcome,
                proof_level=proof,
            ),
        ),
        limits=_limits(version),
    )


def _limits(version: str) -> Limits:
    """Return where it holds; a version of another kind, such as `thirdparty-1.0.0`, is a note and no bound."""
    if version and version_key(version) is None:
        return Limits(products=(PRODUCT,), note=f"Reported for {version}.")
    return Limits(products=(PRODUCT,), version_from=version, version_to=version)


def _closing(report: dict[str, Any]) -> str:
    return f"Closed as {report['resolution']} on {report['resolved'][:10]}."


def _record(report: dict[str, Any]) -> str:
    versions = report["affects_versions"] or "not stated"
    return (
        f"Status {report['status']}, resolution {report['resolution']}, priority {report['priority']}. "
        f"Created {report['created']}, resolved {report['resolved']}. Affects versions: {versions}."
    )


def _beginning(text: str) -> str:
    """Return the first words of a text, whole ones."""
    if len(text) <= _SYNOPSIS:
        return text
    return text[:_SYNOPSIS].rsplit(maxsplit=1)[0]


def _line(text: str | None) -> str:
    """Return a text as one line of storable characters."""
    return " ".join(_text(text).split())[: limits.LINE].strip()


def _text(text: str | None) -> str:
    """Return a text without characters that can't be stored or seen, and without blank ends."""
    return _UNSEEN.sub("", (text or "").replace("\r\n", "\n").replace("\r", "\n")).strip()[: limits.BODY]


def _moment(text: str) -> datetime:
    """Return a time of the tracker, which states no zone and keeps UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def main() -> None:
    """Write the case file."""
    parser = argparse.ArgumentParser(prog="python -m tests.conversion.hadoop", description=__doc__)
    parser.add_argument("data", type=Path, help=f"the folder with {FILE}")
    parser.add_argument("out", type=Path, help="the case file to write")
    parser.add_argument("--limit", type=int, default=None, help="the first reports only")
    arguments = parser.parse_args()
    cases = convert(read_reports(arguments.data)[: arguments.limit])
    arguments.out.write_text("".join(f"{line}\n" for line in lines(cases)), encoding="utf-8")
    print(f"{len(cases)} cases, {sum(case.result is not None for case in cases)} of them resolved")


if __name__ == "__main__":
    main()
