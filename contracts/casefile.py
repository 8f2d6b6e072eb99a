"""The import format: one JSON object a line, each line one kind of record.

    {"record": "tenant", "id": ..., "name": ...}
    {"record": "domain", "id": ..., "name": ..., "description": ...}
    {"record": "case", "tenant": ..., "source": ..., "external_id": ..., "occurred_at": ..., "subject": ...,
     "body": ..., "facts": {...}, "papers": [...], "result": {...}, "experience": {...}}
    {"record": "question", "tenant": ..., "external_id": ..., "profile": ..., "objective": ..., ...}

A case without `result` stays open in the registry. One with `result` is completed, and its `experience`, when
given, is proposed. Unknown fields are refused: a misspelt one would otherwise be lost in silence (R22).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError, model_validator

from contracts.cases import CaseFacts, CaseResult, Effort
from contracts.errors import CaseloreError, InvalidCaseFile, InvalidField, UnverifiedResult
from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis
from contracts.labels import CaseState, Outcome, PaperKind, ProofLevel
from contracts.model import Model
from contracts.text import Body, Identifier, Line, OptionalLine, OptionalParagraph, Paragraph

_NOWHERE = "00000000-0000-0000-0000-000000000000"
"""Stands for ids that aren't known before the line is sent."""


class TenantRecord(Model):
    """An organisation."""

    record: Literal["tenant"] = "tenant"
    id: Identifier
    name: Line


class DomainRecord(Model):
    """An owned module area."""

    record: Literal["domain"] = "domain"
    id: Identifier
    name: Line
    description: OptionalParagraph = ""


class PaperRecord(Model):
    """A paper of the case; `id` is local to the line and is what spans and the result refer to."""

    id: Identifier
    kind: PaperKind
    title: Line
    text: Body


class ResultRecord(Model):
    """What the case ended with. `execution` and `proof` name papers of this line."""

    outcome: Outcome
    proof_level: ProofLevel
    summary: Paragraph
    execution: Identifier | None = None
    proof: Identifier | None = None
    effort: Effort | None = None


class ExperienceRecord(Model):
    """What the case taught. Spans of units refer to this line's papers by their local ids."""

    title: Line
    synopsis: RoutingSynopsis
    units: tuple[KnowledgeUnit, ...] = Field(min_length=1)
    limits: Limits = Limits()
    reject: OptionalLine = ""
    """When set, the review is expected to reject it, for this reason."""


