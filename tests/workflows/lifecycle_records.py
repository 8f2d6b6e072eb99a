"""`LifecycleRecords` in memory: the rules of the lifecycle table, without Postgres."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio import activity

from contracts import limits
from contracts.errors import (
    CaseloreError,
    NotReviewer,
    StaleDigest,
    StaleStage,
    UnknownCommand,
    UnknownExperience,
)
from contracts.lifecycle import RESTS, REVIEWED, Event, Stage, check_apart, reviewer_role, transition
from contracts.review import CommandMessage, CommandOutcome, DecisionMessage, Reminder, Snapshot

ROLES = {"curator": {"cora", "carl"}, "owner": {"olga", "oleg", "carl"}}
"""Carl may be either, but not both of one revision."""


@dataclass
class Standing:
    """One experience."""

    snapshot: Snapshot
    proposer: str
    authors: list[str]
    reviewers: list[str] = field(default_factory=list)
    decisions: dict[str, DecisionMessage] = field(default_factory=dict)


@dataclass
class Command:
    """A stored command and what became of it."""

    kind: Event
    issued_by: str
    suspend: bool = False
    state: str = "pending"
    refused: str = ""
    tries: int = 0


def activity_time() -> datetime:
    """Return the time on the server's clock, which time skipping moves."""
    return activity.info().current_attempt_scheduled_time


def machine_time() -> datetime:
    """Return the machine's time."""
    return datetime.now(UTC)


