"""`caselore replay FILE`: a file of deliveries through the public intake, with its counts and rate."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from api.client import CaseloreClient
from contracts.errors import CaseloreError, UnknownTenant
from contracts.identity import Grant, Principal, Tenant
from contracts.labels import PrincipalKind
from deploy.commands.attach import Attached, attached
from deploy.commands.progress import bars, console, say
from deploy.commands.results import write_json
from deploy.replaying import ReplayReport, Survey, replay, survey
from deploy.settings import Settings

INTAKE = Principal(id="replay-intake", kind=PrincipalKind.AGENT, name="Replay of delivery files")
_ENGAGED = timedelta(days=7)
"""How long key and grants of one replay are good."""
_NAMED = 10
"""Unknown tenants that are printed."""


async def replay_file(
    settings: Settings, path: Path, *, add_tenants: bool, side_by_side: int, json_file: Path | None
) -> None:
    """Deliver every line of a file and print what became of them.

    Raises:
        typer.Exit: Code 1 when lines were refused; the report says which.
        CaseloreError: Intake can't be reached. What was sent is reported; a further run goes on.
    """
    found = survey(path)
    console.print(f"[bold]{path.name}[/]: {found.lines:,} deliveries, {len(found.tenants)} tenants")
    report = ReplayReport()
    async with attached(settings, progress=say) as target, AsyncExitStack() as stack:
        client = await engage_intake(stack, target, found.tenants, add_tenants=add_tenants)
        try:
            await _replay(client, path, found, report, side_by_side)
        finally:
            _print(report.figures())
            write_json(json_file, report.figures())
    if report.refused:
        raise typer.Exit(1)


async def engage_intake(
    stack: AsyncExitStack, target: Attached, tenants: Iterable[str], *, add_tenants: bool
) -> CaseloreClient:
    """Return a client that may deliver for `tenants`; one that doesn't exist is added only when that is asked for."""
    until = datetime.now(UTC) + _ENGAGED
    key = await target.admin.put_principal(INTAKE, issue_key=True, key_expires_at=until)
    unknown: list[str] = []
    for tenant in sorted(tenants):
        grant = Grant(principal_id=INTAKE.id, tenant_id=tenant, purpose="replay of deliveries", expires_at=until)
        try:
            await target.admin.put_grant(grant)
        except UnknownTenant:
            unknown.append(tenant)
            if add_tenants:  # and never renames one that is there
                await target.admin.put_tenant(Tenant(id=tenant, name=tenant))
                await target.admin.put_grant(grant)
    if unknown:
        named = ", ".join(repr(tenant) for tenant in unknown[:_NAMED]) + (", ..." if len(unknown) > _NAMED else "")
        what = "added" if add_tenants else "not known, their lines will be refused (see --add-tenants)"
        console.print(f"  tenants {what}: {named}", markup=False)
    return await stack.enter_async_context(CaseloreClient(target.http, key or ""))


async def _replay(client: CaseloreClient, path: Path, found: Survey, report: ReplayReport, side_by_side: int) -> None:
    with bars() as progress:
        task = progress.add_task("deliveries", total=found.lines)
        try:
            await replay(client, path, report, step=lambda: progress.advance(task), side_by_side=side_by_side)
        except CaseloreError:
            progress.update(task, description="deliveries (broken off)")
            raise


def _print(figures: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None)
    for name, value in figures.items():
        if isinstance(value, int | float):
            shown = str(value) if isinstance(value, bool) else f"{value:,}"
            table.add_row(f"  {name.replace('_', ' ')}", shown)
    for kind, count in figures["refused_by_type"].items():
        table.add_row(f"  refused: {kind}", f"{count:,}")
    console.print(table)
    for refused in figures["first_refused"]:
        where = f" {refused['field']}" if refused["field"] else ""
        console.print(f"  line {refused['line']}: {refused['type']}{where}: {refused['detail']}", markup=False)
