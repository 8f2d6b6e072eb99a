"""Record the histories anew: `python -m tests.replay.record [WORKFLOW/BRANCH ...]`.

An old history that a running workflow may still have must stay, under a name of its own: record a branch anew only
after a change that no running workflow can meet.
"""

from __future__ import annotations

import asyncio
import sys

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from tests.replay.histories import IDENTITY, path_of, write
from tests.replay.scenarios import SCENARIOS
from tests.services import dev_server_options


async def record(wanted: set[str]) -> None:
    """Run the wanted scenarios, all if none is named, and write what Temporal kept."""
    async with await WorkflowEnvironment.start_local(**dev_server_options()) as environment:
        client = await Client.connect(
            environment.client.service_client.config.target_host,
            data_converter=pydantic_data_converter,
            identity=IDENTITY,
        )
        for workflow, (history_of, branches) in SCENARIOS.items():
            for branch in branches:
                if wanted and f"{workflow}/{branch}" not in wanted:
                    continue
                history = await history_of(client, branch)
                write(path_of(workflow, branch), history)
                print(f"{workflow}/{branch}: {len(history.events)} events")


if __name__ == "__main__":
    asyncio.run(record(set(sys.argv[1:])))
