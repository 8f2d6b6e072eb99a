"""Intake of real incident logs, out of order: `python -m tests.benchmarks.arrivals --data DIR`.

Every revision of the shared data's incident log is a delivery; a fifth comes twice, a twentieth has other content under
the same revision, all are shuffled. The rate stands beside that of a bare insert of one row a transaction into the
same database, in the same run: nothing that stores deliveries can be faster. Exit code 1 when a count or a final state
is not what the log asks for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console
from rich.table import Table
from sqlalchemy import text

from api.client import CaseloreClient
from contracts.arrivals import case_state_of
from contracts.cases import Delivery
from contracts.labels import CaseState
from deploy import logs
from deploy.administrator_key import administrator_key
from deploy.commands.attach import Attached
from deploy.commands.progress import bars
from deploy.commands.replay import engage_intake
from deploy.replaying import ReplayReport, replay, survey
from deploy.runtime import Runtime, running
from deploy.searchable import until_searchable
from deploy.settings import Settings, load_settings
from tests.conversion.incidents import Expected, lines, read_incidents, replayed
from tests.ports import port_settings

_console = Console(highlight=False)
_INSERTS = 5_000


async def measure(settings: Settings, data: Path, *, side_by_side: int, seed: int, limit: int | None) -> dict[str, Any]:
    """Return every figure of one run."""
    sent = replayed(read_incidents(data)[:limit], seed=seed)
    file = settings.data_dir.parent / "deliveries.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines(sent.deliveries)), encoding="utf-8")
    async with running(settings) as runtime, AsyncExitStack() as stack:
        floor = await _bare_inserts(runtime, sent.deliveries[:_INSERTS], side_by_side)
        key = administrator_key(settings.data_dir) or ""
        admin = await stack.enter_async_context(CaseloreClient(runtime.addresses.http, key))
        target = Attached(runtime.addresses.http, None, admin, is_ours=True)
        client = await engage_intake(stack, target, survey(file).tenants, add_tenants=True)
        report = ReplayReport()
        began = time.monotonic()
        with bars() as progress:
            task = progress.add_task("deliveries", total=len(sent.deliveries))
            await replay(client, file, report, step=lambda: progress.advance(task), side_by_side=side_by_side)
            left = progress.add_task("waiting for the index", total=None)
            await until_searchable(
                admin, seen=lambda pending: progress.update(left, description=f"index: {pending} pending")
            )
            progress.update(left, total=1, completed=1)
        searchable = time.monotonic() - began
        faults = await _faults(runtime, sent.expected)
        peak = (await admin.figures()).peak_memory_mb
    figures = report.figures()
    counted = {**figures, "attached or late": figures["attached"] + figures["late"]}
    wanted = sent.totals()
    return {
        "incidents": len(sent.expected),
        "incidents_with_gaps": sum(each.missing > 0 for each in sent.expected),
        "seed": seed,
        "side_by_side": side_by_side,
        "replay": figures,
        "wanted": wanted,
        "counts_as_wanted": {name: counted[name] for name in wanted} == wanted,
        "wrong": faults,
        "bare_inserts_per_second": floor,
        "part_of_bare_insert": round(figures["deliveries_per_second"] / floor, 3),
        "seconds_until_searchable": round(searchable, 1),
        "peak_memory_mb": peak,
    }


async def _bare_inserts(runtime: Runtime, deliveries: list[Delivery], side_by_side: int) -> float:
    """Return how many rows a second go into a plain table, each in a transaction of its own."""
    url = (runtime.services.addresses.owner_database_url or "").replace("postgresql+psycopg:", "postgresql:")
    rows = iter([(each.origin.external_id, each.revision, each.subject, each.body) for each in deliveries])

    async def insert() -> None:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            for row in rows:
                await connection.execute("INSERT INTO bare_inserts VALUES (%s, %s, %s, %s)", row)

    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("CREATE TABLE bare_inserts (external_id text, revision int, subject text, body text)")
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(side_by_side):
                group.create_task(insert())
        taken = time.monotonic() - began
        await connection.execute("DROP TABLE bare_inserts")
    return round(len(deliveries) / taken, 1)


async def _faults(runtime: Runtime, expected: list[Expected]) -> dict[str, int]:
    """Return how many incidents differ from what their log asks for, by what differs."""
    statement = text("""
        SELECT o.external_id, c.source_revision, c.state, c.waiting_on, c.source_state, count(a.id) AS contents,
               count(*) FILTER (WHERE a.disposition = 'conflict') AS conflicts, sum(a.redeliveries) AS duplicates
          FROM cases c JOIN origins o ON o.id = c.origin_id LEFT JOIN arrivals a ON a.case_id = c.id
         GROUP BY o.id, c.id
    """)
    async with runtime.parts.database.as_system() as connection:
        rows = {row["external_id"]: row for row in (await connection.execute(statement)).mappings()}
    faults = Counter[str]({"cases that nobody sent": len(rows.keys() - {each.external_id for each in expected})})
    for each in expected:
        row, word = rows.get(each.external_id), case_state_of(each.state)
        if row is None or word is None:
            faults["no case"] += 1
            continue
        faults["final state"] += (CaseState(row["state"]), row["waiting_on"]) != (word.state, word.waiting_on)
        faults["source's own state"] += row["source_state"] != each.state
        faults["highest revision"] += row["source_revision"] != each.revision
        faults["contents kept"] += row["contents"] != each.contents
        faults["conflicts that show"] += row["conflicts"] != each.conflicts
        faults["duplicates counted"] += row["duplicates"] != each.duplicates
    return dict(faults)


def _show(figures: dict[str, Any]) -> None:
    table = Table("", "wanted", "found", title=f"{figures['incidents']:,} incidents out of order")
    found = {**figures["replay"], "attached or late": figures["replay"]["attached"] + figures["replay"]["late"]}
    for name, count in figures["wanted"].items():
        table.add_row(name, f"{count:,}", f"{found[name]:,}")
    for name, count in figures["wrong"].items():
        table.add_row(f"wrong: {name}", "0", f"{count:,}")
    _console.print(table)
    _console.print(
        f"{found['deliveries_per_second']} deliveries a second, {figures['bare_inserts_per_second']} bare inserts"
        f" ({figures['side_by_side']} at a time each); all searchable after {figures['seconds_until_searchable']} s;"
        f" peak memory {figures['peak_memory_mb']} MB"
    )


def main(arguments: list[str]) -> int:
    """Measure, print, and write JSON when asked to; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the incident log")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--side-by-side", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--limit", type=int, help="only the first incidents")
    given = parser.parse_args(arguments)
    logs.configure()
    with tempfile.TemporaryDirectory(prefix="caselore-bench-") as folder:
        settings = load_settings(
            data_dir=Path(folder) / "data",
            **port_settings(),
            embedding_threads=1,
        )
        figures = asyncio.run(
            measure(settings, given.data, side_by_side=given.side_by_side, seed=given.seed, limit=given.limit)
        )
    _show(figures)
    if given.json is not None:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0 if figures["counts_as_wanted"] and not any(figures["wrong"].values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
