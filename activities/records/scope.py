"""The scope differences that owners acknowledge: of a correction, and of a supersession (R10)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from activities.records.experience_rows import require_experience
from activities.records.ids import is_id
from contracts.articles import AnyDraft, draft_of
from contracts.errors import NotPublished, ScopeNotAcknowledged, UnknownExperience
from contracts.scope_difference import ScopeDifference, ScopeRelation, scope_difference

_CURRENT = text("""
SELECT content FROM revisions WHERE experience_id = CAST(:id AS uuid) AND state IN ('current', 'suspended')
""")
_NEWEST = text("""
SELECT r.content FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
 WHERE e.id = CAST(:id AS uuid)
""")


async def scope_difference_of(
    connection: AsyncConnection, experience_id: str, *, declined_units: Sequence[str] = ()
) -> ScopeDifference | None:
    """Return how the newest draft applies against the current revision; None when nothing is current.

    Args:
        connection: The record.
        experience_id: Whose draft it is.
        declined_units: Units that the owner is about to leave out: what is acknowledged is what will be published.

    Raises:
        InvalidField: `declined_units` names what the draft doesn't have, or all that it has.
    """
    before = await _draft(connection, _CURRENT, experience_id)
    after = await _draft(connection, _NEWEST, experience_id)
    if before is None or after is None:
        return None
    return scope_difference(before, after.without_units(declined_units))


async def scope_difference_to(
    connection: AsyncConnection, experience_id: str, successor_id: str
) -> ScopeDifference | None:
    """Return how a successor's current revision applies against this one's; None when one has none."""
    before = await _draft(connection, _CURRENT, experience_id)
    after = await _draft(connection, _CURRENT, successor_id)
    return None if before is None or after is None else scope_difference(before, after)


def require_acknowledged(difference: ScopeDifference | None, acknowledged: str) -> None:
    """Refuse to go on while a difference in scope was not acknowledged as it is now.

    Raises:
        ScopeNotAcknowledged: `accepted` is the digest to send once the difference was read.
    """
    if difference is None or difference.relation is ScopeRelation.SAME or acknowledged == difference.digest:
        return
    raise ScopeNotAcknowledged(
        f"The scope is {difference.relation}: read the difference and acknowledge it.",
        field="acknowledged_scope",
        accepted=difference.digest,
    )


class ScopeTable:
    """Scope differences as the people see them who may see the experiences."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def difference(
        self,
        principal_id: str,
        experience_id: str,
        *,
        superseded_by: str | None = None,
        declined_units: Sequence[str] = (),
    ) -> ScopeDifference:
        """Return the difference of the newest draft, or of the experience that would take over.

        Raises:
            UnknownExperience: One of them can't be seen.
            NotPublished: There is no published text to compare with.
            InvalidField: `declined_units` names what the draft doesn't have, or all that it has.
        """
        async with self._database.as_principal(principal_id) as connection:
            for id_ in filter(None, (experience_id, superseded_by)):
                if not is_id(id_):
                    raise UnknownExperience("There is no such experience in your scope.", field="experience_id")
                await require_experience(connection, id_)
            if superseded_by is None:
                found = await scope_difference_of(connection, experience_id, declined_units=declined_units)
            else:
                found = await scope_difference_to(connection, experience_id, superseded_by)
        if found is None:
            raise NotPublished(
                "There is no published text to compare with.",
                field="experience_id" if superseded_by is None else "superseded_by",
                accepted="published experiences",
            )
        return found


async def _draft(connection: AsyncConnection, query: TextClause, experience_id: str) -> AnyDraft | None:
    content = (await connection.execute(query, {"id": experience_id})).scalar_one_or_none()
    return None if content is None else draft_of(content)
