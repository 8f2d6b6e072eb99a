"""Real reports whose duplicates are known: likeness lists them and merges none (R2, R16).

A part of what `tests.benchmarks.related` measures on all reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.benchmarks.duplicate_reports import Pair, Registry, Report, open_registry, read_pairs, read_reports
from tests.benchmarks.simple_search import SimpleSearch

PROJECT = "seamonkey"
DUPLICATES, INDEPENDENT, REPORTS = 30, 25, 150

pytestmark = pytest.mark.timeout(240)


@dataclass
class Judged:
    registry: Registry
    reports: list[Report]
    duplicates: list[Pair]
    independent: list[Pair]


@pytest_asyncio.fixture(scope="module", name="judged")
async def fixture_judged(shared_data: Path) -> AsyncIterator[Judged]:
    """150 reports: both ends of the judged pairs, and the first others."""
    everything, pairs = read_reports(shared_data, PROJECT), read_pairs(shared_data, PROJECT)
    duplicates = [pair for pair in pairs if pair.is_duplicate][:DUPLICATES]
    independent = [pair for pair in pairs if not pair.is_duplicate][:INDEPENDENT]
    wanted = {report_id for pair in (*duplicates, *independent) for report_id in (pair.earlier, pair.later)}
    others = [report.id for report in everything if report.id not in wanted]
    wanted |= set(others[: REPORTS - len(wanted)])
    reports = [report for report in everything if report.id in wanted]
    async with open_registry(threads=1) as registry:
        await registry.register(PROJECT, reports, lambda _: None)
        yield Judged(registry, reports, duplicates, independent)


async def test_r2_the_earlier_report_is_listed_at_least_as_often_as_by_plain_bm25(judged: Judged) -> None:
    simple = SimpleSearch(judged.reports, None)
    plain = await asyncio.to_thread(simple.found, judged.duplicates, 3)
    listed = [pair.earlier in await judged.registry.related(pair.later, limit=3) for pair in judged.duplicates]
    assert sum(listed) >= plain["bm25"] > 0


async def test_r2_nothing_is_merged_by_likeness(judged: Judged) -> None:
    """Neither what maintainers closed each on its own merits, nor what they later called duplicates."""
    for pair in (*judged.duplicates, *judged.independent):
        await judged.registry.related(pair.later)
    assert await judged.registry.counts() == (REPORTS, 0)
    for pair in (*judged.duplicates, *judged.independent):
        assert await judged.registry.is_apart(pair)
