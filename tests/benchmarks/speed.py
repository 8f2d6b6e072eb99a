"""How fast a retrieval is, at growing sizes, beside the floors that it stands on, all in one run.

python -m tests.benchmarks.speed [--json FILE] [--sizes N ...] [--rounds N] [--further N]

Floors: one Postgres transaction, the objective's embedding, one dense and one lexical index query, a workflow that does
nothing. Above them the engine alone, the engine through Temporal, and HTTP; then throughput at 1, 8 and 32 callers, how
long the event loop was kept, and memory, the services' too. The demo's lifecycles are published first, with their rate
and lag; `tests.benchmarks.corpus` grows them to each size, where a few more are then published to see how soon they are
found. Nothing is measured before every question was asked a few times, as of a service that has run for a minute.
Absolute times belong to one machine: compare the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
from sqlalchemy import text
from temporalio.worker import Worker

from api.client import CaseloreClient
from contracts.casefile import QuestionRecord
from contracts.identity import Tenant
from contracts.index import DenseQuery, Filter, LexicalQuery, Scope, VectorName
from contracts.labels import Collection
from contracts.retrieval import RetrievalRequest
from deploy import logs
from deploy.administrator_key import administrator_key
from deploy.cast import engage_agent
from deploy.commands.attach import Attached
from deploy.commands.imports import engage_for, import_and_wait
from deploy.importing import read_case_file
from deploy.runtime import Runtime, running, settle
from deploy.searchable import until_searchable
from deploy.settings import Settings, load_settings
from deploy.wiring import connect_temporal
from deploy.worker import workflow_runner
from tests.benchmarks.corpus import Corpus
from tests.benchmarks.figures import write_figures
from tests.benchmarks.memory import memory_of
from tests.benchmarks.nothing import NothingToDo
from tests.benchmarks.publish_lag import Publishing
from tests.benchmarks.speed_table import show_growth, show_size
from tests.benchmarks.timing import LoopWatch, Timing, timed, timed_after
from tests.ports import port_settings

SIZES = (1_000, 10_000, 100_000)
CALLERS = (1, 8, 32)
TURNS = 5
"""Parts that the rounds of a measurement are cut into."""
WARM = 4
"""Times that every question is asked before anything is measured: until then Postgres plans each statement anew."""
ROUNDS = 200
FURTHER = 20
"""Experiences that are published one by one at each size, for the lag."""


@dataclass(frozen=True)
class Asking:
    """Who asks what."""

    runtime: Runtime
    agent: CaseloreClient
    agent_id: str
    questions: Sequence[QuestionRecord]

    def request(self, number: int) -> RetrievalRequest:
        """Return a new request; the questions take turns, so that every strategy has its share."""
        question = self.questions[number % len(self.questions)]
        return RetrievalRequest(
            request_id=str(uuid.uuid4()),
            profile_id=question.profile,
            purpose=question.purpose,
            objective=question.objective,
            version=question.facts.version,
        )

    async def stored(self, number: int) -> str:
        """Return the id of a request that is stored and not answered."""
        asked = self.request(number)
        await self.runtime.parts.memory_uses.open(self.agent_id, asked)
        return asked.request_id


async def measure(settings: Settings, sizes: Sequence[int], rounds: int, further: int) -> dict[str, Any]:
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
        asking = Asking(runtime, agent, f"agent-of-{tenant.id}", file.questions)
        corpus = Corpus(runtime)
        publishing = Publishing(runtime, cast, file.cases)
        measured: list[dict[str, Any]] = []
        for size in sizes:
            grown = await corpus.grow(size)
            settle()
            figures = {"grown": vars(grown), **await _at_size(settings, asking, rounds)}
            # Last: nothing of this size is measured on a corpus that these have changed.
            measured.append(figures | {"publish_lag": await publishing.measured(further)})
            show_size(size, measured[-1])
    return {"loop": loop, "rounds": rounds, "sizes": dict(zip(map(str, sizes), measured, strict=True))}


async def _at_size(settings: Settings, asking: Asking, rounds: int) -> dict[str, Any]:
    for number in range(WARM * len(asking.questions)):
        await asking.runtime.parts.retrieval_activities.answer_retrieval(await asking.stored(number))
    alone, crowded = LoopWatch(), LoopWatch()
    part = max(1, rounds // TURNS)
    floors, product = await _in_turn(settings, asking, part)
    async with alone.watching():  # by itself: two hundred looks a second cost what is measured
        await _product(asking, part)
        queries = await _queries(asking)
        searchable = await _projection(asking)
    async with crowded.watching():
        throughput = {str(callers): await _throughput(asking, callers) for callers in CALLERS}
    return {
        "floors_ms": floors,
        "product_ms": product,
        "index_queries_a_retrieval": queries,
        "ratios": _ratios(floors, product, queries),
        "retrievals_a_second": throughput,
        "projection": searchable,
        "event_loop": alone.figures(),
        "event_loop_crowded": crowded.figures(),
        "memory_mb": round(psutil.Process().memory_info().rss / 2**20),
        "memory": memory_of(asking.runtime),
    }


async def _in_turn(settings: Settings, asking: Asking, part: int) -> tuple[dict[str, Timing], dict[str, Timing]]:
    """Return the floors' and the product's timings, measured in turn: a machine's pace changes within a run."""
    floors: dict[str, list[float]] = {}
    product: dict[str, list[float]] = {}
    for _ in range(TURNS):
        for name, taken in (await _floors(settings, asking, part)).items():
            floors.setdefault(name, []).extend(taken)
        for name, taken in (await _product(asking, part)).items():
            product.setdefault(name, []).extend(taken)
    return (
        {name: Timing.of(taken) for name, taken in floors.items()},
        {name: Timing.of(taken) for name, taken in product.items()},
    )


