"""What is remembered of points between searches is what the index holds, whatever is written between (R9, R11)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from activities.index.edge import EdgeIndex
from activities.index.edge_remembered import RememberedHits
from contracts.index import Hit
from contracts.labels import CandidateKind, Collection
from tests.index.conftest import Opener
from tests.index.samples import DIMENSIONS, MODEL, change, dense, removal

DETAIL = Collection.DETAIL


def hit(target: str, revision: int = 1) -> Hit:
    return Hit(target, revision, f"{revision:064x}", CandidateKind.EXPERIENCE, 0.0)


class Shelf:
    """Points as an engine holds them, and how many were read."""

    def __init__(self) -> None:
        self.points: dict[int, Hit] = {}
        self.reads = 0

    def read(self, ids: Sequence[int]) -> dict[int, Hit]:
        self.reads += len(ids)
        return {point: self.points[point] for point in ids if point in self.points}


def test_a_point_is_read_once_and_keeps_the_score_of_each_search() -> None:
    shelf = Shelf()
    shelf.points = {1: hit("case/a"), 2: hit("case/b")}
    remembered = RememberedHits(shelf.read)
    assert [(each.target, each.score) for each in remembered.hits([(2, 0.5), (1, 0.25)]) or ()] == [
        ("case/b", 0.5),
        ("case/a", 0.25),
    ]
    assert [each.score for each in remembered.hits([(1, 0.75)]) or ()] == [0.75]
    assert shelf.reads == 2


def test_a_point_that_went_between_two_reads_is_told_and_not_left_out() -> None:
    shelf = Shelf()
    shelf.points = {1: hit("case/a")}
    assert RememberedHits(shelf.read).hits([(1, 0.5), (2, 0.25)]) is None


def test_what_is_written_while_it_is_read_is_not_kept() -> None:
    shelf = Shelf()
    shelf.points = {1: hit("case/a", revision=1)}

    def overtaken(ids: Sequence[int]) -> dict[int, Hit]:
        old = shelf.read(ids)
        shelf.points[1] = hit("case/a", revision=2)
        remembered.forget(["case/a"])
        return old

    remembered = RememberedHits(overtaken)
    assert [each.revision for each in remembered.hits([(1, 1.0)]) or ()] == [1]  # as it was when it was read
    assert [each.revision for each in remembered.hits([(1, 1.0)]) or ()] == [2]


def test_the_oldest_go_first_and_nothing_stays_of_them() -> None:
    shelf = Shelf()
    shelf.points = {number: hit(f"case/{number}") for number in range(5)}
    remembered = RememberedHits(shelf.read, most=3)
    remembered.hits([(number, 1.0) for number in range(5)])
    remembered.hits([(2, 1.0), (3, 1.0), (4, 1.0)])
    assert shelf.reads == 5
    remembered.hits([(0, 1.0)])
    assert shelf.reads == 6


@given(
    st.lists(st.tuples(st.sampled_from(["write", "remove", "find"]), st.integers(0, 5), st.integers(1, 9)), max_size=40)
)
def test_r9_every_find_says_what_is_held(steps: Sequence[tuple[str, int, int]]) -> None:
    shelf = Shelf()
    remembered = RememberedHits(shelf.read, most=4)
    for step, number, revision in steps:
        target = f"case/{number // 2}"  # two points of each
        if step == "find":
            found = remembered.hits([(each, 1.0) for each in shelf.points])
            assert found is not None
            assert {(each.target, each.revision) for each in found} == {
                (each.target, each.revision) for each in shelf.points.values()
            }
            continue
        if step == "write":
            shelf.points[number] = hit(target, revision)
        else:
            shelf.points.pop(number, None)
        remembered.forget([target])


async def test_r9_r11_a_search_after_a_write_tells_what_was_written(make: Opener) -> None:
    index = make()
    await index.open()
    try:
        for revision in (1, 2, 3):
            await index.apply([change(DETAIL, "experience/1", revision=revision, seed="same")])
            for _ in range(2):
                found = await dense(index, DETAIL, "same")
                assert [(each.target, each.revision) for each in found] == [("experience/1", revision)]
        await index.apply([change(DETAIL, "experience/1", revision=3, seed="same", links=("concept:row",))])
        assert [each.links for each in await dense(index, DETAIL, "same")] == [("concept:row",)]
        await index.apply([removal(DETAIL, "experience/1")])
        assert not await dense(index, DETAIL, "same")
    finally:
        await index.close()


async def test_r23_a_target_is_found_at_every_moment_while_it_is_written(index_folder: Path) -> None:
    """New points come before old ones go, and what is remembered of the old ones opens no gap."""
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await index.apply([change(DETAIL, "experience/1", seed="same")])
    is_over = asyncio.Event()
    seen: list[set[str]] = []

    async def look() -> None:
        while not is_over.is_set():
            seen.append({each.target for each in await dense(index, DETAIL, "same")})

    async def write() -> None:
        try:
            for revision in range(2, 60):
                await index.apply([change(DETAIL, "experience/1", revision=revision, seed="same")])
        finally:
            is_over.set()

    try:
        await asyncio.gather(write(), look(), look())
    finally:
        await index.close()
    assert len(seen) > 60
    assert all(targets == {"experience/1"} for targets in seen)
