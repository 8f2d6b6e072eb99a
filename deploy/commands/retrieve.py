"""`caselore retrieve`: ask the memory as a requesting profile, and see candidates to weigh (R13, R15)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contracts.retrieval import Answer, RetrievalRequest
from deploy.commands.answers import answer_panel
from deploy.commands.calling import calling
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.commands.typed import record_of
from deploy.settings import Settings

_TEXT = 400


async def ask(settings: Settings, request: RetrievalRequest, *, caller: str | None, json_file: Path | None) -> None:
    """Ask, print the candidates and how to go on."""
    async with calling(settings, caller) as client:
        answer = await client.retrieve(request)
    write_json(json_file, answer.model_dump(mode="json"))
    print_answer(answer, title=request.purpose, asked=request.objective, profile_id=request.profile_id)


def print_answer(answer: Answer, *, title: str, asked: str, profile_id: str = "") -> None:
    """Print an answer's candidates and how to go on.

    Args:
        answer: What was answered.
        title: Above it.
        asked: The objective or, of a broadened retrieval, its reason.
        profile_id: Who asked; "" leaves it out.
    """
    most = len(answer.candidates)
    console.print(answer_panel(answer, title=title, objective=asked, profile_id=profile_id, most=most, text=_TEXT))
    console.print(f"Shown again by: caselore retrieval show {answer.request_id}", highlight=False, markup=False)
    console.print("Go on with: caselore retrieval decide, broaden or consult", highlight=False, markup=False)


def request_of(values: Mapping[str, Any]) -> RetrievalRequest:
    """Return the request for what was typed, by the names of the record, under a new id.

    Raises:
        InvalidInput: Names the field at fault.
    """
    return record_of(RetrievalRequest, {**values, "request_id": str(uuid.uuid4())})
