"""Ports: what activities need from the world. Adapters implement them; only `deploy` wires them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from contracts.candidates import CandidateRecord, CanonicalLookup, Found, Past, Resolution, RetrievalTask
from contracts.errors import CaseloreError
from contracts.index import DenseQuery, Filter, Hit, IndexChange, LexicalQuery, Scope, Stored
from contracts.labels import Collection
from contracts.masking import CaseTexts, Value
from contracts.outbox import OutboxEvent, Topic, Watermark
from contracts.personal_data import PersonalData
from contracts.projection import ProjectionSource
from contracts.rankings import Rankings
from contracts.retrieval import Answer
from contracts.review import (
    CommandMessage,
    CommandOutcome,
    DecisionMessage,
    DecisionOutcome,
    Reminder,
    Snapshot,
)


class Embedder(Protocol):
    """Turns texts into unit vectors. Calls block: run them in a thread."""

    @property
    def model(self) -> str:
        """Stable id of model and weights; part of collection names and payloads."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a unit vector for each text, in order.

        Raises:
            EmbeddingUnavailable: The model failed.
        """
        ...


class SearchIndex(Protocol):
    """One search index with three collections. Async; adapters keep blocking calls off the event loop.

    Every method may raise `IndexUnavailable`.
    """

    async def open(self) -> None:
        """Create what is missing, then check every collection.

        Raises:
            IndexSchemaMismatch: A needed vector or payload index is missing, or of another kind.
        """
        ...

    async def close(self) -> None:
        """Flush and let go of files or connections."""
        ...

    async def apply(self, changes: Sequence[IndexChange]) -> None:
        """Make each change and return when they survive a crash. Repeating a change is harmless."""
        ...

    async def search(
        self,
        collection: Collection,
        query: DenseQuery | LexicalQuery,
        *,
        scope: Scope,
        where: Filter,
        limit: int,
    ) -> list[Hit]:
        """Return the best `limit` hits, best first; equal scores in order of target.

        In `cases` only points of `scope` are searched, whatever `where` says; an empty scope finds nothing (R4).
        """
        ...

    async def stored(self, collection: Collection) -> list[Stored]:
        """Return every point's id and payload, ordered by id."""
        ...

    async def drop(self, collection: Collection) -> None:
        """Remove a collection's content and create it empty."""
        ...

    async def compact(self, collection: Collection) -> None:
        """Return when nothing that was removed or overwritten is left in the index's files (R11).

        Searches go on, or are told that the index is away for a moment.
        """
        ...


class PersonalDataFinder(Protocol):
    """Finds personal data in a text (R6). Calls block for some milliseconds: run them in a thread."""

    def find(self, text: str) -> tuple[PersonalData, ...]:
        """Return every place in order; places don't overlap."""
        ...


class CaseTextRecords(Protocol):
    """A case's texts and the placeholder numbers of its personal data, read as the caller (R4, R6)."""

    async def texts(self, principal_id: str, case_id: str) -> CaseTexts:
        """Return title, written text and newest papers as they are kept.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        ...

    async def numbers(self, principal_id: str, case_id: str, values: Sequence[Value]) -> list[int]:
        """Return the number of each value: the same one always, whoever asks and at once.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        ...


class LifecycleRecords(Protocol):
    """Postgres as the lifecycle sees it. Every write is idempotent by its id."""

    async def load(self, experience_id: str) -> Snapshot:
        """Return where the experience stands.

        Raises:
            UnknownExperience: There is none.
        """
        ...

    async def record_decision(self, experience_id: str, decision: DecisionMessage) -> tuple[Snapshot, bool]:
        """Record a review decision and its transition; publish when the owner accepted (R7, R8).

        One transaction: decision, stage, revision states and the outbox event.

        Returns:
            The new snapshot, and whether the decision had been recorded before.

        Raises:
            StaleStage, StaleDigest, SamePerson, NotReviewer, LifecycleClosed, ReviewClaimed, UnresolvedFindings,
            ScopeNotAcknowledged, InvalidField: Nothing was written.
        """
        ...

    async def apply_command(self, experience_id: str, command: CommandMessage) -> CommandOutcome:
        """Apply a stored command, or record why it was refused (R10). Never raises a refusal."""
        ...

    async def record_reminder(self, reminder: Reminder) -> Snapshot:
        """Record that a deadline passed, once per stage, revision and level (R7)."""
        ...


class Outbox(Protocol):
    """The outbox table: claim with a lease, deliver, mark."""

    async def claim(self, topic: Topic, limit: int, lease: timedelta) -> list[OutboxEvent]:
        """Lease the oldest deliverable events in position order, at most `limit` keys.

        Lifecycle events: one per key, and none while an earlier one of its key is undelivered. Index events: all
        of a key together, and no key that another runner holds.
        """
        ...

    async def claim_one(self, event_id: str, lease: timedelta) -> OutboxEvent | None:
        """Lease one event for inline delivery; None when it isn't this event's turn or it is done."""
        ...

    async def delivered(self, events: Sequence[OutboxEvent], outcome: str) -> None:
        """Mark leased events as done; for index events the watermark moves in the same transaction.

        An event whose lease was lost meanwhile is left to its new holder; an index event of that kind is
        asked for once more, since a late write may have overwritten a newer one (R9).
        """
        ...

    async def refused(self, event: OutboxEvent, refusal: CaseloreError) -> None:
        """Mark an event as done with a refusal, and settle its command as refused, in one transaction."""
        ...

    async def wait(self, at_most: timedelta) -> None:
        """Return when something was added to the outbox, or after `at_most`."""
        ...

    async def postponed(self, event: OutboxEvent, error: str, *, may_die: bool) -> bool:
        """Give a failed event back with backoff; True when it was set aside as dead instead.

        Args:
            event: A leased event.
            error: What went wrong, in a line without case text.
            may_die: Whether `limits.OUTBOX_ATTEMPTS` ends it; false while a service is merely away.
        """
        ...


