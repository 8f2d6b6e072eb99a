"""`caselore demo` as people run it: its counts, and the answers that the pack was written for (R5, R15, R17, R21)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from contracts.labels import Outcome
from contracts.retrieval import Answer, Candidate, ValidityState
from deploy.importing import CaseFile, read_case_file
from tests.acceptance.office import by_ref, ref_of, settings_in

ROOT = Path(__file__).parents[2]
SECONDS = 170

pytestmark = pytest.mark.timeout(SECONDS + 20)


@pytest.fixture(scope="module")
def pack() -> CaseFile:
    with resources.as_file(resources.files("deploy") / "demo" / "cases.jsonl") as path:
        return read_case_file(path)


@pytest_asyncio.fixture(scope="module")
async def told(folder: Path) -> AsyncIterator[dict[str, Any]]:
    """What the command wrote."""
    settings = settings_in(folder / "data")
    given = {
        "CASELORE_DATA_DIR": str(settings.data_dir),
        "CASELORE_HTTP_PORT": str(settings.http_port),
        "CASELORE_TEMPORAL_PORT": str(settings.temporal_port),
        "CASELORE_TEMPORAL_UI_PORT": str(settings.temporal_ui_port),
        "CASELORE_EMBEDDING_THREADS": "1",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from deploy.cli import main; main()", "demo", "--json", str(folder / "demo.json")),
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("CASELORE_")} | given,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, out.decode()[-3000:]
    yield json.loads((folder / "demo.json").read_text())


def test_the_counts_are_the_packs(told: dict[str, Any], pack: CaseFile) -> None:
    loop = told["loop"]
    experiences = [record.experience for record in pack.cases if record.experience is not None]
    rejected = sum(bool(experience.reject) for experience in experiences)
    assert sum(loop["arrivals"].values()) == len(pack.cases)
    assert loop["results"] == sum(record.result is not None for record in pack.cases)
    assert (loop["proposed"], loop["rejected"], loop["queued"]) == (len(experiences), rejected, 0)
    assert loop["published"] == len(experiences) - rejected == loop["searchable"]
    assert loop["stages"] == {"published": loop["published"], "rejected": rejected}
    assert loop["reconciles"]
    assert loop["dead"] == 0


def test_ten_questions_are_answered_and_nothing_failed(told: dict[str, Any], pack: CaseFile) -> None:
    answers = _answers(told)
    assert list(answers) == [question.external_id for question in pack.questions]
    assert len(answers) == 10
    assert all(answer.candidates or answer.abstained for answer in answers.values())
    failed = {
        name: [report for report in answer.routes if report.state == "failed"] for name, answer in answers.items()
    }
    assert {name: reports for name, reports in failed.items() if reports} == {}


def test_r5_no_answer_shows_what_did_not_succeed_without_its_label(told: dict[str, Any]) -> None:
    for answer in _answers(told).values():
        for candidate in answer.candidates:
            if candidate.outcome not in (None, Outcome.SUCCEEDED):
                assert candidate.extract.startswith("Outcome: "), candidate.ref
                assert "Not a fix." in candidate.extract
                assert any("Not a fix." in reason for reason in candidate.validity.reasons)


def test_r21_kw_4001_finds_another_tenants_mechanism_without_its_origin(told: dict[str, Any], pack: CaseFile) -> None:
    found = _found(told, "KW-4001", pack, "NH-1041")
    assert found.rank <= 3
    assert (found.source_case, found.source_origin) == (None, None)
    assert "NH-1041" not in json.dumps(
        [each for each in told["answers"] if each["question"]["external_id"] == "KW-4001"]
    )


def test_r17_nh_4002_is_not_given_the_missing_row_repair_as_applicable(told: dict[str, Any], pack: CaseFile) -> None:
    answer = _answers(told)["NH-4002"]
    repair = by_ref(answer).get(_ref(pack, "NH-1041"))
    assert repair is None or repair.validity.state is not ValidityState.OK
    mechanism = by_ref(answer)[_ref(pack, "KW-3102")]
    assert repair is None or mechanism.rank < repair.rank


def test_r17_ar_4003_has_to_revalidate_what_is_known_for_older_versions(told: dict[str, Any], pack: CaseFile) -> None:
    found = _found(told, "AR-4003", pack, "AR-2014")
    assert found.validity.state is ValidityState.REVALIDATE
    assert any("8.1.0" in reason and "outside" in reason for reason in found.validity.reasons)


def _answers(told: dict[str, Any]) -> dict[str, Answer]:
    return {each["question"]["external_id"]: Answer.model_validate(each["answer"]) for each in told["answers"]}


def _ref(pack: CaseFile, external_id: str) -> str:
    return next(ref_of(record) for record in pack.cases if record.external_id == external_id)


def _found(told: dict[str, Any], question: str, pack: CaseFile, external_id: str) -> Candidate:
    return by_ref(_answers(told)[question])[_ref(pack, external_id)]
