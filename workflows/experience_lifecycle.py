"""The lifecycle of one experience: `experience/<id>`.

Postgres is the record and the workflow is thin: it holds a snapshot of ids and labels, waits for decisions
(updates), commands (signals) and deadlines, and lets one activity at a time change the record. Whatever it
forgets it can load again.
"""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.lifecycle import LifecycleActivities
    from contracts import limits
    from contracts.lifecycle import CLOSED
    from contracts.review import (
        ChangeKind,
        CommandMessage,
        CommandRequest,
        DecisionMessage,
        DecisionOutcome,
        DecisionRequest,
        LifecycleStart,
        Reminder,
        Snapshot,
    )
    from workflows.operator_view import show_experience
    from workflows.options import MUST_HAPPEN, RECORD_TIMEOUT

REFUSALS_SHOWN = 5
"""Newest refused commands that operators see."""


@workflow.defn
class ExperienceLifecycle:
    """Takes an experience from proposal to its end."""

    @workflow.init
    def __init__(self, start: LifecycleStart) -> None:
        self._experience_id = start.experience_id
        self._snapshot = start.snapshot
        self._seen = list(start.seen)
        self._waiting = list(start.waiting)
        self._refused: list[str] = []
        self._turn = asyncio.Lock()
        self._should_roll_over = False
        self._missing: ApplicationError | None = None

    @workflow.run
    async def run(self, start: LifecycleStart) -> Snapshot:  # noqa: ARG002 - taken by __init__, as Temporal asks
        """Follow the experience until it is rejected, retired or superseded; a reinstatement starts the next run."""
        if self._snapshot is None:
            await self._load()
        else:
            self._take(self._snapshot)
        while not await self._has_ended():
            await self._wait_for_work()
            await self._apply_commands()
            if self._rolls_over() and not self._is_finished():
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(self._carried_over())
        return self._known()

    @workflow.update(description="Record a reviewer's decision; answered when it is in the record")
    async def decide(self, decision: DecisionMessage) -> DecisionOutcome:
        """Record a review decision (R7); a repeated id gets its recorded outcome."""
        await workflow.wait_condition(lambda: self._snapshot is not None or self._missing is not None)
        if self._missing is not None:
            raise self._missing
        async with self._turn:
            try:
                record = await workflow.execute_activity_method(
                    LifecycleActivities.record_decision,
                    DecisionRequest(experience_id=self._experience_id, decision=decision),
                    start_to_close_timeout=RECORD_TIMEOUT,
                    retry_policy=MUST_HAPPEN,
                    summary=f"{decision.verdict} at {decision.stage}",
                )
            except ActivityError as error:
                raise _cause(error) from error
            self._remember(decision.decision_id)
            self._take(record.snapshot)
            return DecisionOutcome(
                stage=record.snapshot.stage, revision=record.snapshot.revision, duplicate=record.duplicate
            )

    @decide.validator
    def _check_decision(self, decision: DecisionMessage) -> None:
        """Refuse early, and free of history, what the record would refuse anyway.

        Only at rest: while a step is on its way, the record may be ahead of what is known here.
        """
        if not _is_id(decision.decision_id):
            raise _refusal("UnknownCommand", "No such decision was recorded.", "decision_id", "its recorded id")
        known = self._snapshot
        is_at_rest = not self._turn.locked() and not self._waiting
        if known is None or not is_at_rest or decision.decision_id in self._seen:
            return
        if known.stage in CLOSED:
            raise _refusal("LifecycleClosed", f"The experience is {known.stage}.", "stage", "nothing any more")
        if decision.stage != known.stage:
            raise _refusal("StaleStage", f"The experience is at {known.stage}.", "stage", known.stage)
        if decision.digest != known.digest:
            raise _refusal("StaleDigest", "The text changed since it was read.", "digest", known.digest)

    # Signals take whatever arguments come: one that didn't fit would fail every later task of the workflow.

    @workflow.signal(description="A returned draft was written anew; carries the command's id")
    def resubmit(self, *sent: object) -> None:
        """Take a resubmission into the queue (R7)."""
        self._queue(ChangeKind.RESUBMIT, sent)

    @workflow.signal(description="Correct the published revision; carries the command's id")
    def correct(self, *sent: object) -> None:
        """Take a correction into the queue (R10)."""
        self._queue(ChangeKind.CORRECT, sent)

    @workflow.signal(description="Retire the published revision; carries the command's id")
    def retire(self, *sent: object) -> None:
        """Take a retirement into the queue (R10)."""
        self._queue(ChangeKind.RETIRE, sent)

    @workflow.signal(description="Another experience takes over; carries the command's id")
    def supersede(self, *sent: object) -> None:
        """Take a supersession into the queue (R10)."""
        self._queue(ChangeKind.SUPERSEDE, sent)

    @workflow.signal(description="A reviewer edits the draft under review; carries the command's id")
    def revise(self, *sent: object) -> None:
        """Take a reviewer's edit into the queue (R7)."""
        self._queue(ChangeKind.REVISE, sent)

    @workflow.signal(description="Bring a retired experience back; carries the command's id, and starts a run anew")
    def reinstate(self, *sent: object) -> None:
        """Take a reinstatement into the queue (R10); it comes with the start, since retirement ended the last run."""
        self._queue(ChangeKind.REINSTATE, sent)

    @workflow.signal(description="Continue as new at the next quiet moment")
    def roll_over(self, *_sent: object) -> None:
        """Ask for continue-as-new, for instance after a deployment."""
        self._should_roll_over = True

    @workflow.query(description="Where the experience stands")
    def standing(self) -> Snapshot | None:
        """Return the snapshot; None before it was loaded."""
        return self._snapshot

    async def _load(self) -> None:
        try:
            self._take(
                await workflow.execute_activity_method(
                    LifecycleActivities.load_experience,
                    self._experience_id,
                    start_to_close_timeout=RECORD_TIMEOUT,
                    retry_policy=MUST_HAPPEN,
                    summary="load the experience",
                )
            )
        except ActivityError as error:
            self._missing = _cause(error)  # those who wait for a decision are told, before the workflow fails
            await workflow.wait_condition(workflow.all_handlers_finished)
            raise

    async def _has_ended(self) -> bool:
        """Whether nothing is left to do; a command that comes while the last handlers finish is still taken."""
        if not self._is_finished():
            return False
        await workflow.wait_condition(lambda: bool(self._waiting) or workflow.all_handlers_finished())
        return not self._waiting

    def _queue(self, kind: ChangeKind, sent: tuple[object, ...]) -> None:
        first = sent[0] if len(sent) == 1 else None
        command_id = first.get("command_id") if isinstance(first, dict) else None
        if isinstance(command_id, str) and _is_id(command_id):
            self._waiting.append(CommandMessage(command_id=command_id))
            return
        workflow.logger.warning("a %s signal carries no command id and is ignored", kind.value)
        self._refuse(f"a {kind.value} signal without a command id")
        if self._snapshot is not None:
            self._take(self._snapshot)

    async def _wait_for_work(self) -> None:
        """Return when a command waits, the lifecycle ends or rolls over, or a deadline has passed and is recorded."""
        known = self._known()
        remaining = None if known.due_at is None or known.escalated else known.due_at - workflow.now()
        try:
            await workflow.wait_condition(
                lambda: bool(self._waiting) or self._is_finished() or self._rolls_over() or self._snapshot != known,
                timeout=None if remaining is None else max(remaining, timedelta()),
                timeout_summary="escalation" if known.reminded else "review deadline",
            )
        except TimeoutError:
            await self._remind(known)

    async def _remind(self, known: Snapshot) -> None:
        async with self._turn:
            if self._snapshot != known:
                return  # a decision came first
            level = "escalate" if known.reminded else "remind"
            self._take(
                await workflow.execute_activity_method(
                    LifecycleActivities.record_reminder,
                    Reminder(
                        experience_id=self._experience_id, stage=known.stage, revision=known.revision, level=level
                    ),
                    start_to_close_timeout=RECORD_TIMEOUT,
                    retry_policy=MUST_HAPPEN,
                    summary=f"{level}: {known.stage} is overdue",
                )
            )

    async def _apply_commands(self) -> None:
        while self._waiting:
            async with self._turn:
                command = self._waiting[0]
                if command.command_id not in self._seen:
                    outcome = await workflow.execute_activity_method(
                        LifecycleActivities.apply_command,
                        CommandRequest(experience_id=self._experience_id, command=command),
                        start_to_close_timeout=RECORD_TIMEOUT,
                        retry_policy=MUST_HAPPEN,
                        summary=f"apply command {command.command_id}",
                    )
                    self._remember(command.command_id)
                    if outcome.refused:
                        self._refuse(f"{command.command_id}: {outcome.refused}")
                    self._waiting.pop(0)
                    self._take(outcome.snapshot or self._known())
                else:
                    self._waiting.pop(0)

    def _take(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        show_experience(snapshot, waiting=len(self._waiting), refused=self._refused)

    def _known(self) -> Snapshot:
        if self._snapshot is None:
            raise ApplicationError("the experience is not loaded yet", type="NotLoaded")
        return self._snapshot

    def _remember(self, command_id: str) -> None:
        self._seen = [*self._seen, command_id][-limits.SEEN_COMMANDS :]

    def _refuse(self, line: str) -> None:
        self._refused = [*self._refused, line][-REFUSALS_SHOWN:]

    def _is_finished(self) -> bool:
        return self._snapshot is not None and self._snapshot.stage in CLOSED and not self._waiting

    def _rolls_over(self) -> bool:
        return self._should_roll_over or workflow.info().is_continue_as_new_suggested()

    def _carried_over(self) -> LifecycleStart:
        return LifecycleStart(
            experience_id=self._experience_id,
            snapshot=self._snapshot,
            seen=tuple(self._seen),
            waiting=tuple(self._waiting),
        )


def _refusal(type_: str, message: str, field: str, accepted: str) -> ApplicationError:
    return ApplicationError(message, {"field": field, "accepted": accepted}, type=type_, non_retryable=True)


def _cause(error: ActivityError) -> ApplicationError:
    """Return the refusal itself, under its own type."""
    return error.cause if isinstance(error.cause, ApplicationError) else ApplicationError(str(error))


def _is_id(value: str) -> bool:
    """Whether `value` can be the id of a record; anything else would make Postgres choke, attempt after attempt."""
    try:
        return str(uuid.UUID(value)) == value
    except ValueError:
        return False
