"""Tools that ask and read: open a task's retrieval, read one of its candidates in full (R13, R15, R20)."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.client import CaseloreClient
from api.mcp.answers import AnswerView, told, view_of
from api.mcp.candidates import candidate_view, labels_of
from api.mcp.full_texts import lines_of
from api.mcp.guide import strategy_guide
from api.mcp.quoting import NOTICE, page, quoted
from api.mcp.tool import FROM_TEXT, Asked, Told, Tool
from contracts import limits
from contracts.errors import DeliveryPending, InvalidField, UncitedCandidate
from contracts.labels import CandidateKind, Outcome, ProofLevel, ValidityState
from contracts.model import Model
from contracts.retrieval import OriginRef, RetrievalRequest
from contracts.text import ExternalId, Id, Identifier, Line, OptionalLine, Paragraph

Tokens = Annotated[int, Field(ge=200, le=limits.TOKENS, description="Room for texts in this result.")]


class OpenRetrieval(Asked):
    """What an agent asks for at the beginning of a task."""

    profile_id: Annotated[Identifier, Field(description="Your profile; it pins the strategy.")]
    purpose: Annotated[Line, Field(description="What the answer is for, in a few words; it is recorded.")]
    objective: Annotated[Paragraph, Field(description="The objective or the symptom as you know it now, in words.")]
    case_id: Annotated[
        Id | None, Field(description="The case that you work on; your decision is filed in its papers.")
    ] = None
    source: Annotated[Identifier | None, Field(description="With external_id: the system the request came from.")] = (
        None
    )
    external_id: Annotated[ExternalId | None, Field(description="The request's id in `source`, e.g. SD-1042.")] = None
    tenant_id: Annotated[Identifier | None, Field(description="Narrows your grants to one tenant; never widens.")] = (
        None
    )
    product: Annotated[OptionalLine, Field(description="The product today, as the system shows it.")] = ""
    system: OptionalLine = ""
    environment: OptionalLine = ""
    version: Annotated[
        OptionalLine, Field(description="The version today: candidates outside their limits are marked by it.")
    ] = ""
    schema_version: OptionalLine = ""
    object_refs: Annotated[
        tuple[Line, ...],
        FROM_TEXT,
        Field(max_length=limits.LABELS_PER_FIELD, description="Objects at hand: contract, table, document ids."),
    ] = ()
    consultation_id: Annotated[
        Id | None, Field(description="The consultation that you answer for your domain; left out otherwise.")
    ] = None
    required_proof: Annotated[ProofLevel, Field(description="Weakest proof level wanted.")] = ProofLevel.NONE
    not_older_than: Annotated[datetime | None, Field(description="Nothing published before this time.")] = None
    results: Annotated[int | None, Field(ge=1, le=limits.RESULTS, description="Candidates at most.")] = None
    tokens: Tokens = limits.TOKENS_DEFAULT
    request_id: Annotated[
        Id | None, Field(description="A UUID to ask again with after a lost answer; made for you when left out.")
    ] = None


class ReadCandidate(Asked):
    """A candidate to read in full."""

    request_id: Annotated[Id, Field(description="Of the retrieval that listed it.")]
    ref: Annotated[Identifier, Field(description="As the retrieval gave it: experience/..., case/..., article/...")]
    revision: Annotated[int, Field(ge=0, le=2**31 - 1, description="As the retrieval gave it.")]
    from_line: Annotated[int, Field(ge=1, le=10**6, description="To go on: `next_line` of the page before.")] = 1
    tokens: Tokens = limits.TOKENS_DEFAULT


class CandidateText(Model):
    """A candidate's text as it is current now, or a page of it."""

    ref: str
    revision: int
    kind: CandidateKind
    outcome: Outcome | None
    proof_level: ProofLevel | None
    contrast: str = Field(description="Not empty: a reason against a route; never a fix.")
    validity: ValidityState
    quoted_reasons: tuple[str, ...] = Field(description="Why validity is so; may quote its conditions.")
    notice: str = NOTICE
    text: str = Field(description="Our labels, and case material on lines that begin with `> `.")
    lines: int
    next_line: int | None = Field(description="Send as from_line for the next page; null at the end.")


