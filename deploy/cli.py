"""The `caselore` command."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from contracts.erasure import ErasureTarget
from contracts.errors import CaseloreError
from deploy import logs
from deploy.commands.audit import show_audit, verify_audit
from deploy.commands.deadletters import give_up_dead_letter, list_dead_letters, retry_dead_letters
from deploy.commands.demo import demo as run_demo
from deploy.commands.erase import erase as run_erase
from deploy.commands.erase import subject_values
from deploy.commands.imports import import_file
from deploy.commands.reconcile import reconcile as run_reconcile
from deploy.commands.reindex import reindex as run_reindex
from deploy.commands.replay import replay_file
from deploy.commands.up import up as run_up
from deploy.settings import load_settings

app = typer.Typer(
    help="Caselore: what earlier cases taught, reviewed, limited and cited.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
audit_app = typer.Typer(help="Who decided what, hash-chained.", no_args_is_help=True)
app.add_typer(audit_app, name="audit")
letters_app = typer.Typer(help="Events that could not be delivered.", no_args_is_help=True)
app.add_typer(letters_app, name="deadletters")
_errors = Console(stderr=True)

_INTERRUPTED = 130
"""The shell's exit code for Ctrl-C."""

JsonOption = Annotated[Path | None, typer.Option("--json", help="Also write the result to this file, as JSON.")]


@app.command()
def up() -> None:
    """Run everything on this machine until Ctrl-C."""
    _run(run_up(load_settings()))


@app.command()
def demo(json: JsonOption = None) -> None:
    """Show the whole loop on the shipped cases: import, reviews, publication, ten questions."""
    _run(run_demo(load_settings(), json))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A case file: one JSON record a line.", exists=True, dir_okay=False)],
    unattended: Annotated[
        bool, typer.Option("--unattended", help="Let two stand-in reviewers decide, instead of the review queue.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Bring a case file in: arrivals, results, proposals and, unattended, both reviews."""
    _run(import_file(load_settings(), file, is_reviewed=unattended, json_file=json))


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="One delivery a line, as JSON.", exists=True, dir_okay=False)],
    add_tenants: Annotated[
        bool, typer.Option("--add-tenants", help="Add the file's tenants that don't exist yet.")
    ] = False,
    side_by_side: Annotated[int, typer.Option(min=1, max=64, help="Deliveries under way at once.")] = 8,
    json: JsonOption = None,
) -> None:
    """Feed a file of deliveries through the intake; run again, it goes on where it ended."""
    _run(replay_file(load_settings(), file, add_tenants=add_tenants, side_by_side=side_by_side, json_file=json))


@app.command()
def reindex() -> None:
    """Drop the search index and build it anew from the record."""
    _run(run_reindex(load_settings()))


@app.command()
def erase(
    tenant: Annotated[str, typer.Option(help="Whose data it is in.")],
    reason: Annotated[str, typer.Option(help="Why; it stays in the receipt.")],
    case: Annotated[str | None, typer.Option(help="The case, by its id.")] = None,
    subject: Annotated[
        Path | None,
        typer.Option(
            help="A file with what names the subject, one value a line; - reads standard input.", exists=False
        ),
    ] = None,
    keep_published: Annotated[
        bool, typer.Option("--keep-published", help="Of a case: leave its published experience.")
    ] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Count what would be found, and change nothing.")] = False,
    at_most: Annotated[int | None, typer.Option(min=0, help="Fields that may change, as a preview counted.")] = None,
    erasure_id: Annotated[str | None, typer.Option("--id", help="The order's id, to ask for it again.")] = None,
    json: JsonOption = None,
) -> None:
    """Erase a case or a subject from every store, and print the receipt; exit 1 when something is left."""
    target = ErasureTarget(
        tenant_id=tenant, case_id=case, subject=subject_values(subject), keep_published=keep_published
    )
    settings = load_settings()
    _run(
        run_erase(settings, target, reason, erasure_id=erasure_id, at_most=at_most, is_preview=preview, json_file=json)
    )


@app.command()
def reconcile(
    repair: Annotated[bool, typer.Option("--repair", help="Ask for a fresh projection of what drifts.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the repair, and compare again.")] = False,
    json: JsonOption = None,
) -> None:
    """Compare record and indexes key by key; exit 1 when something drifts."""
    _run(run_reconcile(load_settings(), repair=repair, wait=wait, json_file=json))


@audit_app.command()
def verify(
    expect_head: Annotated[
        str | None, typer.Option("--expect-head", help="A hash that was kept: shows a chain that was cut.")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Verify the chain and the record against it; exit 1 with the first row that is broken."""
    _run(verify_audit(load_settings(), expected=expect_head, json_file=json))


@audit_app.command()
def show(
    subject: Annotated[str | None, typer.Option(help="What it was done to: experience/<id>, case/<id>.")] = None,
    actor: Annotated[str | None, typer.Option(help="Who did it.")] = None,
    after: Annotated[int, typer.Option(min=0, help="Only rows after this one.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
) -> None:
    """Show what was done, and by whom."""
    _run(show_audit(load_settings(), subject=subject, actor=actor, after=after, limit=limit))


@letters_app.command("list")
def list_letters() -> None:
    """Show what was set aside."""
    _run(list_dead_letters(load_settings()))


@letters_app.command()
def retry(
    event_id: Annotated[str | None, typer.Argument(help="The event, from the list.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Everything that was set aside.")] = False,
) -> None:
    """Give an event, or all, back for delivery."""
    if (event_id is None) != every:
        raise typer.BadParameter("name one event, or give --all")
    _run(retry_dead_letters(load_settings(), event_id))


@letters_app.command("give-up")
def give_up(event_id: Annotated[str, typer.Argument(help="The event, from the list.")]) -> None:
    """Take a decision or command that can't be delivered out of the way; it is refused."""
    _run(give_up_dead_letter(load_settings(), event_id))


def _run(command: Coroutine[Any, Any, None]) -> None:
    logs.configure()
    asyncio.run(_interruptible(command))


async def _interruptible(command: Coroutine[Any, Any, None]) -> None:
    """Run a command that Ctrl-C ends in order: services are stopped once, however often it is pressed."""
    task = asyncio.create_task(command)
    loop = asyncio.get_running_loop()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(wanted, _cancel_once, task)
    try:
        await task
    except asyncio.CancelledError:
        raise typer.Exit(_INTERRUPTED) from None


def _cancel_once(task: asyncio.Task[None]) -> None:
    if task.cancelling():
        return
    _errors.print("Stopping...")
    task.cancel()


def main() -> None:
    """Run the command line and exit; a refusal is printed in words, with exit code 1."""
    code = 0
    try:
        code = app(standalone_mode=False) or 0  # Typer returns the code of an Exit
    except CaseloreError as refusal:
        _errors.print(f"[bold red]{refusal.type}[/]: {refusal.message}", highlight=False)
        if refusal.field or refusal.accepted:
            _errors.print(f"  {refusal.field}: {refusal.accepted}".rstrip(": "), highlight=False, markup=False)
        code = 1
    except typer.Exit as end:
        code = end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except Exception as error:
        code = getattr(error, "exit_code", None) or 1
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
    sys.stdout.flush()
    sys.stderr.flush()
    # Temporal's native threads can abort an ordinary interpreter exit (a known defect of its Python SDK).
    os._exit(code)
