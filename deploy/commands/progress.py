"""Progress bars for commands that take a while."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from deploy.console import ReadableConsole

console = ReadableConsole(highlight=False)


def bars() -> Progress:
    """Return a progress display with a bar for each task."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )


def say(line: str) -> None:
    """Print a line of what the runtime does."""
    console.print(f"  [dim]{line}[/]")
