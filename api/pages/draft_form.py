"""The form of an experience's text: a draft as fields of lines, and fields as a draft (R5).

The fields hold what was typed, right or wrong, so that a refusal shows it again. What a form doesn't show (effort) is
taken from the text that it was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.pages.forms import Posted, lines_of, record_of
from contracts import limits
from contracts.errors import InvalidField
from contracts.experience import Draft, KnowledgeUnit, Limits, SourceSpan

LIMITS = (
    "products", "systems", "environments", "version_from", "version_to",
    "schema_version", "schema_from", "schema_to", "note",
)  # fmt: skip
_LISTS = frozenset({"products", "systems", "environments", "symptom_tags", "concepts"})
SYNOPSIS = ("text", "request_type", "route", "disposition", "product", "system", "symptom_tags")
HEAD = ("title", "domain_id", "outcome", "proof_level")
UNIT = ("id", "kind", "text", "concepts", "intent", "use_when", "avoid_when", "outcome", "proof_level", "spans")


@dataclass(frozen=True)
class UnitFields:
    """A unit's fields."""

    values: Mapping[str, str]
    removed: bool = False

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written into it."""
        return not any(self.values.get(name, "").strip() for name in ("text", "intent", "concepts", "spans"))


@dataclass(frozen=True)
class DraftForm:
    """An experience's fields, by their names; lists have an entry on each line."""

    values: Mapping[str, str]
    units: tuple[UnitFields, ...]
    is_article: bool = field(default=False, init=False)


def fields_of(draft: Draft) -> DraftForm:
    """Return a draft's fields."""
    values = {name: str(getattr(draft, name)) for name in HEAD}
    values |= {f"synopsis.{name}": _written(getattr(draft.synopsis, name)) for name in SYNOPSIS}
    values |= _limits(draft.limits)
    return DraftForm(values, tuple(UnitFields(_unit(unit)) for unit in draft.units))


def fields_in(posted: Posted) -> DraftForm:
    """Return the fields of a posted form; the button `add_unit` adds a blank unit."""
    names = (*HEAD, *(f"synopsis.{name}" for name in SYNOPSIS), *(f"limits.{name}" for name in LIMITS))
    count = posted.line("units")
    number = min(int(count) if count.isdecimal() and len(count) < 4 else 0, limits.UNITS_PER_REVISION)
    units = [
        UnitFields(
            {name: posted.text(f"unit.{at}.{name}") for name in (*UNIT, *(f"limits.{each}" for each in LIMITS))},
            removed=posted.has(f"unit.{at}.remove"),
        )
        for at in range(number)
    ]
    if posted.has("add_unit") and number < limits.UNITS_PER_REVISION:
        units.append(UnitFields(_blank(unit.values.get("id", "") for unit in units)))
    return DraftForm({name: posted.text(name) for name in names}, tuple(units))


def draft_in(form: DraftForm, base: Draft) -> Draft:
    """Return the draft that the fields say; `base` is the text that the form was made from.

    Raises:
        InvalidInput, OutcomeOverstated: A field is at fault.
    """
    kept = [unit for unit in form.units if not unit.removed and not unit.is_blank]
    return record_of(
        Draft,
        {
            **{name: form.values[name] for name in HEAD},
            "synopsis": {name: _read(name, form.values[f"synopsis.{name}"]) for name in SYNOPSIS},
            "limits": _limits_in(form.values),
            "units": [_unit_in(unit.values) for unit in kept],
            "effort": base.effort,
        },
    )


def _unit(unit: KnowledgeUnit) -> dict[str, str]:
    values = {name: _written(getattr(unit, name)) for name in UNIT if name != "spans"}
    spans = "\n".join(f"{span.paper_id} {span.start} {span.end}" for span in unit.spans)
    return {**values, "spans": spans, **_limits(unit.limits)}


def _limits(given: Limits) -> dict[str, str]:
    return {f"limits.{name}": _written(getattr(given, name)) for name in LIMITS}


def _blank(taken: Iterable[str]) -> dict[str, str]:
    known = set(taken)
    free = next(name for name in (f"u{number}" for number in range(1, 100)) if name not in known)
    empty = dict.fromkeys((*UNIT, *(f"limits.{each}" for each in LIMITS)), "")
    return {**empty, "id": free, "kind": "proposition"}


def _written(value: Any) -> str:
    return "\n".join(value) if isinstance(value, tuple) else str(value)


def _read(name: str, text: str) -> Any:
    return lines_of(text) if name in _LISTS else text


def _limits_in(values: Mapping[str, str]) -> dict[str, Any]:
    return {name: _read(name, values[f"limits.{name}"]) for name in LIMITS}


def _unit_in(values: Mapping[str, str]) -> dict[str, Any]:
    plain = {name: _read(name, values[name]) for name in UNIT if name != "spans"}
    return {**plain, "limits": _limits_in(values), "spans": tuple(map(_span, lines_of(values["spans"])))}


def _span(line: str) -> SourceSpan:
    parts = line.split()
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 10 for part in parts[1:]):
        raise InvalidField(
            "A source is a paper and two numbers.",
            field="units.spans",
            accepted="the paper's id, the first character and the one after the last, with blanks between",
        )
    return SourceSpan(paper_id=parts[0], start=int(parts[1]), end=int(parts[2]))
