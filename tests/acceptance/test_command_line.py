"""The command line as people use it: from a fresh folder to their own text, reviewed twice and found (R7, R22, R23)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from deploy.administrator_key import KEY_FILE
from deploy.runtime import running
from deploy.settings import Settings
from tests.acceptance.office import settings_in

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.timeout(240)


@dataclass
class Said:
    """What a command ended with."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


class Shell:
    """Runs `caselore` in processes of its own, as a shell does."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("CASELORE_")} | {
            "CASELORE_DATA_DIR": str(settings.data_dir),
            "CASELORE_HTTP_PORT": str(settings.http_port),
            "CASELORE_TEMPORAL_PORT": str(settings.temporal_port),
            "CASELORE_TEMPORAL_UI_PORT": str(settings.temporal_ui_port),
        }

    async def __call__(self, *arguments: str, **environment: str) -> Said:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", "from deploy.cli import main; main()", *arguments),
            cwd=ROOT,
            env=self._environment | environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), 60)
        finally:
            if process.returncode is None:
                process.kill()
        return Said(process.returncode or 0, out.decode(), err.decode())


def mode(file: str) -> int:
    return stat.S_IMODE(Path(file).stat().st_mode)


@pytest_asyncio.fixture(scope="module")
async def shell(folder: Path) -> AsyncIterator[Shell]:
    settings = settings_in(folder / "data")
    async with running(settings):
        yield Shell(settings)


async def test_a_newcomer_gets_a_text_of_their_own_approved_and_found(shell: Shell, folder: Path) -> None:
    """R7, R23: by the README's commands, each person with a key of their own."""
    team = await shell("team", "--json", "-")
    assert team.code == 0, team.err
    assert (team.json["tenant"], team.json["domain"]) == ("acme", "data")
    assert {mode(key) for key in team.json["keys"].values()} == {0o600}

    example = await shell("propose", "--example")
    mine = folder / "mine.json"
    words = "The nightly export skips ledgers whose period was reopened"
    mine.write_text(json.dumps(example.json | {"experience": example.json["experience"] | {"title": words}}))
    proposed = await shell("propose", str(mine), "--as", "proposer", "--json", "-")
    assert proposed.code == 0, proposed.err
    experience_id = proposed.json["proposed"][0]["experience_id"]

    waiting = await shell("tasks", "--as", "curator", "--json", "-")
    assert [task["experience_id"] for task in waiting.json["tasks"]] == [experience_id]
    sheet = await shell("review", experience_id, "--as", "curator")
    assert words in sheet.out
    [digest] = re.findall("--digest ([0-9a-f]{12})", sheet.out)

    unread = await shell("review", experience_id, "--accept", "--as", "curator")
    assert (unread.code, "--digest" in unread.err) == (2, True)  # nobody decides on a text that they haven't read
    own = await shell("review", experience_id, "--accept", "--digest", digest, "--as", "proposer")
    assert own.code == 77  # who proposed it doesn't review it
    assert "SamePerson" in own.err
    other_text = await shell("review", experience_id, "--accept", "--digest", "0" * 12, "--as", "curator")
    assert (other_text.code, "StaleDigest" in other_text.err) == (1, True)
    for person, stage in (("curator", "owner_review"), ("owner", "published")):
        decided = await shell("review", experience_id, "--accept", "--digest", digest, "--as", person, "--json", "-")
        assert decided.json["outcome"] == stage

    for person in ("agent", "proposer"):
        answer = await shell("retrieve", words, "--profile", team.json["profile"], "--as", person, "--json", "-")
        found = answer.json["candidates"][0]["ref"]  # from the record, if not yet indexed
        assert found == f"experience/{experience_id}"
    shown = await shell("show", f"experience/{experience_id}", "--as", "owner")
    assert "published" in shown.out


async def published(shell: Shell, folder: Path, title: str, external_id: str) -> str:
    """Return the reference of an experience of the trial team's, proposed and reviewed by its commands."""
    example = (await shell("propose", "--example")).json
    file = folder / f"{external_id}.json"
    changed = {"external_id": external_id, "experience": example["experience"] | {"title": title}}
    file.write_text(json.dumps(example | changed))
    proposed = await shell("propose", str(file), "--as", "proposer", "--json", "-")
    experience_id = proposed.json["proposed"][0]["experience_id"]
    sheet = (await shell("review", experience_id, "--as", "curator", "--json", "-")).json["sheet"]
    for person in ("curator", "owner"):
        decided = await shell("review", experience_id, "--accept", "--digest", sheet["digest"], "--as", person)
        assert decided.code == 0, decided.err
    return f"experience/{experience_id}"


