"""Every occurrence of a subject's values in a tenant's rows, found and replaced (R11).

Tables are read through a cursor, so that no size of them has to fit in memory, and searched in a thread. Rows with a
find are locked, read again and changed a few at a time: what somebody writes meanwhile isn't lost, and an erasure
that was cut short goes on by what it finds the next time.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.erasure_columns import TextColumn, TextTable
from activities.records.rows import searchable
from contracts.articles import draft_of
from contracts.erased_records import erased_article, erased_draft
from contracts.erased_text import Eraser
from contracts.errors import CaseloreError

_ROWS_AT_ONCE = 20
"""Rows that are held in memory: a text kept by reference may have eight million characters."""
_MODELS = frozenset(
    {
        ("arrivals", "facts"), ("case_results", "effort"), ("commands", "content"), ("revisions", "content"),
        ("retrieval_requests", "request"), ("retrieval_requests", "answer"), ("retrieval_candidates", "candidate"),
    }
)  # fmt: skip
"""JSON whose field names and numbers are ours."""

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of one table that hold a value."""

    table: TextTable
    keys: tuple[Key, ...]
    fields: int


async def find_values(connection: AsyncConnection, table: TextTable, tenant_id: str, eraser: Eraser) -> Found:
    """Return which rows of a tenant hold a value, and in how many fields."""
    columns = [column for column in table.columns if not column.is_opaque]
    if not columns:
        return Found(table, (), 0)
    keys: list[Key] = []
    fields = 0
    sql = text(f"SELECT {_names(table, columns)} FROM {table.name} t WHERE {table.tenant}")
    async with connection.stream(sql, {"tenant": tenant_id}) as result:
        async for rows in result.mappings().partitions(_ROWS_AT_ONCE):
            counts = await asyncio.to_thread(_counts, table, columns, rows, eraser)
            keys += [_key(table, row) for row, count in zip(rows, counts, strict=True) if count]
            fields += sum(counts)
    return Found(table, tuple(keys), fields)


async def replace_values(
    connection: AsyncConnection, found: Found, keys: Sequence[Key], eraser: Eraser
) -> tuple[list[Mapping[str, Any]], int]:
    """Replace the values in some of the found rows, inside the caller's transaction.

    Returns:
        The primary keys of the rows that changed, and how many fields that were.
    """
    table = found.table
    columns = [column for column in table.columns if not column.is_opaque]
    changed: list[Mapping[str, Any]] = []
    fields = 0
    for key in keys:
        values = {f"key{number}": part for number, part in enumerate(key)}
        where = " AND ".join(
            f"t.{name} = CAST(:key{number} AS {type_})" for number, (name, type_) in enumerate(table.key)
        )
        row = (
            (
                await connection.execute(
                    text(f"SELECT {_names(table, columns)} FROM {table.name} t WHERE {where} FOR UPDATE"), values
                )
            )
            .mappings()
            .first()
        )
        new = {} if row is None else await asyncio.to_thread(_replaced, table, columns, row, eraser)
        if row is None or not new:
            continue
        if table.name == "revisions":
            new = _as_draft(row, new)
        sets = ", ".join(
            f"{column.name} = CAST(:{column.name} AS {column.type})" for column in columns if column.name in new
        )
        await connection.execute(text(f"UPDATE {table.name} t SET {sets} WHERE {where}"), {**values, **new})
        changed.append(dict(zip((name for name, _ in table.key), key, strict=True)))
        fields += len(new)
    return changed, fields


def _names(table: TextTable, columns: Sequence[TextColumn]) -> str:
    keys = [f"t.{name}::text AS key{number}" for number, (name, _) in enumerate(table.key)]
    texts = [f"t.{column.name}::text AS {column.name}" if column.is_json else f"t.{column.name}" for column in columns]
    return ", ".join([*keys, *texts])


def _key(table: TextTable, row: RowMapping) -> Key:
    return tuple(row[f"key{number}"] for number in range(len(table.key)))


def _counts(table: TextTable, columns: Sequence[TextColumn], rows: Sequence[RowMapping], eraser: Eraser) -> list[int]:
    return [sum(bool(_places(table, column, row[column.name], eraser)) for column in columns) for row in rows]


def _places(table: TextTable, column: TextColumn, value: Any, eraser: Eraser) -> int:
    if not value:
        return 0
    if column.is_json:
        return eraser.count_json(value, free=(table.name, column.name) not in _MODELS)
    return sum(map(eraser.count, value)) if column.is_list else eraser.count(value)


def _replaced(table: TextTable, columns: Sequence[TextColumn], row: RowMapping, eraser: Eraser) -> dict[str, Any]:
    """Return the new values of the columns that hold a value."""
    new: dict[str, Any] = {}
    for column in columns:
        value = row[column.name]
        if not _places(table, column, value, eraser):
            continue
        if column.is_json:
            new[column.name] = eraser.erased_json(value, free=(table.name, column.name) not in _MODELS)
        elif column.is_list:
            new[column.name] = list(map(eraser.erased, value))
        else:
            new[column.name] = eraser.erased(value)
            if column.is_unique:
                new[column.name] += f" {secrets.token_hex(3)}"
    return new


def _as_draft(row: RowMapping, new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a revision's new text; one that is no valid draft any more says nothing."""
    content = json.loads(new.get("content", row["content"]))
    try:
        draft = draft_of(content)
    except (ValueError, CaseloreError):
        draft = draft_of(erased_article(content) if "body" in content else erased_draft(content))
    return {"title": draft.title, "content": draft.model_dump_json(), "searchable": searchable(draft)}