class LifecycleGateway(Protocol):
    """Delivers outbox events to lifecycle workflows; harmless to repeat."""

    async def start(self, experience_id: str, *, domain_id: str, tenant_id: str) -> str:
        """Start the lifecycle unless it runs; return what happened.

        Args:
            experience_id: Names the workflow.
            domain_id: Shown to operators.
            tenant_id: Shown to operators.

        Raises:
            DeliveryPending: Temporal can't be reached.
        """
        ...

    async def decide(self, experience_id: str, decision: DecisionMessage) -> DecisionOutcome:
        """Send a decision and wait for its outcome.

        Raises:
            CaseloreError: The lifecycle's refusal, under its own type.
            DeliveryPending: No worker answered in time.
        """
        ...

    async def erase(self, erasure_id: str, *, tenant_id: str) -> str:
        """Start an erasure unless it runs; return what happened (R11).

        Raises:
            DeliveryPending: Temporal can't be reached.
        """
        ...

    async def signal(self, experience_id: str, kind: str, command: CommandMessage) -> str:
        """Send a change signal; return what happened.

        A lifecycle that has ended is told too, and settles the command as refused in the record.

        Raises:
            DeliveryPending: Temporal can't be reached.
        """
        ...


class Projections(Protocol):
    """What the indexes should hold, read from Postgres (R9)."""

    async def desired(self, keys: Sequence[str]) -> list[ProjectionSource]:
        """Return the projected state of each `experience/<id>`, `case/<id>` or `article/<id>`, in order."""
        ...

    async def every_key(self) -> list[str]:
        """Return all keys that the indexes should or may hold."""
        ...

    async def announce(self, keys: Sequence[str], *, held: bool = False) -> None:
        """Ask for a fresh projection of each key, through the outbox like any other.

        What is asked for anew is in doubt, so it doesn't count as searchable before it is projected again (R23).

        Args:
            keys: What to project.
            held: Pending at once, so that retrieval reads these keys from the record, but not projected before
                `release`.
        """
        ...

    async def release(self) -> None:
        """Let every held event be projected."""
        ...

    async def record(self, sources: Sequence[ProjectionSource]) -> None:
        """Remember which revision and content hash of each key is in the index."""
        ...

    async def watermarks(self) -> list[Watermark]:
        """Return how far each index has come."""
        ...


class RetrievalRecords(Protocol):
    """Postgres as a retrieval sees it; every read runs under the caller's row-level security (R4, R13)."""

    async def load(self, request_id: str) -> RetrievalTask:
        """Return the stored request with what its caller's identity derives.

        Raises:
            UnknownRetrieval: There is no such request.
        """
        ...

    async def registry(self, task: RetrievalTask, limit: int) -> list[Found]:
        """Return live cases of the same origin, then what people linked, then of the same objects (spec section 3).

        Those of the request and of the case that it is for. Cases of the caller's own tenants that its grants leave
        out come last: whoever resolves them counts them (R15, R21).
        """
        ...

    async def canonical(self, task: RetrievalTask, lookup: CanonicalLookup) -> list[Found]:
        """Return the best full-text matches among current records, best first (R16)."""
        ...

    async def resolve(self, task: RetrievalTask, targets: Sequence[str], others: Sequence[str] = ()) -> Resolution:
        """Return each target as it stands now, checked for state, scope and revision (R10).

        Of `others` it only says which are withdrawn or not permitted.
        """
        ...

    async def seen(self, task: RetrievalTask, targets: Sequence[str]) -> dict[str, CandidateRecord]:
        """Return those of `targets` that the caller may see as current, without what is told beside them."""
        ...

    async def watermarks(self) -> list[Watermark]:
        """Return how far each index has come."""
        ...

    async def save(self, task: RetrievalTask, answer: Answer, rankings: Rankings) -> Answer:
        """Store the answer with its candidates and what it came from; the first one wins and is returned (R20)."""
        ...


class RetrievalHistory(Protocol):
    """Postgres as it was when a retrieval was answered (R20)."""

    async def rankings(self, request_id: str) -> Rankings | None:
        """Return what the routes of a retrieval found; None when that is not kept."""
        ...

    async def as_of(self, task: RetrievalTask, targets: Sequence[str], rankings: Rankings, at: datetime) -> Past:
        """Return each target as it stood when it was looked at, as far as that can be told.

        The numbers in `rankings` tell it; the moment does where none were kept yet.
        """
        ...

    async def load(self, request_id: str) -> RetrievalTask:
        """See `RetrievalRecords.load`."""
        ...


class Clock(Protocol):
    """The time, for code outside workflows."""

    def now(self) -> datetime:
        """Return the current time with zone."""
        ...
