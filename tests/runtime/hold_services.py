"""Runs the embedded services in a process of its own until it is killed: `python -m tests.runtime.hold_services`.

Arguments: the data folder and the HTTP, Temporal and UI ports. Prints `ready` and the two process ids.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from deploy.embedded.services import EmbeddedServices
from deploy.settings import load_settings


async def hold() -> None:
    """Start, tell and wait."""
    folder, http, temporal, ui = sys.argv[1:]
    settings = load_settings(data_dir=folder, http_port=http, temporal_port=temporal, temporal_ui_port=ui)
    async with EmbeddedServices(settings) as services:
        assert services.postgres is not None
        assert services.temporal is not None
        print("ready", services.postgres.pid, services.temporal.pid, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    # A shell that starts the tests in the background has them ignore what Ctrl-C sends, and their children with them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asyncio.run(hold())
