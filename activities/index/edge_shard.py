"""One collection of the embedded index: a `qdrant_edge` shard in its own folder. Every call blocks.

Durability (R23): the engine writes each operation to a memory-mapped log before it applies it, which survives the
process; syncing that log makes it survive the machine. A sync from here runs without the interpreter's lock, while
the engine's own `flush` holds it and takes 25 to 40 ms, so `flush` only runs now and then to keep the log short.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from activities.index.batches import Batch
from activities.index.conditions import Below, Conditions, OneOf
from activities.index.edge_compaction import Gate, copy_points, take_place
from activities.index.edge_folder import sync_folder
from activities.index.edge_remembered import RememberedHits
from activities.index.lexical import SCANNED_BELOW, VECTOR, Terms, document_terms
from activities.index.naming import REINDEX
from activities.index.ranking import HIT_FIELDS, hit, rounded
from contracts.errors import IndexSchemaMismatch
from contracts.index import FILTERED_FIELDS, Hit, Payload, Point, Stored, VectorName

POINTS_PER_OPERATION = 100
"""The engine holds the interpreter's lock during an operation: 100 points keep it for some 5 ms."""
CHANGES_BETWEEN_FLUSHES = 2_000
_PAGE = 1_000
_SCANNED_KILOBYTES = 32_768
"""Up to this many KB of vectors (21,000 points of 384 numbers) a segment is scanned. A graph makes a wide query ten
times faster there, but building it stops the process for 20 seconds; a query inside a scope gains nothing."""
_CONFIG_FILE = "edge_config.json"
_KINDS = {"keyword": edge.PayloadSchemaType.Keyword, "integer": edge.PayloadSchemaType.Integer}


