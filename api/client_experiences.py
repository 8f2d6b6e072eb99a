"""The client's calls on experiences, reviews and changes."""

from __future__ import annotations

import asyncio
import time

from api.client_transport import ClientTransport
from api.problems import recorded_refusal
from contracts.experience import Proposal
from contracts.review import ChangeCommand, ReviewDecision
from contracts.views import CommandView, ExperienceView

_LOOK_EVERY = 0.25


class ExperienceCalls(ClientTransport):
    """Proposals, reviews and changes (R5, R7, R10)."""

    async def propose(self, proposal: Proposal) -> CommandView:
        """Propose an experience from a recorded case result."""
        return await self.call("POST", "/v1/experiences", CommandView, body=proposal)

    async def get_experience(self, experience_id: str) -> ExperienceView:
        """Return where an experience stands, with its revisions."""
        return await self.call("GET", f"/v1/experiences/{experience_id}", ExperienceView)

    async def decide(self, decision: ReviewDecision, *, wait: float = 0.0) -> CommandView:
        """Decide a review.

        Args:
            decision: With the stage and digest of the task that was read.
            wait: Seconds to look on when no worker answered in time; 0 returns the pending command.

        Raises:
            CaseloreError: The refusal.
        """
        view = await self.call("POST", "/v1/reviews", CommandView, body=decision)
        return await self._followed(view, wait)

    async def change(self, command: ChangeCommand, *, wait: float = 0.0) -> CommandView:
        """Resubmit, correct, revise, retire, supersede or reinstate.

        Args:
            command: What to do, and why.
            wait: Seconds to wait for its effect; 0 returns at once.

        Raises:
            CaseloreError: The refusal.
        """
        # The server holds a part of the wait; the rest is asked for in steps, within one attempt's time limit.
        held = min(wait, 10.0)
        began = time.monotonic()
        view = await self.call("POST", "/v1/changes", CommandView, body=command, query={"wait": held or None})
        return await self._followed(view, wait - (time.monotonic() - began))

    async def get_command(self, command_id: str) -> CommandView:
        """Return what became of a decision or change."""
        return await self.call("GET", f"/v1/commands/{command_id}", CommandView)

    async def _followed(self, view: CommandView, wait: float) -> CommandView:
        deadline = time.monotonic() + wait
        while view.state == "pending" and time.monotonic() < deadline:
            await asyncio.sleep(_LOOK_EVERY)
            view = await self.get_command(view.command_id)
        if view.state == "refused":
            raise recorded_refusal(view.outcome, view.field, view.accepted)
        return view
