"""The prompt that sets an agent to work on a task the way the memory is meant to be used."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types

from api.mcp.guide import GUIDE
from api.mcp.quoting import inline, quoted
from contracts import limits
from contracts.errors import InvalidField
from contracts.text import check_text

NAME = "work-a-task"
_ARGUMENTS = (
    types.PromptArgument(name="profile_id", description="The agent's profile; it pins the strategy.", required=True),
    types.PromptArgument(name="objective", description="The objective or symptom, in words.", required=True),
    types.PromptArgument(name="case_id", description="The case that the work is for.", required=False),
    types.PromptArgument(name="facts", description="Product, system, environment, version of today.", required=False),
)
PROMPT = types.Prompt(
    name=NAME,
    title="Work a task with the memory",
    description="The way of working, step by step, with this task's objective.",
    arguments=list(_ARGUMENTS),
)


def work_a_task(given: Mapping[str, str]) -> types.GetPromptResult:
    """Return the prompt's messages.

    Raises:
        InvalidField: An argument is missing, unknown or too long.
    """
    known = {argument.name: bool(argument.required) for argument in _ARGUMENTS}
    for name in given:
        if name not in known:
            raise InvalidField("The prompt has no such argument.", field=inline(name), accepted=", ".join(known))
    for name, required in known.items():
        check_text(given.get(name, ""), field=name, limit=limits.PARAGRAPH, allow_blank=not required)
    lines = [
        GUIDE,
        "## This task",
        "",
        f"Work as profile {inline(given['profile_id'])}. Open the retrieval with it now, unless one is open already.",
    ]
    if given.get("case_id"):
        lines.append(f"The case is {inline(given['case_id'])}: give it as case_id.")
    lines += ["The objective, as it came in:", *quoted(given["objective"])]
    if given.get("facts"):
        lines += ["Facts of today, to be given with it:", *quoted(given["facts"])]
    text = types.TextContent(type="text", text="\n".join(lines))
    return types.GetPromptResult(
        description=PROMPT.description, messages=[types.PromptMessage(role="user", content=text)]
    )
