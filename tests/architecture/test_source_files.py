"""File sizes and names, no address of one machine, and a lock that installs anywhere."""

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
FOLDERS = ("contracts", "activities", "workflows", "api", "deploy")
MAX_LINES = 400
VAGUE = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc", "base_utils", "shared"}
NOT_OURS = {"build", "dist", "bench-results", "node_modules", "__pycache__"}
OURS_HIDDEN = {".ci", ".github", ".gitignore", ".dockerignore"}


def modules() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def repository_texts() -> Iterator[tuple[Path, str]]:
    """Yield every text file of the repository; environments, caches and build output are not part of it."""
    for folder, subfolders, files in os.walk(ROOT):
        subfolders[:] = [
            name
            for name in subfolders
            if name not in NOT_OURS
            and not name.endswith(".egg-info")
            and (not name.startswith(".") or name in OURS_HIDDEN)
            and not (Path(folder) / name / "pyvenv.cfg").exists()
        ]
        for name in files:
            path = Path(folder) / name
            if path.is_symlink() or (name.startswith(".") and name not in OURS_HIDDEN):
                continue
            try:
                yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def test_no_module_is_too_long() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in modules()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert long == {}


def test_modules_are_named_for_what_they_hold() -> None:
    names = {path.relative_to(ROOT): {*path.relative_to(ROOT).parent.parts, path.stem} for path in modules()}
    assert [str(path) for path, parts in names.items() if parts & VAGUE] == []


def test_the_scan_reads_the_whole_repository() -> None:
    seen = {str(path) for path, _ in repository_texts()}
    assert {"Makefile", "pyproject.toml", "requirements.lock", "LICENSE", ".ci/run", "contracts/text.py"} <= seen
    assert "tests/architecture/test_source_files.py" in seen


# Written in two halves, so that this file doesn't hold what it looks for.
@pytest.mark.parametrize(
    "pattern",
    [
        r"pypi\." + "org",
        "files" + r"\.pythonhosted",
        r"(?<![\w.\-/])/" + "work/",
        r"(?<![\w.\-/])/" + "root/",
    ],
)
def test_no_file_names_a_package_host_or_a_path_of_one_machine(pattern: str) -> None:
    found = [
        f"{path}:{number}: {line.strip()[:120]}"
        for path, text in repository_texts()
        if re.search(pattern, text)
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line)
    ]
    assert found == []


def locked() -> dict[str, Requirement]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def test_the_lock_holds_names_and_versions_only() -> None:
    """No address and no option: each machine installs from its own index."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert len(pins) > 50
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+( ; [^:@]+)?", pin)] == []
    assert [line for line in lines if "://" in line] == []
    assert len(locked()) == len(pins), "a package is pinned twice"
    assert {"pip", "setuptools", "wheel", "caselore"} & set(locked()) == set()


def test_the_lock_satisfies_every_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [Requirement(line) for line in (*project["dependencies"], *extras["embedded"], *extras["dev"])]
    pins = locked()
    unmet = [
        f"{requirement}: {pins.get(canonicalize_name(requirement.name), 'not locked')}"
        for requirement in wanted
        if (pin := pins.get(canonicalize_name(requirement.name))) is None
        or not requirement.specifier.contains(next(iter(pin.specifier)).version)
    ]
    assert unmet == [], "run `make lock`"


def test_the_ci_script_can_be_executed() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
