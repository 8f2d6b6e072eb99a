"""How a command runs and ends: interruptible, its refusals in words, its exit code telling what happened.

What only a command that runs needs is imported then, so that help and refusals come at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from contracts.errors import CaseloreError, DeliveryPending, NotAuthenticated, NotPermitted, Unavailable
from deploy.commands.results import prepare_output
from deploy.console import ReadableConsole

INTERRUPTED = 130
"""The shell's exit code for Ctrl-C."""
EXIT_CODES: Mapping[type[CaseloreError], int] = {
    DeliveryPending: 75,
    Unavailable: 69,
    NotAuthenticated: 77,
    NotPermitted: 77,
}
"""As `sysexits.h` has them; every other refusal ends with 1."""
EPILOG = (
    "Ends with 0; 1 when something was refused or is wrong; 2 when it was called wrongly; 69 when a service is away; "
    "75 when it is stored and not done yet; 77 when the key may not do it; 130 after Ctrl-C."
)

AsOption = Annotated[
    str | None,
    typer.Option("--as", help="Somebody of the trial team; else the key in CASELORE_API_KEY, or the administrator's."),
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json",
        callback=prepare_output,
        help="Write the result to this file as JSON; - writes it to standard output, and all else to standard error.",
    ),
]
_errors = ReadableConsole(stderr=True)


def run(command: Coroutine[Any, Any, None]) -> None:
    """Run a command that Ctrl-C ends in order."""
    from deploy import logs

    logs.configure()
    asyncio.run(_interruptible(command))


def finish(app: typer.Typer) -> NoReturn:
    """Run the command line and end the process; a refusal is printed in words."""
    code = 0
    try:
        code = app(standalone_mode=False) or 0  # Typer returns the code of an Exit
    except CaseloreError as refusal:
        _errors.print(f"[bold red]{refusal.type}[/]: ", end="", highlight=False)
        _errors.print(refusal.message, highlight=False, markup=False)
        if refusal.field or refusal.accepted:
            _errors.print(f"  {refusal.field}: {refusal.accepted}".rstrip(": "), highlight=False, markup=False)
        code = exit_code(refusal)
    except typer.Exit as end:
        code = end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
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


def exit_code(refusal: CaseloreError) -> int:
    """Return the exit code of a refusal."""
    return next((code for kind, code in EXIT_CODES.items() if isinstance(refusal, kind)), 1)


async def _interruptible(command: Coroutine[Any, Any, None]) -> None:
    """Run a command that Ctrl-C ends in order: services are stopped once, however often it is pressed."""
    task = asyncio.create_task(command)
    loop = asyncio.get_running_loop()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(wanted, _cancel_once, task)
    try:
        await task
    except asyncio.CancelledError:
        raise typer.Exit(INTERRUPTED) from None


def _cancel_once(task: asyncio.Task[None]) -> None:
    if task.cancelling():
        return
    _errors.print("Stopping...")
    task.cancel()
