"""Imports go one way, and the linter that says so notices when they don't."""

import ast
import shutil
import subprocess
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("contracts", "activities", "workflows", "api", "deploy")
ADAPTERS = ("records", "index", "embedding", "language")
ADAPTER_LIBRARIES = {"sqlalchemy", "psycopg", "alembic", "qdrant_client", "qdrant_edge", "fastembed", "onnxruntime"}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    script = Path(sysconfig.get_path("scripts")) / "lint-imports"
    return subprocess.run(
        [str(script), "--no-cache", "--no-logo"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def configured() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]


@pytest.fixture
def copy_of_the_code(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_every_import_contract_holds() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"Contracts: {len(configured()['contracts'])} kept, 0 broken." in result.stdout


def test_the_layers_are_the_agreed_ones() -> None:
    layers = [contract for contract in configured()["contracts"] if contract["type"] == "layers"]
    assert [contract["layers"] for contract in layers] == [["deploy", "api", "workflows", "activities", "contracts"]]
    assert sorted(configured()["root_packages"]) == sorted(PACKAGES)


@pytest.mark.parametrize(
    ("where", "line"),
    [
        ("contracts", "import activities"),
        ("contracts", "import sqlalchemy"),
        ("activities", "import workflows"),
        ("workflows", "import api"),
        ("workflows", "import activities.records"),
        ("workflows", "import qdrant_client"),
        ("api", "import deploy"),
        ("activities/records", "import activities.index"),
        ("activities/index", "import activities.embedding"),
    ],
)
def test_an_import_against_the_rule_is_noticed(copy_of_the_code: Path, where: str, line: str) -> None:
    (copy_of_the_code / where / "against_the_rule.py").write_text(line + "\n", encoding="utf-8")
    result = lint_imports(copy_of_the_code)
    assert result.returncode != 0, result.stdout
    assert "1 broken" in result.stdout, result.stdout + result.stderr


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_activity_classes_know_ports_not_adapters() -> None:
    """Only `deploy` wires adapters to activity classes."""
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "activities").rglob("*.py"))
        if path.relative_to(ROOT).parts[1] not in ADAPTERS
        for name in imported(path.read_text(encoding="utf-8"))
        if name.split(".")[0] in ADAPTER_LIBRARIES or name.startswith(tuple(f"activities.{part}" for part in ADAPTERS))
    ]
    assert found == []
