"""Experience: what a verified case result taught, in reviewed, immutable revisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from contracts.cases import CaseResult, Effort
from contracts.errors import InvalidField, OutcomeOverstated
from contracts.labels import Outcome, ProofLevel, UnitKind
from contracts.limits import SPANS_PER_UNIT, UNITS_PER_REVISION
from contracts.model import Model
from contracts.text import (
    Id,
    Identifier,
    Labels,
    Line,
    OptionalLine,
    OptionalParagraph,
    Paragraph,
    digest,
)


class Limits(Model):
    """Where knowledge applies; an empty field sets no limit (R17)."""

    products: Labels = ()
    systems: Labels = ()
    environments: Labels = ()
    version_from: OptionalLine = ""
    """Lowest version, inclusive."""
    version_to: OptionalLine = ""
    """Highest version, inclusive."""
    schema_version: OptionalLine = ""
    """Exactly this one."""
    schema_from: OptionalLine = ""
    """Lowest schema version, inclusive."""
    schema_to: OptionalLine = ""
    """Highest schema version, inclusive."""
    note: OptionalParagraph = ""


class SourceSpan(Model):
    """A place in a case paper that supports a unit: characters `start` to `end`, end excluded."""

    paper_id: Identifier
    start: int = Field(ge=0)
    end: int = Field(ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end <= self.start:
            raise InvalidField("A span ends before it starts.", field="spans.end", accepted="end > start")
        return self


class KnowledgeUnit(Model):
    """One statement of a revision: how things are (proposition) or what to do (prescription).

    A proposition names its concepts, a prescription its intent. A prescription comes only from a
    succeeded outcome; what did not work is a proposition labelled with that outcome (R5).
    """

    id: Identifier
    kind: UnitKind
    text: Paragraph
    concepts: Labels = ()
    intent: OptionalLine = ""
    use_when: OptionalParagraph = ""
    avoid_when: OptionalParagraph = ""
    limits: Limits = Limits()
    spans: tuple[SourceSpan, ...] = Field(default=(), max_length=SPANS_PER_UNIT)
    outcome: Outcome
    proof_level: ProofLevel

    @model_validator(mode="after")
    def _kind_has_its_fields(self) -> Self:
        if self.kind is UnitKind.PROPOSITION and not self.concepts:
            raise InvalidField("A proposition needs a concept.", field="units.concepts", accepted="1 to 30 concepts")
        if self.kind is UnitKind.PRESCRIPTION and not self.intent.strip():
            raise InvalidField(
                "A prescription needs an intent.", field="units.intent", accepted="what it is meant to achieve"
            )
        if self.kind is UnitKind.PRESCRIPTION and self.outcome is not Outcome.SUCCEEDED:
            raise OutcomeOverstated(
                f"A prescription can't come from a {self.outcome} outcome.",
                field="units.kind",
                accepted="proposition, or outcome succeeded",
            )
        return self


class RoutingSynopsis(Model):
    """Approved discovery text and metadata: what root reads, without technical detail (spec section 3)."""

    request_type: Line
    symptom_tags: Labels = ()
    product: OptionalLine = ""
    system: OptionalLine = ""
    route: Line
    """The route that was chosen."""
    disposition: Line
    """What actually became of it."""
    text: Paragraph


class Draft(Model):
    """The whole text of a revision: what reviewers read and what a digest is taken over."""

    title: Line
    domain_id: Identifier
    outcome: Outcome
    proof_level: ProofLevel
    synopsis: RoutingSynopsis
    units: tuple[KnowledgeUnit, ...] = Field(min_length=1, max_length=UNITS_PER_REVISION)
    limits: Limits = Limits()
    effort: Effort | None = None

    @model_validator(mode="after")
    def _units_stay_within_the_outcome(self) -> Self:
        for unit in self.units:
            if unit.outcome is Outcome.SUCCEEDED and self.outcome is not Outcome.SUCCEEDED:
                raise OutcomeOverstated(
                    f"Unit {unit.id!r} claims success, the revision says {self.outcome}.",
                    field="units.outcome",
                    accepted=self.outcome,
                )
            if unit.proof_level.rank > self.proof_level.rank:
                raise OutcomeOverstated(
                    f"Unit {unit.id!r} claims {unit.proof_level}, the revision {self.proof_level}.",
                    field="units.proof_level",
                    accepted=f"{self.proof_level} or weaker",
                )
        if len({unit.id for unit in self.units}) < len(self.units):
            raise InvalidField("Two units have one id.", field="units.id", accepted="a different id for each")
        return self

    def digest(self) -> str:
        """Return the hash that a reviewer's decision is bound to (R7).

        Fields at their default are left out, so that a field added later changes no stored digest.
        """
        return digest(self.model_dump(mode="json", exclude_defaults=True))

    def without_units(self, declined: Iterable[str]) -> Draft:
        """Return the draft without these units: the same text for everybody who declines the same ones (R7).

        Raises:
            InvalidField: A unit isn't in the draft, or none would be left.
        """
        named = set(declined)
        ids = [unit.id for unit in self.units]
        unknown = sorted(named - set(ids))
        if unknown:
            raise InvalidField(
                f"The draft has no unit {', '.join(map(repr, unknown))}.",
                field="declined_units",
                accepted=", ".join(ids),
            )
        kept = tuple(unit for unit in self.units if unit.id not in named)
        if not kept:
            raise InvalidField(
                "Every unit is declined.", field="declined_units", accepted="at most all but one, or return or reject"
            )
        return self.model_copy(update={"units": kept})

    def check_against(self, result: CaseResult) -> None:
        """Refuse a draft that claims more than its case result (R5), or other hours than it has (R19).

        Raises:
            OutcomeOverstated: Another outcome, or a stronger proof level, than the result's.
            InvalidField: Another effort than the result's; a draft may always leave it out.
        """
        if self.outcome is not result.outcome:
            raise OutcomeOverstated(
                f"The draft says {self.outcome}, the case result {result.outcome}.",
                field="outcome",
                accepted=result.outcome,
            )
        if self.proof_level.rank > result.proof_level.rank:
            raise OutcomeOverstated(
                f"The draft says {self.proof_level}, the case result {result.proof_level}.",
                field="proof_level",
                accepted=f"{result.proof_level} or weaker",
            )
        if self.effort is not None:
            _check_effort(self.effort, result.effort or Effort())


def _check_effort(told: Effort, recorded: Effort) -> None:
    for name in ("estimate_hours", "active_hours", "waiting_hours"):
        hours = getattr(recorded, name)
        if getattr(told, name) != hours:
            raise InvalidField(
                f"The draft has other {name.replace('_', ' ')} than the case result.",
                field=f"effort.{name}",
                accepted=f"{'none' if hours is None else f'{hours!r}'} as the case result has it, or no effort",
            )
    # Its words are the case's own and may name somebody: what is published may say it in others (R6).
    if told.has_changed_scope is not recorded.has_changed_scope:
        said = "what changed in scope, in words that hold elsewhere" if recorded.has_changed_scope else "none"
        raise InvalidField(
            "Draft and case result differ in whether the scope changed.",
            field="effort.changed_scope",
            accepted=f"{said}, as the case result has it, or no effort",
        )


class Proposal(Model):
    """A draft with the case result that it comes from; `experience_id` is the caller's idempotency key."""

    experience_id: Id
    result_id: Id
    draft: Draft
