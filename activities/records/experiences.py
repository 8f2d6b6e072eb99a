"""What people ask of experiences: propose, decide, change, and see where things stand.

A request is stored with its outbox event in one transaction and delivered to the lifecycle afterwards; nothing
is lost when no worker runs (R8, R10, R23).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.article_rules import check_article, require_kinds
from activities.records.cases import find_result, require_case
from activities.records.change_rights import require_right
from activities.records.database import Database
from activities.records.domains import require_domain
from activities.records.drafts import begin
from activities.records.experience_rows import (
    VIEW,
    check_comments,
    require_experience,
    require_revision,
    require_same_proposal,
    revision_of,
)
from activities.records.ids import is_id
from activities.records.outbox import add_event
from activities.records.review_history import read_admission, read_history
from activities.records.review_queue import EVERYTHING, QueueFilter, list_tasks
from contracts import limits
from contracts.draft_difference import DraftDifference, draft_difference
from contracts.errors import IdempotencyConflict, UnknownExperience, UnverifiedResult
from contracts.experience import Proposal
from contracts.outbox import EventKind, Topic
from contracts.ports import PersonalDataFinder
from contracts.review import ChangeCommand, ReviewDecision
from contracts.text import digest
from contracts.views import ExperienceView, ReviewTask

# Any unique key may be the one at which two proposals of one id meet, so none is named.
_PROPOSE = text("""
INSERT INTO experiences (id, tenant_id, case_id, result_id, outcome, domain_id, proposer_id, stage, revision,
                         stage_since, due_at)
SELECT CAST(:experience_id AS uuid), c.tenant_id, c.case_id, c.id, :outcome, :domain_id, :proposer_id,
       'curator_review', 1, clock_timestamp(), clock_timestamp() + :due_in
  FROM case_results c WHERE c.id = CAST(:result_id AS uuid)
ON CONFLICT DO NOTHING
""")
_COMMAND = text("""
INSERT INTO commands (id, experience_id, kind, content, digest, issued_by)
VALUES (CAST(:id AS uuid), CAST(:experience_id AS uuid), :kind, CAST(:content AS jsonb), :digest, :issued_by)
ON CONFLICT (id) DO NOTHING
""")
_FIND_COMMAND = text(
    "SELECT state, outcome, refused_field, refused_accepted, digest FROM commands WHERE id = CAST(:id AS uuid)"
)


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored request: the event to deliver, and its standing if it was stored before."""

    event_id: str
    state: str
    """`pending`, `applied` or `refused`."""
    outcome: str
    """The stage that it led to, or the refusal's type; "" while pending."""
    field: str = ""
    """Of a refusal: the input at fault."""
    accepted: str = ""
    """Of a refusal: what would be accepted."""


