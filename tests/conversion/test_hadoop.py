"""The Hadoop reports as a case file: every report, its outcome by its resolution, nothing overstated (R5, R22)."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from contracts.cases import CaseResult
from contracts.labels import Outcome, ProofLevel
from deploy.importing import proposal_of, read_case_file
from tests.conversion.hadoop import convert, lines, read_reports

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
REPORT: dict[str, Any] = {
    "id": "hadoop:1",
    "title": "Name node forgets\x00 a block",
    "body": "After a restart\r\nthe block is gone.\x01",
    "status": "Resolved",
    "priority": "Major",
    "resolution": "Fixed",
    "created": "2021-01-02T03:04",
    "resolved": "2021-02-03T04:05",
    "affects_versions": "3.3.1",
}


def test_a_report_keeps_its_words_and_its_trackers_facts() -> None:
    (record,) = convert([REPORT])
    draft = proposal_of(record).draft
    assert (record.subject, record.body) == ("Name node forgets a block", "After a restart\nthe block is gone.")
    assert draft.title == record.subject
    assert draft.units[0].text == record.body
    assert draft.synopsis.disposition == "Closed as Fixed on 2021-02-03."
    assert (draft.limits.version_from, draft.limits.version_to, record.facts.version) == ("3.3.1", "3.3.1", "3.3.1")
    assert [unit.text for unit in draft.units] == [record.papers[0].text, record.papers[2].text]


@pytest.mark.parametrize(
    ("resolution", "outcome", "proof"),
    [
        ("Fixed", Outcome.SUCCEEDED, ProofLevel.EXECUTED),
        ("Won't Fix", Outcome.REJECTED_ROUTE, ProofLevel.REPORTED),
        ("Duplicate", Outcome.UNVERIFIED, ProofLevel.NONE),
    ],
)
def test_r5_a_resolution_claims_no_more_than_it_says(resolution: str, outcome: Outcome, proof: ProofLevel) -> None:
    (record,) = convert([{**REPORT, "resolution": resolution}])
    draft = proposal_of(record).draft
    assert record.result is not None
    assert (record.result.outcome, record.result.proof_level) == (outcome, proof)
    assert {(unit.outcome, unit.proof_level) for unit in draft.units} == {(outcome, proof)}
    assert (record.result.execution is None) is (outcome is not Outcome.SUCCEEDED)
    draft.check_against(
        CaseResult.model_validate(
            {
                **record.result.model_dump(exclude={"execution", "proof"}),
                "id": "6a1f3f0e-5a0b-5c3e-9d0a-0f6f7c2b8a11",
                "case_id": "6a1f3f0e-5a0b-5c3e-9d0a-0f6f7c2b8a12",
                "execution_paper_id": record.result.execution and "6a1f3f0e-5a0b-5c3e-9d0a-0f6f7c2b8a13",
                "proof_paper_id": record.result.proof and "6a1f3f0e-5a0b-5c3e-9d0a-0f6f7c2b8a14",
            }
        )
    )


def test_an_unresolved_report_is_an_open_case() -> None:
    (record,) = convert([{**REPORT, "status": "Open", "resolution": None, "resolved": None, "affects_versions": None}])
    assert (record.result, record.experience, record.papers, record.facts.version) == (None, None, (), "")


@pytest.mark.parametrize("body", [None, "", " \n\t "])
def test_a_report_without_a_body_says_its_title(body: str | None) -> None:
    (record,) = convert([{**REPORT, "body": body}])
    assert record.body == record.subject


def test_all_reports_convert_the_same_way_each_time() -> None:
    if not DATA.is_dir():
        pytest.skip(f"the public data is not beside the project ({DATA.parent.name}/{DATA.name})")
    reports = read_reports(DATA)
    cases = convert(reports)
    assert list(lines(cases)) == list(lines(convert(reports)))
    assert [record.external_id for record in cases] == [report["id"] for report in reports]
    assert len({record.external_id for record in cases}) == len(cases) == 2503
    resolved = [report["resolution"] for report in reports if report["status"] == "Resolved"]
    outcomes = Counter(record.result.outcome for record in cases if record.result is not None)
    assert outcomes == {Outcome.SUCCEEDED: 1420, Outcome.REJECTED_ROUTE: 156, Outcome.UNVERIFIED: 157}
    assert outcomes.total() == len(resolved)


def test_the_command_writes_a_file_that_reads_back(tmp_path: Path) -> None:
    if not DATA.is_dir():
        pytest.skip(f"the public data is not beside the project ({DATA.parent.name}/{DATA.name})")
    out = tmp_path / "cases.jsonl"
    command = [sys.executable, "-m", "tests.conversion.hadoop", str(DATA), str(out), "--limit", "30"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    file = read_case_file(out)
    assert file.cases == convert(read_reports(DATA)[:30])
    assert ([tenant.id for tenant in file.tenants], [domain.id for domain in file.domains]) == (
        ["hadoop"],
        ["development"],
    )
