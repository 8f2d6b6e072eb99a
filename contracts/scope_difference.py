"""What a new text changes about where knowledge applies: narrowed, widened or replaced, field by field (R10).

Compared are the limits of the revision and of each unit, and a unit's conditions (`use_when`, `avoid_when`). An empty
field sets no limit, so losing one widens and gaining one narrows. Free text can only be compared for being the same:
another wording counts as replaced. An article has limits and no units.

A restatement that holds in more places, or in other words, may silently drop an exception of the old text. What the
old text excepted and the new one doesn't say any more is listed by name; a person decides whether that is right.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from enum import StrEnum

from contracts.articles import AnyDraft
from contracts.experience import Draft, KnowledgeUnit, Limits
from contracts.keys import label_key
from contracts.model import Model
from contracts.text import digest, normalise
from contracts.validity import schema_bounds, version_key

_QUOTED = 200
"""Characters of a text that a line quotes."""


class ScopeRelation(StrEnum):
    """How the new scope relates to the old one."""

    SAME = "same"
    NARROWED = "narrowed"
    """It holds in a part of the places."""
    WIDENED = "widened"
    """It holds in the same places and more."""
    REPLACED = "replaced"
    """It holds in other places, or nobody can tell."""


class FieldDifference(Model):
    """How one limit or condition changed."""

    place: str
    """`limits.products` of the revision, or `units[u1].limits.products` of a unit."""
    relation: ScopeRelation
    before: str = ""
    """"" for no limit."""
    after: str = ""

    @property
    def line(self) -> str:
        """The change in words."""
        return f"{self.place} {self.relation}: {_quoted(self.before)} -> {_quoted(self.after)}"


class DroppedException(Model):
    """Something that the old text excepted and the new text, wider or reworded, doesn't say any more."""

    place: str
    """`units[u2]` for a whole unit, `units[u1].avoid_when` or `limits.note` for a condition."""
    text: str

    @property
    def line(self) -> str:
        """The exception in words."""
        return f"no longer said, {self.place}: {_quoted(self.text)}"


class ScopeDifference(Model):
    """Where the new text applies, against where the old one did."""

    relation: ScopeRelation
    fields: tuple[FieldDifference, ...]
    """Every limit of the revision, and every limit and condition of a unit that is not the same."""
    removed_units: tuple[str, ...] = ()
    """Units of the old text that the new one doesn't have."""
    dropped: tuple[DroppedException, ...] = ()
    digest: str
    """Of all above: what an owner acknowledges."""

    def lines(self) -> tuple[str, ...]:
        """Return what changed, in words; () when nothing did."""
        changed = [field.line for field in self.fields if field.relation is not ScopeRelation.SAME]
        removed = [f"unit {unit} removed" for unit in self.removed_units]
        return (*changed, *removed, *(exception.line for exception in self.dropped))


def scope_difference(before: AnyDraft, after: AnyDraft) -> ScopeDifference:
    """Return how `after` applies against where `before` did. Equal texts and scopes give `same`."""
    old_units, new_units = _units(before), {unit.id: unit for unit in _units(after)}
    fields = list(_limits("limits", before.limits, after.limits))
    for unit in old_units:
        if unit.id in new_units:
            differences = _unit(unit, new_units[unit.id])
            fields += [field for field in differences if field.relation is not ScopeRelation.SAME]
    removed = tuple(unit.id for unit in old_units if unit.id not in new_units)
    relations = {field.relation for field in fields}
    if removed:
        relations.add(ScopeRelation.NARROWED)  # at the least: what it said is said no more
    relation = _together(relations)
    dropped = tuple(_dropped(before, after, fields, removed))
    content = {
        "relation": relation,
        "fields": [field.model_dump(mode="json") for field in fields if field.relation is not ScopeRelation.SAME],
        "removed": list(removed),
        "dropped": [exception.model_dump(mode="json") for exception in dropped],
    }
    return ScopeDifference(
        relation=relation, fields=tuple(fields), removed_units=removed, dropped=dropped, digest=digest(content)
    )


def _units(draft: AnyDraft) -> tuple[KnowledgeUnit, ...]:
    return draft.units if isinstance(draft, Draft) else ()


