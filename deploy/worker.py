"""The Temporal workers: one for lifecycles, one for the projector, one for retrieval."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import SandboxImportNotificationPolicy

from deploy.settings import Settings
from deploy.wiring import Parts
from workflows.erasure import Erasure
from workflows.experience_lifecycle import ExperienceLifecycle
from workflows.outbox_projector import OutboxProjector
from workflows.reconcile import Reconcile
from workflows.retrieval import Retrieval
from workflows.schedules import keep_reconcile_schedule

WORKFLOWS = (Erasure, ExperienceLifecycle, OutboxProjector, Reconcile, Retrieval)
GRACE = timedelta(seconds=10)


def workflow_runner() -> SandboxedWorkflowRunner:
    """Return the sandbox that workers and replay tests share.

    A module that a workflow file imports without saying so would be loaded anew for every workflow: it fails here
    instead.
    """
    return SandboxedWorkflowRunner(
        restrictions=SandboxRestrictions.default.with_import_notification_policy(
            SandboxImportNotificationPolicy.RAISE_ON_UNINTENTIONAL_PASSTHROUGH
        )
    )


def workers(settings: Settings, client: Client, parts: Parts) -> list[Worker]:
    """Return the three workers of a process. Separate, so that a burst of one kind can't starve another."""
    erasure = parts.erasure_activities
    lifecycle, outbox, retrieval = parts.lifecycle_activities, parts.outbox_activities, parts.retrieval_activities
    return [
        Worker(
            client,
            task_queue=settings.lifecycle_queue,
            workflows=[ExperienceLifecycle],
            activities=[
                lifecycle.load_experience,
                lifecycle.record_decision,
                lifecycle.apply_command,
                lifecycle.record_reminder,
            ],
            workflow_runner=workflow_runner(),
            max_concurrent_activities=16,  # each holds a database connection for a moment
            graceful_shutdown_timeout=GRACE,
        ),
        Worker(
            client,
            task_queue=settings.projection_queue,
            workflows=[OutboxProjector, Reconcile, Erasure],
            activities=[
                outbox.deliver_commands,
                outbox.project_changes,
                parts.reconcile_activities.reconcile_index,
                erasure.erase_records,
                erasure.erase_index,
                erasure.look_through_histories,
                erasure.verify_erasure,
                erasure.finish_erasure,
            ],
            workflow_runner=workflow_runner(),
            max_heartbeat_throttle_interval=timedelta(seconds=2),  # of a timeout of 10: none goes missing by chance
            graceful_shutdown_timeout=GRACE,
        ),
        Worker(
            client,
            task_queue=settings.retrieval_queue,
            workflows=[Retrieval],
            activities=[retrieval.answer_retrieval],
            workflow_runner=workflow_runner(),
            max_cached_workflows=100,  # they end at once
            graceful_shutdown_timeout=GRACE,
        ),
    ]


@asynccontextmanager
async def running_workers(settings: Settings, client: Client, parts: Parts) -> AsyncGenerator[None]:
    """Run the workers, and make sure that the outbox projector runs, for as long as the block."""
    async with AsyncExitStack() as stack:
        for worker in workers(settings, client, parts):
            await stack.enter_async_context(worker)
        await parts.gateway.start_projector(settings.projection_queue)
        await keep_reconcile_schedule(client, settings.projection_queue, settings.reconcile_every)
        yield