class Experiences:
    """The people's side of the lifecycle.

    Args:
        database: The record.
        finder: Looks for personal data in proposals; None leaves that out, and each admission says so (R6).
        review_deadline: From a proposal to its first reminder.
    """

    def __init__(
        self,
        database: Database,
        *,
        finder: PersonalDataFinder | None = None,
        review_deadline: timedelta = limits.REVIEW_DEADLINE,
    ) -> None:
        self._database = database
        self._finder = finder
        self._review_deadline = review_deadline

    async def propose(self, principal_id: str, proposal: Proposal) -> Stored:
        """Store a proposal and the event that starts its lifecycle; idempotent by `experience_id` (R5).

        Raises:
            UnverifiedResult: The result isn't recorded in a case of the caller's scope.
            OutcomeOverstated: The draft claims more than the result.
            InvalidField: It tells another effort than the result's.
            UnknownDomain: There is no such domain.
            IdempotencyConflict: The id was used for another proposal.
        """
        draft = proposal.draft
        values: dict[str, Any] = {
            "experience_id": proposal.experience_id,
            "result_id": proposal.result_id,
            "outcome": draft.outcome,
            "domain_id": draft.domain_id,
            "proposer_id": principal_id,
            "due_in": self._review_deadline,
        }
        async with self._database.as_principal(principal_id) as connection:
            result = await find_result(connection, proposal.result_id)
            if result is None:
                raise UnverifiedResult(
                    "The proposal needs a recorded case result.",
                    field="result_id",
                    accepted="a result of a case that you may see",
                )
            draft.check_against(result)
            await require_domain(connection, draft.domain_id)
            tenant_id = (await require_case(connection, result.case_id)).origin.tenant_id
            if not (await connection.execute(_PROPOSE, values)).rowcount:
                await require_same_proposal(connection, principal_id, proposal)
                return Stored(event_id=proposal.experience_id, state="applied", outcome="")
            await begin(
                connection,
                proposal.experience_id,
                draft,
                proposer_id=principal_id,
                tenant_id=tenant_id,
                finder=self._finder,
            )
        return Stored(event_id=proposal.experience_id, state="pending", outcome="")

    async def decide(self, principal_id: str, decision: ReviewDecision) -> Stored:
        """Store a review decision and the event that carries it; idempotent by `decision_id` (R7).

        Whether it takes is the lifecycle's to say; a refusal is kept with the command.

        Raises:
            UnknownExperience: It can't be seen.
            InvalidField: A comment is on a field that the draft doesn't have.
        """
        content = decision.model_dump(mode="json")
        async with self._database.as_principal(principal_id) as connection:
            await require_experience(connection, decision.experience_id)
            await check_comments(connection, decision)
            stored = await self._command(
                connection, principal_id, decision.decision_id, decision.experience_id, "decide", content
            )
            if stored is None:
                message = {
                    "command_id": decision.decision_id,
                    "decision_id": decision.decision_id,
                    "stage": decision.stage,
                    "digest": decision.digest,
                    "verdict": decision.verdict,
                    "reviewer_id": principal_id,
                }
                await add_event(
                    connection,
                    Topic.LIFECYCLE,
                    EventKind.DECIDE,
                    f"experience/{decision.experience_id}",
                    message,
                    event_id=decision.decision_id,
                )
        return stored or Stored(event_id=decision.decision_id, state="pending", outcome="")

    async def command(self, principal_id: str, command: ChangeCommand) -> Stored:
        """Store a change command and the signal that carries it; idempotent by `command_id` (R10).

        Raises:
            NotReviewer: The change takes a role in the domain (`activities.records.change_rights`).
            UnknownExperience: The experience, or the one that takes over, can't be seen.
            InvalidField: Text or successor is of another kind than what is changed.
            NotPublished: An article names what isn't published.
        """
        async with self._database.as_principal(principal_id) as connection:
            await require_experience(connection, command.experience_id)
            if command.superseded_by is not None:
                await require_experience(connection, command.superseded_by)
            await require_kinds(connection, command)
            if command.draft is not None:
                await require_domain(connection, command.draft.domain_id)
            await require_right(connection, principal_id, command)
            if command.article is not None:
                await check_article(connection, command.experience_id, command.article)
            content = command.model_dump(mode="json")
            stored = await self._command(
                connection, principal_id, command.command_id, command.experience_id, command.kind, content
            )
            if stored is None:
                await add_event(
                    connection,
                    Topic.LIFECYCLE,
                    EventKind.SIGNAL,
                    f"experience/{command.experience_id}",
                    {"command_id": command.command_id, "kind": command.kind},
                    event_id=command.command_id,
                )
        return stored or Stored(event_id=command.command_id, state="pending", outcome="")

    async def standing(self, principal_id: str, command_id: str) -> Stored | None:
        """Return what became of a stored decision or command; None if the caller can't see one."""
        if not is_id(command_id):
            return None
        async with self._database.as_principal(principal_id) as connection:
            row = (await connection.execute(_FIND_COMMAND, {"id": command_id})).mappings().first()
        return None if row is None else _stored(command_id, row)

    async def tasks(self, principal_id: str, *, limit: int = 50, wanted: QueueFilter = EVERYTHING) -> list[ReviewTask]:
        """Return the reviews that wait for this principal, most urgent first, at most 500 (R7).

        Raises:
            InvalidField: `wanted.after` is no task's cursor.
        """
        async with self._database.as_principal(principal_id) as connection:
            return await list_tasks(connection, wanted, limit)

    async def difference(
        self, principal_id: str, experience_id: str, *, from_revision: int, to_revision: int
    ) -> DraftDifference:
        """Return what differs between two revisions that the caller may see, field by field (R7).

        Raises:
            UnknownExperience: Nothing of the experience can be seen.
            InvalidField: It has no revision of that number.
        """
        async with self._database.as_principal(principal_id) as connection:
            if not is_id(experience_id):
                raise UnknownExperience("There is no such experience in your scope.", field="experience_id")
            await require_experience(connection, experience_id)
            before = await require_revision(connection, experience_id, from_revision, field="from")
            after = await require_revision(connection, experience_id, to_revision, field="to")
        return DraftDifference(
            from_revision=from_revision, to_revision=to_revision, changes=draft_difference(before, after)
        )

    async def view(self, principal_id: str, experience_id: str) -> ExperienceView:
        """Return an experience with its revisions, as far as the caller may see them.

        Raises:
            UnknownExperience: Nothing of it can be seen.
        """
        async with self._database.as_principal(principal_id) as connection:
            found = await connection.execute(text(VIEW), {"id": experience_id if is_id(experience_id) else None})
            row = found.mappings().first()
            if row is None:
                raise UnknownExperience("There is no such experience in your scope.", field="experience_id")
            revisions = await connection.execute(
                text(
                    "SELECT number, state, digest, content, author_id, published_at FROM revisions"
                    " WHERE experience_id = CAST(:id AS uuid) ORDER BY number"
                ),
                {"id": experience_id},
            )
            return ExperienceView(
                **{name: row[name] for name in row if name != "projected_revision"},
                searchable=not row["suspended"]
                and row["current_revision"] is not None
                and row["current_revision"] == row["projected_revision"],
                revisions=tuple(revision_of(revision) for revision in revisions.mappings()),
                history=await read_history(connection, experience_id),
                admission=await read_admission(connection, experience_id, row["revision"]),
            )

    async def _command(
        self,
        connection: AsyncConnection,
        principal_id: str,
        command_id: str,
        experience_id: str,
        kind: str,
        content: dict[str, Any],
    ) -> Stored | None:
        """Store the command; return its standing when it was stored before, None when it is new."""
        values = {
            "id": command_id,
            "experience_id": experience_id,
            "kind": kind,
            "content": json.dumps(content),
            "digest": digest([principal_id, experience_id, kind, content]),
            "issued_by": principal_id,
        }
        if (await connection.execute(_COMMAND, values)).rowcount:
            return None
        row = (await connection.execute(_FIND_COMMAND, values)).mappings().first()
        if row is None or row["digest"] != values["digest"]:
            raise IdempotencyConflict("This id was used before with other content.", field="command_id")
        return _stored(command_id, row)


def _stored(command_id: str, row: RowMapping) -> Stored:
    return Stored(
        event_id=command_id,
        state=row["state"],
        outcome=row["outcome"],
        field=row["refused_field"],
        accepted=row["refused_accepted"],
    )
