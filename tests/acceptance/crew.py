"""The three workers of a runtime, to be stopped and started one by one, as in an outage of one of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from deploy.settings import Settings
from deploy.wiring import Parts
from deploy.worker import workers


class Crew:
    """Stops and starts workers by their task queue; made by the runtime that it works for."""

    def __init__(self) -> None:
        self._running: dict[str, Worker] = {}
        self._wired: tuple[Settings, Client, Parts] | None = None

    @asynccontextmanager
    async def takes_over(self, settings: Settings, client: Client, parts: Parts) -> AsyncGenerator[None]:
        """Stand in for `deploy.worker.running_workers`."""
        self._wired = (settings, client, parts)
        try:
            for worker in workers(settings, client, parts):
                await worker.__aenter__()
                self._running[worker.task_queue] = worker
            await parts.gateway.start_projector(settings.projection_queue)
            yield
        finally:
            for queue in tuple(self._running):
                await self.stop(queue)

    async def start(self, queue: str) -> None:
        assert self._wired is not None
        settings, client, parts = self._wired
        # A client takes one worker of a kind; the others of its workers are running already.
        further = await Client.connect(
            client.service_client.config.target_host, namespace=client.namespace, data_converter=client.data_converter
        )
        worker = next(each for each in workers(settings, further, parts) if each.task_queue == queue)
        await worker.__aenter__()
        self._running[queue] = worker

    async def stop(self, queue: str) -> None:
        await self._running.pop(queue).shutdown()

    @asynccontextmanager
    async def without(self, *queues: str) -> AsyncGenerator[None]:
        """Let nobody work on these queues for as long as the block."""
        for queue in queues:
            await self.stop(queue)
        try:
            yield
        finally:
            for queue in queues:
                await self.start(queue)


@contextmanager
def hired() -> Generator[Crew]:
    """Give the next runtime a crew in place of its own workers."""
    crew = Crew()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("deploy.runtime.running_workers", crew.takes_over)
        yield crew
