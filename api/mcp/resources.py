"""The resources: the way of working, each strategy's guide, and a case's masked text."""

from __future__ import annotations

import mcp_types as types

from api.client import CaseloreClient
from api.mcp.guide import GUIDE, GUIDE_URI, STRATEGY_URI, strategy_of, strategy_text
from api.mcp.quoting import inline
from api.mcp.sanitised import CASE_URI, sanitised_text
from contracts.errors import CaseloreError, InvalidField
from contracts.strategies import SHIPPED

_MARKDOWN = "text/markdown"
_SCHEME = "caselore://"
TEMPLATES = (
    types.ResourceTemplate(
        name="strategy",
        title="A strategy's guide",
        uri_template=STRATEGY_URI,
        description="What the strategy leaves to you to decide, and what it reads.",
        mime_type=_MARKDOWN,
    ),
    types.ResourceTemplate(
        name="sanitised-case",
        title="A case with personal data masked",
        uri_template=CASE_URI,
        description="What to draft a proposal from; only cases inside your grants.",
        mime_type="text/plain",
    ),
)


def listed() -> list[types.Resource]:
    """Return the resources that have no parameter."""
    guide = types.Resource(
        name="guide",
        title="The way of working",
        uri=GUIDE_URI,
        description="Read this first: sources and their authority, the steps of a task, what retrieved text is not.",
        mime_type=_MARKDOWN,
    )
    strategies = [
        types.Resource(
            name=f"{strategy.id}-v{strategy.version}",
            title=strategy.title,
            uri=_uri(strategy.id, strategy.version),
            description="What this strategy leaves to you to decide, and what it reads.",
            mime_type=_MARKDOWN,
        )
        for strategy in SHIPPED
    ]
    return [guide, *strategies]


async def read(client: CaseloreClient, uri: str) -> types.ReadResourceResult:
    """Return a resource's text.

    Raises:
        CaseloreError: There is none under this URI, or none that the caller may see.
    """
    if uri == GUIDE_URI:
        return _text(uri, GUIDE, _MARKDOWN)
    match uri.removeprefix(_SCHEME).split("/"):
        case ["strategies", strategy_id, version] if uri.startswith(_SCHEME):
            number = int(version) if version.isdecimal() and len(version) < 10 else 0
            return _text(uri, strategy_text(await strategy_of(client, strategy_id, number)), _MARKDOWN)
        case ["cases", case_id, "sanitised"] if uri.startswith(_SCHEME):
            return _text(uri, await sanitised_text(client, case_id), "text/plain")
        case _:
            accepted = ", ".join([GUIDE_URI, STRATEGY_URI, CASE_URI])
            raise InvalidField("There is no such resource.", field="uri", accepted=accepted)


def refusal_text(error: CaseloreError) -> str:
    """Return a refusal in one line, for a protocol error."""
    accepted = f" Accepted: {inline(error.accepted, 1_000)}" if error.accepted else ""
    return f"{error.type}: {inline(error.message, 1_000)}{accepted}"


def _uri(strategy_id: str, version: int) -> str:
    return STRATEGY_URI.format(strategy_id=strategy_id, version=version)


def _text(uri: str, text: str, mime_type: str) -> types.ReadResourceResult:
    contents = [types.TextResourceContents(uri=uri, text=text, mime_type=mime_type)]
    return types.ReadResourceResult(contents=[*contents])
