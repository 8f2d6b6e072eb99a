"""`caselore retrieve`: ask the memory as a requesting profile, and see candidates to weigh (R13, R15)."""

from __future__ import annotations

import uuid
from pathlib import Path

from contracts.retrieval import RetrievalRequest
from deploy.commands.answers import answer_panel
from deploy.commands.calling import calling
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.settings import Settings

_TEXT = 400


async def ask(settings: Settings, request: RetrievalRequest, *, caller: str | None, json_file: Path | None) -> None:
    """Ask, print the candidates and how to go on."""
    async with calling(settings, caller) as client:
        answer = await client.retrieve(request)
    write_json(json_file, answer.model_dump(mode="json"))
    console.print(
        answer_panel(
            answer,
            title=request.purpose,
            objective=request.objective,
            profile_id=request.profile_id,
            most=len(answer.candidates),
            text=_TEXT,
        )
    )
    console.print(f"Shown again by: caselore retrieval show {answer.request_id}", highlight=False, markup=False)


def request_of(
    objective: str, *, profile: str, purpose: str, case: str | None, version: str, product: str, results: int | None
) -> RetrievalRequest:
    """Return the request for what was typed, under a new id."""
    return RetrievalRequest(
        request_id=str(uuid.uuid4()),
        profile_id=profile,
        purpose=purpose,
        objective=objective,
        case_id=case,
        version=version,
        product=product,
        results=results,
    )
