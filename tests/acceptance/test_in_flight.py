"""Experiences in flight while their workers are killed end as their decisions say (R8, R10, R12, R24)."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.chaos import Report, chaos

EXPERIENCES, SECONDS = 40, 15.0
pytestmark = pytest.mark.timeout(300)


@pytest_asyncio.fixture(scope="module")
async def survived(folder: Path) -> Report:
    return await chaos(folder, Report(EXPERIENCES), seconds=SECONDS, hands=1)


async def test_each_ends_once_in_the_state_that_its_decisions_say(survived: Report) -> None:
    """Record, workflows, index and audit chain agree with the answers; nothing is pending, dead or done twice."""
    assert survived.faults == []
    assert sum(survived.stages.values()) == EXPERIENCES


async def test_the_run_was_worth_it(survived: Report) -> None:
    """Processes died under way, people contradicted each other, and lives ended in different places."""
    assert sum(survived.kills.values()) >= 3
    assert survived.counts["contradictions"] > 0
    assert survived.counts["not answered"] + survived.counts["202"] > 0
    assert len(survived.stages) >= 4