async def test_r20_a_task_by_commands_from_question_to_how_it_turned_out(shell: Shell, folder: Path) -> None:
    """R18, R20: ask, go further for a reason, decide with citations, report, and look back at all of it."""
    for domain in ("configuration", "data"):
        assert (await shell("team", "--domain", domain)).code == 0
    words = "Reminders skip customers whose address was merged"
    ref = await published(shell, folder, words, "reminders")
    agent = ("--as", "agent", "--json", "-")
    facts = ("--product", "Product", "--version", "1.0", "--system", "crm", "--environment", "production")
    more = ("--schema-version", "7", "--origin", "desk/reminders", "--object", "address", "--object", "reminder")
    bounds = ("--proof", "reported", "--not-older-than", "2020-01-01", "--tokens", "2000", "--tenant", "acme")
    asked = await shell("retrieve", words, *facts, *more, *bounds, *agent)
    assert asked.code == 0, asked.err
    assert ref in [each["ref"] for each in asked.json["candidates"]]

    narrow = asked.json["request_id"]
    further = ("retrieval", "broaden", narrow, "--reason", "The system was replaced.", "--domain", "configuration")
    wider = await shell(*further, "--drop", "system", "--drop", "environment", "--results", "30", *agent)
    assert wider.code == 0, wider.err
    assert (wider.json["broadened"]["request_id"], wider.json["broadened"]["reason"]) == (
        narrow,
        "The system was replaced.",
    )
    request_id = wider.json["request_id"]
    again = await shell(*further, "--drop", "system", "--drop", "environment", "--results", "30", *agent)
    assert again.json["request_id"] == request_id, "the same command again is the same act"
    unknown = await shell(*further, "--drop", "colour", *agent)
    assert (unknown.code, "schema_version" in unknown.err) == (1, True)

    decide = ("retrieval", "decide", request_id, "--summary", "Merge the address first.", "--as", "agent")
    cited = (
        "--choose",
        f"{ref}@1=The same symptom: a=b.",
        "--check",
        "Is the address merged?",
        "--check",
        "Is it new?",
    )
    decided = await shell(*decide, *cited)
    assert decided.code == 0, decided.err
    [decision_id] = re.findall("Recorded decision (\\S+) with 1 citations", decided.out)
    assert f"caselore retrieval check {decision_id} CHECK --held --as agent" in decided.out
    same = await shell(*decide, *cited, "--json", "-")
    assert same.json["decision_id"] == decision_id
    assert [check["check_id"] for check in same.json["checks"]] == ["check-1", "check-2"]
    assert same.json["citations"] == [{"ref": ref, "revision": 1, "verdict": "chosen", "why": "The same symptom: a=b."}]
    uncited = await shell(*decide, "--reject", "case/none@1=Nothing of it.")
    assert (uncited.code, "UncitedCandidate" in uncited.err) == (1, True)

    check = ("retrieval", "check", decision_id, "check-1", "--as", "agent")
    assert (await shell(*check, "--held", "--note", "It was merged.")).code == 0
    otherwise = await shell(*check, "--failed")
    assert (otherwise.code, "IdempotencyConflict" in otherwise.err) == (1, True)
    turned = ("retrieval", "feedback", decision_id, *agent)
    helped = await shell(*turned, "--helped", f"{ref}@1=It was the cause.")
    assert helped.json["outcomes"][0]["note"] == "It was the cause."
    stale = await shell(*turned, "--misled", f"{ref}@1")
    assert (stale.code, helped.json["feedback_id"] in stale.err) == (1, True)
    assert (await shell(*turned, "--misled", f"{ref}@1", "--replaces", helped.json["feedback_id"])).code == 0

    shown = await shell("retrieval", "show", request_id)
    for line in (f"broadens {narrow}", f"chosen: {ref} revision 1", "check-1", "It was merged.", "misled"):
        assert line in shown.out
    first = (await shell("retrieval", "show", narrow, "--json", "-")).json["record"]["request"]
    assert (first["environment"], first["schema_version"], first["tenant_id"]) == ("production", "7", "acme")
    assert (first["object_refs"], first["required_proof"]) == (["address", "reminder"], "reported")
    assert first["not_older_than"] == "2020-01-01T00:00:00Z"
    assert first["origin"] == {"source": "desk", "external_id": "reminders"}
    next_time = await shell("retrieve", words, "--as", "agent")
    assert "Earlier use, which moves no rank: misled 1" in " ".join(next_time.out.replace("│", " ").split())


