"""Every check of every file of hard input that lies beside the repository (R1, R2, R4, R10, R22)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.hard.checks import OPERATIONS, run_check
from tests.hard.envelope import ENVELOPE, generated, read_file
from tests.hard.runtime import HardRuntime, House

FOLDER = Path(__file__).parents[3] / "shared" / "hard"
FILES = {path.name: path for path in sorted(FOLDER.glob("*.json"))}


def cases() -> list[Any]:
    return [
        pytest.param(
            name,
            number,
            id=f"{path.stem}-{number}-{check['op']}",
        )
        for name, path in FILES.items()
        for number, check in enumerate(read_file(path).checks)
    ] or [pytest.param("", 0, marks=pytest.mark.skip(reason=f"there is no folder shared/{FOLDER.name} here"))]


@pytest.fixture(scope="module")
def runtime() -> Iterator[HardRuntime]:
    with HardRuntime() as runtime:
        yield runtime


@pytest.fixture(scope="module")
def results() -> dict[str, list[tuple[bool, str]]]:
    """What a file's checks showed; a file is taken in once."""
    return {}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "number"), cases())
async def test_a_check_of_hard_input_holds(
    runtime: HardRuntime, results: dict[str, list[tuple[bool, str]]], name: str, number: int
) -> None:
    if name not in results:
        file = read_file(FILES[name])
        async with runtime.house(file) as house:
            results[name] = [await run_check(house, check) for check in file.checks]
    holds, seen = results[name][number]
    assert holds, seen


async def test_an_unknown_operation_fails_by_its_name() -> None:
    assert "no_such_thing" not in OPERATIONS
    assert await run_check(cast(House, None), {"op": "no_such_thing"}) == (
        False,
        "there is no operation 'no_such_thing'",
    )


async def test_a_file_of_another_envelope_is_refused(tmp_path: Path) -> None:
    for content in ({"envelope": "other"}, [], "text"):
        path = tmp_path / "file.json"
        await asyncio.to_thread(path.write_text, json.dumps(content))
        with pytest.raises(ValueError, match=ENVELOPE):
            read_file(path)


@pytest.mark.parametrize("kind", ["unique_tokens", "base64_line", "repeat"])
def test_generated_bodies_have_their_size(kind: str) -> None:
    body = generated({"kind": kind, "bytes": 5_000, "unit": "ab "})
    assert 5_000 <= len(body) < 5_010
    assert generated({"kind": kind, "bytes": 5_000, "unit": "ab "}) == body
