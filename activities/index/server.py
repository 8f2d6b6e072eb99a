"""The search index on a Qdrant server or cluster."""

from __future__ import annotations

import asyncio
import contextlib
import re
import uuid
from collections.abc import Collection as Targets
from collections.abc import Generator, Sequence
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from activities.index import server_schema
from activities.index.batches import Batch, batches, check_vector
from activities.index.conditions import Below, Conditions, OneOf, conditions
from activities.index.lexical import VECTOR, document_terms, query_terms
from activities.index.naming import REINDEX, version_name
from activities.index.ranking import HIT_FIELDS, best, hit
from contracts.errors import CaseloreError, IndexSchemaMismatch, IndexUnavailable
from contracts.index import (
    DenseQuery,
    Filter,
    Hit,
    IndexChange,
    LexicalQuery,
    Payload,
    Point,
    Scope,
    Stored,
    VectorName,
)
from contracts.labels import Collection

_POINTS_PER_REQUEST = 256
"""Some 3 MB as JSON; a server refuses bodies over 32 MB."""
_PAGE = 1_000
_COPY = re.compile(r"-copy[0-9a-f]{8}$")
"""End of the name of a collection that a compaction made; an alias then bears the name of its version."""


class ServerIndex:
    """A `SearchIndex` behind a client, which the caller made and `close` closes.

    Reads and writes name the version of their own model, not the alias: a process with an old model never compares
    its vectors with a new one's. The alias says which version is current, and is set when the version is complete.

    Args:
        client: Connected to a server or cluster.
        model: Id of the embedding model.
        dimensions: Length of its vectors.
        prefix: Start of every name, so that installations can share a server.
        aside: Work on this model's version whether or not it is the current one, and leave the current one alone
            until `make_current`; for reindexing.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        model: str,
        dimensions: int,
        *,
        prefix: str = "caselore",
        aside: bool = False,
    ) -> None:
        self._client = client
        self._model = model
        self._dimensions = dimensions
        self._prefix = prefix
        self._aside = aside
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        """Create what is missing, then check every collection. Harmless to repeat.

        Raises:
            IndexUnavailable: The server can't be reached.
            IndexSchemaMismatch: A collection was built with another model, vector size or schema, or lacks an index.
        """
        with _refusals():
            current = await self._aliases()
            for collection in Collection:
                await self._end_compaction(collection, current)
                await self._open_collection(collection, current)

    async def close(self) -> None:
        """Close the client."""
        with _refusals():
            await self._client.close()

    async def apply(self, changes: Sequence[IndexChange]) -> None:
        """Make each change and return when the server has logged and applied all (R9, R23). Harmless to repeat.

        Raises:
            IndexSchemaMismatch: A point was made by another model; nothing was written.
            InvalidField: A point can't be stored; nothing was written.
        """
        work = batches(changes, model=self._model, dimensions=self._dimensions)
        async with self._writing:
            with _refusals():
                for batch in work:
                    await self._write(batch)

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
            vector: Any = list(query.vector)
            using, params = str(query.name), None
        else:
            terms = query_terms(query.text)
            if not terms.indices:
                return []
            vector = models.SparseVector(indices=terms.indices, values=terms.values)
            using, params = VECTOR, _corpus(allowed)
        name = self._version(collection)

        async def ask(count: int) -> list[Hit]:
            found = await self._client.query_points(
                name,
                query=vector,
                using=using,
                query_filter=None if allowed.unlimited else _filter(allowed),
                search_params=params,
                limit=count,
                with_payload=list(HIT_FIELDS),
            )
            return [hit(point.payload, point.score) for point in found.points]

        with _refusals():
            return await best(ask, limit)

    async def stored(self, collection: Collection) -> list[Stored]:
        """Return every point's id and payload, ordered by id (R9)."""
        found: list[Stored] = []
        offset: Any = None
        with _refusals():
            while True:
                page, offset = await self._client.scroll(
                    self._version(collection), limit=_PAGE, offset=offset, with_payload=True
                )
                found.extend(Stored(str(record.id), Payload.model_validate(record.payload)) for record in page)
                if offset is None:
                    return sorted(found, key=lambda each: each.id)

    async def page(self, collection: Collection, after: str | None, limit: int) -> tuple[list[Stored], str | None]:
        """Return the next points in order of their ids, and where the page after them begins (R9)."""
        with _refusals():
            return await self._scroll(collection, after, limit, None)

    async def points_of(self, collection: Collection, targets: Targets[str]) -> list[Stored]:
        """Return every point of `targets` (R9)."""
        found: list[Stored] = []
        after: str | None = None
        where = models.Filter(must=[_one_of(OneOf("target", tuple(targets)))])
        with _refusals():
            while targets:
                page, after = await self._scroll(collection, after, _PAGE, where)
                found += page
                if after is None:
                    break
        return found

    async def drop(self, collection: Collection) -> None:
        """Remove a collection's content and create it empty (R11)."""
        name, alias = self._version(collection), self._alias(collection)
        async with self._writing:
            with _refusals():
                aliases = await self._aliases()
                was_current = _version_of(aliases.get(alias, "")) == name
                await self._delete(aliases.get(name, name), aliases)
                await server_schema.create(self._client, name, self._dimensions)
                if was_current:
                    await self._point_alias(alias, name, exists=False)

    async def compact(self, collection: Collection) -> None:
        """Return when nothing that was removed or overwritten is left in a collection's files (R11).

        A server keeps removed points in its segments, and operations in its log, until it sees fit. The collection is
        copied, vectors included, and the copy takes over its name; the server removes the files of the old one. The
        first time there is a moment without a collection of that name, in which searches are told so. What another
        process writes meanwhile may be missing from the copy: `Reindexer.repair` finds and asks for it.
        """
        name, alias = self._version(collection), self._alias(collection)
        async with self._writing:
            with _refusals():
                aliases = await self._aliases()
                before = aliases.get(name, name)
                await self._remove_copies(name, but=before)
                copy = f"{name}-copy{uuid.uuid4().hex[:8]}"
                await server_schema.create(self._client, copy, self._dimensions)
                await self._copy_points(before, copy)
                if before == name:  # an alias can't have the name of a collection that is there
                    await self._delete(before, aliases)
                    await self._point_alias(name, copy, exists=False)
                else:
                    await self._point_alias(name, copy, exists=True)
                if _version_of(aliases.get(alias, "")) == name:
                    await self._point_alias(alias, copy, exists=alias in await self._aliases())
                if before != name:
                    await self._delete(before, {})

    async def make_current(self) -> None:
        """Point every alias at this model's version and remove all other versions."""
        with _refusals():
            before = await self._aliases()
            present = [each.name for each in (await self._client.get_collections()).collections]
            for collection in Collection:
                alias, name = self._alias(collection), self._version(collection)
                if _version_of(before.get(alias, "")) != name:
                    await self._point_alias(alias, before.get(name, name), exists=alias in before)
                for other in present:  # also what an interrupted switch left
                    if other.startswith(f"{alias}-v") and _version_of(other) != name:
                        await self._delete(other, before)

    async def _open_collection(self, collection: Collection, aliases: dict[str, str]) -> None:
        alias, name = self._alias(collection), self._version(collection)
        current = None if alias not in aliases else _version_of(aliases[alias])
        if current not in (None, name) and not self._aside:
            raise IndexSchemaMismatch(
                f"{alias} is {current}, this model and schema need {name}; {REINDEX}.",
                field="model",
                accepted=str(current),
            )
        if current != name:  # not complete before the alias says so
            await server_schema.create(self._client, name, self._dimensions)
        await server_schema.check(self._client, name, self._dimensions)
        if current is None and not self._aside:
            await self._point_alias(alias, aliases.get(name, name), exists=False)

    async def _end_compaction(self, collection: Collection, aliases: dict[str, str]) -> None:
        """Give a copy its name when a crash came right after the old collection was removed."""
        name = self._version(collection)
        present = [each.name for each in (await self._client.get_collections()).collections]
        if name in present or name in aliases:
            return
        copies = [each for each in present if _COPY.search(each) and _version_of(each) == name]
        if len(copies) == 1:  # the one that was whole when the old collection was removed
            await self._point_alias(name, copies[0], exists=False)
            aliases[name] = copies[0]

    async def _remove_copies(self, name: str, *, but: str) -> None:
        for each in (await self._client.get_collections()).collections:
            if _COPY.search(each.name) and _version_of(each.name) == name and each.name != but:
                await self._client.delete_collection(each.name)

    async def _copy_points(self, name: str, copy: str) -> None:
        offset: Any = None
        while True:
            page, offset = await self._client.scroll(
                name, limit=_POINTS_PER_REQUEST, offset=offset, with_payload=True, with_vectors=True
            )
            if page:
                await self._client.upsert(copy, [_copied(record) for record in page], wait=True)
            if offset is None:
                return

    async def _delete(self, name: str, aliases: dict[str, str]) -> None:
        """Remove a collection with the aliases that point at it."""
        for alias in [each for each, target in aliases.items() if target == name]:
            removed = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
            await self._client.update_collection_aliases([removed])
        await self._client.delete_collection(name)

    async def _write(self, batch: Batch) -> None:
        """New points come before old ones go: a reader may see two revisions for a moment, never none."""
        name = self._version(batch.collection)
        for start in range(0, len(batch.points), _POINTS_PER_REQUEST):
            chunk = batch.points[start : start + _POINTS_PER_REQUEST]
            await self._client.upsert(name, [_point(point) for point in chunk], wait=True)
        others = models.Filter(
            must=[_one_of(OneOf("target", batch.targets))],
            must_not=[models.HasIdCondition(has_id=list(batch.ids))] if batch.points else None,
        )
        await self._client.delete(name, models.FilterSelector(filter=others), wait=True)

    async def _scroll(
        self, collection: Collection, after: str | None, limit: int, where: models.Filter | None
    ) -> tuple[list[Stored], str | None]:
        page, following = await self._client.scroll(
            self._version(collection), scroll_filter=where, limit=limit, offset=after, with_payload=True
        )
        found = [Stored(str(record.id), Payload.model_validate(record.payload)) for record in page]
        return found, None if following is None else str(following)

    async def _aliases(self) -> dict[str, str]:
        found = await self._client.get_aliases()
        return {each.alias_name: each.collection_name for each in found.aliases}

    async def _point_alias(self, alias: str, name: str, *, exists: bool) -> None:
        created = models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=name, alias_name=alias))
        removed = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
        # One request: no reader finds the alias missing in between.
        await self._client.update_collection_aliases([removed, created] if exists else [created])

    def _alias(self, collection: Collection) -> str:
        return f"{self._prefix}-{collection}"

    def _version(self, collection: Collection) -> str:
        return f"{self._prefix}-{version_name(collection, self._model)}"


