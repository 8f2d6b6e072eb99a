"""The official MCP client starts `caselore mcp` as a child: the same tools, with the one key of its agent (R4, R20)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from contracts.errors import NotAuthenticated, RuntimeUnavailable, UnknownProfile, UnknownRetrieval
from tests.api.mcp_world import answering, as_, call, objective, refusal, said, serving
from tests.api.world import World, fresh, key_of

ROOT = Path(__file__).parents[2]


@pytest_asyncio.fixture(scope="module")
async def address(world: World) -> AsyncIterator[str]:
    async with answering(world), serving(world.app) as found:
        yield found


@asynccontextmanager
async def child(address: str, key: str, *, mode: str = "auto") -> AsyncGenerator[tuple[Client, Path]]:
    """Start the server as a runtime does, from its configuration; yield with what it writes to standard error."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "deploy.commands.mcp"],
        env={"CASELORE_URL": address, "CASELORE_API_KEY": key},
        cwd=ROOT,
    )
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "stderr"
        with log.open("w") as errors:
            async with Client(stdio_client(parameters, errlog=errors), mode=mode) as client:
                yield client, log


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_r20_a_task_from_retrieval_to_recorded_decision(world: World, address: str, mode: str) -> None:
    proposal = await world.published()
    ref, case_id = f"experience/{proposal.experience_id}", await world.new_case()
    async with child(address, key_of("agent"), mode=mode) as (client, log):
        answer = await call(client, "open_retrieval", **objective(case_id=case_id))
        assert ref in [each["ref"] for each in answer["candidates"]]
        request_id = answer["request_id"]
        await call(client, "read_candidate", request_id=request_id, ref=ref, revision=1)
        cited = [{"ref": ref, "revision": 1, "verdict": "rejected", "why": "The letters don't exist here."}]
        decision = await call(
            client,
            "record_decision",
            request_id=request_id,
            summary="Start from the symptom.",
            citations=cited,
            checks=[{"check_id": "letters", "text": "Do the letters exist?"}],
        )
        told = await client.call_tool(
            "report_check", {"decision_id": decision["decision_id"], "check_id": "letters", "outcome": "failed"}
        )
        assert "decide anew" in said(told)
        assert "Working with the memory" in str((await client.read_resource("caselore://guide")).contents[0])
        assert "letters exist" not in log.read_text(), "no case text in logs"
        assert key_of("agent") not in log.read_text()
    assert await world.count("memory_uses", f"request_id = '{request_id}'") == 1
    assert await world.count("retrieval_reads", f"request_id = '{request_id}'") == 1


async def test_r4_the_key_of_the_child_says_what_it_sees(world: World, address: str) -> None:
    async with as_(address, "agent") as agent, child(address, key_of("stranger")) as (stranger, _):
        known = (await call(agent, "open_retrieval", **objective()))["request_id"]
        for request_id in (known, fresh()):
            with pytest.raises(UnknownRetrieval):
                await call(stranger, "read_candidate", request_id=request_id, ref="case/x", revision=1)
        with pytest.raises(UnknownProfile):
            await call(stranger, "open_retrieval", **objective())


async def test_a_key_that_is_no_good_is_told_by_each_call(address: str) -> None:
    """The tools are the same over both transports, and told to anybody who starts the child."""
    async with as_(address, "agent") as over_http, child(address, "clk_never_issued") as (over_stdio, _):
        assert (await over_http.list_tools()).tools == (await over_stdio.list_tools()).tools
        assert over_http.instructions == over_stdio.instructions
        refused = refusal(await over_stdio.call_tool("open_retrieval", objective()))
    assert isinstance(refused, NotAuthenticated)
    assert "clk_never_issued" not in str(refused)


async def test_an_api_that_is_away_is_told() -> None:
    async with child("http://127.0.0.1:9", key_of("agent")) as (client, _):
        refused = refusal(await client.call_tool("open_retrieval", objective()))
    assert isinstance(refused, RuntimeUnavailable)


def test_without_a_key_it_does_not_start() -> None:
    """As `caselore mcp` too, which is another way to begin the same."""
    environment = {name: value for name, value in os.environ.items() if name != "CASELORE_API_KEY"}
    for arguments in (["-m", "deploy.commands.mcp"], ["-c", "from deploy.cli import main; main()", "mcp"]):
        ended = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert ended.returncode != 0
        assert ended.stdout == ""
        assert "CASELORE_API_KEY" in ended.stderr
