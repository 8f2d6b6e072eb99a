"""Compaction: nothing that was removed is left in the files, and everything else is as before (R11)."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from activities.index import edge_shard
from activities.index.edge import EdgeIndex
from activities.index.server import ServerIndex
from contracts.labels import Collection
from contracts.ports import SearchIndex
from tests.canaries import files_with
from tests.index.conftest import Opener
from tests.index.samples import DIMENSIONS, MODEL, change, dense, lexical, removal, targets
from tests.index.server_double import ServerDouble

DETAIL = Collection.DETAIL
ROOT = Path(__file__).parents[2]
CANARY = "canarybird"

CHILD = """
import asyncio, sys
from pathlib import Path
from activities.index.edge import EdgeIndex
from contracts.labels import Collection
from tests.index.samples import DIMENSIONS, MODEL

async def main(folder):
    index = EdgeIndex(Path(folder), MODEL, DIMENSIONS)
    await index.open()
    print("open", flush=True)
    while True:
        await index.compact(Collection.DETAIL)

asyncio.run(main(sys.argv[1]))
"""


async def contents(index: SearchIndex) -> object:
    """Return what is stored and found; lexical scores change with compaction, since removed words count no more."""
    return [
        (await index.stored(each), await dense(index, each, "x"), targets(await lexical(index, each, "printer")))
        for each in Collection
    ]


async def filled(index: SearchIndex) -> None:
    """Three hundred points, a third of them removed and a third overwritten; those that went have the canary."""
    await index.apply(
        [change(DETAIL, f"experience/{each}", concepts=(CANARY,) if each % 3 else ()) for each in range(300)]
    )
    await index.apply(
        [
            removal(DETAIL, f"experience/{each}") if each % 3 == 1 else change(DETAIL, f"experience/{each}", revision=2)
            for each in range(300)
            if each % 3
        ]
    )


def names(folder: Path, pattern: str = "detail-v*") -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


async def test_r11_compaction_leaves_every_answer_as_it_was(index: SearchIndex) -> None:
    await filled(index)
    before = await contents(index)
    for _ in range(2):
        await index.compact(DETAIL)
        assert await contents(index) == before
    await index.apply([change(DETAIL, "experience/new", "fresh words")])
    assert targets(await lexical(index, DETAIL, "fresh")) == ["experience/new"]


async def test_a_compacted_index_opens_again_and_can_be_dropped(make: Opener) -> None:
    index = make()
    await index.open()
    await filled(index)
    await index.compact(DETAIL)
    before = await contents(index)
    if isinstance(index, EdgeIndex):
        await index.close()
    again = make()
    await again.open()
    assert await contents(again) == before
    await again.drop(DETAIL)
    assert await again.stored(DETAIL) == []
    await again.apply([change(DETAIL, "experience/1")])
    await again.compact(DETAIL)
    assert len(await again.stored(DETAIL)) == 1
    if isinstance(again, EdgeIndex):
        await again.close()


async def test_r11_no_file_holds_a_removed_word_after_compaction(index_folder: Path) -> None:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await filled(index)
    assert files_with(index_folder, CANARY), "the test would show nothing if the engine removed it by itself"
    await index.compact(DETAIL)
    assert files_with(index_folder, CANARY) == []
    await index.close()
    assert files_with(index_folder, CANARY) == []


async def test_searches_go_on_beside_a_compaction(index_folder: Path) -> None:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await filled(index)
    await index.apply([change(DETAIL, "experience/kept", "kept words")])
    compacting = asyncio.create_task(index.compact(DETAIL))
    asked = 0
    while not compacting.done() or asked < 5:
        assert targets(await lexical(index, DETAIL, "kept")) == ["experience/kept"]
        assert len(await index.stored(DETAIL)) == 201
        asked += 1
    await compacting
    await index.close()


@pytest.mark.parametrize("delay", [0.0, 0.05])
async def test_a_kill_in_the_middle_of_compaction_loses_nothing(index_folder: Path, delay: float) -> None:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await filled(index)
    before = await contents(index)
    await index.close()
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CHILD, str(index_folder)), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    assert await asyncio.wait_for(child.stdout.readline(), 60) == b"open\n"
    await asyncio.sleep(delay)
    child.send_signal(signal.SIGKILL)
    assert await child.wait() == -signal.SIGKILL
    await index.open()
    assert await contents(index) == before
    await index.compact(DETAIL)
    assert names(index_folder, "*.compact*") + names(index_folder, "*.replaced") == []
    await index.close()


@pytest.mark.parametrize("step", ["whole copy", "old one aside", "new one in place"])
async def test_every_step_of_the_exchange_is_ended_at_the_next_start(index_folder: Path, step: str) -> None:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await filled(index)
    before = await contents(index)
    await index.close()
    place = index_folder / names(index_folder)[0]
    other = {suffix: place.with_name(f"{place.name}.{suffix}") for suffix in ("compacted", "replaced")}
    shutil.copytree(place, other["compacted" if step != "new one in place" else "replaced"])
    if step == "old one aside":
        place.rename(other["replaced"])
    await index.open()
    assert await contents(index) == before
    assert names(index_folder) == [place.name]
    await index.close()


async def test_what_an_interrupted_switch_left_is_removed_too(index_folder: Path) -> None:
    """R11: files of a version that nobody reads any more hold text as well."""
    aside = EdgeIndex(index_folder, "tests/other@1", DIMENSIONS, aside=True)
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await index.close()
    await aside.open()
    await aside.close()
    assert len(names(index_folder)) == 2
    await index.open()
    await index.compact(DETAIL)
    assert len(names(index_folder)) == 1
    await index.close()


@pytest.mark.parametrize("fails_at", range(1, 8, 2))
async def test_a_server_compaction_cut_short_anywhere_is_ended_by_the_next_start(
    monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    double = ServerDouble()
    index = ServerIndex(double, MODEL, DIMENSIONS)
    await index.open()
    await filled(index)
    before = await contents(index)
    calls = itertools.count(1)

    def cut_short(name: str) -> None:
        method = getattr(double, name)

        async def call(*arguments: object, **options: object) -> object:
            if next(calls) >= fails_at:
                raise ConnectionError("cut short")
            return await method(*arguments, **options)

        monkeypatch.setattr(double, name, call)

    for name in ("create_collection", "upsert", "delete_collection", "update_collection_aliases"):
        cut_short(name)
    try:
        await index.compact(DETAIL)
    except Exception as error:
        assert "cut short" in str(error)
    monkeypatch.undo()
    again = ServerIndex(double, MODEL, DIMENSIONS)
    await again.open()
    assert await contents(again) == before
    await again.compact(DETAIL)
    assert await contents(again) == before
    detail = [each.name for each in (await double.get_collections()).collections if "-detail-" in each.name]
    assert len(detail) == 1
    await double.close()


async def test_compaction_does_some_thousand_points_a_second(index_folder: Path) -> None:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await index.apply([change(DETAIL, f"experience/{each}") for each in range(5_000)])
    began = time.perf_counter()
    await index.compact(DETAIL)
    rate = 5_000 / (time.perf_counter() - began)
    print(f"{rate:,.0f} points/s; {edge_shard.POINTS_PER_OPERATION} an operation")
    assert rate > 500
    await index.close()
