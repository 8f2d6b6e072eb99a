"""Reads that come together are made together, and each is answered for itself (R16)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.index.reads_together import MOST, ReadsTogether
from contracts.errors import IndexUnavailable


class CountedPool(ThreadPoolExecutor):
    """A pool of one thread that knows how often it was sent."""

    def __init__(self) -> None:
        super().__init__(1)
        self.ways = 0

    def submit(self, fn: Callable[..., object], /, *args: object, **kwargs: object):  # type: ignore[override]
        self.ways += 1
        return super().submit(fn, *args, **kwargs)


@pytest.fixture(name="pool")
def fixture_pool() -> Iterator[CountedPool]:
    with CountedPool() as pool:
        yield pool


async def test_reads_of_one_turn_go_one_way_and_no_more_than_the_most(pool: CountedPool) -> None:
    reads = ReadsTogether(pool)
    threads = await asyncio.gather(*(reads.run(threading.get_ident) for _ in range(MOST)))
    assert pool.ways == 1
    assert threading.get_ident() not in threads
    await asyncio.gather(*(reads.run(threading.get_ident) for _ in range(MOST + 1)))
    assert pool.ways == 3
    await reads.run(threading.get_ident)
    assert pool.ways == 4


@given(outcomes=st.lists(st.integers(-5, 5), max_size=3 * MOST))
async def test_each_gets_its_own_answer_or_its_own_error(outcomes: list[int]) -> None:
    def read(outcome: int) -> int:
        if outcome < 0:
            raise ValueError(outcome)
        return outcome

    with ThreadPoolExecutor(2) as threads:
        reads = ReadsTogether(threads)
        ended = await asyncio.gather(
            *(reads.run(lambda outcome=outcome: read(outcome)) for outcome in outcomes), return_exceptions=True
        )
    for outcome, got in zip(outcomes, ended, strict=True):
        assert got == outcome or (isinstance(got, ValueError) and got.args == (outcome,))


async def test_what_nobody_waits_for_any_more_is_not_made_and_holds_up_nobody(pool: CountedPool) -> None:
    held, made = threading.Event(), list[str]()
    pool.submit(held.wait)
    reads = ReadsTogether(pool)
    given_up = asyncio.create_task(reads.run(lambda: made.append("given up")))
    other = asyncio.create_task(reads.run(lambda: made.append("other")))
    await asyncio.sleep(0.01)
    given_up.cancel()
    await asyncio.sleep(0)
    held.set()
    await other
    assert given_up.cancelled()
    assert made == ["other"]


async def test_after_the_pool_is_shut_down_it_says_so() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(IndexUnavailable):
        await ReadsTogether(pool).run(lambda: 1)
