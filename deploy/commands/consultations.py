"""`caselore retrieval consult` and `caselore consultations`: questions between domains, and their replies (R18)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from api.made_ids import made_id
from contracts.consultation import Consultation, ConsultationState, ConsultationView, ConsultReply
from contracts.errors import InvalidField
from deploy.commands.calling import calling
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.commands.typed import Cited, again, record_of
from deploy.settings import Settings


async def consult(
    settings: Settings,
    request_id: str,
    *,
    domain: str,
    brief: str,
    reason: str,
    caller: str | None,
    json_file: Path | None,
) -> None:
    """Ask another domain for the work of a retrieval; the same command again is the same question."""
    said = {"domain_id": domain, "brief": brief, "reason": reason}
    asked = record_of(Consultation, {**said, "consultation_id": made_id("consultation", caller, request_id, said)})
    async with calling(settings, caller) as client:
        view = await client.consult(request_id, asked)
    write_json(json_file, view.model_dump(mode="json"))
    _print(view)
    shown = again(f"consultations show {view.consultation_id}", caller)
    console.print(f"Nobody answers at once. Look later: {shown}", markup=False, soft_wrap=True)


async def list_consultations(
    settings: Settings, *, state: str | None, limit: int, caller: str | None, json_file: Path | None
) -> None:
    """Print what the caller asked and what its domains are asked, the oldest first.

    Raises:
        InvalidField: There is no such state.
    """
    if state is not None and state not in set(ConsultationState):
        raise InvalidField(f"{state!r} is no state.", field="--state", accepted=", ".join(ConsultationState))
    async with calling(settings, caller) as client:
        wanted = None if state is None else ConsultationState(state)
        views = await client.consultations(state=wanted, limit=limit)
    write_json(json_file, {"consultations": [view.model_dump(mode="json") for view in views]})
    if not views:
        console.print("No consultations.")
    for view in views:
        _print(view)


async def show_consultation(
    settings: Settings, consultation_id: str, *, caller: str | None, json_file: Path | None
) -> None:
    """Print a consultation, with its reply when there is one."""
    async with calling(settings, caller) as client:
        view = await client.get_consultation(consultation_id)
    write_json(json_file, view.model_dump(mode="json"))
    _print(view)


async def reply(
    settings: Settings,
    consultation_id: str,
    *,
    text: str,
    request_id: str | None,
    citations: Sequence[Cited],
    caller: str | None,
    json_file: Path | None,
) -> None:
    """Answer for one's own domain; the first reply closes the consultation.

    Args:
        settings: Of the process.
        consultation_id: What is answered.
        text: What the domain knows.
        request_id: The replier's own retrieval for this consultation.
        citations: What the reply rests on, out of that retrieval's answer.
        caller: Whose key it is.
        json_file: Where the consultation goes as JSON.
    """
    said = {
        "text": text,
        "request_id": request_id,
        "citations": [{"ref": each.ref, "revision": each.revision, "why": each.said} for each in citations],
    }
    given = record_of(ConsultReply, {**said, "reply_id": made_id("reply", caller, consultation_id, said)})
    async with calling(settings, caller) as client:
        view = await client.reply(consultation_id, given)
    write_json(json_file, view.model_dump(mode="json"))
    _print(view)


async def withdraw(settings: Settings, consultation_id: str, *, caller: str | None, json_file: Path | None) -> None:
    """End an open question of the caller's; the other side doesn't see it any longer."""
    async with calling(settings, caller) as client:
        view = await client.withdraw_consultation(consultation_id)
    write_json(json_file, view.model_dump(mode="json"))
    _print(view)


def _print(view: ConsultationView) -> None:
    for line in _lines(view):
        console.print(line, soft_wrap=True)


def _lines(view: ConsultationView) -> Iterator[Text]:
    yield Text(f"{view.consultation_id}: {view.state}", style="bold")
    if view.asked is not None:
        yield Text(f"  {view.asked.asked_by} asked {view.domain_id} at {view.asked_at:%Y-%m-%d %H:%M}")
    else:
        yield Text(f"  your domain {view.domain_id} is asked, {view.asked_at:%Y-%m-%d %H:%M}")
    yield Text(textwrap.indent(view.brief, "  "))
    if view.asked is not None:
        yield Text(f"  why: {view.asked.reason}", style="dim")
    if view.reply is not None:
        yield Text(f"  reply as {view.reply.replied_as}: evidence, no grant and no conclusion", style="cyan")
        yield Text(textwrap.indent(view.reply.text, "  "))
        for each in view.reply.citations:
            yield Text(f"  cites {each.ref} revision {each.revision}: {each.why}".rstrip(": "), style="dim")
