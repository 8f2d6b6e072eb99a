"""Who may decide what on which text, and the decision's row (R7)."""

from __future__ import annotations

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.lifecycle_rows import stored_command
from contracts.errors import NotReviewer, SamePerson, StaleDigest, StaleStage, UnknownCommand, every_error
from contracts.lifecycle import Stage, reviewer_role, transition
from contracts.review import DecisionMessage

_RECORDED = text("""
SELECT 1 FROM review_decisions
 WHERE decision_id = CAST(:decision_id AS uuid) AND experience_id = CAST(:experience_id AS uuid)
""")
_HOLDS = text("SELECT 1 FROM domain_roles WHERE principal_id = :who AND domain_id = :domain AND role = :role")
_EARLIER = text("""
SELECT 1 FROM review_decisions
 WHERE experience_id = CAST(:id AS uuid) AND revision = :revision AND reviewer_id = :who
""")
_INSERT = text("""
INSERT INTO review_decisions (decision_id, experience_id, revision, stage, verdict, reviewer_id, author_id, digest,
                              comment)
VALUES (CAST(:decision_id AS uuid), CAST(:id AS uuid), :revision, :stage, :verdict, :reviewer_id, :author_id, :digest,
        :comment)
""")


async def is_recorded(connection: AsyncConnection, experience_id: str, decision_id: str) -> bool:
    """Return whether this decision was recorded before."""
    values = {"decision_id": decision_id, "experience_id": experience_id}
    return (await connection.execute(_RECORDED, values)).first() is not None


async def recorded_comment(connection: AsyncConnection, experience_id: str, decision: DecisionMessage) -> str:
    """Return the comment of the stored decision that a message stands for.

    Raises:
        UnknownCommand: No such decision is stored, or it says something else.
        CaseloreError: The decision was refused before; a refusal doesn't turn into consent later.
    """
    command = await stored_command(connection, experience_id, decision.decision_id)
    if command["kind"] != "decide":
        raise UnknownCommand("This id is not a decision's.", field="decision_id")
    said = {name: command["content"][name] for name in ("stage", "digest", "verdict")}
    if command["issued_by"] != decision.reviewer_id or said != decision.model_dump(include=set(said)):
        raise UnknownCommand("The recorded decision says something else.", field="decision_id")
    if command["state"] == "refused":
        refusal = every_error().get(command["outcome"], StaleStage)
        raise refusal("This decision was refused before.", field="decision_id", accepted="a new decision")
    return command["content"]["comment"]


async def check_decision(connection: AsyncConnection, row: RowMapping, decision: DecisionMessage) -> Stage:
    """Return the stage that a decision leads to.

    Raises:
        LifecycleClosed: The lifecycle has ended.
        StaleStage: The experience is not at the stage that the reviewer saw, or waits for no review.
        StaleDigest: The text is not the one that the reviewer saw.
        SamePerson: The reviewer proposed, wrote or has reviewed it.
        NotReviewer: The reviewer lacks the stage's role in the domain.
    """
    stage = Stage(row["stage"])
    to = transition(stage, decision.verdict, has_current=row["current_revision"] is not None)
    if decision.stage is not stage:
        raise StaleStage(f"The experience is at {stage}.", field="stage", accepted=stage)
    if decision.digest != row["digest"]:
        raise StaleDigest("The text changed since it was read.", field="digest", accepted=row["digest"])
    if decision.reviewer_id in (row["author_id"], row["proposer_id"]):
        raise SamePerson("Who proposed or wrote a draft can't review it.", field="reviewer")
    role = reviewer_role(stage)
    values = {"who": decision.reviewer_id, "domain": row["domain_id"], "role": role}
    if (await connection.execute(_HOLDS, values)).first() is None:
        raise NotReviewer(
            f"{stage} waits for a {role} of {row['domain_id']!r}.", field="reviewer", accepted=f"a {role} of the domain"
        )
    values = {"id": row["id"], "revision": row["revision"], "who": decision.reviewer_id}
    if (await connection.execute(_EARLIER, values)).first() is not None:
        raise SamePerson("Curator and owner must be two people.", field="reviewer")
    return to


async def add_decision(connection: AsyncConnection, row: RowMapping, decision: DecisionMessage, comment: str) -> None:
    """Write a checked decision down."""
    values = {
        **decision.model_dump(),
        "id": row["id"],
        "revision": row["revision"],
        "author_id": row["author_id"],
        "comment": comment,
    }
    await connection.execute(_INSERT, values)
