"""The tool that proposes what a case taught; people review it (R5, R6, R7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import Field, ValidationError

from api.client import CaseloreClient
from api.made_ids import made_id
from api.mcp.quoting import inline
from api.mcp.tool import FROM_TEXT, Asked, Told, Tool
from api.problems import invalid
from contracts import limits
from contracts.cases import Effort
from contracts.errors import CaseloreError, NotPermitted
from contracts.experience import Draft, Limits, Proposal
from contracts.labels import Outcome, ProofLevel, UnitKind
from contracts.model import Model
from contracts.review_sheet import AdmissionView
from contracts.text import Id, Identifier, Labels, Line, OptionalLine, OptionalParagraph, Paragraph

FINDINGS = 20
"""Findings of one result."""


class Statement(Asked):
    """One thing that the case taught."""

    kind: Annotated[UnitKind, Field(description="proposition: how things are; prescription: what to do.")]
    text: Annotated[Paragraph, Field(description="One statement, without personal data, ids or transcript.")]
    concepts: Annotated[Labels, FROM_TEXT, Field(description="Of a proposition: 1 or more.")] = ()
    intent: Annotated[OptionalLine, Field(description="Of a prescription: what it is meant to achieve.")] = ""
    use_when: OptionalParagraph = ""
    avoid_when: OptionalParagraph = ""
    outcome: Annotated[Outcome | None, Field(description="Left out: the proposal's.")] = None
    proof_level: Annotated[ProofLevel | None, Field(description="Left out: the proposal's; never above it.")] = None


class ProposeExperience(Asked):
    """What a recorded case result taught."""

    result_id: Annotated[Id, Field(description="The recorded result of the case that it comes from.")]
    title: Annotated[Line, Field(description="The pattern, in words that hold for other customers too.")]
    domain_id: Annotated[Identifier, Field(description="The domain that owns it; its owner reviews it.")]
    outcome: Annotated[Outcome, Field(description="As the result has it; never better.")]
    proof_level: Annotated[ProofLevel, Field(description="As the result has it, or weaker.")]
    request_type: Annotated[Line, Field(description="What kind of request it was, e.g. printing.")]
    route: Annotated[Line, Field(description="The route that was taken.")]
    disposition: Annotated[Line, Field(description="What actually became of it.")]
    synopsis: Annotated[Paragraph, Field(description="For discovery: no technical detail, no names.")]
    statements: Annotated[tuple[Statement, ...], FROM_TEXT, Field(min_length=1, max_length=limits.UNITS_PER_REVISION)]
    symptom_tags: Annotated[Labels, FROM_TEXT] = ()
    products: Annotated[Labels, FROM_TEXT, Field(description="Where it holds; empty sets no limit.")] = ()
    systems: Annotated[Labels, FROM_TEXT] = ()
    environments: Annotated[Labels, FROM_TEXT] = ()
    version_from: OptionalLine = ""
    version_to: OptionalLine = ""
    schema_version: Annotated[OptionalLine, Field(description="Exactly this schema; a range has bounds instead.")] = ""
    schema_from: OptionalLine = ""
    schema_to: OptionalLine = ""
    limits_note: OptionalParagraph = ""
    effort: Annotated[
        Effort | None, FROM_TEXT, Field(description="Hours estimated, active and waiting, kept apart.")
    ] = None
    experience_id: Annotated[Id | None, Field(description="A UUID; made for you when left out.")] = None


class Proposed(Model):
    """A proposal that is stored. Nobody finds it before both reviews are over."""

    experience_id: str
    stage: str
    is_examined: bool = Field(description="Whether admission has looked at the draft yet.")
    findings: tuple[str, ...] = Field(description="What it found there and holds an acceptance up.")


async def _propose(client: CaseloreClient, asked: ProposeExperience) -> Told:
    draft = _draft(asked)
    experience_id = asked.experience_id or made_id("experience", asked.result_id, draft.digest())
    try:
        command = await client.propose(Proposal(experience_id=experience_id, result_id=asked.result_id, draft=draft))
    except CaseloreError as refusal:
        raise type(refusal)(refusal.message, field=argument(refusal.field), accepted=refusal.accepted) from None
    admission = await _admission(client, experience_id)
    found = () if admission is None else admission.open_findings()[:FINDINGS]
    data = Proposed(
        experience_id=experience_id,
        stage=command.outcome or command.state,
        is_examined=admission is not None and admission.examined_at is not None,
        findings=tuple(inline(f"{argument(each.field)}: {each.message} ({each.severity})", 300) for each in found),
    )
    lines = [
        f"Proposed experience {experience_id}; it is at {data.stage} and is found by nobody until it is published."
    ]
    lines += [f"Found in the draft: {each}" for each in data.findings]
    return Told("\n".join(lines), data)


async def _admission(client: CaseloreClient, experience_id: str) -> AdmissionView | None:
    try:
        return (await client.get_experience(experience_id)).admission
    except NotPermitted:  # a key that may propose and not read: what is stored stays stored
        return None


def _draft(asked: ProposeExperience) -> Draft:
    units = [
        {
            **statement.model_dump(exclude={"outcome", "proof_level"}),
            "id": f"u{number}",
            "outcome": statement.outcome or asked.outcome,
            "proof_level": statement.proof_level or asked.proof_level,
        }
        for number, statement in enumerate(asked.statements, start=1)
    ]
    where = asked.model_dump(include=set(Limits.model_fields) - {"note"})
    given = {
        **asked.model_dump(include={"title", "domain_id", "outcome", "proof_level", "effort"}),
        "synopsis": {
            **asked.model_dump(include={"request_type", "symptom_tags", "route", "disposition"}),
            "text": asked.synopsis,
        },
        "limits": {**where, "note": asked.limits_note},
        "units": units,
    }
    try:
        return Draft.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        refusal = invalid(cast("list[dict[str, Any]]", found))
    except CaseloreError as error:
        refusal = error
    raise type(refusal)(refusal.message, field=argument(refusal.field), accepted=refusal.accepted)


_ARGUMENTS: Mapping[str, str] = {"synopsis.text": "synopsis", "limits.note": "limits_note"}


def argument(field: str) -> str:
    """Return the tool's name of a field of a proposal."""
    field = field.removeprefix("draft.")
    if field in _ARGUMENTS:
        return _ARGUMENTS[field]
    if field.startswith("units"):
        return "statements" + field.removeprefix("units")
    first, _, rest = field.partition(".")
    return rest if first in ("synopsis", "limits") and rest else field


PROPOSE_EXPERIENCE = Tool(
    name="propose_experience",
    title="Propose what a case taught",
    description=(
        "Propose an experience once a case's result is recorded with its execution and proof papers. Draft from the "
        "masked case (resource caselore://cases/{case_id}/sanitised): general pattern, limits, discriminator; no "
        "names, ids or transcript. Outcome and proof are those of the result and never better; what didn't succeed is "
        "proposed as a proposition, never as a prescription. Two people review it, neither of them its author; until "
        "it is published nobody finds it, and it may come back with comments."
    ),
    asks=ProposeExperience,
    gives=Proposed,
    run=_propose,
)
