"""Who may ask for which change (R7, R10): looked at when it is asked for, and again when it is applied."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.delegations import roles_held
from contracts.errors import NotReviewer, UnknownExperience
from contracts.labels import DomainRole
from contracts.review import ChangeCommand, ChangeKind

_EXPERIENCE = text("""
SELECT e.domain_id, e.proposer_id,
       (SELECT r.domain_id FROM revisions r WHERE r.experience_id = e.id AND r.number = e.current_revision) AS published
  FROM experiences e WHERE e.id = CAST(:id AS uuid)
""")


async def require_right(connection: AsyncConnection, principal_id: str, command: ChangeCommand) -> None:
    """Refuse a change that its requester has no right to.

    Whoever sees an experience may ask for a correction, resubmission or reinstatement: these only start reviews. A
    change that hides published knowledge, or edits in a reviewer's place, needs a role in the domain, of one's own
    or lent: the domain that the published revision says, so that a draft under another domain gives nobody a say.

    Raises:
        UnknownExperience: There is none.
        NotReviewer: The role that it takes is missing.
    """
    row = (await connection.execute(_EXPERIENCE, {"id": command.experience_id})).mappings().first()
    if row is None:
        raise UnknownExperience("There is no such experience in your scope.", field="experience_id")
    hides = command.kind is ChangeKind.CORRECT and command.suspend
    if hides and principal_id == row["proposer_id"]:
        return
    if command.kind is ChangeKind.SUPERSEDE:
        roles = (DomainRole.OWNER,)
    elif hides or command.kind in (ChangeKind.RETIRE, ChangeKind.REVISE):
        roles = tuple(DomainRole)
    else:
        return
    domain = row["domain_id"] if command.kind is ChangeKind.REVISE else row["published"] or row["domain_id"]
    if not await roles_held(connection, principal_id, domain, *roles):
        who = " or ".join(roles)
        raise NotReviewer(
            f"Only a {who} of {domain!r} may do this.",
            field="suspend" if hides else "experience_id",
            accepted="a correction that suspends nothing" if hides else f"a {who} of the domain",
        )
