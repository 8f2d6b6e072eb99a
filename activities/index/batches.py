"""Many changes as few engine operations, checked before anything is written (R22)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from activities.index.naming import REINDEX
from contracts.errors import IndexSchemaMismatch, InvalidField
from contracts.index import IndexChange, Point, VectorName
from contracts.labels import Collection


@dataclass(frozen=True, slots=True)
class Batch:
    """What one collection gains, and the targets whose other points go."""

    collection: Collection
    targets: tuple[str, ...]
    points: tuple[Point, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that stay."""
        return tuple(point.id for point in self.points)


def batches(changes: Sequence[IndexChange], *, model: str, dimensions: int) -> list[Batch]:
    """Return one batch for each collection that is changed; of two changes to a target the later counts.

    Raises:
        IndexSchemaMismatch: A point was embedded by another model or has a vector of another length.
        InvalidField: A point belongs to another target, or a vector holds something that is no number.
    """
    latest: dict[Collection, dict[str, IndexChange]] = {}
    for change in changes:
        for point in change.points:
            _check(point, change.target, model, dimensions)
        latest.setdefault(change.collection, {})[change.target] = change
    return [
        Batch(collection, tuple(by_target), tuple(point for each in by_target.values() for point in each.points))
        for collection, by_target in latest.items()
    ]


def check_vector(name: VectorName, vector: Sequence[float], dimensions: int) -> None:
    """Raise unless the vector fits the index.

    Raises:
        IndexSchemaMismatch: It has another length.
        InvalidField: It holds NaN or infinity, which no search would ever find again.
    """
    if len(vector) != dimensions:
        raise IndexSchemaMismatch(
            f"The vector {name} has {len(vector)} dimensions, the index has {dimensions}; {REINDEX}.",
            field=name,
            accepted=f"{dimensions} dimensions",
        )
    if not math.isfinite(sum(vector)):
        raise InvalidField(f"The vector {name} holds NaN or infinity.", field=name, accepted="finite numbers")


def _check(point: Point, target: str, model: str, dimensions: int) -> None:
    if point.payload.target != target:
        raise InvalidField(
            f"The point of {point.payload.target} is in a change of {target}.", field="target", accepted=target
        )
    if point.payload.model != model:
        raise IndexSchemaMismatch(
            f"{target} was embedded by {point.payload.model!r}, the index is built with {model!r}; {REINDEX}.",
            field="model",
            accepted=model,
        )
    for name in VectorName:
        if name not in point.vectors:
            raise IndexSchemaMismatch(f"{target} has no vector {name}.", field=name, accepted="every named vector")
        check_vector(name, point.vectors[name], dimensions)
