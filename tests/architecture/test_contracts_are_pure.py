"""`contracts`: no clock, no randomness, no I/O, a docstring on each public name, one tree of errors."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts import errors

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "contracts").rglob("*.py"))

PURE_MODULES = {
    *(
        "__future__",
        "abc",
        "bisect",
        "collections",
        "contextlib",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "enum",
    ),
    *("fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "string"),
    *("html", "textwrap", "types", "typing", "unicodedata", "urllib.parse", "uuid"),
    *("pydantic", "pydantic_core", "contracts"),
}
IMPURE_NAMES = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
IMPURE_ATTRIBUTES = {"now", "utcnow", "today", "uuid1", "uuid4", "getnode", "system_alias", "urandom", "monotonic"}


def impurities(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "." * node.level]
            yield from (f"import of {alias.name}" for alias in node.names if alias.name in IMPURE_ATTRIBUTES)
        for module in modules:
            if not {module, module.split(".")[0]} & PURE_MODULES:
                yield f"import of {module}"
        if isinstance(node, ast.Name) and node.id in IMPURE_NAMES:
            yield f"use of {node.id}"
        if isinstance(node, ast.Attribute) and node.attr in IMPURE_ATTRIBUTES:
            yield f"use of .{node.attr}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_contracts_module_is_pure(path: Path) -> None:
    assert list(impurities(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import httpx",
        "from sqlalchemy import select",
        "import pydantic_settings",
        "from . import labels",
        "import random",
        "import os.path",
        "import urllib.request",
        "from uuid import uuid4",
        "from datetime import datetime\nat = datetime.now()",
        "import datetime\nat = datetime.datetime.utcnow()",
        "import uuid\nkey = uuid.uuid4()",
        "import uuid\nfactory = uuid.uuid4",
        "text = open('x').read()",
        "from pathlib import Path",
    ],
)
def test_the_purity_check_notices(source: str) -> None:
    assert list(impurities(source)) != []


def undocumented(source: str, module: str) -> Iterator[str]:
    tree = ast.parse(source)
    if ast.get_docstring(tree) is None:
        yield module
    pending: list[tuple[str, ast.Module | ast.ClassDef]] = [(module, tree)]
    while pending:
        where, parent = pending.pop()
        for node in parent.body:
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or node.name.startswith("_"):
                continue
            name = f"{where}.{node.name}"
            if not ast.get_docstring(node):
                yield name
            if isinstance(node, ast.ClassDef):
                pending.append((name, node))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_public_name_of_a_contracts_module_says_what_it_promises(path: Path) -> None:
    assert list(undocumented(path.read_text(encoding="utf-8"), path.stem)) == []


def test_the_docstring_check_notices() -> None:
    source = '"""M."""\nclass A:\n    """A."""\n    def b(self): ...\n    def _c(self): ...\ndef d(): ...\n'
    assert list(undocumented(source, "m")) == ["m.d", "m.A.b"]


def drawn_tree() -> list[tuple[str, str]]:
    """Return (class, parent) for each line of the tree in the module's docstring."""
    path: list[str] = []
    found: list[tuple[str, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ((?:[│ ]   )*)([├└]── )?([A-Z]\w+)(\s|$)", line)
        if match:
            depth = len(match[1]) // 4 + (1 if match[2] else 0)
            path[depth:] = [match[3]]
            found.append((match[3], path[depth - 1] if depth else "Exception"))
    return found


def test_the_drawn_tree_of_errors_is_the_tree_of_classes() -> None:
    drawn = drawn_tree()
    actual = {
        (cls.__name__, base.__name__)
        for cls in vars(errors).values()
        if isinstance(cls, type) and issubclass(cls, errors.CaseloreError)
        for base in cls.__bases__
    }
    assert len(actual) > 30
    assert set(drawn) == actual
    assert [name for name, count in Counter(drawn).items() if count > 1] == []


def test_every_refusal_is_in_the_one_tree() -> None:
    """A client may match on any type that it can meet: no other module adds one."""
    names = {name for name, _ in drawn_tree()}
    added = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for folder in ("contracts", "activities", "workflows", "api", "deploy")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != ROOT / "contracts" / "errors.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if (base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else "") in names
    ]
    assert added == []
