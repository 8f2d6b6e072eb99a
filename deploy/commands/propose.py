"""`caselore propose FILE`: a closed case with what it taught, delivered, recorded and proposed (R5).

The file holds one or more records of the case file format, on lines or as one JSON object over several lines. Every id
derives from the file's own identities: proposing again attaches nothing twice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.markup import escape

from contracts.casefile import CaseRecord, parse_line
from contracts.cases import Receipt
from contracts.errors import InvalidCaseFile
from contracts.experience import Proposal
from deploy.cast import Cast
from deploy.commands.calling import calling
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.importing import ImportReport, propose_case
from deploy.settings import Settings


async def propose_file(settings: Settings, path: Path, *, caller: str | None, json_file: Path | None) -> None:
    """Propose what a file's cases taught, as the caller, and print where each stands.

    Raises:
        InvalidCaseFile: A record can't be read, or brings no experience; nothing was sent.
        CaseloreError: The refusal of a step; what came before it stays, and proposing again goes on from there.
    """
    records = _read(path)
    proposed: list[dict[str, Any]] = []
    async with calling(settings, caller) as client:
        cast = Cast(client, client, client)
        for record in records:
            report = ImportReport()
            receipt, proposal = await propose_case(cast, record, report)
            proposed.append(_said(record, receipt, proposal, report))
    write_json(json_file, {"proposed": proposed})


def _said(record: CaseRecord, receipt: Receipt, proposal: Proposal, report: ImportReport) -> dict[str, Any]:
    origin = escape(f"{record.source}/{record.external_id}")  # a bracket in it is no style
    console.print(f"[bold]{origin}[/]: {receipt.disposition}, case {receipt.case_id}")
    console.print(f"  proposed as experience {proposal.experience_id} to the domain {proposal.draft.domain_id}")
    if report.masked:
        console.print(f"  {report.masked} places with personal data gave way to placeholders")
    console.print(f"  next: caselore review {proposal.experience_id} --as curator")
    return {
        "case_id": receipt.case_id,
        "experience_id": proposal.experience_id,
        "domain_id": proposal.draft.domain_id,
        "masked": report.masked,
    }


def _read(path: Path) -> list[CaseRecord]:
    text = path.read_text(encoding="utf-8")
    try:
        lines = [json.dumps(json.loads(text))]  # one record, over as many lines as its writer likes
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
    records: list[CaseRecord] = []
    for number, line in enumerate(lines, start=1):
        record = parse_line(line, number)
        if not isinstance(record, CaseRecord) or record.experience is None:
            raise InvalidCaseFile(
                f"Record {number} proposes nothing.",
                field="experience",
                accepted="a case with a result and an experience; see `caselore propose --example`",
            )
        records.append(record)
    return records
