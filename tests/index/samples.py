"""Points for tests: small vectors, and texts whose words decide the lexical order."""

from __future__ import annotations

import math
import random
from typing import Any

from contracts.index import DenseQuery, Filter, Hit, IndexChange, LexicalQuery, Payload, Point, Scope, VectorName
from contracts.labels import CandidateKind, Collection
from contracts.ports import SearchIndex
from contracts.projection import point_id

MODEL = "tests/small model@1"
DIMENSIONS = 8
EVERYTHING = Filter()
NOTHING = Scope()


def vector(seed: object) -> list[float]:
    """A unit vector; the same seed gives the same one."""
    source = random.Random(str(seed))
    numbers = [source.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


def payload(target: str, revision: int = 1, **fields: Any) -> Payload:
    kind = CandidateKind(target.split("/")[0])
    values: dict[str, Any] = {"tenant": "acme", "content_hash": f"{target}#{revision}", "model": MODEL}
    return Payload(target=target, kind=kind, revision=revision, **(values | fields))


def point(
    collection: Collection,
    target: str,
    text: str = "printer jam",
    *,
    revision: int = 1,
    seed: object = None,
    **fields: Any,
) -> Point:
    body = vector(target if seed is None else seed)
    return Point(
        id=point_id(collection, target, revision),
        payload=payload(target, revision, **fields),
        vectors={VectorName.BODY: body, VectorName.TITLE: vector(("title", target if seed is None else seed))},
        lexical=text,
    )


def change(collection: Collection, target: str, text: str = "printer jam", **fields: Any) -> IndexChange:
    return IndexChange(collection, target, (point(collection, target, text, **fields),))


def removal(collection: Collection, target: str) -> IndexChange:
    return IndexChange(collection, target)


async def dense(
    index: SearchIndex,
    collection: Collection,
    seed: object,
    *,
    scope: Scope = NOTHING,
    where: Filter = EVERYTHING,
    limit: int = 100,
) -> list[Hit]:
    query = DenseQuery(vector(seed), VectorName.BODY)
    return await index.search(collection, query, scope=scope, where=where, limit=limit)


async def lexical(
    index: SearchIndex,
    collection: Collection,
    text: str,
    *,
    scope: Scope = NOTHING,
    where: Filter = EVERYTHING,
    limit: int = 100,
) -> list[Hit]:
    return await index.search(collection, LexicalQuery(text), scope=scope, where=where, limit=limit)


def targets(hits: list[Hit]) -> list[str]:
    return [each.target for each in hits]