async def _open(client: CaseloreClient, asked: OpenRetrieval) -> Told:
    if (asked.source is None) != (asked.external_id is None):
        raise InvalidField(
            "A source request is named by its system and its id there.",
            field="external_id" if asked.external_id is None else "source",
            accepted="both source and external_id, or neither",
        )
    given = asked.model_dump(exclude={"source", "external_id", "request_id"})
    request_id = asked.request_id or str(uuid.uuid4())
    origin = None
    if asked.source is not None and asked.external_id is not None:
        origin = OriginRef(source=asked.source, external_id=asked.external_id)
    try:
        answer = await client.retrieve(RetrievalRequest(request_id=request_id, origin=origin, **given))
    except DeliveryPending as pending:
        raise DeliveryPending(
            pending.message, field="request_id", accepted=f"the same call again with request_id {request_id}"
        ) from None
    guide = await strategy_guide(client, answer.strategy_id, answer.strategy_version)
    view = view_of(answer, guide)
    return Told(told(view), view)


async def _read(client: CaseloreClient, asked: ReadCandidate) -> Told:
    answer = await client.get_retrieval(asked.request_id)
    found = next((each for each in answer.candidates if (each.ref, each.revision) == (asked.ref, asked.revision)), None)
    if found is None:
        raise UncitedCandidate(
            f"{asked.ref} at revision {asked.revision} is not a candidate of this answer.",
            field="ref",
            accepted="a ref and revision from the answer",
        )
    lines = lines_of(found.title, await client.read(asked.request_id, asked.ref, asked.revision))
    if asked.from_line > len(lines):
        raise InvalidField(f"The text has {len(lines)} lines.", field="from_line", accepted=f"1 to {len(lines)}")
    part = page(lines, first=asked.from_line, tokens=asked.tokens)
    view = candidate_view(found)
    data = CandidateText(
        ref=view.ref,
        revision=view.revision,
        kind=view.kind,
        outcome=view.outcome,
        proof_level=view.proof_level,
        contrast=view.contrast,
        validity=view.validity,
        quoted_reasons=view.quoted_reasons,
        text=part.text,
        lines=part.lines,
        next_line=part.next_line,
    )
    why = [line for reason in view.quoted_reasons for line in quoted(f"Validity: {reason}")]
    more = f"More: read_candidate again with from_line {part.next_line}." if part.next_line else "The end of the text."
    return Told("\n".join([labels_of(view), NOTICE, *why, part.text, more]), data)


OPEN_RETRIEVAL = Tool(
    name="open_retrieval",
    title="Open a task's retrieval",
    description=(
        "Ask the memory at the beginning of a task, before you settle on a cause or a route. Your profile's strategy "
        "reads live cases, reviewed experience and articles inside your grants. The result is a list of candidates to "
        "weigh, each with outcome, proof level, validity and limits; it is not an answer, not a remedy and not a "
        "permission, and its order is no measure of fit. `revalidate` means: check again before you rely on it. No "
        "candidates is no proof that nothing is known: see what was not read. Afterwards read what you consider, and "
        "record your decision with record_decision, also when you use nothing."
    ),
    asks=OpenRetrieval,
    gives=AnswerView,
    run=_open,
    is_repeatable=False,
)
READ_CANDIDATE = Tool(
    name="read_candidate",
    title="Read a candidate in full",
    description=(
        "Read one candidate of your retrieval in full, before you cite it: an extract hides conditions. The reading is "
        "recorded. The text is current at this moment; one that was corrected or withdrawn meanwhile is refused, then "
        "open a new retrieval. It tells what was so in an earlier case; what is so in yours needs a fresh check."
    ),
    asks=ReadCandidate,
    gives=CandidateText,
    run=_read,
)
