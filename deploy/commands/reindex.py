"""`caselore reindex`: the search index dropped and built anew from the record."""

from __future__ import annotations

from pathlib import Path

from deploy.commands.attach import attached
from deploy.commands.progress import bars, console, say
from deploy.commands.results import write_json
from deploy.searchable import until_searchable
from deploy.settings import Settings


async def reindex(settings: Settings, *, json_file: Path | None) -> None:
    """Rebuild the index and wait until everything can be found again."""
    async with attached(settings, progress=say) as target:
        begun = await target.admin.reindex()
        with bars() as progress:
            task = progress.add_task("entries", total=begun.keys)
            await until_searchable(
                target.admin, seen=lambda pending: progress.update(task, completed=max(0, begun.keys - pending))
            )
            progress.update(task, completed=begun.keys)
    console.print(f"[bold]{begun.keys}[/] entries are searchable again.")
    write_json(json_file, {"keys": begun.keys})