async def test_r18_a_question_between_domains_by_commands(shell: Shell, folder: Path) -> None:
    for domain in ("configuration", "data"):
        assert (await shell("team", "--domain", domain)).code == 0
    words = "Labels are printed twice after a template was copied"
    ref = await published(shell, folder, words, "labels")
    agent, json_ = ("--as", "agent", "--json", "-"), ("--json", "-")
    request_id = (await shell("retrieve", words, *agent)).json["request_id"]
    consult = ("retrieval", "consult", request_id, "--domain", "configuration", *agent)
    secret = "The work turns on it."
    asked = await shell(*consult, "--brief", "Which templates are copied?", "--reason", secret)
    assert asked.code == 0, asked.err
    consultation_id = asked.json["consultation_id"]
    waiting = await shell("consultations", "list", "--state", "open", "--as", "curator", *json_)
    assert [each["consultation_id"] for each in waiting.json["consultations"]] == [consultation_id]
    seen = await shell("consultations", "show", consultation_id, "--as", "curator")
    assert "your domain configuration is asked" in seen.out
    assert secret not in seen.out, "why it is asked stays with the asker (R21)"

    mine = ("--profile", "configuration-specialist", "--consultation", consultation_id, "--as", "proposer", *json_)
    own = (await shell("retrieve", words, *mine)).json["request_id"]
    broad = await shell(
        *("retrieval", "broaden", own, "--reason", "Data knows it.", "--every-domain", "--as", "proposer", *json_)
    )
    assert ref in [each["ref"] for each in broad.json["candidates"]]
    reply = ("consultations", "reply", consultation_id, "--text", "Those with a copy mark.", "--as", "proposer")
    cited = ("--retrieval", broad.json["request_id"], "--cite", f"{ref}@1=It tells of the mark.")
    replied = await shell(*reply, *cited)
    assert replied.code == 0, replied.err
    assert f"cites {ref} revision 1: It tells of the mark." in replied.out
    answered = await shell("consultations", "show", consultation_id, "--as", "agent")
    for line in ("agent asked configuration", secret, "evidence, no grant", "Those with a copy mark."):
        assert line in answered.out
    late = await shell("consultations", "reply", consultation_id, "--text", "Another.", "--as", "curator")
    assert (late.code, "ConsultationClosed" in late.err) == (1, True)

    needless = await shell(*consult, "--brief", "Which printers are old?", "--reason", "To be sure.")
    foreign = await shell("consultations", "withdraw", needless.json["consultation_id"], "--as", "curator")
    assert foreign.code != 0
    withdrawn = await shell("consultations", "withdraw", needless.json["consultation_id"], *agent)
    assert withdrawn.json["state"] == "withdrawn"
    listed = await shell("consultations", "list", "--state", "withdrawn", *agent)
    assert needless.json["consultation_id"] in [each["consultation_id"] for each in listed.json["consultations"]]
    wrong = await shell("consultations", "list", "--state", "lost", "--as", "agent")
    assert (wrong.code, "open, replied, withdrawn" in wrong.err) == (1, True)


async def test_refusals_are_words_and_exit_codes(shell: Shell) -> None:
    """R22: what was wrong, what would be accepted, and a code that a script can tell by."""
    nobody = await shell("tasks", "--as", "nobody")
    assert (nobody.code, nobody.out) == (77, "")
    assert "--as" in nobody.err
    no_key = await shell("tasks", CASELORE_URL="http://127.0.0.1:9")
    assert (no_key.code, "CASELORE_API_KEY" in no_key.err) == (77, True)
    away = await shell("tasks", CASELORE_URL="http://127.0.0.1:9", CASELORE_API_KEY="clk_x")
    assert away.code == 69
    unknown = await shell("show", "something")
    assert (unknown.code, "experience/ID" in unknown.err) == (1, True)
    assert (await shell("review")).code == 2
    assert (await shell("propose", "/nowhere.json")).code == 2


async def test_doctor_tells_what_to_mend(shell: Shell) -> None:
    well = await shell("doctor", "--json", "-")
    assert (well.code, well.json["wrong"]) == (0, 0)
    assert {"PostgreSQL", "Temporal server", "index detail", "dead letters"} <= {
        each["what"] for each in well.json["diagnoses"]
    }
    key = shell.settings.data_dir / KEY_FILE
    key.chmod(0o644)
    try:
        open_key = await shell("doctor")
        assert open_key.code == 1
        assert f"chmod 600 {key}" in open_key.out.replace("\n", "")
    finally:
        key.chmod(0o600)
    bad = await shell("doctor", CASELORE_HTTP_PORT="none")
    assert (bad.code, "CASELORE_HTTP_PORT" in bad.out) == (1, True)
    taken = await shell("doctor", CASELORE_DATA_DIR=str(shell.settings.data_dir.parent / "other"))
    assert taken.code == 1
    assert f"port {shell.settings.http_port}" in taken.out