async def _floors(settings: Settings, asking: Asking, rounds: int) -> dict[str, list[float]]:
    parts = asking.runtime.parts
    objectives = [question.objective for question in asking.questions]
    vectors = parts.embedder.embed(objectives)

    async def round_trip(_: int) -> None:
        async with parts.database.as_system() as connection:
            await connection.execute(text("SELECT 1"))

    async def embedding(number: int) -> None:
        await asyncio.to_thread(parts.embedder.embed, [objectives[number % len(objectives)]])

    async def search(query: DenseQuery | LexicalQuery) -> None:
        await parts.index.search(Collection.DETAIL, query, scope=Scope(), where=Filter(), limit=50)

    async def dense(number: int) -> None:
        await search(DenseQuery(vectors[number % len(vectors)], VectorName.BODY))

    async def lexical(number: int) -> None:
        await search(LexicalQuery(objectives[number % len(objectives)]))

    client = await connect_temporal(settings, asking.runtime.addresses)

    async def nothing(_: int) -> None:
        await client.execute_workflow(
            NothingToDo.run, id=f"nothing/{uuid.uuid4()}", task_queue="benchmark", request_eager_start=True
        )

    async with Worker(client, task_queue="benchmark", workflows=[NothingToDo], workflow_runner=workflow_runner()):
        through_temporal = await timed(rounds, nothing)
    return {
        "one Postgres transaction": await timed(rounds, round_trip),
        "embedding of the objective": await timed(rounds, embedding),
        "one dense index query": await timed(rounds, dense),
        "one lexical index query": await timed(rounds, lexical),
        "no-op workflow, eager start": through_temporal,
    }


async def _product(asking: Asking, rounds: int) -> dict[str, list[float]]:
    parts = asking.runtime.parts
    return {
        "engine alone": await timed_after(
            rounds, asking.stored, lambda request_id, _: parts.retrieval_activities.answer_retrieval(request_id)
        ),
        "through Temporal": await timed_after(
            rounds, asking.stored, lambda request_id, _: parts.gateway.retrieve(request_id)
        ),
        "through HTTP, stored and read": await timed(
            rounds, lambda number: asking.agent.retrieve(asking.request(number))
        ),
    }


async def _throughput(asking: Asking, callers: int, seconds: float = 8.0) -> float:
    """Return retrievals a second through Temporal with so many callers at once."""
    until = time.perf_counter() + seconds
    done = 0

    async def call(start: int) -> None:
        nonlocal done
        number = start
        while time.perf_counter() < until:
            await asking.runtime.parts.gateway.retrieve(await asking.stored(number))
            number += 1
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(call(caller) for caller in range(callers)))
    return round(done / (time.perf_counter() - began), 1)


async def _projection(asking: Asking) -> dict[str, float]:
    """Return how fast the projector works through announced keys, their embedding included."""
    parts = asking.runtime.parts
    async with parts.database.as_system() as connection:
        rows = await connection.execute(
            text("SELECT 'experience/' || experience_id FROM revisions WHERE state = 'current' LIMIT 100")
        )
        keys = list(rows.scalars())
    began = time.perf_counter()
    await parts.projections.announce(keys)
    await until_searchable(asking.agent)
    seconds = time.perf_counter() - began
    return {"entries": 2 * len(keys), "entries_a_second": round(2 * len(keys) / seconds, 1)}


async def _queries(asking: Asking) -> float:
    """Return how many index queries a retrieval makes, over all questions."""
    parts = asking.runtime.parts
    with patch.object(parts.index, "search", wraps=parts.index.search) as search:
        for number in range(len(asking.questions)):
            await parts.retrieval_activities.answer_retrieval(await asking.stored(number))
    return search.call_count / len(asking.questions)


def _ratios(floors: dict[str, Timing], product: dict[str, Timing], queries: float) -> dict[str, float]:
    no_op = floors["no-op workflow, eager start"].p50
    dense, lexical = floors["one dense index query"].p50, floors["one lexical index query"].p50
    ground = sum(timing.p50 for timing in floors.values()) - no_op
    # A strategy asks the index many times: its floor has each of these queries.
    own = ground + (queries - 2) * (dense + lexical) / 2
    engine, temporal = product["engine alone"], product["through Temporal"]
    return {
        "engine p50 / floors with one index query of each kind": round(engine.p50 / ground, 2),
        f"engine p50 / floors with its {queries:g} index queries": round(engine.p50 / own, 2),
        "engine p99 / p50": round(engine.p99 / engine.p50, 2),
        "through Temporal p50 / (no-op + engine) p50": round(temporal.p50 / (no_op + engine.p50), 2),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="published experiences")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="calls of each kind that are timed at each size")
    parser.add_argument("--further", type=int, default=FURTHER, help="experiences published one by one at each size")


def run(given: argparse.Namespace) -> dict[str, Any]:
    """Measure and print, as `add_options` was answered, and return the figures."""
    logs.configure()
    with tempfile.TemporaryDirectory(prefix="caselore-bench-") as folder:
        settings = load_settings(data_dir=Path(folder) / "data", **port_settings())
        figures = asyncio.run(measure(settings, sorted(given.sizes), given.rounds, given.further))
    show_growth(figures)
    return figures


def main(arguments: Sequence[str]) -> None:
    """Measure, print, and write JSON when asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path)
    add_options(parser)
    given = parser.parse_args(arguments)
    figures = run(given)
    if given.json is not None:
        write_figures(given.json, figures)


if __name__ == "__main__":
    main(sys.argv[1:])
