"""`caselore deadletters`: events that were set aside, seen, given back and given up."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from deploy.commands.attach import attached
from deploy.commands.progress import console, say
from deploy.commands.results import write_json
from deploy.settings import Settings


async def list_dead_letters(settings: Settings, *, json_file: Path | None) -> None:
    """Print what is set aside."""
    async with attached(settings, progress=say) as target:
        letters = await target.admin.dead_letters(limit=1000)
    write_json(json_file, {"letters": [each.model_dump(mode="json") for each in letters]})
    if not letters:
        console.print("Nothing is set aside.")
        return
    table = Table("event", "topic", "kind", "key", "failures", "since", "waiting", "last error", box=None)
    for each in letters:
        since = each.since.isoformat(timespec="seconds")
        table.add_row(
            each.event_id, each.topic, each.kind, each.key, str(each.failures), since, str(each.waiting), each.error
        )
    console.print(table)


async def retry_dead_letters(settings: Settings, event_id: str | None, *, json_file: Path | None) -> None:
    """Give one event back for delivery, or all."""
    async with attached(settings, progress=say) as target:
        if event_id is None:
            count = await target.admin.retry_dead_letters()
        else:
            count = await target.admin.retry_dead_letter(event_id)
    write_json(json_file, {"given_back": count})
    console.print(f"[bold]{count}[/] events were given back for delivery.")


async def give_up_dead_letter(settings: Settings, event_id: str, *, json_file: Path | None) -> None:
    """Take an event that can't be delivered out of the way."""
    async with attached(settings, progress=say) as target:
        given_up = await target.admin.give_up_dead_letter(event_id)
    write_json(json_file, given_up.model_dump(mode="json"))
    what = "" if given_up.command_id is None else f"; its command {given_up.command_id} is refused"
    console.print(f"Given up{what}.")
