"""Real incident logs as deliveries out of order, repeated and reworded: nothing lost, nothing attached twice (R1)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from api.client import CaseloreClient
from contracts.arrivals import case_state_of
from contracts.cases import Case, Disposition
from contracts.labels import CaseState
from deploy import replaying
from deploy.administrator_key import administrator_key
from deploy.commands.attach import Attached
from deploy.commands.replay import engage_intake
from deploy.replaying import REFUSED_SHOWN, ReplayReport, replay, survey
from deploy.runtime import running
from tests.acceptance.office import settings_in
from tests.conversion.incidents import TENANT, Replayed, cut_short, lines, read_incidents, replayed

INCIDENTS = 150
LONGEST = 8
"""Revisions of an incident; the whole log is replayed by `tests.benchmarks.arrivals`."""
SEED = 20
AGAIN = 100


@dataclass
class Intake:
    """An intake that a file of deliveries was fed to."""

    target: Attached
    client: CaseloreClient
    file: Path
    sent: Replayed
    report: ReplayReport

    async def feed(self, file: Path, *, side_by_side: int = 8) -> ReplayReport:
        report = ReplayReport()
        await replay(self.client, file, report, side_by_side=side_by_side)
        return report

    async def cases(self) -> dict[str, Case]:
        """Return every case by the incident that it was opened for."""
        return {case.origin.external_id: case for case in await self.client.list_cases(TENANT, limit=200)}


@pytest_asyncio.fixture(scope="module")
async def intake(folder: Path, shared_data: Path) -> AsyncIterator[Intake]:
    incidents = [each for each in read_incidents(shared_data) if len(each["revisions"]) <= LONGEST]
    step = len(incidents) // INCIDENTS
    sent = replayed(cut_short(incidents[::step][:INCIDENTS], seed=SEED), seed=SEED)
    file = folder / "incidents.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines(sent.deliveries)), encoding="utf-8")
    settings = settings_in(folder / "data")
    async with running(settings) as runtime, AsyncExitStack() as stack:
        http = runtime.addresses.http
        admin = await stack.enter_async_context(CaseloreClient(http, administrator_key(settings.data_dir) or ""))
        target = Attached(http, None, admin, is_ours=True)
        client = await engage_intake(stack, target, survey(file).tenants, add_tenants=True)
        report = ReplayReport()
        await replay(client, file, report)
        yield Intake(target, client, file, sent, report)


async def test_the_counts_reconcile(intake: Intake) -> None:
    """R1: every delivery has one answer, and the answers are those that the file asks for."""
    figures = intake.report.figures()
    figures["attached or late"] = figures["attached"] + figures["late"]
    assert {name: figures[name] for name in intake.sent.totals()} == intake.sent.totals()
    assert figures["reconciles"]
    assert min(figures[name] for name in ("late", "conflicts", "redelivered")) > 0


async def test_each_incident_stands_at_its_highest_revision(intake: Intake) -> None:
    """R1: whatever came last; a missing revision holds nothing up."""
    cases = await intake.cases()
    assert len(cases) == INCIDENTS
    for expected in intake.sent.expected:
        case, word = await intake.client.get_case(cases[expected.external_id].id), case_state_of(expected.state)
        assert word is not None
        stands = (case.origin.external_id, case.state, case.waiting_on, case.source_state)
        assert stands == (expected.external_id, word.state, word.waiting_on, expected.state)
    states = Counter(case.state for case in cases.values())
    assert min(states[state] for state in (CaseState.OPEN, CaseState.WAITING, CaseState.COMPLETED)) >= 10, states
    assert sum(expected.missing > 0 for expected in intake.sent.expected) >= 20


async def test_each_content_is_kept_once_and_each_conflict_can_be_seen(intake: Intake) -> None:
    """R1: one arrival for each content of each revision, with how often it came again; gaps are told."""
    cases = await intake.cases()
    for expected in intake.sent.expected:
        history = await intake.client.arrivals(cases[expected.external_id].id, limit=100)
        kept = history.arrivals
        assert len(kept) == history.total == len({(each.revision, each.body) for each in kept})
        assert {
            "contents": len(kept),
            "conflicts": sum(each.disposition is Disposition.CONFLICT for each in kept),
            "duplicates": sum(each.redeliveries for each in kept),
            "revisions": len({each.revision for each in kept}),
            "missing": history.gaps.count,
        } == {
            "contents": expected.contents,
            "conflicts": expected.conflicts,
            "duplicates": expected.duplicates,
            "revisions": expected.revisions,
            "missing": expected.missing,
        }, expected.external_id
        assert history.conflicts == expected.conflicts


async def test_a_part_sent_again_changes_nothing(intake: Intake, folder: Path) -> None:
    """R1: an interrupted replay is simply run again."""
    before = await intake.cases()
    file = folder / "again.jsonl"
    file.write_text("\n".join(intake.file.read_text("utf-8").split("\n")[:AGAIN]), encoding="utf-8")
    assert (await intake.feed(file)).taken == {"redelivered": AGAIN}
    assert await intake.cases() == before


async def test_bad_lines_are_named_and_stop_nothing(
    intake: Intake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R22: each with its line number, type and field; the good ones between them are taken."""
    monkeypatch.setattr(replaying, "LINE_BYTES", 1_000_000)
    good = intake.sent.deliveries[0].model_dump(mode="json")
    elsewhere = {**good, "origin": {**good["origin"], "tenant_id": "nowhere"}}
    bad = [
        ("not json", "InvalidField", "line"),
        ("[" * 100_000, "InvalidField", "line"),
        (json.dumps([good]), "InvalidField", ""),
        (json.dumps({**good, "subjekt": "misspelt"}), "InvalidField", "subjekt"),
        (json.dumps({**good, "occurred_at": "2026-01-01T00:00:00"}), "InvalidField", "occurred_at"),
        (json.dumps({**good, "revision": -1}), "InvalidField", "revision"),
        (json.dumps(elsewhere), "UnknownTenant", "tenant_id"),
        (json.dumps({**good, "body": "x" * 3_000_000}), "TextTooLong", "line"),
    ]
    file = folder / "bad.jsonl"
    with file.open("w", encoding="utf-8") as out:
        out.write("\ufeff")
        for line, _, _ in bad:
            out.write(f"{json.dumps(good)}\n\n{line}\r\n")
        out.write(json.dumps(good))  # the last line needs no end
    report = await intake.feed(file)
    assert [(each.line, each.type, each.field) for each in report.first_refused] == [
        (3 * number, kind, field) for number, (_, kind, field) in enumerate(bad, 1)
    ]
    assert report.taken == {"redelivered": len(bad) + 1}
    assert report.reconciles

    file.write_text("?\n" * (REFUSED_SHOWN + 10), encoding="utf-8")
    many = await intake.feed(file)
    assert [each.line for each in many.first_refused] == list(range(1, REFUSED_SHOWN + 1))
    assert many.figures()["refused"] == REFUSED_SHOWN + 10


async def test_the_documented_example_is_taken(intake: Intake, folder: Path) -> None:
    """In the order of its lines: each of them becomes what the text says of it."""
    page = (Path(__file__).parents[2] / "docs" / "delivery-file-format.md").read_text(encoding="utf-8")
    file = folder / "documented.jsonl"
    file.write_text(page.split("```json\n")[1].split("```")[0], encoding="utf-8")
    tenants = survey(file).tenants
    async with AsyncExitStack() as stack:
        stranger = await engage_intake(stack, intake.target, tenants, add_tenants=False)
        refused = ReplayReport()
        await replay(stranger, file, refused)
        assert refused.refused == {"UnknownTenant": 4}, "a tenant is added only when that is asked for"
        await engage_intake(stack, intake.target, tenants, add_tenants=True)
    report = await intake.feed(file, side_by_side=1)
    assert report.taken == {"opened": 2, "attached": 1, "redelivered": 1}
    case = next(each for each in await intake.client.list_cases("north") if each.origin.source == "desk")
    assert (case.state, case.waiting_on, case.source_state) == (CaseState.WAITING, "vendor", "Awaiting Vendor")
