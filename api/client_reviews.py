"""The client's calls for reviewers: the queue, the page of a review, and claims."""

from __future__ import annotations

from datetime import datetime

from pydantic import TypeAdapter

from api.bodies import Release
from api.client_transport import ClientTransport
from contracts.draft_difference import DraftDifference
from contracts.lifecycle import Stage
from contracts.review_sheet import ClaimView, ReviewSheet
from contracts.views import ClaimedBy, ReviewTask

_TASKS = TypeAdapter(list[ReviewTask])


class ReviewCalls(ClientTransport):
    """What a curator or owner works with (R7)."""

    async def reviews(
        self,
        *,
        domain: str | None = None,
        stage: Stage | None = None,
        due_before: datetime | None = None,
        claimed: ClaimedBy | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> list[ReviewTask]:
        """Return the reviews that wait for the caller, most urgent first.

        Args:
            domain: Of this domain only.
            stage: At this stage only.
            due_before: Due before this time; what is overdue always is.
            claimed: By who works on them.
            limit: Tasks of one page.
            after: The `cursor` of the last task of the page before.
        """
        query = {
            "domain": domain,
            "stage": stage,
            "due_before": None if due_before is None else due_before.isoformat(),
            "claimed": claimed,
            "limit": limit,
            "after": after,
        }
        return await self.call("GET", "/v1/reviews", _TASKS, query=query)

    async def review_sheet(self, experience_id: str) -> ReviewSheet:
        """Return all that the review of an experience needs."""
        return await self.call("GET", f"/v1/reviews/{experience_id}", ReviewSheet)

    async def claim_review(self, experience_id: str) -> ClaimView:
        """Keep a review for the caller for a time; again renews it."""
        return await self.call("POST", f"/v1/reviews/{experience_id}/claim", ClaimView)

    async def release_review(self, experience_id: str) -> Release:
        """Give the caller's claim back; return whose stands then."""
        return await self.call("POST", f"/v1/reviews/{experience_id}/release", Release)

    async def difference(self, experience_id: str, from_revision: int, to_revision: int) -> DraftDifference:
        """Return what differs between two revisions."""
        query = {"from": from_revision, "to": to_revision}
        return await self.call("GET", f"/v1/experiences/{experience_id}/difference", DraftDifference, query=query)
