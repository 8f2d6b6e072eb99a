"""`caselore mcp`: the MCP server by standard input and output, for a runtime that starts it as a child.

It keeps nothing: each call goes to the HTTP API with the one key that it was started with. Standard output carries the
protocol only; everything else goes to standard error.

`python -m deploy.commands.mcp` is the same without the other commands.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import nullcontext

from mcp.server.stdio import stdio_server

from api.client import CaseloreClient
from api.mcp.server import build_server
from contracts.errors import CaseloreError, NotAuthenticated
from deploy import logs
from deploy.credential import KEY, URL
from deploy.settings import Settings, load_settings


async def serve_mcp(settings: Settings) -> None:
    """Serve until standard input ends.

    Args:
        settings: Of the process: without `CASELORE_URL`, the Caselore of this machine is called.

    Raises:
        NotAuthenticated: There is no key in `CASELORE_API_KEY`.
    """
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise NotAuthenticated("An MCP server calls with the key of its agent.", field=KEY, accepted="its API key")
    url = os.environ.get(URL, "").strip() or f"http://{settings.http_host}:{settings.http_port}"
    # A signal ends it at once: there is nothing to put in order, and a read of standard input can't be called off.
    for wanted in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wanted, signal.SIG_DFL)
    # One more attempt only: whoever waits for a tool gives up before a third could answer.
    async with CaseloreClient(url, key, retries=1) as client:
        server = build_server(lambda _: nullcontext(client))
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())


def main() -> int:
    """Serve, and return the exit code; a refusal is told on standard error."""
    logs.configure()
    try:
        asyncio.run(serve_mcp(load_settings()))
    except CaseloreError as refusal:
        sys.stderr.write(f"{refusal.type}: {refusal}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
