"""What the tests keep in the services, to look for it again."""

from __future__ import annotations

import asyncio
import time
import uuid

import psycopg
from temporalio.client import Client, WorkflowExecutionStatus


def libpq(url: str) -> str:
    """Return a SQLAlchemy URL as psycopg itself reads it."""
    return url.replace("postgresql+psycopg:", "postgresql:")


def keep_row(owner_url: str) -> str:
    """Store a row with a new value and return the value."""
    value = str(uuid.uuid4())
    with psycopg.connect(libpq(owner_url)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (value text)")
        connection.execute("INSERT INTO kept VALUES (%s)", (value,))
    return value


def has_row(owner_url: str, value: str) -> bool:
    """Whether the row is there."""
    with psycopg.connect(libpq(owner_url)) as connection:
        return connection.execute("SELECT 1 FROM kept WHERE value = %s", (value,)).fetchone() is not None


async def row_seen_within(owner_url: str, value: str, seconds: float) -> float:
    """Return after how many seconds the database answered with the row."""
    began = time.monotonic()
    while True:
        try:
            assert has_row(owner_url, value)
        except psycopg.OperationalError:
            assert time.monotonic() - began < seconds, "the database is not back"
            await asyncio.sleep(0.05)
        else:
            return time.monotonic() - began


async def keep_workflow(client: Client) -> str:
    """Start a workflow that no worker takes and return its id."""
    workflow_id = f"kept/{uuid.uuid4()}"
    await client.start_workflow("Kept", id=workflow_id, task_queue="nobody")
    return workflow_id


async def has_workflow(client: Client, workflow_id: str) -> bool:
    """Whether the workflow is there and running."""
    described = await client.get_workflow_handle(workflow_id).describe()
    return described.status is WorkflowExecutionStatus.RUNNING
