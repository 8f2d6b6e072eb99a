"""Blocking reads in a thread: those that come in one turn of the event loop go there, and come back, together.

The engine holds the interpreter's lock during a read, so reads in several threads don't overlap; each way to a thread
and back costs as much as a short read. A retrieval's routes ask at one moment, when their vector is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, TypeVar

from contracts.errors import IndexUnavailable

MOST = 8
"""Reads of one way at most: the first of them waits for the last."""

_T = TypeVar("_T")
_Read = tuple[Callable[[], Any], "asyncio.Future[Any]"]
_Ended = tuple[Any, BaseException | None]


class ReadsTogether:
    """Runs reads in a pool's threads, several at one go.

    Args:
        pool: Runs them; whoever made it shuts it down.
    """

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._waiting: list[_Read] = []

    async def run(self, read: Callable[[], _T]) -> _T:
        """Return what `read` returns, or raise what it raises; one that nobody waits for any more is not made.

        Raises:
            IndexUnavailable: The pool was shut down.
        """
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[_T] = loop.create_future()
        self._waiting.append((read, answered))
        if len(self._waiting) == 1:
            loop.call_soon(self._go)
        return await answered

    def _go(self) -> None:
        waiting, self._waiting = self._waiting, []
        for start in range(0, len(waiting), MOST):
            reads = waiting[start : start + MOST]
            try:
                going = asyncio.get_running_loop().run_in_executor(self._pool, _made, reads)
            except RuntimeError:  # the pool was shut down meanwhile
                _answer(reads, [(None, IndexUnavailable("The index was closed before it was asked."))] * len(reads))
            else:
                going.add_done_callback(lambda ended, reads=reads: _answer(reads, ended.result()))


def _made(reads: Sequence[_Read]) -> list[_Ended]:
    ended: list[_Ended] = []
    for read, answered in reads:
        try:
            ended.append((None if answered.cancelled() else read(), None))
        except BaseException as error:  # it belongs to the one who asked
            ended.append((None, error))
    return ended


def _answer(reads: Sequence[_Read], ended: Sequence[_Ended]) -> None:
    for (_, answered), (found, error) in zip(reads, ended, strict=True):
        if answered.done():  # who asked waits no longer
            continue
        if error is None:
            answered.set_result(found)
        else:
            answered.set_exception(error)
