"""A whole Caselore process that can be told where to die: `python -m tests.acceptance.crashing_runtime`.

Every line of standard input is a JSON object: first the settings, on which it starts; then a crash to arm, or
`{"stored": target}`. Each is answered with a line. The end of the input ends the process in order.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
import os
import sys
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

import workflows.options
from activities.delivery import LifecycleDelivery
from activities.erasure import ErasureActivities
from activities.lifecycle import LifecycleActivities
from activities.observation import Telemetry
from activities.outbox import OutboxActivities
from activities.projection import Projector
from activities.records.erasure_work import ErasuresTable
from activities.records.lifecycle import LifecycleTable
from contracts.labels import Collection
from contracts.ports import Embedder, SearchIndex
from deploy import logs
from deploy.embedded.services import Addresses
from deploy.runtime import running
from deploy.settings import Settings, load_settings
from deploy.wiring import Index, Parts, build
from tests.acceptance.crash_points import Crash, CrashPlan, interrupted, watch_statements
from workflows.histories import TemporalHistories

LEASE = timedelta(seconds=2)
TIMES: dict[str, Any] = {
    "RECORD_TIMEOUT": timedelta(seconds=3),
    "TURN_HEARTBEAT": timedelta(seconds=1.5),
    "ERASURE_HEARTBEAT": timedelta(seconds=3),
    "MUST_HAPPEN": RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=1)),
}
"""How soon a dead process's work is taken over: sooner than in the product, so that a test needn't wait."""
STICKY = timedelta(seconds=1)


def wired(
    plan: CrashPlan,
    settings: Settings,
    addresses: Addresses,
    client: Client,
    index: Index,
    embedder: Embedder,
    telemetry: Telemetry,
) -> Parts:
    """Return the product's own parts with places for a crash between them."""
    parts = build(settings, addresses, client, index, embedder, telemetry)
    watch_statements(parts.database._system, plan)
    commands, changes = (
        interrupted(table, name, plan) for table, name in zip(parts.listeners, ("commands", "changes"), strict=True)
    )
    gateway = interrupted(parts.gateway, "gateway", plan)
    delivery = LifecycleDelivery(commands, gateway, lease=LEASE)
    projector = Projector(
        changes,
        interrupted(parts.projections, "projections", plan),
        interrupted(index, "index", plan),
        embedder,
        lease=LEASE,
    )
    records = interrupted(LifecycleTable(parts.database), "records", plan)
    return dataclasses.replace(
        parts,
        delivery=delivery,
        erasure_activities=ErasureActivities(
            interrupted(ErasuresTable(parts.database), "erasures", plan),
            interrupted(index, "index", plan),
            TemporalHistories(client),
        ),
        lifecycle_activities=LifecycleActivities(records),
        outbox_activities=OutboxActivities(delivery, projector, commands, changes),
    )


async def obey(line: dict[str, Any], plan: CrashPlan, index: SearchIndex) -> object:
    """Carry out a line of input and return the answer."""
    if "place" in line:
        plan.arm(Crash(**line))
        return "armed"
    return {
        collection: [
            (each.payload.revision, each.payload.content_hash)
            for each in await index.stored(collection)
            if each.payload.target == line["stored"]
        ]
        for collection in (Collection.ROUTING, Collection.DETAIL)
    }


async def serve(settings: Settings) -> None:
    """Run until the input ends."""
    plan = CrashPlan()
    impatient = functools.partial(Worker, sticky_queue_schedule_to_start_timeout=STICKY)
    with (
        patch.multiple(workflows.options, **TIMES),
        patch("deploy.worker.Worker", impatient),
        patch("deploy.runtime.build", functools.partial(wired, plan)),
    ):
        async with running(settings) as runtime:
            print(json.dumps("ready"), flush=True)
            while line := await asyncio.to_thread(sys.stdin.readline):
                print(json.dumps(await obey(json.loads(line), plan, runtime.parts.index)), flush=True)


if __name__ == "__main__":
    logs.configure()
    if line := sys.stdin.readline():
        asyncio.run(serve(load_settings(**json.loads(line))))
    os._exit(0)
