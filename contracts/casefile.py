"""The import format: one JSON object a line, each line one kind of record.

    {"record": "tenant", "id": ..., "name": ...}
    {"record": "domain", "id": ..., "name": ..., "description": ...}
    {"record": "case", "tenant": ..., "source": ..., "external_id": ..., "revision": 1, "occurred_at": ...,
     "subject": ..., "body": ..., "facts": {...}, "papers": [...], "result": {...}, "experience": {...}}
    {"record": "question", "tenant": ..., "external_id": ..., "profile": ..., "objective": ..., ...}

A case without `result` stays open in the registry. One with `result` is completed, and its `experience`,
when given, is proposed; without one, a plain draft is made of the result's own approved words.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.cases import CaseFacts, Effort
from contracts.experience import KnowledgeUnit, Limits, RoutingSynopsis
from contracts.labels import Outcome, PaperKind, ProofLevel
from contracts.model import Model
from contracts.text import Body, Identifier, Line, OptionalLine, Paragraph


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
    description: str = ""


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
    revision: int = 1
    occurred_at: datetime
    subject: Line
    body: Body
    facts: CaseFacts = CaseFacts()
    papers: tuple[PaperRecord, ...] = ()
    result: ResultRecord | None = None
    experience: ExperienceRecord | None = None


class QuestionRecord(Model):
    """A further case, and what its agent asks the memory."""

    record: Literal["question"] = "question"
    tenant: Identifier
    source: Identifier
    external_id: Identifier
    occurred_at: datetime
    subject: Line
    body: Body
    facts: CaseFacts = CaseFacts()
    profile: Identifier
    purpose: Line
    objective: Paragraph


CaseFileRecord = Annotated[TenantRecord | DomainRecord | CaseRecord | QuestionRecord, Field(discriminator="record")]
