"""The command line answers at once: what takes seconds to import is imported by the command that runs it."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = {"qdrant_client", "fastembed", "onnxruntime", "temporalio", "sqlalchemy", "fastapi", "mcp", "uvicorn"}
BY_HTTP = (
    *("tasks", "review", "retrieve", "broaden", "deciding", "consultations", "show", "deadletters", "audit", "team"),
    *("propose", "erase", "reindex"),
)


def heavy_after(*modules: str) -> set[str]:
    """Return the heavy packages that a fresh interpreter holds once it has imported `modules`."""
    script = f"import json, sys, {', '.join(modules)}; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    return HEAVY.intersection(json.loads(result.stdout))


def test_the_command_line_starts_without_what_only_its_commands_need() -> None:
    assert heavy_after("deploy.cli") == set()


def test_commands_that_only_call_by_http_import_no_server_and_no_index() -> None:
    commands = [f"deploy.commands.{name}" for name in BY_HTTP]
    assert heavy_after("deploy.cli", "deploy.logs", "deploy.settings", *commands) == set()


def test_the_client_imports_no_server_and_no_database() -> None:
    assert heavy_after("api.client") == set()


def test_the_check_notices() -> None:
    assert heavy_after("uvicorn") == {"uvicorn"}
