"""Who may decide what on which text, and the decision's row (R7)."""

from __future__ import annotations

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.delegations import roles_held
from activities.records.lifecycle_rows import stored_command
from activities.records.review_claims import require_unclaimed
from activities.records.reviewed_text import CHAIN
from contracts.errors import NotReviewer, SamePerson, StaleDigest, StaleStage, UnknownCommand, every_error
from contracts.lifecycle import Stage, check_apart, reviewer_role, transition
from contracts.review import DecisionMessage, ReviewDecision

_RECORDED = text("""
SELECT 1 FROM review_decisions
 WHERE decision_id = CAST(:decision_id AS uuid) AND experience_id = CAST(:experience_id AS uuid)
""")
_AUTHORS = text("""
SELECT proposer_id AS author_id FROM experiences WHERE id = CAST(:id AS uuid)
 UNION
SELECT r.author_id FROM revisions r
 WHERE r.experience_id = CAST(:id AS uuid) AND r.number <= :revision
   AND r.number > (SELECT coalesce(max(b.number), 0) FROM revisions b
                    WHERE b.experience_id = CAST(:id AS uuid) AND b.number < :revision
                      AND b.state NOT IN ('returned', 'trimmed'))
""")
"""Who wrote a draft that the newest one goes back to: those that were returned, edited or trimmed right before it."""
_REVIEWERS = text(f"""{CHAIN}
SELECT unnest(ARRAY[d.reviewer_id, d.on_behalf_of]) FROM review_decisions d
  JOIN chain c ON c.experience_id = d.experience_id AND c.number = d.revision
""")
_INSERT = text("""
INSERT INTO review_decisions (decision_id, experience_id, revision, stage, verdict, reviewer_id, author_id, digest,
                              comment, on_behalf_of, declined_units, acknowledged_scope)
VALUES (CAST(:decision_id AS uuid), CAST(:id AS uuid), :revision, :stage, :verdict, :reviewer_id, :author_id, :digest,
        :comment, :on_behalf_of, :declined_units, :acknowledged_scope)
""")


async def is_recorded(connection: AsyncConnection, experience_id: str, decision_id: str) -> bool:
    """Return whether this decision was recorded before."""
    values = {"decision_id": decision_id, "experience_id": experience_id}
    return (await connection.execute(_RECORDED, values)).first() is not None


async def recorded_decision(
    connection: AsyncConnection, experience_id: str, decision: DecisionMessage
) -> ReviewDecision:
    """Return the stored decision that a message stands for, with all that messages leave out (R11).

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
    return ReviewDecision.model_validate(command["content"])


async def check_decision(
    connection: AsyncConnection, row: RowMapping, decision: DecisionMessage
) -> tuple[Stage, str | None]:
    """Return the stage that a decision leads to, and on whose behalf it is made (None: on the reviewer's own).

    Raises:
        LifecycleClosed: The lifecycle has ended.
        StaleStage: The experience is not at the stage that the reviewer saw, or waits for no review.
        StaleDigest: The text is not the one that the reviewer saw.
        SamePerson: The reviewer, or whom the reviewer stands in for, proposed, wrote or has reviewed it.
        NotReviewer: The reviewer lacks the stage's role in the domain, or it isn't lent to the reviewer any more.
        ReviewClaimed: Another reviewer works on it.
    """
    stage = Stage(row["stage"])
    to = transition(stage, decision.verdict, rests_at=Stage(row["rests_at"]))
    if decision.stage is not stage:
        raise StaleStage(f"The experience is at {stage}.", field="stage", accepted=stage)
    if decision.digest != row["digest"]:
        raise StaleDigest("The text changed since it was read.", field="digest", accepted=row["digest"])
    on_behalf_of = await _whose_role(connection, row, stage, decision.reviewer_id)
    await require_unclaimed(connection, row, decision.reviewer_id)
    return to, on_behalf_of


async def _whose_role(connection: AsyncConnection, row: RowMapping, stage: Stage, reviewer_id: str) -> str | None:
    values = {"id": row["id"], "revision": row["revision"]}
    authors = set((await connection.execute(_AUTHORS, values)).scalars())
    reviewers = {who for who in (await connection.execute(_REVIEWERS, values)).scalars() if who is not None}
    check_apart(reviewer_id, None, authors=authors, reviewers=reviewers)
    role = reviewer_role(stage)
    held = await roles_held(connection, reviewer_id, row["domain_id"], role)
    if not held:
        raise NotReviewer(
            f"{stage} waits for a {role} of {row['domain_id']!r}.", field="reviewer", accepted=f"a {role} of the domain"
        )
    refusal = None
    for on_behalf_of in held:
        try:
            check_apart(reviewer_id, on_behalf_of, authors=authors, reviewers=reviewers)
        except SamePerson as error:
            refusal = error
        else:
            return on_behalf_of
    raise refusal or AssertionError("a role is held by somebody")


async def add_decision(
    connection: AsyncConnection, row: RowMapping, decision: ReviewDecision, reviewer_id: str, on_behalf_of: str | None
) -> None:
    """Write a checked decision down, with the text that it was made on."""
    values = {
        **decision.model_dump(include={"decision_id", "stage", "verdict", "digest", "comment", "acknowledged_scope"}),
        "declined_units": sorted(set(decision.declined_units)),
        "reviewer_id": reviewer_id,
        "on_behalf_of": on_behalf_of,
        "id": row["id"],
        "revision": row["revision"],
        "author_id": row["author_id"],
    }
    await connection.execute(_INSERT, values)
