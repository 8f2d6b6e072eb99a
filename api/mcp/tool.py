"""What a tool is: its words for the model, its input and output models, and what it does with the typed client."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import mcp_types as types
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from api.client import CaseloreClient
from api.mcp.quoting import inline
from api.problems import invalid
from contracts.errors import CaseloreError

LONGEST = 200_000
"""Characters of a result's text; every tool stays far below, by its own budget."""


class Asked(BaseModel):
    """A tool's input. An argument that the tool doesn't have is refused: a misspelt one would be lost (R22)."""

    model_config = ConfigDict(frozen=True, extra="forbid")


A = TypeVar("A", bound=Asked)


@dataclass(frozen=True, slots=True)
class Told:
    """A tool's result, twice: as text for a model and as data for a program."""

    text: str
    data: BaseModel


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One tool."""

    name: str
    title: str
    description: str
    asks: type[A]
    gives: type[BaseModel]
    run: Callable[[CaseloreClient, A], Awaitable[Told]]
    is_repeatable: bool = True
    """Whether the same call again changes nothing more."""

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """What the tool takes, as JSON schema."""
        return _untitled(self.asks.model_json_schema())

    def described(self) -> types.Tool:
        """Return the tool as `tools/list` gives it."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=_untitled(self.gives.model_json_schema(mode="serialization")),
            annotations=types.ToolAnnotations(
                read_only_hint=False,  # each call is recorded
                destructive_hint=False,
                idempotent_hint=self.is_repeatable,
                open_world_hint=False,
            ),
        )

    async def called(self, client: CaseloreClient, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Return the tool's result.

        Raises:
            CaseloreError: The refusal; an argument that breaks its rule is named by `field`.
        """
        try:
            asked = self.asks.model_validate(arguments, extra="forbid")  # in nested objects too
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False)
            raise invalid(cast("list[dict[str, Any]]", found)) from None
        told = await self.run(client, asked)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=told.text[:LONGEST])],
            structured_content=told.data.model_dump(mode="json"),
        )


def refused(error: CaseloreError) -> types.CallToolResult:
    """Return the result that tells a model of a refusal: its stable name, why, which argument, what would do."""
    message, accepted = inline(error.message, 1_000), inline(error.accepted, 1_000)
    lines = [f"Refused: {error.type}. {message}"]
    if error.field:
        lines.append(f"Argument: {inline(error.field)}")
    if accepted:
        lines.append(f"Accepted: {accepted}")
    problem = {"type": error.type, "message": message, "field": inline(error.field), "accepted": accepted}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text="\n".join(lines))],
        structured_content={"refusal": problem},
        is_error=True,
    )


def _untitled(schema: Any) -> Any:
    """Return a schema without pydantic's titles, which repeat the names: a model reads all of it, each time."""
    if isinstance(schema, dict):
        items = cast("dict[str, Any]", schema).items()
        return {name: _untitled(value) for name, value in items if not (name == "title" and isinstance(value, str))}
    if isinstance(schema, list):
        return [_untitled(each) for each in cast("list[Any]", schema)]
    return schema


def _read(value: Any) -> Any:
    """Return a list or object that a model sent as JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value  # pydantic names the wrong type
    return value


FROM_TEXT = BeforeValidator(_read)
"""Some clients send a list or an object as JSON in a text; it is taken as what it means."""
