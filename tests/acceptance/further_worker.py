"""One more lifecycle worker in a process of its own: `python -m tests.acceptance.further_worker`.

The first line of standard input is the settings; the end of the input ends the process in order.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import sys
from collections.abc import Sequence
from unittest.mock import patch

from temporalio.worker import Worker

import workflows.options
from activities.index.edge import EdgeIndex
from contracts.errors import EmbeddingUnavailable
from deploy import logs
from deploy.embedded.services import EmbeddedServices
from deploy.settings import Settings, load_settings
from deploy.wiring import build, connect_temporal, index_folder
from deploy.worker import workers
from tests.acceptance.crashing_runtime import STICKY, TIMES


class NoVectors:
    """`contracts.ports.Embedder` for whoever embeds nothing."""

    model = "none"
    dimensions = 1

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Refuse."""
        raise EmbeddingUnavailable(f"Nobody here makes vectors of {len(texts)} texts.")


async def work(settings: Settings) -> None:
    """Take lifecycle tasks until the input ends."""
    impatient = functools.partial(Worker, sticky_queue_schedule_to_start_timeout=STICKY)
    with patch.multiple(workflows.options, **TIMES), patch("deploy.worker.Worker", impatient):
        async with EmbeddedServices(settings) as services:
            client = await connect_temporal(settings, services.addresses)
            # The index has another owner; a lifecycle asks neither for it, so it stays closed, nor for a vector.
            embedder = NoVectors()
            index = EdgeIndex(index_folder(settings), embedder.model, embedder.dimensions)
            parts = build(settings, services.addresses, client, index, embedder)
            lifecycle = next(
                each for each in workers(settings, client, parts) if each.task_queue == settings.lifecycle_queue
            )
            async with lifecycle:
                print(json.dumps("ready"), flush=True)
                await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    logs.configure()
    if line := sys.stdin.readline():
        asyncio.run(work(load_settings(**json.loads(line))))
    os._exit(0)
