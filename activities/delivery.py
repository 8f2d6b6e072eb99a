"""Delivery of lifecycle events: from the outbox to the workflows, at least once, harmless to repeat (R8, R10)."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import structlog

from activities.failures import failure_fields, failure_line
from activities.observation import SILENT
from contracts import limits
from contracts.errors import CaseloreError, Unavailable
from contracts.outbox import EventKind, OutboxEvent, Topic
from contracts.ports import LifecycleGateway, Outbox
from contracts.review import CommandMessage, DecisionMessage
from contracts.telemetry_ports import Tracing

_log = structlog.get_logger()


class LifecycleDelivery:
    """Takes leased events to their lifecycles and marks what became of them.

    Args:
        outbox: The events.
        gateway: The way to the workflows.
        lease: How long an event is held; longer than a delivery can take.
        tracing: Follows each delivery.
    """

    def __init__(
        self,
        outbox: Outbox,
        gateway: LifecycleGateway,
        *,
        lease: timedelta = limits.OUTBOX_LEASE,
        tracing: Tracing = SILENT.tracing,
    ) -> None:
        self._outbox = outbox
        self._gateway = gateway
        self._lease = lease
        self._tracing = tracing

    async def deliver_now(self, event_id: str) -> bool:
        """Deliver one event if it is its turn; False when it isn't, or when it must wait.

        For the moment after a request was stored. What isn't delivered here, the projector delivers.

        Raises:
            CaseloreError: The lifecycle's refusal of this event.
        """
        event = await self._outbox.claim_one(event_id, self._lease)
        if event is None:
            return False
        refusal = await self._deliver(event, apart=False)
        if isinstance(refusal, Unavailable):
            return False
        if refusal is not None:
            raise refusal
        return True

    async def deliver_batch(self, limit: int = limits.OUTBOX_BATCH) -> int:
        """Deliver the oldest events, one a lifecycle, side by side; return how many were tried."""
        events = await self._outbox.claim(Topic.LIFECYCLE, limit, self._lease)
        await asyncio.gather(*(self._deliver(event, apart=True) for event in events))
        return len(events)

    async def _deliver(self, event: OutboxEvent, *, apart: bool) -> CaseloreError | None:
        """Deliver and mark an event; return the refusal, if it was one."""
        with self._tracing.step("deliver event", apart=apart, kind=event.kind, key=event.key) as step:
            refusal = await self._deliver_and_mark(event)
            if refusal is not None:
                step.fail(refusal.type)
            return refusal

    async def _deliver_and_mark(self, event: OutboxEvent) -> CaseloreError | None:
        try:
            outcome = await self._send(event)
        except Unavailable as error:
            await self._outbox.postponed(event, error.type, may_die=False)
            return error
        except CaseloreError as refusal:
            await self._outbox.refused(event, refusal)
            return refusal
        except Exception as error:
            # One broken event must not stop the others: it comes back later and is set aside in the end.
            dead = await self._outbox.postponed(event, failure_line(error), may_die=True)
            _log.error(
                "lifecycle_delivery_failed", event_id=event.event_id, key=event.key, dead=dead, **failure_fields(error)
            )
            return Unavailable("The event could not be delivered; it will be tried again.")
        await self._outbox.delivered([event], outcome)
        return None

    async def _send(self, event: OutboxEvent) -> str:
        experience_id = event.key.partition("/")[2]
        payload = event.payload
        if event.kind is EventKind.START:
            return await self._gateway.start(
                experience_id, domain_id=payload["domain_id"], tenant_id=payload["tenant_id"]
            )
        if event.kind is EventKind.ERASE:
            return await self._gateway.erase(payload["erasure_id"], tenant_id=payload["tenant_id"])
        if event.kind is EventKind.DECIDE:
            outcome = await self._gateway.decide(experience_id, DecisionMessage.model_validate(payload))
            return f"applied: {outcome.stage}"
        return await self._gateway.signal(
            experience_id, payload["kind"], CommandMessage(command_id=payload["command_id"])
        )