def _dropped(
    before: AnyDraft, after: AnyDraft, fields: Iterable[FieldDifference], removed: tuple[str, ...]
) -> Iterable[DroppedException]:
    wider = (ScopeRelation.WIDENED, ScopeRelation.REPLACED)
    for field in fields:
        if field.relation in wider and field.before and field.place.endswith((".avoid_when", ".note")):
            yield DroppedException(place=field.place, text=field.before)
    old = {unit.id: unit for unit in _units(before)}
    is_restated = any(
        unit.id not in old or normalise(unit.text) != normalise(old[unit.id].text) for unit in _units(after)
    )
    if is_restated or any(field.relation in wider for field in fields):
        for unit_id in removed:
            yield DroppedException(place=f"units[{unit_id}]", text=old[unit_id].text)


def _unit(before: KnowledgeUnit, after: KnowledgeUnit) -> Iterable[FieldDifference]:
    place = f"units[{before.id}]"
    yield from _limits(f"{place}.limits", before.limits, after.limits)
    yield _text(f"{place}.use_when", before.use_when, after.use_when)
    yield _text(f"{place}.avoid_when", before.avoid_when, after.avoid_when)


def _limits(place: str, before: Limits, after: Limits) -> Iterable[FieldDifference]:
    for name in ("products", "systems", "environments"):
        yield _labels(f"{place}.{name}", getattr(before, name), getattr(after, name))
    yield _range(f"{place}.version", _versions(before), _versions(after))
    schemas = _range(f"{place}.schema_version", schema_bounds(before), schema_bounds(after))
    yield schemas.model_copy(update={"before": _schema(before), "after": _schema(after)})
    yield _text(f"{place}.note", before.note, after.note)


def _labels(place: str, before: tuple[str, ...], after: tuple[str, ...]) -> FieldDifference:
    old, new = ({label_key(label) for label in labels} for labels in (before, after))
    if old == new:
        relation = ScopeRelation.SAME
    elif not new or (old and old < new):
        relation = ScopeRelation.WIDENED
    elif not old or new < old:
        relation = ScopeRelation.NARROWED
    else:
        relation = ScopeRelation.REPLACED
    return FieldDifference(place=place, relation=relation, before=_listed(before), after=_listed(after))


def _listed(labels: tuple[str, ...]) -> str:
    """Return labels in one order, however they were given."""
    return ", ".join(sorted({" ".join(label.split()) for label in labels}))


def _versions(limits: Limits) -> tuple[str, str]:
    return limits.version_from.strip(), limits.version_to.strip()


def _schema(limits: Limits) -> str:
    return limits.schema_version.strip() or _bounds(*schema_bounds(limits))


def _range(place: str, before: tuple[str, str], after: tuple[str, str]) -> FieldDifference:
    relation = _together(
        {
            _bound(before[0], after[0], upward=ScopeRelation.NARROWED),
            _bound(before[1], after[1], upward=ScopeRelation.WIDENED),
        }
    )
    return FieldDifference(place=place, relation=relation, before=_bounds(*before), after=_bounds(*after))


def _bound(before: str, after: str, *, upward: ScopeRelation) -> ScopeRelation:
    """Return what moving one bound means; `upward` is what a higher version there means."""
    old, new = before.strip(), after.strip()
    if label_key(old) == label_key(new):
        return ScopeRelation.SAME
    if not new:
        return ScopeRelation.WIDENED
    if not old:
        return ScopeRelation.NARROWED
    old_key, new_key = version_key(old), version_key(new)
    if old_key is None or new_key is None:
        return ScopeRelation.REPLACED
    if old_key == new_key:
        return ScopeRelation.SAME
    downward = ScopeRelation.WIDENED if upward is ScopeRelation.NARROWED else ScopeRelation.NARROWED
    return upward if new_key > old_key else downward


def _bounds(low: str, high: str) -> str:
    return f"{low or 'any'} to {high or 'any'}" if low or high else ""


def _text(place: str, before: str, after: str) -> FieldDifference:
    old, new = normalise(before).strip(), normalise(after).strip()
    if old == new:
        relation = ScopeRelation.SAME
    elif not new:
        relation = ScopeRelation.WIDENED
    elif not old:
        relation = ScopeRelation.NARROWED
    else:
        relation = ScopeRelation.REPLACED
    return FieldDifference(place=place, relation=relation, before=old, after=new)


def _together(relations: Iterable[ScopeRelation]) -> ScopeRelation:
    """Return the relation of a whole from those of its parts."""
    found = set(relations) - {ScopeRelation.SAME}
    if not found:
        return ScopeRelation.SAME
    return found.pop() if len(found) == 1 else ScopeRelation.REPLACED


def _quoted(text: str) -> str:
    return repr(textwrap.shorten(text, _QUOTED, placeholder=" ...")) if text else "no limit"
