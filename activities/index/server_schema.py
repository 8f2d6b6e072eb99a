"""How a collection is made on a Qdrant server, and how it is checked."""

from __future__ import annotations

from qdrant_client import AsyncQdrantClient, models

from activities.index.lexical import SCANNED_BELOW, VECTOR
from activities.index.naming import REINDEX
from contracts.errors import IndexSchemaMismatch
from contracts.index import FILTERED_FIELDS, VectorName

_KINDS = {"keyword": models.PayloadSchemaType.KEYWORD, "integer": models.PayloadSchemaType.INTEGER}


async def create(client: AsyncQdrantClient, name: str, dimensions: int) -> None:
    """Create what is missing of a collection; an earlier attempt may have got half-way."""
    if not await client.collection_exists(name):
        await client.create_collection(
            name,
            vectors_config={
                str(vector): models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
                for vector in VectorName
            },
            sparse_vectors_config={
                VECTOR: models.SparseVectorParams(
                    modifier=models.Modifier.IDF, index=models.SparseIndexParams(full_scan_threshold=SCANNED_BELOW)
                )
            },
        )
    present = (await client.get_collection(name)).payload_schema
    for field, kind in FILTERED_FIELDS.items():
        if field not in present:
            await client.create_payload_index(name, field, _KINDS[kind], wait=True)


async def check(client: AsyncQdrantClient, name: str, dimensions: int) -> None:
    """Raise unless the collection has every vector and payload index.

    Raises:
        IndexSchemaMismatch: Something is missing or of another kind; the message names it and the remedy.
    """
    info = await client.get_collection(name)
    params = info.config.params
    vectors = params.vectors if isinstance(params.vectors, dict) else {}
    for vector in VectorName:
        found = vectors.get(vector)
        if found is None:
            raise IndexSchemaMismatch(f"{name} has no vector {vector}; {REINDEX}.", field=vector)
        if found.size != dimensions or found.distance != models.Distance.COSINE:
            raise IndexSchemaMismatch(
                f"The vector {vector} of {name} has {found.size} dimensions compared by {found.distance}, the model "
                f"gives {dimensions} compared by Cosine; {REINDEX}.",
                field=vector,
                accepted=f"{dimensions} dimensions, Cosine",
            )
    sparse = (params.sparse_vectors or {}).get(VECTOR)
    if sparse is None or sparse.modifier != models.Modifier.IDF:
        raise IndexSchemaMismatch(f"{name} has no sparse vector {VECTOR} with IDF; {REINDEX}.", field=VECTOR)
    for field, kind in FILTERED_FIELDS.items():
        index = info.payload_schema.get(field)
        if index is None or index.data_type != _KINDS[kind]:
            raise IndexSchemaMismatch(
                f"{name} has no {kind} index on the payload field {field}; {REINDEX}.", field=field, accepted=kind
            )
