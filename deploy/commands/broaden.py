"""`caselore retrieval broaden`: a retrieval that reads further than one before it, for a reason (R18)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from api.made_ids import made_id
from contracts.broadening import Broadening
from deploy.commands.calling import calling
from deploy.commands.results import write_json
from deploy.commands.retrieve import print_answer
from deploy.commands.typed import record_of
from deploy.settings import Settings


async def broaden(
    settings: Settings, request_id: str, widened: Mapping[str, Any], *, caller: str | None, json_file: Path | None
) -> None:
    """Ask further and print the candidates; the same command again gets the same answer.

    Args:
        settings: Of the process.
        request_id: The retrieval that is too narrow.
        widened: The reason and what is widened, by the names of `Broadening`.
        caller: Whose key it is.
        json_file: Where the answer goes as JSON.
    """
    new_id = made_id("broadening", caller, request_id, dict(widened))
    broadening = record_of(Broadening, {**widened, "request_id": new_id})
    async with calling(settings, caller) as client:
        answer = await client.broaden(request_id, broadening)
    write_json(json_file, answer.model_dump(mode="json"))
    print_answer(answer, title=f"broadens {request_id}: {broadening.widening().described()}", asked=broadening.reason)
