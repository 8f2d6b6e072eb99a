"""`caselore import FILE`: a case file through the whole path, with its counts and times."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from contracts.identity import Domain, Tenant
from deploy.cast import Cast, engage
from deploy.commands.attach import Attached, attached
from deploy.commands.progress import bars, console, say
from deploy.commands.results import write_json
from deploy.importing import CaseFile, ImportReport, import_cases, read_case_file
from deploy.searchable import until_searchable
from deploy.settings import Settings


async def import_file(settings: Settings, path: Path, *, is_reviewed: bool, json_file: Path | None) -> None:
    """Import a file and print what became of it.

    Raises:
        InvalidCaseFile: A line can't be read; nothing was sent.
    """
    file = read_case_file(path)
    console.print(f"[bold]{path.name}[/]: {len(file.cases)} cases, {len(file.tenants)} tenants")
    async with attached(settings, progress=say) as target, AsyncExitStack() as stack:
        cast = await engage_for(stack, target, file, is_reviewed=is_reviewed)
        figures = await import_and_wait(target, cast, file, is_reviewed=is_reviewed)
    _print(figures)
    write_json(json_file, figures)


async def engage_for(stack: AsyncExitStack, target: Attached, file: CaseFile, *, is_reviewed: bool) -> Cast:
    """Add what the file names, and the stand-ins that act for it."""
    return await engage(
        stack,
        target.admin,
        target.http,
        tenants=[Tenant(id=tenant.id, name=tenant.name) for tenant in file.tenants],
        domains=[Domain(id=domain.id, name=domain.name, description=domain.description) for domain in file.domains],
        is_reviewed=is_reviewed,
    )


async def import_and_wait(target: Attached, cast: Cast, file: CaseFile, *, is_reviewed: bool) -> dict[str, Any]:
    """Import the cases, wait until all can be found, and return the figures of this run."""
    proposals = sum(record.experience is not None for record in file.cases)
    before = await target.admin.watermarks()
    began = time.monotonic()
    with bars() as progress:
        shown = {
            "case": progress.add_task("cases", total=len(file.cases)),
            "proposed": progress.add_task("proposed", total=proposals),
        }
        if is_reviewed:
            shown["published"] = shown["rejected"] = progress.add_task("reviewed twice", total=proposals)
        report = await import_cases(
            cast, file.cases, is_reviewed=is_reviewed, step=lambda name: progress.advance(shown[name])
        )
        saved = time.monotonic() - began
        left = progress.add_task("waiting for the index", total=None)
        watermarks = await until_searchable(
            target.admin, seen=lambda pending: progress.update(left, description=f"index: {pending} pending")
        )
        progress.update(left, description="index: all searchable", total=1, completed=1)
    searchable = time.monotonic() - began
    figures = await target.admin.figures(since=max(watermark.head for watermark in before))
    return {**_counts(report), **_times(report, saved, searchable), **figures.model_dump(mode="json")} | {
        "watermarks": {watermark.collection.value: watermark.position for watermark in watermarks}
    }


def _counts(report: ImportReport) -> dict[str, Any]:
    return {
        "arrivals": dict(report.arrivals),
        "results": report.results,
        "proposed": report.proposed,
        "published": report.published,
        "rejected": report.rejected,
        "queued": report.queued,
        "masked_places": report.masked,
        "unresolved": report.unresolved,
        "reconciles": report.proposed == report.published + report.rejected + report.queued,
    }


def _times(report: ImportReport, saved: float, searchable: float) -> dict[str, float]:
    return {
        "seconds_until_saved": round(saved, 2),
        "seconds_until_searchable": round(searchable, 2),
        "lifecycles_per_minute": round(60 * (report.published + report.rejected) / saved, 1),
    }


def _print(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        console.print(f"  {name.replace('_', ' '):<34} {value}")
