"""Who works on a review: one person at a time, for a time (R7)."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from activities.records.experience_rows import require_experience
from activities.records.ids import is_id
from activities.records.review_history import read_claim
from activities.records.review_queue import MAY_REVIEW
from contracts import limits
from contracts.errors import NotReviewer, ReviewClaimed, StaleStage, UnknownExperience
from contracts.lifecycle import REVIEWED
from contracts.review_sheet import ClaimView

_STANDING = text("SELECT stage, revision FROM experiences WHERE id = CAST(:id AS uuid)")
_CLAIM = text("""
INSERT INTO review_claims (experience_id, revision, stage, claimed_by, claimed_until)
VALUES (CAST(:id AS uuid), :revision, :stage, :who, clock_timestamp() + :lasts)
ON CONFLICT (experience_id) DO UPDATE
   SET revision = excluded.revision, stage = excluded.stage, claimed_by = excluded.claimed_by,
       claimed_until = excluded.claimed_until,
       claimed_at = CASE WHEN review_claims.claimed_by = excluded.claimed_by
                          AND review_claims.claimed_until > clock_timestamp()
                         THEN review_claims.claimed_at ELSE clock_timestamp() END
 WHERE review_claims.claimed_by = excluded.claimed_by OR review_claims.claimed_until <= clock_timestamp()
    OR (review_claims.revision, review_claims.stage) <> (excluded.revision, excluded.stage)
""")
_RELEASE = text("""
UPDATE review_claims SET claimed_until = clock_timestamp()
 WHERE experience_id = CAST(:id AS uuid) AND claimed_by = :who AND claimed_until > clock_timestamp()
""")
_OTHERS = text("""
SELECT claimed_by, claimed_until FROM review_claims
 WHERE experience_id = CAST(:id AS uuid) AND revision = :revision AND stage = :stage AND claimed_by <> :who
   AND claimed_until > clock_timestamp()
""")


async def require_unclaimed(connection: AsyncConnection, row: RowMapping, reviewer_id: str) -> None:
    """Refuse a decision on a review that somebody else has claimed.

    Args:
        connection: The transaction that records the decision.
        row: The locked experience.
        reviewer_id: Who decides.

    Raises:
        ReviewClaimed: Somebody else works on it; says until when.
    """
    values = {"id": row["id"], "revision": row["revision"], "stage": row["stage"], "who": reviewer_id}
    claim = (await connection.execute(_OTHERS, values)).mappings().first()
    if claim is not None:
        raise _claimed(claim)


def _claimed(claim: RowMapping) -> ReviewClaimed:
    until = claim["claimed_until"].astimezone(UTC).isoformat(timespec="seconds")
    return ReviewClaimed(
        f"{claim['claimed_by']} works on this review until {until}.",
        field="experience_id",
        accepted="their decision, a release, or yours after that time",
    )


class ReviewClaims:
    """Claims and releases of reviews.

    Args:
        database: The record.
        lasts: How long a claim holds unless it is renewed or released.
    """

    def __init__(self, database: Database, *, lasts: timedelta = limits.REVIEW_CLAIM) -> None:
        self._database = database
        self._lasts = lasts

    async def claim(self, principal_id: str, experience_id: str) -> ClaimView:
        """Make the review, as it stands, the caller's to work on for a time; the holder's own claim is renewed.

        The claim is for this revision at this stage, and ends with either.

        Raises:
            UnknownExperience: It can't be seen.
            StaleStage: It waits for no review.
            NotReviewer: It doesn't wait for this person: the role lacks, or it wrote or reviewed the draft.
            ReviewClaimed: Somebody else works on it; says until when.
        """
        async with self._database.as_principal(principal_id) as connection:
            values = await _standing(connection, principal_id, experience_id)
            if values["stage"] not in REVIEWED:
                raise StaleStage(
                    f"The experience is at {values['stage']}.", field="experience_id", accepted=", ".join(REVIEWED)
                )
            if (await connection.execute(text(MAY_REVIEW), values)).first() is None:
                raise NotReviewer(
                    "This review doesn't wait for you.",
                    field="experience_id",
                    accepted="a review that the queue lists for you",
                )
            # A claim that ends in between is either still another's here, or free by the next attempt.
            await connection.execute(_CLAIM, {**values, "lasts": self._lasts})
            other = (await connection.execute(_OTHERS, values)).mappings().first()
            if other is not None:
                raise _claimed(other)
            claim = await read_claim(connection, experience_id)
        if claim is None:
            raise StaleStage("The review moved on meanwhile.", field="experience_id", accepted="another look at it")
        return claim

    async def release(self, principal_id: str, experience_id: str) -> ClaimView | None:
        """Give the caller's claim back; return whose claim stands afterwards, None when nobody's does.

        Raises:
            UnknownExperience: It can't be seen.
        """
        async with self._database.as_principal(principal_id) as connection:
            await connection.execute(_RELEASE, await _standing(connection, principal_id, experience_id))
            return await read_claim(connection, experience_id)


async def _standing(connection: AsyncConnection, principal_id: str, experience_id: str) -> dict[str, Any]:
    if not is_id(experience_id):
        raise UnknownExperience("There is no such experience in your scope.", field="experience_id")
    await require_experience(connection, experience_id)
    row = (await connection.execute(_STANDING, {"id": experience_id})).mappings().one()
    return {"id": experience_id, "who": principal_id, **row}
