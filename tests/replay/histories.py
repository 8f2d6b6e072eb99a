"""Where recorded histories lie, and how they are written: one event a line, nothing of the machine in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from temporalio.client import WorkflowHistory

FOLDER = Path(__file__).parent / "histories"
IDENTITY = "caselore"
DROPPED = {"stackTrace", "taskId", "requestId"}
"""Not needed for a replay; the first holds paths."""


def path_of(workflow: str, branch: str) -> Path:
    """Return the file of a branch's history."""
    return FOLDER / workflow / f"{branch}.json"


def write(path: Path, history: WorkflowHistory) -> None:
    """Write a history without traces of where it was made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    events = [_scrubbed(event) for event in json.loads(history.to_json())["events"]]
    lines = ",\n".join(json.dumps(event, sort_keys=True, separators=(",", ":")) for event in events)
    identity = json.dumps({"workflowId": history.workflow_id})
    path.write_text(f'{identity[:-1]}, "events": [\n{lines}\n]}}\n', encoding="utf-8")


def read(path: Path) -> WorkflowHistory:
    """Read a history back."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return WorkflowHistory.from_json(stored["workflowId"], {"events": stored["events"]})


def _scrubbed(value: Any) -> Any:
    if isinstance(value, list):
        return [_scrubbed(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    kept: dict[str, Any] = {}
    for name, content in cast("dict[str, Any]", value).items():
        if name == "identity":
            kept[name] = IDENTITY
        elif name not in DROPPED:
            kept[name] = _scrubbed(content)
    return kept
