"""The embedded search index: Qdrant's engine inside this process, one shard for each collection."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Generator, Sequence
from collections.abc import Collection as Targets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from activities.index.batches import batches, check_vector
from activities.index.conditions import conditions
from activities.index.edge_compaction import take_place
from activities.index.edge_folder import OwnedFolder
from activities.index.edge_shard import EdgeCollection
from activities.index.lexical import query_terms
from activities.index.naming import REINDEX, version_name
from activities.index.ranking import best
from activities.index.reads_together import ReadsTogether
from contracts.errors import CaseloreError, IndexSchemaMismatch, IndexUnavailable
from contracts.index import DenseQuery, Filter, Hit, IndexChange, LexicalQuery, Scope, Stored
from contracts.labels import Collection

_T = TypeVar("_T")


class EdgeIndex:
    """A `SearchIndex` in a folder that this process owns.

    The shard takes calls from several threads, but the engine's binding (0.9) holds the interpreter's lock during
    each: reads don't overlap, and a long call would stop the event loop from any thread. Writes are therefore cut
    into short operations, and optimising happens while opening only, when nothing is served yet.

    Args:
        path: Folder of the index; one owner process at a time.
        model: Id of the embedding model.
        dimensions: Length of its vectors.
        aside: Work on this model's version whether or not it is the current one, and leave the current one alone
            until `make_current`; for reindexing.
    """

    def __init__(self, path: Path, model: str, dimensions: int, *, aside: bool = False) -> None:
        self._path = path
        self._model = model
        self._dimensions = dimensions
        self._aside = aside
        self._folder: OwnedFolder | None = None
        self._shards: dict[Collection, EdgeCollection] = {}
        self._readers: ThreadPoolExecutor | None = None
        self._searches: ReadsTogether | None = None
        self._writer: ThreadPoolExecutor | None = None

    async def open(self) -> None:
        """Own the folder, create what is missing, check and optimise every collection. Harmless to repeat.

        Raises:
            IndexUnavailable: Another process owns the folder, or the engine can't read it.
            IndexSchemaMismatch: The folder was built with another model, vector size or schema.
        """
        if self._folder is not None:
            return
        await asyncio.to_thread(self._open)
        # Each pool keeps its own order: a read never queues behind a whole batch of writes.
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="index-read")
        self._searches = ReadsTogether(self._readers)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="index-write")

    async def close(self) -> None:
        """Flush, let go of the folder. Harmless to repeat."""
        readers, writer = self._readers, self._writer
        self._readers = self._searches = self._writer = None
        for pool in filter(None, (readers, writer)):
            await asyncio.to_thread(pool.shutdown)
        await asyncio.to_thread(self._close)

    async def apply(self, changes: Sequence[IndexChange]) -> None:
        """Make each change and return when they survive a crash (R9, R23). Repeating a change is harmless.

        Raises:
            IndexSchemaMismatch: A point was made by another model; nothing was written.
            InvalidField: A point can't be stored; nothing was written.
        """
        work = batches(changes, model=self._model, dimensions=self._dimensions)
        await self._run(self._writer, lambda: [self._shards[each.collection].write(each) for each in work])

    async def search(
        self,
        collection: Collection,
        query: DenseQuery | LexicalQuery,
        *,
        scope: Scope,
        where: Filter,
        limit: int,
    ) -> list[Hit]:
        """Return the best `limit` hits, best first; equal scores in order of target (R4).

        Raises:
            IndexSchemaMismatch: The query vector has another length.
        """
        allowed = conditions(collection, scope, where)
        if allowed is None or limit < 1:
            return []
        if isinstance(query, DenseQuery):
            check_vector(query.name, query.vector, self._dimensions)
            dense = query
            return await best(
                lambda count: self._find(
                    lambda: self._shards[collection].nearest(dense.vector, dense.name, allowed, count)
                ),
                limit,
            )
        terms = query_terms(query.text)
        if not terms.indices:
            return []
        return await best(
            lambda count: self._find(lambda: self._shards[collection].matching(terms, allowed, count)), limit
        )

    async def stored(self, collection: Collection) -> list[Stored]:
        """Return every point's id and payload, ordered by id (R9)."""
        return await self._run(self._readers, lambda: self._shards[collection].stored())

    async def page(self, collection: Collection, after: str | None, limit: int) -> tuple[list[Stored], str | None]:
        """Return the next points in order of their ids, and where the page after them begins (R9)."""
        return await self._run(self._readers, lambda: self._shards[collection].page(after, limit))

    async def points_of(self, collection: Collection, targets: Targets[str]) -> list[Stored]:
        """Return every point of `targets` (R9)."""
        return await self._run(self._readers, lambda: self._shards[collection].points_of(tuple(targets)))

    async def drop(self, collection: Collection) -> None:
        """Remove a collection's content, on disk too, and create it empty (R11)."""
        await self._run(self._writer, lambda: self._drop(collection))

    async def compact(self, collection: Collection) -> None:
        """Return when nothing that was removed or overwritten is left in a collection's files (R11).

        Searches go on; writes to every collection wait. Some thousand points a second.
        """
        await self._run(self._writer, lambda: self._compact(collection))

    async def optimise(self) -> None:
        """Build graphs and drop deleted points after a bulk load. Stops the whole process for seconds."""
        await self._run(self._writer, lambda: [shard.optimise() for shard in self._shards.values()])

    async def make_current(self) -> None:
        """Point every alias at this model's version and remove all other versions."""
        await self._run(self._writer, self._make_current)

    async def _find(self, search: Callable[[], list[Hit]]) -> list[Hit]:
        if self._searches is None:
            raise _not_open(self._path)
        return await self._searches.run(lambda: _guarded(self._path, search))

    async def _run(self, pool: ThreadPoolExecutor | None, call: Callable[[], _T]) -> _T:
        if pool is None:
            raise _not_open(self._path)
        return await asyncio.get_running_loop().run_in_executor(pool, _guarded, self._path, call)

    def _open(self) -> None:
        with _refusals(self._path):
            folder = OwnedFolder(self._path)
            try:
                for collection in Collection:
                    self._open_collection(folder, collection)
            except BaseException:
                self._close_shards()
                folder.release()
                raise
            self._folder = folder

    def _open_collection(self, folder: OwnedFolder, collection: Collection) -> None:
        version = version_name(collection, self._model)
        current = folder.aliases().get(collection)
        if current not in (None, version) and not self._aside:
            raise IndexSchemaMismatch(
                f"{self._path} holds {collection} as {current}, this model and schema need {version}; {REINDEX}.",
                field="model",
                accepted=str(current),
            )
        place = self._path / version
        take_place(place)
        if not place.exists():
            if current == version:
                raise IndexSchemaMismatch(f"{place} is missing though it is the current version; {REINDEX}.")
            EdgeCollection.create(place, self._dimensions)
        shard = EdgeCollection(place, self._dimensions)
        self._shards[collection] = shard
        shard.optimise()
        if current is None and not self._aside:
            folder.point_alias(collection, version)

    def _close(self) -> None:
        with _refusals(self._path):
            try:
                self._close_shards()
            finally:
                if self._folder is not None:
                    self._folder.release()
                    self._folder = None

    def _close_shards(self) -> None:
        while self._shards:
            _, shard = self._shards.popitem()
            shard.close()

    def _drop(self, collection: Collection) -> None:
        assert self._folder is not None  # noqa: S101 - the pools exist only while the folder is owned
        version = version_name(collection, self._model)
        was_current = self._folder.aliases().get(collection) == version
        if was_current:  # an interrupted drop must look like "nothing built yet", not like a lost version
            self._folder.point_alias(collection, None)
        self._shards.pop(collection).close()
        shutil.rmtree(self._path / version)
        EdgeCollection.create(self._path / version, self._dimensions)
        self._shards[collection] = EdgeCollection(self._path / version, self._dimensions)
        if was_current:
            self._folder.point_alias(collection, version)

    def _compact(self, collection: Collection) -> None:
        assert self._folder is not None  # noqa: S101 - the pools exist only while the folder is owned
        self._shards[collection].compact()
        version = version_name(collection, self._model)
        if self._folder.aliases().get(collection) == version:
            self._remove_others(collection, version)

    def _remove_others(self, collection: Collection, version: str) -> None:
        for place in self._path.glob(f"{collection}-v*"):  # also what an interrupted switch left
            if place.name != version:
                shutil.rmtree(place, ignore_errors=True)

    def _make_current(self) -> None:
        assert self._folder is not None  # noqa: S101 - the pools exist only while the folder is owned
        for collection in Collection:
            version = version_name(collection, self._model)
            self._folder.point_alias(collection, version)
            self._remove_others(collection, version)


def _not_open(path: Path) -> IndexUnavailable:
    return IndexUnavailable(f"The index in {path} is not open.")


def _guarded(path: Path, call: Callable[[], _T]) -> _T:
    with _refusals(path):
        return call()


@contextlib.contextmanager
def _refusals(path: Path) -> Generator[None]:
    """Turn the engine's plain exceptions into one of ours, naming the folder."""
    try:
        yield
    except CaseloreError:
        raise
    except Exception as error:
        raise IndexUnavailable(f"The index in {path} failed: {error}") from error
