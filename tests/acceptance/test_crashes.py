"""Whoever is killed between any two steps: one revision, one decision each, one effect, an equal watermark (R8, R9)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.casefile import CaseRecord
from contracts.errors import CaseloreError
from contracts.lifecycle import Stage
from contracts.review import ReviewDecision
from deploy.importing import bounded, experience_id, proposal_of
from tests.acceptance.house import House, accepting, open_house
from tests.acceptance.office import ref_of
from tests.acceptance.samples import case

PROPOSAL = ("gateway.start before", "gateway.start after")
PUBLICATION = (
    "commands.claim_one before",
    "gateway.decide before",
    "records.record_decision before",
    "record.publish after",
    "record.announce after",
    "records.record_decision after",
    "gateway.decide after",
    "commands.delivered after",
)
PROJECTION = (
    "changes.claim before",
    "changes.claim after",
    "projections.desired after",
    "index.apply before",
    "index.apply after",
    "projections.record after",
    "changes.delivered after",
)
"""One place in every gap: behind a step and before the next one is the same place."""
WORKER, POSTGRES = "worker", "postgres"

pytestmark = pytest.mark.timeout(180)


@dataclass
class Supply:
    """Experiences that wait for their last step, one for each crash."""

    house: House
    proposable: Iterator[CaseRecord]
    reviewable: Iterator[CaseRecord]


@pytest_asyncio.fixture(scope="module")
async def supply(folder: Path) -> AsyncIterator[Supply]:
    proposable = [_sample(number) for number in range(2 * len(PROPOSAL))]
    reviewable = [_sample(100 + number) for number in range(2 * len(PUBLICATION + PROJECTION))]
    async with open_house(folder) as house:
        await house.office.bring(*(record.model_copy(update={"experience": None}) for record in proposable))
        await house.office.bring(*reviewable, is_reviewed=False)
        curator = house.office.cast.curator
        await bounded(
            [partial(curator.decide, accepting(each, Stage.CURATOR_REVIEW), wait=20) for each in reviewable], 8
        )
        await house.office.searchable()
        yield Supply(house, iter(proposable), iter(reviewable))


@pytest.mark.parametrize("victim", [WORKER, POSTGRES])
@pytest.mark.parametrize("place", PUBLICATION + PROJECTION)
async def test_r8_a_publication_takes_effect_once(supply: Supply, place: str, victim: str) -> None:
    house, record = supply.house, next(supply.reviewable)
    decision = accepting(record, Stage.OWNER_REVIEW)
    before = await _arm(house, record, place, victim)
    assert house.impatient is not None
    with suppress(CaseloreError):  # nobody answers, or not in time; the decision was stored before
        await house.impatient.decide(decision)
    await _recovered(house, victim, before)
    await _has_one_effect(house, record)
    await _is_harmless_to_repeat(house, record, decision)


@pytest.mark.parametrize("victim", [WORKER, POSTGRES])
@pytest.mark.parametrize("place", PROPOSAL)
async def test_r8_a_proposal_starts_one_lifecycle(supply: Supply, place: str, victim: str) -> None:
    house, record = supply.house, next(supply.proposable)
    before = await _arm(house, record, place, victim)
    with suppress(CaseloreError):
        await house.office.cast.proposer.propose(proposal_of(record))
    await _recovered(house, victim, before)
    await house.standing(record, until=Stage.CURATOR_REVIEW, searchable=False)
    cast = house.office.cast
    await cast.curator.decide(accepting(record, Stage.CURATOR_REVIEW), wait=20)
    await cast.owner.decide(accepting(record, Stage.OWNER_REVIEW), wait=20)
    await _has_one_effect(house, record)


def _sample(number: int) -> CaseRecord:
    return case(f"CR-{number}", f"Lamp {number} fails", f"Lamp {number} fails when its switch is pressed twice.")


async def _arm(house: House, record: CaseRecord, place: str, victim: str) -> int:
    """Set the crash, and return the database server's process id before it."""
    before = house.postmaster
    answer = await house.tell(
        place=place,
        pid=before if victim == POSTGRES else 0,
        about=experience_id(record),
        once_published=place in PROJECTION,
    )
    assert answer == "armed"
    return before


async def _recovered(house: House, victim: str, postmaster: int) -> None:
    """Wait for the crash; then start the process again, or let the supervision start the database."""
    if victim == WORKER:
        await house.died()
        await house.start()
    else:
        await house.restarted(postmaster)


async def _has_one_effect(house: House, record: CaseRecord) -> None:
    view = await house.standing(record, until=Stage.PUBLISHED, searchable=True)
    await house.drained()
    marks = await house.office.admin.watermarks()
    digest = proposal_of(record).draft.digest()
    assert [(each.number, each.state, each.digest) for each in view.revisions] == [(1, "current", digest)]
    assert view.current_revision == 1
    _is_recorded_once(house, record)
    assert await house.tell(stored=ref_of(record)) == {"routing": [[1, digest]], "detail": [[1, digest]]}
    assert house.rows("SELECT revision, content_hash FROM projections WHERE key = %s", ref_of(record)) == [(1, digest)]
    assert all(mark.pending == 0 and mark.position == mark.head for mark in marks)


def _is_recorded_once(house: House, record: CaseRecord) -> None:
    name = experience_id(record)
    decisions = house.rows("SELECT stage, count(*) FROM review_decisions WHERE experience_id = %s GROUP BY 1", name)
    assert dict(decisions) == {Stage.CURATOR_REVIEW: 1, Stage.OWNER_REVIEW: 1}
    moves = house.rows(
        "SELECT to_stage, count(*) FROM transitions WHERE experience_id = %s AND event = 'accept' GROUP BY 1", name
    )
    assert dict(moves) == {Stage.OWNER_REVIEW: 1, Stage.PUBLISHED: 1}
    assert house.rows("SELECT DISTINCT state FROM commands WHERE experience_id = %s", name) == [("applied",)]


async def _is_harmless_to_repeat(house: House, record: CaseRecord, decision: ReviewDecision) -> None:
    """Send the decision again, as a sender that got no answer does."""
    view = await house.office.cast.owner.decide(decision, wait=20)
    assert (view.state, view.outcome) == ("applied", Stage.PUBLISHED)
    _is_recorded_once(house, record)
