"""What a query may match, in terms of neither engine.

The scope stands beside the caller's conditions and is never merged with them, so no filter can widen it (R4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.index import Filter, Scope, instant
from contracts.labels import Collection


@dataclass(frozen=True, slots=True)
class OneOf:
    """A payload field that holds one of the values, compared exactly."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """A payload field that holds a number under `limit`; a point without one doesn't match."""

    field: str
    limit: int


@dataclass(frozen=True, slots=True)
class Conditions:
    """At least one of `scope` (when there is any), every one of `must`, none of `must_not`."""

    scope: tuple[OneOf, ...] = ()
    must: tuple[OneOf | Below, ...] = ()
    must_not: tuple[OneOf, ...] = ()

    @property
    def unlimited(self) -> bool:
        """Whether every point matches."""
        return not (self.scope or self.must or self.must_not)


def conditions(collection: Collection, scope: Scope, where: Filter) -> Conditions | None:
    """Return the conditions of a query, or None when nothing may match and no engine needs to be asked (R4).

    Only `cases` is scoped: the other collections hold published text that every tenant may find (R21).
    """
    visible: tuple[OneOf, ...] = ()
    if collection is Collection.CASES:
        visible = scope_conditions(scope)
        if not visible:
            return None
    wanted = (
        ("kind", where.kinds),
        ("domain", where.domains),
        ("outcome", where.outcomes),
        ("proof_level", where.proof_levels),
        ("state", where.states),
        ("request_type", where.request_types),
        ("symptom_tags", where.symptom_tags),
        ("concepts", where.concepts),
        ("products", where.products),
        ("systems", where.systems),
        ("environments", where.environments),
        ("within_products", where.within_products),
        ("within_systems", where.within_systems),
        ("has_effort", where.has_effort),
        ("names", where.names),
        ("links", where.links),
    )
    must: list[OneOf | Below] = [OneOf(field, _plain(values)) for field, values in wanted if values]
    if where.opened_before is not None:
        must.append(Below("opened_at", instant(where.opened_before)))
    return Conditions(
        scope=visible,
        must=tuple(must),
        must_not=(OneOf("target", _plain(where.not_targets)),) if where.not_targets else (),
    )


def scope_conditions(scope: Scope) -> tuple[OneOf, ...]:
    """Return the alternatives that a scope allows; none for an empty scope.

    A blank tenant or case is no grant: payloads without a case carry a blank too.
    """
    alternatives = (("tenant", scope.tenants - {""}), ("case_id", scope.cases - {""}))
    return tuple(OneOf(field, tuple(sorted(values))) for field, values in alternatives if values)


def _plain(values: Sequence[str]) -> tuple[str, ...]:
    """Return enumeration members as the strings that engines accept."""
    return tuple(str(value) for value in values)