class EdgeCollection:
    """A loaded shard. Reads may run beside each other and beside one write.

    Args:
        folder: The shard's folder.
        dimensions: Length of the dense vectors.

    Raises:
        IndexSchemaMismatch: The folder holds other vectors, or lacks a payload index.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._dimensions = dimensions
        self._writing = threading.Lock()
        self._gate = Gate()
        self._unflushed = 0
        self._shard = self._loaded()
        self._remembered = RememberedHits(self._hits_of)

    @staticmethod
    def create(folder: Path, dimensions: int) -> None:
        """Create an empty shard; the folder appears whole or not at all."""
        unfinished = folder.with_name(f"{folder.name}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        shard = edge.EdgeShard.create(str(unfinished), _config(dimensions))
        for field, kind in FILTERED_FIELDS.items():
            shard.update(edge.UpdateOperation.create_field_index(field, _KINDS[kind]))
        shard.flush()
        shard.close()
        unfinished.rename(folder)
        sync_folder(folder.parent)

    def write(self, batch: Batch) -> None:
        """Make the changes; they survive a crash of process and machine when this returns.

        New points come before old ones go: a reader may see two revisions of a target for a moment, never none.
        """
        points = [_point(point) for point in batch.points]
        with self._writing:
            for start in range(0, len(points), POINTS_PER_OPERATION):
                chunk = points[start : start + POINTS_PER_OPERATION]
                self._shard.update(edge.UpdateOperation.upsert_points(chunk))
            self._shard.update(edge.UpdateOperation.delete_points_by_filter(_others(batch)))
            self._remembered.forget(batch.targets)
            self._unflushed += len(batch.targets)
            if self._unflushed >= CHANGES_BETWEEN_FLUSHES:
                self._shard.flush()
                self._unflushed = 0
            else:
                _sync_log(self._folder)

    def compact(self) -> None:
        """Write the shard anew, so that its files hold nothing that was removed or overwritten (R11).

        Searches go on meanwhile, but for the moment of the exchange, in which they wait; writes wait for the end. The
        new shard has no graphs until it is opened the next time.
        """
        with self._writing:
            copy_points(
                self._shard, self._folder, lambda place: self.create(place, self._dimensions), _config(self._dimensions)
            )
            with self._gate.exchanging():
                self._shard.close()
                try:
                    take_place(self._folder)
                finally:
                    self._shard = self._loaded()
            self._unflushed = 0

    def nearest(self, vector: Sequence[float], name: VectorName, where: Conditions, limit: int) -> list[Hit]:
        """Return points by cosine."""
        return self._query(list(vector), name, where, limit, None)

    def matching(self, terms: Terms, where: Conditions, limit: int) -> list[Hit]:
        """Return points by BM25.

        Inside a scope, how rare a word is counts only over the scope: no score tells of other tenants (R4, R21).
        """
        corpus = _filter(Conditions(scope=where.scope)) if where.scope else None
        params = edge.SearchParams(idf=edge.IdfParams(corpus=corpus)) if corpus else None
        return self._query(edge.SparseVector(terms.indices, terms.values), VECTOR, where, limit, params)

    def stored(self) -> list[Stored]:
        """Return every point's id and payload, ordered by id."""
        found: list[Stored] = []
        offset: Any = None
        with self._gate.reading():
            while True:
                page, offset = self._shard.scroll(edge.ScrollRequest(offset=offset, limit=_PAGE, with_payload=True))
                found.extend(Stored(str(record.id), Payload.model_validate(record.payload)) for record in page)
                if offset is None:
                    return sorted(found, key=lambda each: each.id)

    def page(self, after: str | None, limit: int) -> tuple[list[Stored], str | None]:
        """Return the next points in order of their ids, and where the page after them begins."""
        with self._gate.reading():
            return self._scroll(after, limit, None)

    def points_of(self, targets: Sequence[str]) -> list[Stored]:
        """Return every point of `targets`."""
        found: list[Stored] = []
        after: str | None = None
        with self._gate.reading():
            while targets:
                page, after = self._scroll(after, _PAGE, edge.Filter(must=[_one_of(OneOf("target", tuple(targets)))]))
                found += page
                if after is None:
                    break
        return found

    def optimise(self) -> None:
        """Build graphs for large segments and drop deleted points; returns at once when there is nothing to do.

        The engine holds the interpreter's lock until it is done: call it when nothing is served.
        """
        with self._writing:
            self._shard.optimize()

    def close(self) -> None:
        """Flush and let go of the folder."""
        with self._writing:
            self._shard.flush()
            self._shard.close()

    def _scroll(self, after: str | None, limit: int, where: Any) -> tuple[list[Stored], str | None]:
        request = edge.ScrollRequest(offset=after, limit=limit, filter=where, with_payload=True)
        page, following = self._shard.scroll(request)
        found = [Stored(str(record.id), Payload.model_validate(record.payload)) for record in page]
        return found, None if following is None else str(following)

    def _query(
        self, vector: Any, name: str, where: Conditions, limit: int, params: edge.SearchParams | None
    ) -> list[Hit]:
        def found(fields: Sequence[str] | None) -> list[edge.ScoredPoint]:
            request = edge.QueryRequest(
                limit=limit,
                query=edge.Query.Nearest(vector, str(name)),
                filter=None if where.unlimited else _filter(where),
                with_payload=None if fields is None else list(fields),
                params=params,
            )
            return self._shard.query(request)

        with self._gate.reading():
            hits = self._remembered.hits([(_number(point.id), rounded(point.score)) for point in found(None)])
            if hits is None:  # a point went between the two reads: in one read, what took its place is there
                hits = [hit(point.payload, point.score) for point in found(HIT_FIELDS)]
            return hits

    def _hits_of(self, ids: Sequence[int]) -> dict[int, Hit]:
        points: list[uuid.UUID | int | str] = [uuid.UUID(int=number) for number in ids]
        return {
            _number(record.id): hit(record.payload, 0.0)
            for record in self._shard.retrieve(points, list(HIT_FIELDS), False)
        }

    def _loaded(self) -> edge.EdgeShard:
        _check_vectors(self._folder, self._dimensions)
        shard = edge.EdgeShard.load(str(self._folder), _config(self._dimensions))
        try:
            _check_payload_indexes(shard, self._folder.name)
        except BaseException:
            shard.close()
            raise
        return shard


