"""With no worker a decision is stored, survives a restart of everything, and takes effect once (R8, R10, R23)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from contracts.lifecycle import Stage
from contracts.views import CommandView, ExperienceView
from deploy.importing import experience_id
from deploy.runtime import Runtime
from tests.acceptance.house import PATIENCE, accepting
from tests.acceptance.office import Office, running_office, settings_in
from tests.acceptance.samples import case

RECORD = case("WAIT-1", "The bell is late", "The bell rings a minute late after a power cut.")

pytestmark = pytest.mark.timeout(300)


@asynccontextmanager
async def no_workers(*_: object) -> AsyncGenerator[None]:
    """Stand where the workers do: nobody takes a task."""
    yield


async def test_r23_a_decision_without_a_worker_survives_a_restart_and_takes_effect_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, decision = settings_in(folder / "data"), accepting(RECORD, Stage.CURATOR_REVIEW)
    async with running_office(settings) as (_, office):
        await office.bring(RECORD, is_reviewed=False)

    with monkeypatch.context() as patched:
        patched.setattr("deploy.runtime.running_workers", no_workers)
        async with running_office(settings) as (runtime, office):
            posted = await office.cast.curator.send("POST", "/v1/reviews", body=decision)
            assert posted.status_code == 202, posted.text
            pending = CommandView.model_validate_json(posted.content)
            assert (pending.command_id, pending.state) == (decision.decision_id, "pending")
            place = posted.headers["Location"]
            assert await _standing(office, place) == pending
            assert (await _view(office)).stage is Stage.CURATOR_REVIEW
            assert await _effects(runtime) == (0, 1)
    # Postgres, Temporal and Caselore itself have ended; nobody ever took the decision.

    async with running_office(settings) as (runtime, office):
        # Whoever got no answer asks again, while the projector delivers what it finds.
        again = await office.cast.curator.send("POST", "/v1/reviews", body=decision)
        assert again.status_code in (200, 202), again.text
        applied = await _applied(office, place)
        assert (applied.state, applied.outcome) == ("applied", Stage.OWNER_REVIEW)
        view = await _view(office)
        assert view.stage is Stage.OWNER_REVIEW
        assert _acceptances(view) == [(Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW)]

        again = await office.cast.curator.send("POST", "/v1/reviews", body=decision)
        assert (again.status_code, CommandView.model_validate_json(again.content)) == (200, applied)
        assert await _view(office) == view
        assert await _effects(runtime) == (1, 1)

        owner = await office.cast.owner.decide(accepting(RECORD, Stage.OWNER_REVIEW), wait=30)
        assert owner.outcome == Stage.PUBLISHED


async def _standing(office: Office, place: str) -> CommandView:
    found = await office.cast.curator.send("GET", place)
    assert found.status_code == 200, found.text
    return CommandView.model_validate_json(found.content)


async def _applied(office: Office, place: str) -> CommandView:
    for _ in range(int(PATIENCE / 0.1)):
        if (view := await _standing(office, place)).state != "pending":
            return view
        await asyncio.sleep(0.1)
    pytest.fail("the decision never takes effect")


async def _view(office: Office) -> ExperienceView:
    return await office.cast.proposer.get_experience(experience_id(RECORD))


def _acceptances(view: ExperienceView) -> Sequence[tuple[Any, ...]]:
    return [(each.from_stage, each.to_stage) for each in view.history if each.event == "accept"]


async def _effects(runtime: Runtime) -> tuple[int, int]:
    """Return how many decisions took effect, and how many were stored to take one."""
    counts = [
        "SELECT count(*) FROM review_decisions WHERE experience_id = :id",
        "SELECT count(*) FROM commands WHERE experience_id = :id",
    ]
    async with runtime.parts.database.as_system() as connection:
        effects, stored = [
            (await connection.execute(text(each), {"id": experience_id(RECORD)})).scalar_one() for each in counts
        ]
    return effects, stored
