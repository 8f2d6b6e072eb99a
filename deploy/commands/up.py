"""`caselore up`: everything on this machine, in the foreground, until Ctrl-C."""

from __future__ import annotations

import asyncio
import signal

from rich.console import Console

from deploy.administrator_key import KEY_FILE
from deploy.runtime import running, settle
from deploy.settings import Settings

_console = Console(highlight=False)


async def up(settings: Settings) -> None:
    """Run until SIGINT or SIGTERM, then stop in order."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(wanted, stop.set)
    async with running(settings, progress=lambda line: _console.print(f"  [dim]{line}[/]")) as runtime:
        addresses = runtime.addresses
        settle()
        _console.print("[bold]Caselore is up.[/] Ctrl-C stops it; the data stays.")
        _console.print(f"  Review pages              {addresses.http}/")
        _console.print(f"  API and its description   {addresses.http}/docs")
        if addresses.temporal_ui is not None:
            _console.print(f"  Lifecycles in Temporal    {addresses.temporal_ui}")
        _console.print(f"  Data                      {settings.data_dir}")
        _console.print(f"  Administrator's API key   {settings.data_dir / KEY_FILE}")
        await stop.wait()
        _console.print("Stopping...")
