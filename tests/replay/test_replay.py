"""Today's workflows replay every recorded history, and an incompatible change is caught (R8)."""

from __future__ import annotations

import base64
import importlib
import platform
import re
import uuid
from pathlib import Path
from types import ModuleType

import pytest
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

import workflows.experience_lifecycle
from deploy.worker import WORKFLOWS, workflow_runner
from tests.replay.histories import FOLDER, path_of, read
from tests.replay.scenarios import SCENARIOS

RECORDED = sorted(FOLDER.rglob("*.json"))
ROOT = Path(__file__).parents[2]


def replayer(*classes: type) -> Replayer:
    return Replayer(workflows=list(classes), data_converter=pydantic_data_converter, workflow_runner=workflow_runner())


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
async def test_a_recorded_history_replays(path: Path) -> None:
    await replayer(*WORKFLOWS).replay_workflow(read(path))


def test_every_branch_has_a_history_and_every_history_a_branch() -> None:
    expected = {path_of(workflow, branch) for workflow, (_, branches) in SCENARIOS.items() for branch in branches}
    assert set(RECORDED) == expected
    assert set(SCENARIOS) == {workflow.__name__ for workflow in WORKFLOWS}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_history_says_nothing_of_where_it_was_made(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    payloads = re.findall(r'"data":"([^"]*)"', text)
    text += "".join(base64.b64decode(payload).decode("utf-8", errors="replace") for payload in payloads)
    for trace in (str(ROOT), str(Path.home()), platform.node(), "site-packages", "stackTrace"):
        assert trace not in text
    assert set(re.findall(r'"identity":"([^"]*)"', text)) <= {"caselore"}
    assert len(text) < 60_000


def changed_copy(folder: Path, name: str, before: str, after: str) -> ModuleType:
    """Return a copy of the lifecycle's module with one change, as an importable module."""
    source = Path(workflows.experience_lifecycle.__file__).read_text(encoding="utf-8")
    assert source.count(before) == 1
    (folder / f"{name}.py").write_text(source.replace(before, after), encoding="utf-8")
    return importlib.import_module(name)


@pytest.mark.parametrize(
    ("branch", "before", "after"),
    [
        ("published", "await self._load()", "await workflow.sleep(1)"),
        ("published", "LifecycleActivities.record_decision", "LifecycleActivities.record_reminder"),
        ("retired", "LifecycleActivities.apply_command", "LifecycleActivities.load_experience"),
        ("reminded_escalated", "timeout=None if remaining is None else", "timeout=None if True else"),
    ],
)
async def test_an_incompatible_change_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, branch: str, before: str, after: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = changed_copy(tmp_path, f"changed_{uuid.uuid4().hex}", before, after)
    with pytest.raises(NondeterminismError):
        await replayer(module.ExperienceLifecycle).replay_workflow(read(path_of("ExperienceLifecycle", branch)))


async def test_an_import_that_would_be_loaded_for_each_workflow_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = changed_copy(
        tmp_path, "careless_lifecycle", "import asyncio\n", "import asyncio\nimport deploy.settings\n"
    )
    with pytest.raises(RuntimeError, match="Failed validating workflow ExperienceLifecycle") as caught:
        await replayer(module.ExperienceLifecycle).replay_workflow(read(path_of("ExperienceLifecycle", "published")))
    assert "deploy" in str(caught.value.__cause__)
