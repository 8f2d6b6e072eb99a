"""What an operator sees of a lifecycle, with Temporal's own tools (R12)."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest_asyncio

from contracts import limits
from contracts.lifecycle import Stage
from deploy.embedded.temporal_server import temporal_binary
from deploy.importing import experience_id
from deploy.runtime import Runtime
from tests.acceptance.house import accepting
from tests.acceptance.office import Office, running_office, settings_in
from tests.acceptance.samples import case

WAITING = case("OP-1", "Waits for its curator", "The reading is off by one after midnight.")
FURTHER = case("OP-2", "Waits for its owner", "The reading is off by two after noon.")
ELSEWHERE = case("OP-3", "Another domain", "The selector takes the first template.", domain="configuration")


@pytest_asyncio.fixture(scope="module")
async def running(folder: Path) -> AsyncIterator[tuple[Runtime, Office]]:
    async with running_office(settings_in(folder)) as (runtime, office):
        await office.bring(WAITING, FURTHER, ELSEWHERE, is_reviewed=False)
        await office.cast.curator.decide(accepting(FURTHER, Stage.CURATOR_REVIEW), wait=20)
        yield runtime, office


async def test_r12_running_lifecycles_are_listed_by_stage_and_domain(running: tuple[Runtime, Office]) -> None:
    runtime, _ = running
    found = await _listed(runtime, "ExperienceStage='curator_review' AND ExperienceDomain='data'", count=1)
    workflow = found[f"experience/{experience_id(WAITING)}"]
    assert workflow["status"] == "WORKFLOW_EXECUTION_STATUS_RUNNING"
    attributes = _attributes(workflow)
    assert attributes["TenantId"] == "north"
    due = datetime.fromisoformat(attributes["ReviewDueAt"])
    assert abs(due - datetime.now(UTC) - limits.REVIEW_DEADLINE) < timedelta(minutes=5)

    assert set(await _listed(runtime, "ExperienceStage='owner_review'", count=1)) == {
        f"experience/{experience_id(FURTHER)}"
    }
    assert set(await _listed(runtime, "TenantId='north' AND ExperienceDomain='configuration'", count=1)) == {
        f"experience/{experience_id(ELSEWHERE)}"
    }


async def test_r12_what_is_overdue_can_be_asked_for(running: tuple[Runtime, Office]) -> None:
    runtime, _ = running
    assert await _listed(runtime, f"ReviewDueAt < '{datetime.now(UTC).isoformat()}'", count=0) == {}
    later = datetime.now(UTC) + limits.REVIEW_DEADLINE + timedelta(days=1)
    assert len(await _listed(runtime, f"ReviewDueAt < '{later.isoformat()}'", count=3)) == 3


async def test_r12_an_operator_reads_stage_and_revision_and_no_case_text(running: tuple[Runtime, Office]) -> None:
    runtime, _ = running
    shown = await _temporal(runtime, "workflow", "metadata", "--workflow-id", f"experience/{experience_id(WAITING)}")
    text = json.dumps(shown)
    assert "curator_review" in text
    history = await _temporal(runtime, "workflow", "show", "--workflow-id", f"experience/{experience_id(FURTHER)}")
    summaries = [_text(each["data"]).strip('"') for each in _everything(history, "summary")]
    assert "accept at curator_review" in summaries
    for words in ("off by two after noon", "Waits for its owner", "confidential"):
        assert words not in text
        assert not any(words in _text(data) for data in _everything(history, "data"))


async def _listed(runtime: Runtime, query: str, *, count: int) -> dict[str, Any]:
    """Return the listed workflows by id; visibility follows a moment after the workflow."""
    found: list[dict[str, Any]] = []
    for _ in range(50):
        found = await _temporal(runtime, "workflow", "list", "--query", query)
        if len(found) >= count:
            break
        await asyncio.sleep(0.2)
    return {workflow["execution"]["workflowId"]: workflow for workflow in found}


async def _temporal(runtime: Runtime, *arguments: str) -> Any:
    """Return what Temporal's command line prints as JSON."""
    process = await asyncio.create_subprocess_exec(
        temporal_binary(),
        *arguments,
        *("--address", runtime.addresses.temporal_address, "--output", "json", "--disable-config-env"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0, errors.decode()
    return json.loads(out or "[]")


def _attributes(workflow: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = workflow["searchAttributes"]["indexedFields"]
    return {name: json.loads(_text(payload["data"])) for name, payload in fields.items()}


def _text(data: Any) -> str:
    """Return a payload's data as text: the command line shows some decoded and some in Base64."""
    if not isinstance(data, str):
        return json.dumps(data)
    try:
        return base64.b64decode(data, validate=True).decode()
    except ValueError:
        return data


def _everything(tree: Any, name: str) -> list[Any]:
    """Return every value under `name`, wherever it is."""
    if isinstance(tree, list):
        return [found for item in tree for found in _everything(item, name)]
    if isinstance(tree, dict):
        here = [tree[name]] if name in tree else []
        return here + [found for value in tree.values() for found in _everything(value, name)]
    return []
