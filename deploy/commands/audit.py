"""`caselore audit`: the chain verified against itself and the record, and its rows shown."""

from __future__ import annotations

from pathlib import Path

import typer

from contracts.audit import AuditVerification
from deploy.commands.attach import attached
from deploy.commands.progress import console, say
from deploy.commands.results import write_json
from deploy.settings import Settings


async def verify_audit(settings: Settings, *, expected: str | None, json_file: Path | None) -> None:
    """Verify the chain and print its head.

    Raises:
        typer.Exit: Code 1 when something doesn't hold; the first of it is named.
    """
    if settings.system_database_url is not None:  # nothing has to run to read the record
        found = await verification(settings.system_database_url, expected)
    else:
        async with attached(settings, progress=say) as target:
            found = await verification(target.system_database_url, expected)
    write_json(json_file, {**found.model_dump(mode="json"), "holds": found.holds})
    console.print(
        f"  {found.rows:,} rows; {found.transitions:,} transitions, {found.decisions:,} decisions,"
        f" {found.revisions:,} revisions ({found.erased:,} erased)"
    )
    if found.broken is not None:
        where = "" if found.broken.seq is None else f" (row {found.broken.seq})"
        console.print(f"[bold red]broken[/]: {found.broken.subject}{where}: {found.broken.reason}")
        raise typer.Exit(1)
    console.print(f"[bold]The chain holds.[/] Keep its head elsewhere: {found.head.seq} {found.head.hash}")


async def verification(system_database_url: str, expected: str | None) -> AuditVerification:
    """Return what the verification of a record found."""
    # SQLAlchemy takes a while to import, and the shown rows come by HTTP.
    from activities.records.audit_verification import AuditVerifier
    from activities.records.database import Database

    database = Database(system_database_url, system_database_url)
    try:
        return await AuditVerifier(database).verify(expected)
    finally:
        await database.close()


async def show_audit(
    settings: Settings,
    *,
    subject: str | None,
    actor: str | None,
    after: int,
    limit: int,
    json_file: Path | None,
) -> None:
    """Print rows of the chain."""
    async with attached(settings, progress=say) as target:
        rows = await target.admin.audit(subject=subject, actor=actor, after=after, limit=limit)
    write_json(json_file, {"rows": [row.model_dump(mode="json") for row in rows]})
    for row in rows:
        details = " ".join(f"{name}={value}" for name, value in row.details.items())
        revision = "" if row.revision is None else f" revision {row.revision}"
        told = f"{row.seq:>6}  {row.at:%Y-%m-%d %H:%M:%S}  {row.action}{revision}"
        console.print(told + (f" by {row.actor_id}" if row.actor_id else ""), markup=False, soft_wrap=True)
        for line in filter(None, (row.subject, f"digest {row.digest[:12]}" if row.digest else "", details)):
            console.print(f"        {line}", markup=False, soft_wrap=True)