class CaseRecord(Model):
    """A support or engineering case."""

    record: Literal["case"] = "case"
    tenant: Identifier
    source: Identifier
    external_id: Identifier
    revision: int = Field(default=1, ge=0, le=2**31 - 1)
    occurred_at: AwareDatetime
    subject: Line
    body: Body
    facts: CaseFacts = CaseFacts()
    state: CaseState | None = None
    """`waiting` (with `waiting_on`) for a case that waits; None: open, or completed when it has a result."""
    waiting_on: OptionalLine = ""
    papers: tuple[PaperRecord, ...] = ()
    result: ResultRecord | None = None
    experience: ExperienceRecord | None = None

    @model_validator(mode="after")
    def _papers_are_there(self) -> Self:
        papers = {paper.id: paper for paper in self.papers}
        if len(papers) < len(self.papers):
            raise InvalidField("Two papers have one id.", field="papers.id", accepted="a different id for each")
        if self.result is not None:
            for kind in (PaperKind.EXECUTION, PaperKind.PROOF):
                named = self.result.execution if kind is PaperKind.EXECUTION else self.result.proof
                if named is not None and (named not in papers or papers[named].kind is not kind):
                    raise UnverifiedResult(
                        f"{named!r} is not a {kind} paper of this case.",
                        field=f"result.{kind}",
                        accepted=f"the id of a paper of kind {kind}",
                    )
        if self.experience is None:
            return self
        if self.result is None or self.facts.domain_id is None:
            raise InvalidField(
                "An experience needs a result and a domain.",
                field="experience",
                accepted="a case with `result` and `facts.domain_id`",
            )
        for unit in self.experience.units:
            for span in unit.spans:
                if span.paper_id not in papers or span.end > len(papers[span.paper_id].text):
                    raise InvalidField(
                        f"A span of unit {unit.id!r} is not in the papers.",
                        field="experience.units.spans",
                        accepted="characters of a paper of this case",
                    )
        return self

    @model_validator(mode="after")
    def _nothing_is_overstated(self) -> Self:
        """Hold the line against the rules of results and drafts before anything of it is sent (R5)."""
        if self.result is not None:
            result = self.case_result(_NOWHERE, _NOWHERE, dict.fromkeys((paper.id for paper in self.papers), _NOWHERE))
            if result.effort is not None:
                result.effort.check_estimate()
            if self.experience is not None:
                self.draft().check_against(result)
        return self

    def case_result(self, result_id: str, case_id: str, paper_ids: Mapping[str, str]) -> CaseResult:
        """Return the result under the given ids; `paper_ids` maps the line's own paper ids."""
        result = self.result
        if result is None:
            raise ValueError("the case has no result")
        return CaseResult(
            id=result_id,
            case_id=case_id,
            outcome=result.outcome,
            proof_level=result.proof_level,
            summary=result.summary,
            execution_paper_id=paper_ids[result.execution] if result.execution else None,
            proof_paper_id=paper_ids[result.proof] if result.proof else None,
            effort=result.effort,
        )

    def draft(self) -> Draft:
        """Return what is proposed, its spans still under the line's own paper ids."""
        experience, result, domain_id = self.experience, self.result, self.facts.domain_id
        if experience is None or result is None or domain_id is None:
            raise ValueError("the case has no experience")
        return Draft(
            title=experience.title,
            domain_id=domain_id,
            outcome=result.outcome,
            proof_level=result.proof_level,
            synopsis=experience.synopsis,
            units=experience.units,
            limits=experience.limits,
            effort=result.effort,
        )

    @model_validator(mode="after")
    def _waiting_says_on_whom(self) -> Self:
        if (self.state is CaseState.WAITING) != bool(self.waiting_on):
            raise InvalidField("A waiting case says on whom.", field="waiting_on", accepted="who is awaited")
        if self.state not in (None, CaseState.OPEN, CaseState.WAITING):
            raise InvalidField(
                "A result completes a case, not its state.", field="state", accepted="open, waiting, or nothing"
            )
        return self


class QuestionRecord(Model):
    """A further case, and what its agent asks the memory."""

    record: Literal["question"] = "question"
    tenant: Identifier
    source: Identifier
    external_id: Identifier
    occurred_at: AwareDatetime
    subject: Line
    body: Body
    facts: CaseFacts = CaseFacts()
    profile: Identifier
    purpose: Line
    objective: Paragraph


CaseFileRecord = Annotated[TenantRecord | DomainRecord | CaseRecord | QuestionRecord, Field(discriminator="record")]

_LINES: TypeAdapter[TenantRecord | DomainRecord | CaseRecord | QuestionRecord] = TypeAdapter(CaseFileRecord)


def parse_line(line: str, number: int) -> TenantRecord | DomainRecord | CaseRecord | QuestionRecord:
    """Return the record of a line.

    Args:
        line: JSON text.
        number: Its line number, from 1, for the refusal.

    Raises:
        InvalidCaseFile: Says which line and field, and what would be accepted.
    """
    try:
        return _LINES.validate_json(line, extra="forbid")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"][1:] or first["loc"]) or "record"
        raise InvalidCaseFile(f"Line {number}: {first['msg']}.", field=field) from None
    except CaseloreError as error:
        raise InvalidCaseFile(f"Line {number}: {error.message}", field=error.field, accepted=error.accepted) from None
