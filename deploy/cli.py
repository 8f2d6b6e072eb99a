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

from contracts.errors import CaseloreError
from deploy import logs
from deploy.commands.demo import demo as run_demo
from deploy.commands.imports import import_file
from deploy.commands.reindex import reindex as run_reindex
from deploy.commands.replay import replay_file
from deploy.commands.up import up as run_up
from deploy.settings import load_settings

app = typer.Typer(
    help="Caselore: what earlier cases taught, reviewed, limited and cited.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
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
