"""Feedback on cited candidates: given on a decision, kept whole, the latest counted (R20, R21)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from activities.records.ids import is_id
from activities.records.retrieval_requests import require_same
from contracts import limits
from contracts.errors import (
    IdempotencyConflict,
    InvalidField,
    StaleRevision,
    UncitedCandidate,
    UnknownCase,
    UnknownRetrieval,
)
from contracts.feedback import Feedback, FeedbackView
from contracts.text import digest

_DECISION = text("""
SELECT q.case_id IS NULL OR EXISTS (SELECT 1 FROM cases c WHERE c.id = q.case_id) AS is_in_scope
  FROM memory_uses u JOIN retrieval_requests q ON q.id = u.request_id WHERE u.decision_id = CAST(:id AS uuid)
""")
_HISTORY = text("""
SELECT id::text AS feedback_id, given_by, given_at FROM feedbacks WHERE decision_id = CAST(:id AS uuid) ORDER BY number
""")
_CITED = text("SELECT ref, revision FROM retrieval_verdicts WHERE decision_id = CAST(:id AS uuid)")
_ADD = text("""
INSERT INTO feedbacks (id, decision_id, number, replaces, digest, given_by)
VALUES (CAST(:feedback_id AS uuid), CAST(:decision_id AS uuid), :number, CAST(:replaces AS uuid), :digest, :given_by)
ON CONFLICT DO NOTHING
""")
_OUTCOME = text("""
INSERT INTO feedback_outcomes (feedback_id, decision_id, number, ref, revision, usefulness, note)
VALUES (CAST(:feedback_id AS uuid), CAST(:decision_id AS uuid), :number, :ref, :revision, :usefulness, :note)
""")
FEEDBACK_OF = text("""
SELECT f.id::text AS feedback_id, f.decision_id::text AS decision_id, f.replaces::text AS replaces, f.given_by,
       f.given_at, f.number, said.outcomes
  FROM feedbacks f
 CROSS JOIN LATERAL (SELECT jsonb_agg(jsonb_build_object('ref', o.ref, 'revision', o.revision,
                                                         'usefulness', o.usefulness, 'note', o.note)
                                      ORDER BY o.ref, o.revision) AS outcomes
                       FROM feedback_outcomes o WHERE o.feedback_id = f.id) said
 WHERE f.decision_id = ANY (CAST(:ids AS uuid[])) AND said.outcomes IS NOT NULL ORDER BY f.number
""")
"""What was said of some decisions, in order; left out is what is outside the reader's scope by now."""


class Feedbacks:
    """Feedback under row-level security: by and for who may see the decision."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def give(self, principal_id: str, feedback: Feedback) -> FeedbackView:
        """Record how cited candidates turned out; idempotent by `feedback_id`, and nothing that was said is lost.

        Raises:
            UnknownRetrieval: The caller can't see such a decision.
            UnknownCase: The decision is for a case that the caller can't see any more.
            UncitedCandidate: The decision doesn't cite what is named.
            StaleRevision: There is other feedback by now; says which is the latest (R24).
            InvalidField: Feedback was given too often.
            IdempotencyConflict: The id was used for other feedback.
        """
        content = digest([principal_id, feedback.model_dump(mode="json")])
        async with self._database.as_principal(principal_id) as connection:
            is_in_scope = await _require_decision(connection, feedback.decision_id)
            before = await _history(connection, feedback.decision_id)
            if feedback.feedback_id not in before:
                if not is_in_scope:
                    raise UnknownCase(
                        "The decision is for a case that is not in your scope.",
                        field="decision_id",
                        accepted="a decision for a case you may see",
                    )
                await _require_cited(connection, feedback)
                _require_latest(feedback, before)
                values: dict[str, Any] = {
                    **feedback.model_dump(include={"feedback_id", "decision_id", "replaces"}),
                    "number": len(before) + 1,
                    "digest": content,
                    "given_by": principal_id,
                }
                if (await connection.execute(_ADD, values)).rowcount:
                    # In one order always: counting locks each ref until the transaction ends.
                    ordered = sorted(feedback.outcomes, key=lambda outcome: outcome.ref)
                    outcomes = [{**values, **outcome.model_dump()} for outcome in ordered]
                    await connection.execute(_OUTCOME, outcomes)
                before = await _history(connection, feedback.decision_id)
            if feedback.feedback_id not in before:
                # It was not added: somebody was faster, or the id belongs to another decision.
                _require_latest(feedback, before)
                raise IdempotencyConflict("This id was used before with other content.", field="feedback_id")
            await require_same(connection, "feedbacks", "id", feedback.feedback_id, content, field="feedback_id")
            views = await _views(connection, feedback.decision_id)
            # To who can't see its case any more, a repeat tells no more than was sent.
            sent = FeedbackView(**feedback.model_dump(), **before[feedback.feedback_id])
            return next((view for view in views if view.feedback_id == feedback.feedback_id), sent)

    async def given(self, principal_id: str, decision_id: str) -> list[FeedbackView]:
        """Return all feedback on a decision, the oldest first; none when its case is outside the caller's scope by now.

        Raises:
            UnknownRetrieval: The caller can't see such a decision.
        """
        async with self._database.as_principal(principal_id) as connection:
            await _require_decision(connection, decision_id)
            return await _views(connection, decision_id)


async def _require_decision(connection: AsyncConnection, decision_id: str) -> bool:
    """Return whether the caller may see what the decision is for, too."""
    found = await connection.execute(_DECISION, {"id": decision_id if is_id(decision_id) else None})
    is_in_scope = found.scalar_one_or_none()
    if is_in_scope is None:
        raise UnknownRetrieval("There is no such decision in your scope.", field="decision_id")
    return is_in_scope


async def _history(connection: AsyncConnection, decision_id: str) -> dict[str, dict[str, Any]]:
    """Return by whom and when each feedback was given, by its id, the oldest first and none left out."""
    rows = (await connection.execute(_HISTORY, {"id": decision_id})).mappings()
    return {row["feedback_id"]: {name: row[name] for name in ("given_by", "given_at")} for row in rows}


async def _views(connection: AsyncConnection, decision_id: str) -> list[FeedbackView]:
    rows = (await connection.execute(FEEDBACK_OF, {"ids": [decision_id]})).mappings()
    return [FeedbackView.model_validate(dict(row)) for row in rows]


async def _require_cited(connection: AsyncConnection, feedback: Feedback) -> None:
    rows = await connection.execute(_CITED, {"id": feedback.decision_id})
    cited = {(row["ref"], row["revision"]) for row in rows.mappings()}
    for outcome in feedback.outcomes:
        if (outcome.ref, outcome.revision) not in cited:
            raise UncitedCandidate(
                f"The decision doesn't cite {outcome.ref} at revision {outcome.revision}.",
                field="outcomes.ref",
                accepted="a ref and revision that the decision cites",
            )


def _require_latest(feedback: Feedback, before: Collection[str]) -> None:
    latest = [*before][-1] if before else None
    if feedback.replaces != latest:
        raise StaleRevision(
            "Feedback was given on this decision before." if latest else "No feedback was given on this decision yet.",
            field="replaces",
            accepted=latest or "null",
        )
    if len(before) >= limits.FEEDBACKS:
        raise InvalidField(
            f"Feedback was given {len(before)} times.",
            field="decision_id",
            accepted=f"a decision with less than {limits.FEEDBACKS}",
        )
