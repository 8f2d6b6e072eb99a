"""The small organisation behind a real HTTP port, reached by the official MCP client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from temporalio.worker import Worker

from activities.records.retrievals import RetrievalsTable
from activities.retrieval.activity import RetrievalActivities
from activities.retrieval.engine import RetrievalEngine
from contracts.errors import CaseloreError, every_error
from deploy.wiring import SystemClock
from tests.api.world import AwayIndex, Letters, World, key_of
from workflows.retrieval import Retrieval


@asynccontextmanager
async def answering(world: World) -> AsyncGenerator[World]:
    """Answer retrievals; the index is away, so the record does."""
    engine = RetrievalEngine(RetrievalsTable(world.database), AwayIndex(), Letters(), SystemClock())
    async with Worker(
        world.client,
        task_queue=world.retrieval_queue,
        workflows=[Retrieval],
        activities=[RetrievalActivities(engine).answer_retrieval],
    ):
        yield world


@asynccontextmanager
async def serving(app: Any) -> AsyncGenerator[str]:
    """Serve an app on a port of its own, and yield its address."""
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="off", timeout_graceful_shutdown=2)
    )
    task = asyncio.create_task(server.serve())
    while not server.started:
        assert not task.done()
        await asyncio.sleep(0.01)
    [socket] = server.servers[0].sockets
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def mcp_client(address: str, key: str | None, *, mode: str = "auto", **headers: str) -> AsyncGenerator[Client]:
    """Connect as an agent's runtime does: the URL, and the key as a bearer credential."""
    sent = {**({"Authorization": f"Bearer {key}"} if key else {}), **headers}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=60) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def as_(address: str, principal_id: str, *, mode: str = "auto") -> AsyncGenerator[Client]:
    async with mcp_client(address, key_of(principal_id), mode=mode) as client:
        yield client


def said(result: CallToolResult) -> str:
    """Return the text of a result."""
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a tool's structured result.

    Raises:
        CaseloreError: The refusal, under its own class.
    """
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise refusal(result)
    return result.structured_content


def refusal(result: CallToolResult) -> CaseloreError:
    """Return the refusal that a result tells of; its text names the same things."""
    told: Mapping[str, str] = result.structured_content["refusal"]
    text = said(result)
    assert text.startswith(f"Refused: {told['type']}. {told['message']}")
    assert all(told[name] in text for name in ("field", "accepted"))
    return every_error()[told["type"]](told["message"], field=told["field"], accepted=told["accepted"])


def objective(**given: Any) -> dict[str, Any]:
    """Return the arguments of a retrieval that finds the organisation's published experience."""
    return {
        "profile_id": "investigator",
        "purpose": "find the cause",
        "objective": "A letter type without its register row is not printed",
        "product": "Policy",
        "version": "7.3",
        **given,
    }
