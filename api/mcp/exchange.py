"""`POST /mcp`: MCP by streamable HTTP, one exchange for each request and nothing kept between them.

The caller's own credential travels on: each tool calls the HTTP API inside this process with it, so that permissions,
narrowed keys, scope and recording are those of the API, to the letter (R4, R13, R20).
"""

from __future__ import annotations

import httpx
from fastapi import APIRouter, Request, Response
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from api.authentication import Caller
from api.checked_route import BODY_BYTES, CheckedRoute
from api.client import CaseloreClient
from api.mcp.server import Context, build_server
from api.request_body import read_body, replayed, require_few_elements
from contracts.errors import NotPermitted

router = APIRouter(route_class=CheckedRoute, tags=["mcp"], include_in_schema=False)
"""Outside the OpenAPI document, which has no words for another protocol."""


@router.post("/mcp")
async def exchange(request: Request, _: Caller) -> Response:
    """Answer one MCP message; who calls was settled before (401 with a challenge otherwise).

    Raises:
        NotPermitted: A browser sent it from some page: pages have no business here, and no key to lend to one.
        InvalidField: The message has more values than the API takes, which the SDK would all read (R22).
    """
    if request.headers.get("origin") is not None:
        raise NotPermitted("MCP is not for pages in a browser.", field="Origin", accepted="no Origin header")
    content = await read_body(request, BODY_BYTES)
    require_few_elements(content)
    return _Exchange(_SERVER, replayed(request, content).receive)


class _Exchange(Response):
    """The protocol's own answer, written by the SDK."""

    def __init__(self, server: Server[object], message: Receive) -> None:
        super().__init__()
        self._server = server
        self._message = message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - read before
        sessions = StreamableHTTPSessionManager(
            app=self._server, json_response=True, stateless=True, max_request_body_size=BODY_BYTES
        )
        async with sessions.run():
            await sessions.handle_request(scope, self._message, send)


def _client_of(context: Context) -> CaseloreClient:
    request = context.request
    if not isinstance(request, Request):
        raise TypeError("an exchange without its HTTP request")
    _, _, credential = request.headers.get("authorization", "").strip().partition(" ")
    transport = httpx.ASGITransport(app=request.app, raise_app_exceptions=False)
    # No retries in here: whoever called can tell whether it is worth asking again.
    return CaseloreClient("http://caselore", credential.strip(), retries=0, transport=transport)


_SERVER = build_server(_client_of)
