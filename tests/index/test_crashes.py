"""The embedded index after a crash, and its single owner (R8, R23)."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from activities.index.edge import EdgeIndex
from contracts.errors import IndexUnavailable
from contracts.labels import Collection
from tests.index.samples import DIMENSIONS, MODEL, change, dense, lexical, removal, targets

ROOT = Path(__file__).parents[2]
DETAIL = Collection.DETAIL
ROUND = 600
"""Changes of one call in the child: several engine operations, so that a kill can fall between them."""

CHILD = """
import asyncio, sys
from pathlib import Path
from activities.index.edge import EdgeIndex
from contracts.labels import Collection
from tests.index.samples import DIMENSIONS, MODEL, change, removal

async def main(folder, rounds, size):
    index = EdgeIndex(Path(folder), MODEL, DIMENSIONS)
    await index.open()
    print("open", flush=True)
    for number in range(1, rounds + 1):
        await index.apply([change(Collection.DETAIL, f"experience/{each}", f"round{number} words", revision=number)
                           for each in range(size)])
        await index.apply([removal(Collection.DETAIL, "experience/0")])
        print(number, flush=True)
    await asyncio.sleep(600)

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


async def _start(folder: Path, rounds: int) -> asyncio.subprocess.Process:
    arguments = ["-c", CHILD, str(folder), str(rounds), str(ROUND)]
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE)


async def _line(child: asyncio.subprocess.Process) -> str:
    assert child.stdout is not None
    return (await asyncio.wait_for(child.stdout.readline(), 60)).decode().strip()


async def _kill(child: asyncio.subprocess.Process) -> None:
    child.send_signal(signal.SIGKILL)
    assert await child.wait() == -signal.SIGKILL
    assert child.stdout is not None
    await child.stdout.read()


async def test_contents_survive_a_reopen(index_folder: Path) -> None:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await index.apply([change(DETAIL, f"experience/{each}") for each in range(5)])
    before = await index.stored(DETAIL), await lexical(index, DETAIL, "printer"), await dense(index, DETAIL, "x")
    await index.close()
    await index.close()
    await index.open()
    assert before == (
        await index.stored(DETAIL),
        await lexical(index, DETAIL, "printer"),
        await dense(index, DETAIL, "x"),
    )
    await index.close()


async def test_r23_what_apply_returned_survives_kill_9(index_folder: Path) -> None:
    child = await _start(index_folder, 2)
    try:
        assert [await _line(child) for _ in range(3)] == ["open", "1", "2"]
    finally:
        await _kill(child)
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    stored = await index.stored(DETAIL)
    assert {each.payload.revision for each in stored} == {2}
    assert len({each.payload.target for each in stored}) == len(stored) == ROUND - 1
    assert "experience/0" not in targets(await lexical(index, DETAIL, "round2", limit=ROUND))
    await index.close()


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.08, 0.15])
async def test_r9_a_kill_in_the_middle_of_apply_is_repaired_by_repeating(index_folder: Path, delay: float) -> None:
    child = await _start(index_folder, 100)
    try:
        assert [await _line(child) for _ in range(2)] == ["open", "1"]
        await asyncio.sleep(delay)
    finally:
        await _kill(child)
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    last = 1_000
    again = [change(DETAIL, f"experience/{each}", "last words", revision=last) for each in range(ROUND)]
    await index.apply(again)
    await index.apply([removal(DETAIL, "experience/0")])
    stored = await index.stored(DETAIL)
    assert sorted(each.payload.target for each in stored) == sorted(f"experience/{each}" for each in range(1, ROUND))
    assert {each.payload.revision for each in stored} == {last}
    assert len(await lexical(index, DETAIL, "last words", limit=ROUND)) == ROUND - 1
    await index.close()


async def test_a_kill_while_the_index_is_created_leaves_a_folder_that_opens(index_folder: Path) -> None:
    for delay in (0.7, 0.9, 1.1):
        child = await _start(index_folder / str(delay), 0)
        await asyncio.sleep(delay)
        await _kill(child)
        index = EdgeIndex(index_folder / str(delay), MODEL, DIMENSIONS)
        await index.open()
        await index.apply([change(DETAIL, "experience/1")])
        assert targets(await lexical(index, DETAIL, "printer")) == ["experience/1"]
        await index.close()


async def test_optimising_changes_no_answer(index_folder: Path) -> None:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await index.apply([change(DETAIL, f"experience/{each}", revision=1) for each in range(1_500)])
    await index.apply([removal(DETAIL, f"experience/{each}") for each in range(500, 1_500)])
    before = await dense(index, DETAIL, "any"), await index.stored(DETAIL)
    await index.optimise()
    assert before == (await dense(index, DETAIL, "any"), await index.stored(DETAIL))
    await index.close()


async def test_a_folder_has_one_owner_and_the_refusal_names_it(index_folder: Path) -> None:
    child = await _start(index_folder, 0)
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    try:
        assert await _line(child) == "open"
        with pytest.raises(IndexUnavailable, match=index_folder.name):
            await index.open()
    finally:
        await _kill(child)
    await index.open()
    with pytest.raises(IndexUnavailable, match=index_folder.name):
        await EdgeIndex(index_folder, MODEL, DIMENSIONS).open()
    await index.close()


async def test_reads_go_on_beside_writes(index_folder: Path) -> None:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await index.apply([change(DETAIL, "experience/kept", "kept words")])

    async def write() -> None:
        for number in range(1, 6):
            await index.apply([change(DETAIL, f"experience/{each}", revision=number) for each in range(200)])
            await index.apply([removal(DETAIL, f"experience/{each}") for each in range(0, 200, 2)])

    async def read() -> None:
        for _ in range(40):
            assert targets(await lexical(index, DETAIL, "kept")) == ["experience/kept"]
            await dense(index, DETAIL, "any", limit=10)

    await asyncio.gather(write(), read(), read())
    assert len(await index.stored(DETAIL)) == 101
    await index.close()