class LifecycleMemory:
    """`contracts.ports.LifecycleRecords`, with ways to hold it up and make it fail."""

    def __init__(
        self,
        *,
        deadline: timedelta = limits.REVIEW_DEADLINE,
        escalation: timedelta = limits.ESCALATION_AFTER,
        clock: Callable[[], datetime] = activity_time,
    ) -> None:
        self.experiences: dict[str, Standing] = {}
        self.commands: dict[str, Command] = {}
        self.reminders: list[Reminder] = []
        self.writes: list[str] = []
        """What changed, in order: decisions, commands and reminders that were taken."""
        self.failures: list[Exception] = []
        """Raised by the next calls, one each."""
        self.calls = 0
        self._gate: asyncio.Semaphore | None = None
        self._loses_answer = False
        self._deadline = deadline
        self._escalation = escalation
        self._clock = clock

    def propose(self, *, author: str = "ann", domain: str = "data", stage: Stage = Stage.CURATOR_REVIEW) -> str:
        """Add an experience and return its id."""
        experience_id = str(uuid.uuid4())
        snapshot = Snapshot(
            experience_id=experience_id,
            tenant_id="acme",
            domain_id=domain,
            stage=stage,
            revision=1,
            digest=f"{1:064x}",
            rests_at=stage if stage in RESTS else Stage.REJECTED,
            due_at=machine_time() + self._deadline if stage in REVIEWED else None,
        )
        self.experiences[experience_id] = Standing(snapshot, author, [author])
        return experience_id

    def store(self, kind: Event, *, by: str = "ann", suspend: bool = False) -> str:
        """Store a command or decision and return its id."""
        command_id = str(uuid.uuid4())
        self.commands[command_id] = Command(kind, by, suspend)
        return command_id

    async def load(self, experience_id: str) -> Snapshot:
        """See `contracts.ports.LifecycleRecords.load`."""
        await self._enter()
        return self._standing(experience_id).snapshot

    async def record_decision(self, experience_id: str, decision: DecisionMessage) -> tuple[Snapshot, bool]:
        """See `contracts.ports.LifecycleRecords.record_decision`."""
        await self._enter()
        standing = self._standing(experience_id)
        if decision.decision_id in standing.decisions:
            return standing.snapshot, True
        if decision.decision_id not in self.commands:
            raise UnknownCommand("No such decision was recorded.", field="decision_id")
        self._check(standing, decision)
        at = standing.snapshot
        to = transition(at.stage, decision.verdict, rests_at=_rests_at(at))
        standing.decisions[decision.decision_id] = decision
        standing.reviewers.append(decision.reviewer_id)
        published = decision.verdict is Event.ACCEPT and to is Stage.PUBLISHED
        self._move(
            standing,
            to,
            current_revision=at.revision if published else at.current_revision,
            suspended=at.suspended and decision.verdict is not Event.REJECT and not published,
            rests_at=Stage.PUBLISHED if published else at.rests_at,
        )
        self.commands[decision.decision_id].state = "applied"
        self.writes.append(decision.decision_id)
        return standing.snapshot, False

    async def apply_command(self, experience_id: str, command: CommandMessage) -> CommandOutcome:
        """See `contracts.ports.LifecycleRecords.apply_command`."""
        await self._enter()
        stored = self.commands.get(command.command_id)
        if stored is None:
            return CommandOutcome(command_id=command.command_id, refused="UnknownCommand")
        stored.tries += 1
        standing = self._standing(experience_id)
        if stored.state == "pending":
            try:
                self._apply(standing, stored)
            except CaseloreError as refusal:
                stored.state, stored.refused = "refused", refusal.type
            else:
                stored.state = "applied"
                self.writes.append(command.command_id)
        if self._loses_answer:
            self._loses_answer = False
            raise ConnectionError("the worker died after the commit")
        if stored.state == "refused":
            return CommandOutcome(command_id=command.command_id, refused=stored.refused)
        return CommandOutcome(command_id=command.command_id, snapshot=standing.snapshot)

    async def record_reminder(self, reminder: Reminder) -> Snapshot:
        """See `contracts.ports.LifecycleRecords.record_reminder`."""
        await self._enter()
        standing = self._standing(reminder.experience_id)
        at = standing.snapshot
        flag = "reminded" if reminder.level == "remind" else "escalated"
        if (at.stage, at.revision) == (reminder.stage, reminder.revision) and not getattr(at, flag):
            due_at = self._clock() + self._escalation if reminder.level == "remind" else None
            standing.snapshot = at.model_copy(update={flag: True, "due_at": due_at})
            self.reminders.append(reminder)
            self.writes.append(reminder.level)
        return standing.snapshot

    def hold(self) -> None:
        """Make every call wait until it is let go."""
        self._gate = asyncio.Semaphore(0)

    def let_one_go(self) -> None:
        """Let one of the held calls go on."""
        assert self._gate is not None
        self._gate.release()

    def let_go(self) -> None:
        """Let all calls go on, those to come included."""
        gate, self._gate = self._gate, None
        if gate is not None:
            for _ in range(100):
                gate.release()

    def lose_answer(self) -> None:
        """Make the next command be applied without its workflow hearing of it; the activity is tried again."""
        self._loses_answer = True

    async def _enter(self) -> None:
        self.calls += 1
        if self._gate is not None:
            await self._gate.acquire()
        if self.failures:
            raise self.failures.pop(0)

    def _standing(self, experience_id: str) -> Standing:
        if experience_id not in self.experiences:
            raise UnknownExperience("There is no such experience.", field="experience_id")
        return self.experiences[experience_id]

    def _check(self, standing: Standing, decision: DecisionMessage) -> None:
        at = standing.snapshot
        if at.stage not in REVIEWED or decision.stage is not at.stage:
            transition(at.stage, decision.verdict, rests_at=_rests_at(at))
            raise StaleStage(f"The experience is at {at.stage}.", field="stage", accepted=at.stage)
        if decision.digest != at.digest:
            raise StaleDigest("The text changed since it was read.", field="digest", accepted=at.digest)
        check_apart(decision.reviewer_id, None, authors=standing.authors, reviewers=standing.reviewers)
        if decision.reviewer_id not in ROLES[reviewer_role(at.stage)]:
            raise NotReviewer(f"{at.stage} waits for another.", field="reviewer", accepted=reviewer_role(at.stage))

    def _apply(self, standing: Standing, command: Command) -> None:
        at = standing.snapshot
        to = transition(at.stage, command.kind, rests_at=_rests_at(at))
        changes: dict[str, Any] = {}
        if command.kind in (Event.RETIRE, Event.SUPERSEDE):
            changes = {"current_revision": None, "suspended": False, "rests_at": Stage.RETIRED}
        else:
            standing.authors = [standing.proposer, command.issued_by]
            standing.reviewers = []
            number = at.revision + 1
            changes = {
                "revision": number,
                "digest": f"{number:064x}",
                "suspended": at.suspended or command.suspend,
            }
        self._move(standing, to, **changes)

    def _move(self, standing: Standing, to: Stage, **changes: Any) -> None:
        standing.snapshot = standing.snapshot.model_copy(
            update={
                "stage": to,
                "due_at": self._clock() + self._deadline if to in REVIEWED else None,
                "reminded": False,
                "escalated": False,
                **changes,
            }
        )


def _rests_at(at: Snapshot) -> Stage:
    assert at.rests_at is not None
    return at.rests_at
