"""What differs between two drafts, field by field and word by word, for people who review the newer one (R7).

Units are matched by their ids, labels by their words. Equal drafts give no changes, and different ones give some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import Enum, StrEnum
from itertools import zip_longest
from typing import Any, cast

from pydantic import BaseModel

from contracts.articles import AnyDraft
from contracts.experience import KnowledgeUnit
from contracts.model import Model

PIECES = 200
"""Pieces of one field at most; a text that changed in more places is shown as replaced between the first and last."""
_STEPS = 250_000
"""Comparisons for one field at most, for the same reason."""
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


class PieceKind(StrEnum):
    """What became of a piece of text."""

    EQUAL = "equal"
    INSERT = "insert"
    DELETE = "delete"


class Piece(Model):
    """A run of words."""

    kind: PieceKind
    text: str


class FieldChangeKind(StrEnum):
    """What became of a field."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    """A unit that stands in another order among the others."""


class FieldChange(Model):
    """One field that differs. Its pieces are the old text without the inserts, the new one without the deletes."""

    field: str
    """Path in the newer draft; in the older one for a removed field."""
    kind: FieldChangeKind
    pieces: tuple[Piece, ...] = ()

    @property
    def before(self) -> str:
        """The old text."""
        return "".join(piece.text for piece in self.pieces if piece.kind is not PieceKind.INSERT)

    @property
    def after(self) -> str:
        """The new text."""
        return "".join(piece.text for piece in self.pieces if piece.kind is not PieceKind.DELETE)


class DraftDifference(Model):
    """Every field that differs between two revisions."""

    from_revision: int
    to_revision: int
    changes: tuple[FieldChange, ...]


def draft_difference(before: AnyDraft, after: AnyDraft) -> tuple[FieldChange, ...]:
    """Return every field that differs; () exactly when the drafts are equal."""
    return tuple(_differences(before, after, "", ""))


def _differences(old: Any, new: Any, old_path: str, new_path: str) -> Iterator[FieldChange]:
    if old == new:
        return
    if isinstance(old, BaseModel) and isinstance(new, BaseModel) and type(old) is type(new):
        for name in type(new).model_fields:
            yield from _differences(
                getattr(old, name),
                getattr(new, name),
                f"{old_path}.{name}".lstrip("."),
                f"{new_path}.{name}".lstrip("."),
            )
    elif isinstance(old, tuple) and isinstance(new, tuple):
        items = cast("tuple[tuple[Any, ...], tuple[Any, ...]]", (old, new))
        if all(isinstance(item, KnowledgeUnit) for item in (*items[0], *items[1])):
            yield from _unit_differences(items[0], items[1], old_path, new_path)
        else:
            yield from _list_differences(items[0], items[1], old_path, new_path)
    elif isinstance(old, BaseModel) or isinstance(new, BaseModel):
        kind = FieldChangeKind.ADDED if old is None else FieldChangeKind.REMOVED
        yield FieldChange(field=new_path, kind=kind)  # said even when each of its fields is empty
        yield from _whole(old, old_path, FieldChangeKind.REMOVED)
        yield from _whole(new, new_path, FieldChangeKind.ADDED)
    else:
        yield _changed(new_path, _words(old), _words(new))


def _unit_differences(
    old: Sequence[KnowledgeUnit], new: Sequence[KnowledgeUnit], old_path: str, new_path: str
) -> Iterator[FieldChange]:
    was = {unit.id: place for place, unit in enumerate(old)}
    now = {unit.id: place for place, unit in enumerate(new)}
    stayed = _in_order([unit.id for unit in old if unit.id in now], [unit.id for unit in new if unit.id in was])
    for place, unit in enumerate(new):
        path = f"{new_path}[{place}]"
        if unit.id not in was:
            yield from _whole(unit, path, FieldChangeKind.ADDED)
            continue
        if unit.id not in stayed:
            yield FieldChange(field=path, kind=FieldChangeKind.MOVED)
        yield from _differences(old[was[unit.id]], unit, f"{old_path}[{was[unit.id]}]", path)
    for place, unit in enumerate(old):
        if unit.id not in now:
            yield from _whole(unit, f"{old_path}[{place}]", FieldChangeKind.REMOVED)


def _in_order(old: list[str], new: list[str]) -> set[str]:
    """Return the ids that kept their order."""
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return {name for block in blocks for name in new[block.b : block.b + block.size]}


def _list_differences(old: Sequence[Any], new: Sequence[Any], old_path: str, new_path: str) -> Iterator[FieldChange]:
    # Records can't be hashed one and all; what stands for them can.
    matcher = SequenceMatcher(None, [repr(item) for item in old], [repr(item) for item in new], autojunk=False)
    for what, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if what == "equal":
            continue
        for old_at, new_at in zip_longest(range(old_start, old_end), range(new_start, new_end)):
            if new_at is None:
                yield from _whole(old[old_at], f"{old_path}[{old_at}]", FieldChangeKind.REMOVED)
            elif old_at is None:
                yield from _whole(new[new_at], f"{new_path}[{new_at}]", FieldChangeKind.ADDED)
            else:
                yield from _differences(old[old_at], new[new_at], f"{old_path}[{old_at}]", f"{new_path}[{new_at}]")


def _whole(value: Any, path: str, kind: FieldChangeKind) -> Iterator[FieldChange]:
    """Return a change for each field of something that was added or removed as a whole."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _whole(getattr(value, name), f"{path}.{name}", kind)
    elif isinstance(value, tuple):
        for place, item in enumerate(cast("tuple[Any, ...]", value)):
            yield from _whole(item, f"{path}[{place}]", kind)
    elif words := _words(value):
        piece = PieceKind.INSERT if kind is FieldChangeKind.ADDED else PieceKind.DELETE
        yield FieldChange(field=path, kind=kind, pieces=(Piece(kind=piece, text=words),))


def _words(value: Any) -> str:
    if value is None:
        return ""
    return str(value.value if isinstance(value, Enum) else value)


def _changed(path: str, old: str, new: str) -> FieldChange:
    kind = FieldChangeKind.CHANGED
    if not old or not new:
        kind = FieldChangeKind.ADDED if new else FieldChangeKind.REMOVED
    return FieldChange(field=path, kind=kind, pieces=word_pieces(old, new))


def word_pieces(old: str, new: str) -> tuple[Piece, ...]:
    """Return the words that stayed, came and went, `PIECES` at most."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old_middle, new_middle = before[head : len(before) - tail], after[head : len(after) - tail]
    middle = list(_middle(old_middle, new_middle))
    if len(middle) > PIECES - 2:
        middle = [(PieceKind.DELETE, "".join(old_middle)), (PieceKind.INSERT, "".join(new_middle))]
    ends = ((PieceKind.EQUAL, "".join(before[:head])), (PieceKind.EQUAL, "".join(before[len(before) - tail :])))
    return tuple(Piece(kind=kind, text=text) for kind, text in (ends[0], *middle, ends[1]) if text)


def _middle(old: list[str], new: list[str]) -> Iterator[tuple[PieceKind, str]]:
    if len(old) * len(new) > _STEPS:
        yield PieceKind.DELETE, "".join(old)
        yield PieceKind.INSERT, "".join(new)
        return
    for what, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield PieceKind.EQUAL, "".join(old[old_start:old_end])
            continue
        yield PieceKind.DELETE, "".join(old[old_start:old_end])
        yield PieceKind.INSERT, "".join(new[new_start:new_end])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many of the first words are the same."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
