"""The spine's speed: lifecycles, publish-to-searchable, and a retrieval beside the floors that it stands on.

`python -m tests.benchmarks.spine [--json FILE] [--rounds N]`. Floors and product are measured in one run on one
machine; the ratios are what to compare.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from sqlalchemy import text
from temporalio.worker import Worker

from api.client import CaseloreClient
from contracts.casefile import QuestionRecord
from contracts.identity import Tenant
from contracts.index import DenseQuery, Filter, LexicalQuery, Scope, VectorName
from contracts.labels import Collection
from contracts.retrieval import RetrievalRequest
from deploy.bootstrap import administrator_key
from deploy.cast import engage_agent
from deploy.commands.attach import Attached
from deploy.commands.imports import engage_for, import_and_wait
from deploy.importing import read_case_file
from deploy.runtime import Runtime, running
from deploy.settings import Settings, load_settings
from deploy.wiring import connect_temporal
from deploy.worker import workflow_runner
from tests.benchmarks.nothing import NothingToDo
from tests.ports import port_settings

_console = Console(highlight=False)


@dataclass(frozen=True)
class Timing:
    """Milliseconds."""

    p50: float
    p90: float
    p99: float


async def timed(rounds: int, call: Callable[[int], Awaitable[object]]) -> Timing:
    """Return how long `call` takes, after a warm-up of a tenth of the rounds."""
    for number in range(max(1, rounds // 10)):
        await call(-1 - number)
    taken: list[float] = []
    for number in range(rounds):
        began = time.perf_counter()
        await call(number)
        taken.append(1000 * (time.perf_counter() - began))
    taken.sort()
    return Timing(*(round(taken[min(rounds - 1, int(rounds * part))], 2) for part in (0.5, 0.9, 0.99)))


async def measure(settings: Settings, rounds: int) -> dict[str, Any]:
    """Return every figure of one run."""
    with resources.as_file(resources.files("deploy") / "demo" / "cases.jsonl") as path:
        file = read_case_file(path)
    async with running(settings) as runtime, AsyncExitStack() as stack:
        key = administrator_key(settings.data_dir) or ""
        admin = await stack.enter_async_context(CaseloreClient(runtime.addresses.http, key))
        target = Attached(runtime.addresses.http, None, admin, is_ours=True)
        cast = await engage_for(stack, target, file, is_reviewed=True)
        loop = await import_and_wait(target, cast, file, is_reviewed=True)
        tenant = Tenant(id=file.tenants[0].id, name=file.tenants[0].name)
        domains = [domain.id for domain in file.domains]
        agent = await engage_agent(stack, admin, runtime.addresses.http, tenant, domains)
        floors = await _floors(settings, runtime, file.questions[0], rounds)
        product = await _product(runtime, agent, f"agent-of-{tenant.id}", file.questions, rounds)
    return {"loop": loop, "rounds": rounds, "floors_ms": floors, "product_ms": product}


async def _floors(settings: Settings, runtime: Runtime, question: QuestionRecord, rounds: int) -> dict[str, Timing]:
    parts = runtime.parts
    vector = parts.embedder.embed([question.objective])[0]

    async def round_trip(_: int) -> None:
        async with parts.database.as_system() as connection:
            await connection.execute(text("SELECT 1"))

    async def embedding(_: int) -> None:
        await asyncio.to_thread(parts.embedder.embed, [question.objective])

    async def search(query: DenseQuery | LexicalQuery) -> None:
        await parts.index.search(Collection.DETAIL, query, scope=Scope(), where=Filter(), limit=50)

    client = await connect_temporal(settings, runtime.addresses)

    async def nothing(_: int) -> None:
        await client.execute_workflow(
            NothingToDo.run, id=f"nothing/{uuid.uuid4()}", task_queue="benchmark", request_eager_start=True
        )

    async with Worker(client, task_queue="benchmark", workflows=[NothingToDo], workflow_runner=workflow_runner()):
        through_temporal = await timed(rounds, nothing)
    return {
        "one Postgres transaction": await timed(rounds, round_trip),
        "embedding of the objective": await timed(rounds, embedding),
        "one dense index query": await timed(rounds, lambda _: search(DenseQuery(vector, VectorName.BODY))),
        "one lexical index query": await timed(rounds, lambda _: search(LexicalQuery(question.objective))),
        "no-op workflow, eager start": through_temporal,
    }


async def _product(
    runtime: Runtime, agent: CaseloreClient, agent_id: str, questions: list[QuestionRecord], rounds: int
) -> dict[str, Timing]:
    parts = runtime.parts

    def request(number: int) -> RetrievalRequest:
        question = questions[number % len(questions)]
        return RetrievalRequest(
            request_id=str(uuid.uuid4()),
            profile_id=question.profile,
            purpose=question.purpose,
            objective=question.objective,
            version=question.facts.version,
        )

    async def engine(number: int) -> None:
        asked = request(number)
        await parts.memory_uses.open(agent_id, asked)
        await parts.retrieval_activities.answer_retrieval(asked.request_id)

    async def workflows(number: int) -> None:
        asked = request(number)
        await parts.memory_uses.open(agent_id, asked)
        await parts.gateway.retrieve(asked.request_id)

    return {
        "engine alone, request stored": await timed(rounds, engine),
        "through the workflow": await timed(rounds, workflows),
        "through HTTP, answer read": await timed(rounds, lambda number: agent.retrieve(request(number))),
    }


def _show(figures: dict[str, Any]) -> None:
    table = Table("", "p50 ms", "p90 ms", "p99 ms", title=f"Retrieval and its floors, {figures['rounds']} rounds")
    for part in ("floors_ms", "product_ms"):
        for name, timing in figures[part].items():
            table.add_row(name, f"{timing.p50}", f"{timing.p90}", f"{timing.p99}")
        table.add_section()
    _console.print(table)
    loop = figures["loop"]
    _console.print(
        f"{loop['lifecycles_per_minute']} lifecycles a minute; searchable after {loop['lag_p50_seconds']} s (p50), "
        f"{loop['lag_p95_seconds']} s (p95); peak memory {loop['peak_memory_mb']} MB"
    )


def main(arguments: list[str]) -> None:
    """Measure, print, and write JSON when asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="caselore-bench-") as folder:
        settings = load_settings(data_dir=Path(folder) / "data", **port_settings())
        figures = asyncio.run(measure(settings, options.rounds))
    _show(figures)
    if options.json is not None:
        options.json.write_text(json.dumps(figures, default=vars, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
