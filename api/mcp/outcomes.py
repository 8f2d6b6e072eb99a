"""The tool that says how cited candidates turned out; what it says is counted and moves nothing (R15, R20)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.client import CaseloreClient
from api.made_ids import made_id
from api.mcp.tool import FROM_TEXT, Asked, Told, Tool
from contracts import limits
from contracts.errors import IdempotencyConflict
from contracts.feedback import CandidateOutcome, Feedback, Usefulness
from contracts.model import Model
from contracts.text import Id, Identifier, OptionalParagraph


class TurnedOut(Asked):
    """How one cited candidate turned out."""

    ref: Annotated[Identifier, Field(description="As your decision cites it.")]
    revision: Annotated[int, Field(ge=0, le=2**31 - 1, description="As your decision cites it.")]
    usefulness: Annotated[
        Usefulness, Field(description="helped: it led where it said; misled: it cost a wrong turn; not_applicable.")
    ]
    note: Annotated[OptionalParagraph, Field(description="What showed it, without personal data.")] = ""


class TellOutcome(Asked):
    """How what a decision cites turned out."""

    decision_id: Annotated[Id, Field(description="As record_decision gave it.")]
    outcomes: Annotated[
        tuple[TurnedOut, ...],
        FROM_TEXT,
        Field(min_length=1, max_length=limits.CITATIONS, description="Each candidate once; those you can tell of."),
    ]
    replaces: Annotated[
        Id | None, Field(description="The feedback_id that was said last on this decision; left out the first time.")
    ] = None
    feedback_id: Annotated[Id | None, Field(description="A UUID; made for you when left out.")] = None


class ToldOutcome(Model):
    """Feedback that is stored."""

    feedback_id: str = Field(description="To send as `replaces` when it turns out otherwise.")
    decision_id: str
    counted: int = Field(description="Candidates that it speaks of.")


async def _tell(client: CaseloreClient, asked: TellOutcome) -> Told:
    made = asked.feedback_id is None
    feedback = Feedback(
        feedback_id=asked.feedback_id or made_id("feedback", asked.model_dump(mode="json", exclude={"feedback_id"})),
        decision_id=asked.decision_id,
        replaces=asked.replaces,
        outcomes=tuple(CandidateOutcome(**each.model_dump()) for each in asked.outcomes),
    )
    try:
        given = await client.give_feedback(feedback)
    except IdempotencyConflict:
        if not made:
            raise
        # The id derives from the words: it was taken by somebody else who said the same.
        raise IdempotencyConflict(
            "Somebody else has said exactly this of the decision; it counts.",
            field="outcomes",
            accepted="nothing more, or other outcomes",
        ) from None
    data = ToldOutcome(feedback_id=given.feedback_id, decision_id=given.decision_id, counted=len(given.outcomes))
    one = data.counted == 1
    return Told(
        f"Recorded feedback {given.feedback_id} on decision {given.decision_id}, for {data.counted} "
        f"candidate{'' if one else 's'}. It is counted beside {'it' if one else 'them'} and moves no rank.",
        data,
    )


TELL_OUTCOME = Tool(
    name="tell_outcome",
    title="Tell how it turned out",
    description=(
        "Say how candidates that your decision cites turned out in the work: helped, misled or not applicable. Use it "
        "when you know, after the checks. It is counted beside the candidate for later readers; it moves no rank, bars "
        "nothing and proves nothing. The latest word on a candidate counts: to change it name in replaces what was "
        "said last, which a refusal tells."
    ),
    asks=TellOutcome,
    gives=ToldOutcome,
    run=_tell,
)
