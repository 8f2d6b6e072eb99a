"""The Temporal client's side: delivers lifecycle events and starts retrievals. No workflow code here."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta

import structlog
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
)
from temporalio.client import WorkflowUpdateRPCTimeoutOrCancelledError as UpdateTimeoutError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, ApplicationError, TemporalError
from temporalio.service import RPCError, RPCStatusCode

from activities.refusals import from_application_error
from contracts.errors import CaseloreError, DeliveryPending
from contracts.prepared import PreparedRetrieval
from contracts.retrieval import RetrievalReceipt
from contracts.review import CommandMessage, DecisionMessage, DecisionOutcome, LifecycleStart
from workflows.erasure import Erasure
from workflows.experience_lifecycle import ExperienceLifecycle
from workflows.operator_view import first_attributes, first_summary, page_link, page_memo, tenant_attribute
from workflows.options import RETRIEVAL_TIMEOUT
from workflows.outbox_projector import PROJECTOR_ID, OutboxProjector
from workflows.retrieval import Retrieval

_CUT_OFF = "AcceptedUpdateCompletedWorkflow"
"""What the server says, then and later, of an update whose workflow was terminated before it could answer."""

_log = structlog.get_logger()


class _Ended(Exception):
    """The lifecycle doesn't run, or ended before it could answer."""


class TemporalGateway:
    """`contracts.ports.LifecycleGateway` on a Temporal client, and the start of retrievals.

    Args:
        client: With the pydantic data converter.
        lifecycle_queue: Task queue of the lifecycle worker.
        retrieval_queue: Task queue of the retrieval worker, in this process for eager start.
        erasure_queue: Task queue of the worker that owns the index; "" takes the lifecycle's.
        patience: How long a delivery may take before it is left to the projector.
        pages: What browsers have in their address bar, for links from the Temporal UI to our pages; "" for none.
    """

    def __init__(
        self,
        client: Client,
        *,
        lifecycle_queue: str,
        retrieval_queue: str,
        erasure_queue: str = "",
        patience: timedelta = timedelta(seconds=5),
        pages: str = "",
    ) -> None:
        self._client = client
        self._lifecycle_queue = lifecycle_queue
        self._retrieval_queue = retrieval_queue
        self._erasure_queue = erasure_queue or lifecycle_queue
        self._patience = patience
        self._pages = pages

    async def start(self, experience_id: str, *, domain_id: str, tenant_id: str) -> str:
        """See `contracts.ports.LifecycleGateway.start`."""
        with _translated():
            await self._client.start_workflow(
                ExperienceLifecycle.run,
                LifecycleStart(experience_id=experience_id),
                id=_workflow_id(experience_id),
                task_queue=self._lifecycle_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                search_attributes=first_attributes(domain_id=domain_id, tenant_id=tenant_id),
                static_summary=first_summary(domain_id=domain_id, tenant_id=tenant_id),
                memo=page_memo(page_link(self._pages, f"{'experiences' if tenant_id else 'articles'}/{experience_id}")),
                rpc_timeout=self._patience,
            )
        return "started"

    # A lifecycle that has ended, or whose history Temporal no longer has, is started again by what is sent to it: it
    # loads its record and goes on from there, or refuses and ends. So the record, not Temporal's retention, says
    # what is closed, and a reinstatement finds a lifecycle to take it.

    async def decide(self, experience_id: str, decision: DecisionMessage) -> DecisionOutcome:
        """See `contracts.ports.LifecycleGateway.decide`."""
        try:
            return await self._decide(experience_id, decision)
        except _Ended:
            return await self._decide_with_start(experience_id, decision)

    async def signal(self, experience_id: str, kind: str, command: CommandMessage) -> str:
        """See `contracts.ports.LifecycleGateway.signal`."""
        with _translated():
            await self._client.start_workflow(
                ExperienceLifecycle.run,
                LifecycleStart(experience_id=experience_id),
                id=_workflow_id(experience_id),
                task_queue=self._lifecycle_queue,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                start_signal=kind,
                start_signal_args=[command],
                memo=self._either_page(experience_id),
                rpc_timeout=self._patience,
            )
        return "signalled"

    async def erase(self, erasure_id: str, *, tenant_id: str) -> str:
        """See `contracts.ports.LifecycleGateway.erase`."""
        with _translated():
            await self._client.start_workflow(
                Erasure.run,
                erasure_id,
                id=f"erasure/{erasure_id}",
                task_queue=self._erasure_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                search_attributes=tenant_attribute(tenant_id),
                static_summary="Erasure on request",
                static_details=page_link(self._pages, f"erasures/{erasure_id}"),
                rpc_timeout=self._patience,
            )
        return "started"

    async def _decide(self, experience_id: str, decision: DecisionMessage) -> DecisionOutcome:
        handle = self._client.get_workflow_handle(_workflow_id(experience_id))
        try:
            with _update_translated():
                return await handle.execute_update(
                    "decide",
                    decision,
                    id=decision.decision_id,
                    result_type=DecisionOutcome,
                    rpc_timeout=self._patience,
                )
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise _Ended from error
            raise _pending(error) from error

    async def _decide_with_start(self, experience_id: str, decision: DecisionMessage) -> DecisionOutcome:
        start = WithStartWorkflowOperation(
            ExperienceLifecycle.run,
            LifecycleStart(experience_id=experience_id),
            id=_workflow_id(experience_id),
            task_queue=self._lifecycle_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            memo=self._either_page(experience_id),
        )
        try:
            with _update_translated():
                return await self._client.execute_update_with_start_workflow(
                    "decide",
                    decision,
                    id=decision.decision_id,
                    start_workflow_operation=start,
                    result_type=DecisionOutcome,
                    rpc_timeout=self._patience,
                )
        except _Ended as error:
            raise DeliveryPending("The lifecycle was stopped meanwhile; the request is stored.") from error
        except RPCError as error:
            with suppress(TemporalError):
                await start.workflow_handle()  # it holds the same failure, and wants to be asked
            raise _pending(error) from error

    def _either_page(self, experience_id: str) -> dict[str, str] | None:
        """Return the memo of a lifecycle that is started anew, where it isn't known what it is of."""
        return page_memo(page_link(self._pages, f"experiences/{experience_id}", f"articles/{experience_id}"))

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

    def prepared(self, request_id: str) -> PreparedRetrieval:
        """Return how the workflow of a stored request is started."""
        return PreparedRetrieval(
            request_id=request_id,
            workflow=Retrieval.__name__,
            workflow_id=f"retrieval/{request_id}",
            task_queue=self._retrieval_queue,
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
                    static_details=page_link(self._pages, f"retrievals/{request_id}"),
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


def _workflow_id(experience_id: str) -> str:
    return f"experience/{experience_id}"


@contextmanager
def _translated() -> Generator[None]:
    """Turn a failed call of Temporal's client into our refusal."""
    try:
        yield
    except RPCError as error:
        raise _pending(error) from error


@contextmanager
def _update_translated() -> Generator[None]:
    """Turn what an update can fail with, but for a failed call, into our refusals."""
    try:
        yield
    except UpdateTimeoutError as error:
        raise DeliveryPending("No worker answered in time; the request is stored.") from error
    except WorkflowUpdateFailedError as error:
        if not isinstance(error.cause, ApplicationError):
            raise
        if error.cause.type == _CUT_OFF:
            raise _Ended from error
        raise from_application_error(error.cause) from error


def _pending(error: RPCError) -> DeliveryPending:
    _log.warning("temporal_call_failed", status=error.status.name, message=error.message)
    return DeliveryPending("Temporal can't be reached; the request is stored.")
