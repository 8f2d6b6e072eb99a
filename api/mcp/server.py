"""The MCP server itself: tools, resources and the prompt over the typed client, refusals in words (R22)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Any

import mcp_types as types
import structlog
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from activities.failures import failure_fields
from api.client import CaseloreClient
from api.mcp import resources
from api.mcp.broadening import BROADEN_RETRIEVAL
from api.mcp.consulting import (
    CONSULT_DOMAIN,
    REPLY_TO_CONSULTATION,
    SEE_CONSULTATIONS,
    WITHDRAW_CONSULTATION,
)
from api.mcp.deciding import RECORD_DECISION, REPORT_CHECK
from api.mcp.guide import INSTRUCTIONS
from api.mcp.outcomes import TELL_OUTCOME
from api.mcp.prompts import NAME, PROMPT, work_a_task
from api.mcp.proposing import PROPOSE_EXPERIENCE
from api.mcp.retrieving import OPEN_RETRIEVAL, READ_CANDIDATE
from api.mcp.tool import Tool, refused
from contracts.errors import CaseloreError, NotFound

TOOLS: tuple[Tool[Any], ...] = (
    OPEN_RETRIEVAL,
    READ_CANDIDATE,
    BROADEN_RETRIEVAL,
    CONSULT_DOMAIN,
    SEE_CONSULTATIONS,
    REPLY_TO_CONSULTATION,
    WITHDRAW_CONSULTATION,
    RECORD_DECISION,
    REPORT_CHECK,
    TELL_OUTCOME,
    PROPOSE_EXPERIENCE,
)
"""In the order that a task needs them."""

Context = ServerRequestContext[Any, Any]
ClientOf = Callable[[Context], AbstractAsyncContextManager[CaseloreClient]]
"""Returns a client, for one call, that has the credential of whoever sent the message."""

_BY_NAME = {tool.name: tool for tool in TOOLS}
_FAILED = "The call failed; the operator's log says where. Nothing was half-written."
_log = structlog.get_logger()


def build_server(client_of: ClientOf) -> Server[Any]:
    """Return the server; all that it sees and records goes through the HTTP API, as its caller (R4, R13).

    Args:
        client_of: The way to the API for one message.
    """
    handlers = _Handlers(client_of)
    return Server(
        "caselore",
        version=version("caselore"),
        title="Caselore",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=_input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    """What the protocol's messages are answered with."""

    def __init__(self, client_of: ClientOf) -> None:
        self._client_of = client_of

    async def list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.described() for tool in TOOLS])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = _BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool; there are {', '.join(_BY_NAME)}.")
        try:
            async with self._client_of(context) as client:
                return await tool.called(client, params.arguments or {})
        except CaseloreError as refusal:
            return refused(refusal)
        except Exception as error:
            _log.error("mcp_call_failed", call=tool.name, **failure_fields(error))
            return refused(CaseloreError(_FAILED))

    async def list_resources(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.listed())

    async def list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            async with self._client_of(context) as client:
                return await resources.read(client, str(params.uri))
        except CaseloreError as refusal:
            raise _protocol_error(refusal) from None
        except Exception as error:
            _log.error("mcp_call_failed", call="resources/read", **failure_fields(error))
            raise MCPError(code=types.INTERNAL_ERROR, message=_FAILED) from None

    async def list_prompts(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != NAME:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt; there is {NAME}.")
        try:
            return work_a_task(params.arguments or {})
        except CaseloreError as refusal:
            raise _protocol_error(refusal) from None


def _input_schema(name: str) -> dict[str, Any] | None:
    tool = _BY_NAME.get(name)
    return None if tool is None else tool.input_schema


def _protocol_error(refusal: CaseloreError) -> MCPError:
    code = types.INVALID_PARAMS if isinstance(refusal, NotFound) or refusal.field else types.INTERNAL_ERROR
    data = {"type": refusal.type, "field": refusal.field}
    return MCPError(code=code, message=resources.refusal_text(refusal), data=data)
