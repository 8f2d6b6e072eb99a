"""`caselore reconcile`: record and indexes compared, and brought together again."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from contracts.reconcile import ReconcileReport
from deploy.commands.attach import attached
from deploy.commands.progress import console, say
from deploy.commands.results import write_json
from deploy.searchable import until_searchable
from deploy.settings import Settings

_COUNTS = ("record_keys", "matching", "missing", "stale", "pending_keys", "index_targets", "extra", "pending_targets")


async def reconcile(settings: Settings, *, repair: bool, wait: bool, json_file: Path | None) -> None:
    """Compare, repair if asked, wait for the repair if asked, and compare again.

    Raises:
        typer.Exit: Code 1 when the last comparison found drift, or counts that don't add up.
    """
    async with attached(settings, progress=say) as target:
        reports = [await target.admin.reconcile(repair=repair)]
        if repair and wait:
            await until_searchable(target.admin)
            reports.append(await target.admin.reconcile())
    for report in reports:
        _print(report)
    write_json(json_file, {"reports": [report.model_dump(mode="json") for report in reports]})
    if not reports[-1].is_clean:
        raise typer.Exit(1)


def _print(report: ReconcileReport) -> None:
    table = Table("", *(each.collection for each in report.indexes), box=None)
    for name in _COUNTS:
        table.add_row(name.replace("_", " "), *(f"{getattr(each, name):,}" for each in report.indexes))
    table.add_row("adds up", *(_yes(each.adds_up) for each in report.indexes))
    console.print(table)
    for drift in report.drifts:
        console.print(
            f"  {drift.standing} {drift.key} {drift.collection or 'note of what was projected'}", markup=False
        )
    moving = "" if report.is_quiet else "; the record moved meanwhile"
    console.print(
        f"[bold]{report.drifting:,}[/] keys drift, {report.unreadable:,} can't be read;"
        f" {report.repairs:,} projections asked for, {report.removed:,} targets removed{moving}"
    )


def _yes(value: bool) -> str:
    return "yes" if value else "[bold red]no[/]"