def _config(dimensions: int) -> edge.EdgeConfig:
    return edge.EdgeConfig(
        vectors={str(name): edge.EdgeVectorParams(dimensions, edge.Distance.Cosine) for name in VectorName},
        sparse_vectors={
            VECTOR: edge.EdgeSparseVectorParams(full_scan_threshold=SCANNED_BELOW, modifier=edge.Modifier.Idf)
        },
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_SCANNED_KILOBYTES),
    )


def _check_vectors(folder: Path, dimensions: int) -> None:
    """Compare the shard's own description first: the engine's refusal names folders, not remedies."""
    stored: dict[str, Any] = {}
    with contextlib.suppress(FileNotFoundError):
        stored = json.loads((folder / _CONFIG_FILE).read_text())
    if not stored:
        raise IndexSchemaMismatch(f"{folder} holds no index; {REINDEX}.")
    for name in VectorName:
        params = stored.get("vectors", {}).get(name)
        if params is None:
            raise IndexSchemaMismatch(f"{folder.name} has no vector {name}; {REINDEX}.", field=name)
        if params.get("size") != dimensions or params.get("distance") != "Cosine":
            raise IndexSchemaMismatch(
                f"The vector {name} of {folder.name} has {params.get('size')} dimensions compared by "
                f"{params.get('distance')}, the model gives {dimensions} compared by Cosine; {REINDEX}.",
                field=name,
                accepted=f"{dimensions} dimensions, Cosine",
            )
    if stored.get("sparse_vectors", {}).get(VECTOR, {}).get("modifier") != "idf":
        raise IndexSchemaMismatch(f"{folder.name} has no sparse vector {VECTOR} with IDF; {REINDEX}.", field=VECTOR)


def _check_payload_indexes(shard: edge.EdgeShard, name: str) -> None:
    present = shard.info().payload_schema
    for field, kind in FILTERED_FIELDS.items():
        if field not in present or present[field].data_type != _KINDS[kind]:
            raise IndexSchemaMismatch(
                f"{name} has no {kind} index on the payload field {field}; {REINDEX}.", field=field, accepted=kind
            )


def _number(point: edge.PointId) -> int:
    return point.int if isinstance(point, uuid.UUID) else uuid.UUID(str(point)).int  # we write UUIDs only


def _sync_log(folder: Path) -> None:
    for file in (folder / "wal").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the engine may retire a finished part meanwhile
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _point(point: Point) -> edge.Point:
    terms = document_terms(point.lexical)
    vectors: dict[str, Any] = {str(name): list(point.vectors[name]) for name in VectorName}
    vectors[VECTOR] = edge.SparseVector(terms.indices, terms.values)
    return edge.Point(point.id, vectors, point.payload.model_dump(mode="json"))


def _others(batch: Batch) -> edge.Filter:
    stays: list[Any] = [edge.HasIdCondition(set(batch.ids))] if batch.points else []
    return edge.Filter(must=[_one_of(OneOf("target", batch.targets))], must_not=stays)


def _filter(where: Conditions) -> edge.Filter:
    must: list[Any] = [_one_of(each) if isinstance(each, OneOf) else _below(each) for each in where.must]
    alternatives: list[Any] = [_one_of(each) for each in where.scope]
    if alternatives:  # a lone alternative is a plain condition, which the engine plans better
        must.append(alternatives[0] if len(alternatives) == 1 else edge.Filter(should=alternatives))
    return edge.Filter(must=must, must_not=[_one_of(each) for each in where.must_not])


def _one_of(condition: OneOf) -> edge.FieldCondition:
    return edge.FieldCondition(condition.field, match=edge.MatchAny(list(condition.values)))


def _below(condition: Below) -> edge.FieldCondition:
    return edge.FieldCondition(condition.field, range=edge.RangeFloat(lt=float(condition.limit)))
