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
