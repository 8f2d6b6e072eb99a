"""The Temporal client's side: delivers lifecycle events and starts retrievals. No workflow code here."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

from temporalio.client import Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.client import WorkflowUpdateRPCTimeoutOrCancelledError as UpdateTimeoutError
from temporalio.common import TypedSearchAttributes, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from activities.refusals import from_application_error
from contracts.errors import CaseloreError, DeliveryPending, LifecycleClosed
from contracts.retrieval import RetrievalReceipt
from contracts.review import CommandMessage, DecisionMessage, DecisionOutcome, LifecycleStart
from workflows.experience_lifecycle import ExperienceLifecycle
from workflows.operator_view import first_attributes
from workflows.options import RETRIEVAL_TIMEOUT
from workflows.outbox_projector import PROJECTOR_ID, OutboxProjector
from workflows.retrieval import Retrieval


class TemporalGateway:
    """`contracts.ports.LifecycleGateway` on a Temporal client, and the start of retrievals.

    Args:
        client: With the pydantic data converter.
        lifecycle_queue: Task queue of the lifecycle worker.
        retrieval_queue: Task queue of the retrieval worker, in this process for eager start.
        patience: How long a delivery may take before it is left to the projector.
    """

    def __init__(
        self,
        client: Client,
        *,
        lifecycle_queue: str,
        retrieval_queue: str,
        patience: timedelta = timedelta(seconds=5),
    ) -> None:
        self._client = client
        self._lifecycle_queue = lifecycle_queue
        self._retrieval_queue = retrieval_queue
        self._patience = patience

    async def start(self, experience_id: str, *, domain_id: str, tenant_id: str) -> str:
        """See `contracts.ports.LifecycleGateway.start`."""
        await self._start(
            experience_id,
            search_attributes=first_attributes(domain_id=domain_id, tenant_id=tenant_id),
            static_summary=f"experience in {domain_id}, from tenant {tenant_id}",
        )
        return "started"

    async def decide(self, experience_id: str, decision: DecisionMessage) -> DecisionOutcome:
        """See `contracts.ports.LifecycleGateway.decide`."""
        try:
            return await self._decide(experience_id, decision)
        except LifecycleClosed:
            await self._start(experience_id)
            return await self._decide(experience_id, decision)

    async def signal(self, experience_id: str, kind: str, command: CommandMessage) -> str:
        """See `contracts.ports.LifecycleGateway.signal`."""
        try:
            await self._signal(experience_id, kind, command)
        except LifecycleClosed:
            await self._start(experience_id)
            await self._signal(experience_id, kind, command)
        return "signalled"

    async def _start(
        self,
        experience_id: str,
        *,
        search_attributes: TypedSearchAttributes | None = None,
        static_summary: str | None = None,
    ) -> None:
        """Start a lifecycle that doesn't run.

        One that has ended, or whose history Temporal no longer has, is started again: it loads its record and
        goes on from there, or ends at once. So the record, not Temporal's retention, says what is closed.
        """
        with _translated():
            await self._client.start_workflow(
                ExperienceLifecycle.run,
                LifecycleStart(experience_id=experience_id),
                id=f"experience/{experience_id}",
                task_queue=self._lifecycle_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                search_attributes=search_attributes,
                static_summary=static_summary,
                rpc_timeout=self._patience,
            )

    async def _decide(self, experience_id: str, decision: DecisionMessage) -> DecisionOutcome:
        handle = self._client.get_workflow_handle(f"experience/{experience_id}")
        try:
            with _translated():
                return await handle.execute_update(
                    "decide",
                    decision,
                    id=decision.decision_id,
                    result_type=DecisionOutcome,
                    rpc_timeout=self._patience,
                )
        except WorkflowUpdateFailedError as error:
            if isinstance(error.cause, ApplicationError):
                raise from_application_error(error.cause) from error
            raise

    async def _signal(self, experience_id: str, kind: str, command: CommandMessage) -> None:
        handle = self._client.get_workflow_handle(f"experience/{experience_id}")
        with _translated():
            await handle.signal(kind, command, rpc_timeout=self._patience)

    async def start_projector(self, queue: str) -> None:
        """Make sure that the outbox projector runs; every worker asks for it at its start."""
        with _translated():
            await self._client.start_workflow(
                OutboxProjector.run,
                id=PROJECTOR_ID,
                task_queue=queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                static_summary="Outbox: commands to lifecycles, changes to the index",
            )

    async def retrieve(self, request_id: str) -> RetrievalReceipt:
        """Run the retrieval workflow of a stored request and return its receipt.

        Raises:
            CaseloreError: The retrieval's refusal, under its own type.
            DeliveryPending: No worker answered in time; the stored request can be asked for again.
        """
        try:
            with _translated():
                handle = await self._client.start_workflow(
                    Retrieval.run,
                    request_id,
                    id=f"retrieval/{request_id}",
                    task_queue=self._retrieval_queue,
                    request_eager_start=True,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                    execution_timeout=RETRIEVAL_TIMEOUT,
                )
                return await handle.result()
        except WorkflowFailureError as error:
            raise _refusal_of(error) from error


def _refusal_of(error: WorkflowFailureError) -> CaseloreError:
    cause: BaseException | None = error.cause
    if isinstance(cause, ActivityError):
        cause = cause.cause
    if isinstance(cause, ApplicationError):
        return from_application_error(cause)
    return DeliveryPending("The retrieval did not finish in time.", field="request_id", accepted="ask again")


@contextmanager
def _translated() -> Generator[None]:
    """Turn what Temporal's client raises into our refusals."""
    try:
        yield
    except UpdateTimeoutError as error:
        raise DeliveryPending("No worker answered in time; the request is stored.") from error
    except WorkflowAlreadyStartedError:
        return
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise LifecycleClosed("The lifecycle has ended.", field="stage", accepted="nothing any more") from error
        raise DeliveryPending("Temporal can't be reached; the request is stored.") from error
