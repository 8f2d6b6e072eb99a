"""What is about to be published is what two people accepted, proven from the record's own rows (R7, R8).

The stage says that two reviews were passed; this says of which text. Whatever put another row in between the two
acceptances, or changed a text after it was read, nothing is published.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from contracts.articles import draft_of
from contracts.errors import SamePerson, StaleDigest
from contracts.lifecycle import REVIEWED

CHAIN = """
WITH RECURSIVE chain AS (
  SELECT experience_id, number, trimmed_from FROM revisions
   WHERE experience_id = CAST(:id AS uuid) AND number = :revision
  UNION ALL
  SELECT r.experience_id, r.number, r.trimmed_from FROM revisions r
    JOIN chain c ON r.experience_id = c.experience_id AND r.number = c.trimmed_from
)
"""
"""A revision with those whose acceptances made it, by leaving units out."""
_TEXTS = text(f"""{CHAIN}
SELECT r.number, r.digest, r.content, r.author_id FROM revisions r JOIN chain USING (experience_id, number)
 ORDER BY r.number
""")
_ACCEPTED = text(f"""{CHAIN}
SELECT d.revision, d.stage, d.digest, d.reviewer_id, d.on_behalf_of, d.declined_units
  FROM review_decisions d JOIN chain c ON c.experience_id = d.experience_id AND c.number = d.revision
 WHERE d.verdict = 'accept'
""")


async def require_reviewed(connection: AsyncConnection, experience_id: str, revision: int) -> None:
    """Refuse a publication of anything but a text that a curator and an owner accepted.

    Each text is read and hashed again; each acceptance must be of that hash; a trimmed text must be exactly the one
    before it without the units that its acceptance declined.

    Raises:
        StaleDigest: A text is not the accepted one, or an acceptance of it is missing.
        SamePerson: One person accepted twice, or its own text, also by standing in for somebody.
    """
    values = {"id": experience_id, "revision": revision}
    texts = (await connection.execute(_TEXTS, values)).mappings().all()
    accepted = (await connection.execute(_ACCEPTED, values)).mappings().all()
    expected = texts[0]["digest"]
    for row in texts:
        draft = draft_of(row["content"])
        decisions = [each for each in accepted if each["revision"] == row["number"]]
        if not draft.digest() == row["digest"] == expected or any(
            each["digest"] != row["digest"] for each in decisions
        ):
            raise _not_accepted()
        declined = {unit for each in decisions for unit in each["declined_units"]}
        expected = draft.without_units(declined).digest() if row is not texts[-1] else expected
    if sorted(each["stage"] for each in accepted) != sorted(REVIEWED):
        raise _not_accepted()
    people: list[Any] = [who for each in accepted for who in (each["reviewer_id"], each["on_behalf_of"]) if who]
    if len(set(people)) < len(people) or set(people) & {row["author_id"] for row in texts}:
        raise SamePerson("Author, curator and owner must be three people.", field="reviewer")


def _not_accepted() -> StaleDigest:
    return StaleDigest(
        "This is not the text that both reviewers accepted.",
        field="digest",
        accepted="a new draft that goes through both reviews",
    )