def _version_of(name: str) -> str:
    """Return the version that a collection holds, by its name."""
    return _COPY.sub("", name)


def _corpus(allowed: Conditions) -> models.SearchParams | None:
    """Inside a scope, how rare a word is counts only over the scope: no score tells of other tenants (R4, R21)."""
    if not allowed.scope:
        return None
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=_filter(Conditions(scope=allowed.scope))))


def _point(point: Point) -> models.PointStruct:
    terms = document_terms(point.lexical)
    vectors: dict[str, Any] = {str(name): list(point.vectors[name]) for name in VectorName}
    vectors[VECTOR] = models.SparseVector(indices=terms.indices, values=terms.values)
    return models.PointStruct(id=point.id, vector=vectors, payload=point.payload.model_dump(mode="json"))


def _copied(record: models.Record) -> models.PointStruct:
    vectors: Any = record.vector or {}
    return models.PointStruct(id=record.id, vector=vectors, payload=record.payload)


def _filter(where: Conditions) -> models.Filter:
    must: list[models.Condition] = [_one_of(each) if isinstance(each, OneOf) else _below(each) for each in where.must]
    alternatives: list[models.Condition] = [_one_of(each) for each in where.scope]
    if alternatives:  # a lone alternative is a plain condition, which the engine plans better
        must.append(alternatives[0] if len(alternatives) == 1 else models.Filter(should=alternatives))
    return models.Filter(must=must, must_not=[_one_of(each) for each in where.must_not])


def _one_of(condition: OneOf) -> models.FieldCondition:
    return models.FieldCondition(key=condition.field, match=models.MatchAny(any=list(condition.values)))


def _below(condition: Below) -> models.FieldCondition:
    return models.FieldCondition(key=condition.field, range=models.Range(lt=float(condition.limit)))


@contextlib.contextmanager
def _refusals() -> Generator[None]:
    """Turn the client's many exceptions into one of ours."""
    try:
        yield
    except CaseloreError:
        raise
    except Exception as error:
        raise IndexUnavailable(f"The search index failed: {type(error).__name__}: {error}") from error
