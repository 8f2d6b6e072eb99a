"""The fields of a draft by their paths, walked generically: a field that is added later is there by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from pydantic import BaseModel

from contracts.errors import InvalidField
from contracts.experience import KnowledgeUnit

_NAMED = 40
"""Paths that a refusal names at most."""


@dataclass(frozen=True, slots=True)
class TextField:
    """A text of a draft with its place."""

    path: str
    """With positions, as people are shown it: `units[0].text`."""
    key: str
    """With the ids of units in place of their positions: it stays when another unit goes."""
    text: str


@dataclass(frozen=True, slots=True)
class _Node:
    path: str
    key: str
    value: Any


def text_fields(record: BaseModel) -> Iterator[TextField]:
    """Return every text of a record in order, labels of closed word lists left out."""
    for node in _walk(record, "", ""):
        if isinstance(node.value, str) and not isinstance(node.value, Enum):
            yield TextField(node.path, node.key, node.value)


def paths_of(record: BaseModel) -> tuple[str, ...]:
    """Return the path of every field of a record in order, those that hold others included."""
    return tuple(node.path for node in _walk(record, "", "") if node.path)


def require_path(record: BaseModel, path: str, *, field: str) -> None:
    """Refuse a path that names no field of the record.

    Args:
        record: Mostly a draft.
        path: As `units[0].text`.
        field: What the refusal calls the input at fault.

    Raises:
        InvalidField: Names paths that there are.
    """
    paths = paths_of(record)
    if path in paths:
        return
    named = [known for known in paths if "[" not in known or known.count(".") == path.count(".")]
    more = ", ..." if len(named) > _NAMED else ""
    raise InvalidField("The draft has no such field.", field=field, accepted=", ".join(named[:_NAMED]) + more)


def _walk(value: Any, path: str, key: str) -> Iterator[_Node]:
    yield _Node(path, key, value)
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _walk(getattr(value, name), f"{path}.{name}".lstrip("."), f"{key}.{name}".lstrip("."))
    elif isinstance(value, Mapping):
        for name, inner in cast("Mapping[Any, Any]", value).items():
            yield from _walk(inner, f"{path}[{name}]", f"{key}[{name!r}]")
    elif isinstance(value, (tuple, list, set, frozenset)):
        for position, inner in enumerate(cast("Sequence[Any]", value)):
            named = inner.id if isinstance(inner, KnowledgeUnit) else position
            yield from _walk(inner, f"{path}[{position}]", f"{key}[{named!r}]")
