"""The speed figures for a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

_console = Console(highlight=False)


def show_size(size: int, figures: dict[str, Any]) -> None:
    """Print what was measured at one size."""
    table = Table("", "p50 ms", "p90 ms", "p99 ms", title=f"{size:,} published experiences")
    for part in ("floors_ms", "product_ms"):
        for name, timing in figures[part].items():
            table.add_row(name, f"{timing.p50}", f"{timing.p90}", f"{timing.p99}")
        table.add_section()
    _console.print(table)
    for line in lines_of(figures):
        _console.print(f"  {line}")


def lines_of(figures: dict[str, Any]) -> Iterator[str]:
    """Yield what stands below a size's table."""
    for name, ratio in figures["ratios"].items():
        yield f"{name}: {ratio}"
    rates = figures["retrievals_a_second"]
    by_callers = ", ".join(f"{rate} with {callers}" for callers, rate in rates.items())
    yield f"retrievals a second by callers at once: {by_callers}"
    for who, part in (("one caller", "event_loop"), (f"{list(rates)[-1]} callers", "event_loop_crowded")):
        watch = figures[part]
        yield (
            f"event loop came late by {watch['longest_ms']} ms at most with {who}, over 50 ms {watch['over_50_ms']}"
            f" of {watch['looks']} times"
        )
    projection = figures["projection"]
    yield f"{projection['entries']} entries projected again at {projection['entries_a_second']} a second"
    yield lag_line(figures["publish_lag"])
    yield memory_line(figures["memory"])


def lag_line(lag: dict[str, Any]) -> str:
    """Return how long the further experiences took to be found, and how many never were."""
    if not lag["found"]:
        return f"published one by one: none of {lag['published']} was found"
    missing = "" if lag["found"] == lag["published"] else f"; {lag['published'] - lag['found']} NOT found"
    return (
        f"{lag['published']} published one by one: found after {lag['p50_ms']} ms (p50),"
        f" {lag['most_ms']} ms at most{missing}"
    )


def memory_line(memory: dict[str, dict[str, Any]]) -> str:
    """Return what each part of a running Caselore holds."""
    held: list[str] = []
    for name, of in memory.items():
        if "peak_mb" in of:
            held.append(f"{name} {of['resident_mb']} MB, at most {of['peak_mb']} MB")
            continue
        share = "" if of["share_mb"] is None else f" ({of['share_mb']} MB with shared memory divided)"
        processes = "1 process" if of["processes"] == 1 else f"{of['processes']} processes"
        held.append(f"{name} {of['resident_mb']} MB in {processes}{share}")
    return f"memory: {'; '.join(held)}"


def show_growth(figures: dict[str, Any]) -> None:
    """Print what the demo's cases took, and what the growth did to the engine."""
    loop = figures["loop"]
    _console.print(
        f"Demo cases: {loop['lifecycles_per_minute']} lifecycles a minute; searchable after {loop['lag_p50_seconds']} s"
        f" (p50), {loop['lag_p95_seconds']} s (p95); peak memory {loop['peak_memory_mb']} MB"
    )
    p50 = [size["product_ms"]["engine alone"].p50 for size in figures["sizes"].values()]
    _console.print(f"Engine p50 at the largest size / at the smallest: {p50[-1] / p50[0]:.2f}")
