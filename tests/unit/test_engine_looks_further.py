"""The engine weighs what it will list, counts the rest, and looks further where the first look isn't enough (R15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from contracts.candidates import CandidateRecord, Resolution, RetrievalTask
from contracts.experience import Limits
from contracts.labels import Collection, Outcome
from contracts.strategies import DATA_INVESTIGATION, newest
from tests.unit.test_retrieval_engine import Memory, draft, experience

FOUND = 50
"""What one step of the strategy collects: more than the first look, less than the second."""
FIRST_LOOK = DATA_INVESTIGATION.looks[0] * DATA_INVESTIGATION.results
ELSEWHERE = Limits(products=("Another product",))


@dataclass
class Watched(Memory):
    """Memory that notes which targets are resolved, and which only counted."""

    resolved: list[list[str]] = field(default_factory=list[list[str]])
    counted: list[list[str]] = field(default_factory=list[list[str]])

    async def resolve(self, task: RetrievalTask, targets: Sequence[str], others: Sequence[str] = ()) -> Resolution:
        self.resolved.append(list(targets))
        self.counted.append(list(others))
        return await super().resolve(task, targets, others)


def watched(records: Sequence[CandidateRecord], **given: Any) -> Watched:
    memory = Watched(hits={Collection.DETAIL: [record.target for record in records]}, **given)
    memory.holds(*records)
    return memory


def records(outside: int) -> list[CandidateRecord]:
    """Return records of which the first ones are out of range."""
    return [
        experience(f"{number:02d}", draft(limits=ELSEWHERE) if number < outside else draft()) for number in range(FOUND)
    ]


async def test_what_is_not_listed_is_not_parsed_and_still_counted_r15() -> None:
    memory = watched(records(0))
    last = f"experience/{FOUND - 1:02d}"
    memory.withdrawn = {"experience/03", last}
    memory.not_permitted = {f"experience/{FOUND - 2:02d}"}
    answer = await memory.answer()

    assert [candidate.ref for candidate in answer.candidates[:4]] == [f"experience/{n:02d}" for n in (0, 1, 2, 4)]
    assert len(answer.candidates) == DATA_INVESTIGATION.results
    assert (answer.withdrawn, answer.omitted_by_permission) == (2, 1)
    assert [len(look) for look in memory.resolved] == [FIRST_LOOK]
    assert {*memory.resolved[0], *memory.counted[0]} == {f"experience/{number:02d}" for number in range(FOUND)}


@pytest.mark.parametrize("outside", [FIRST_LOOK - 5, FIRST_LOOK, FOUND])
async def test_where_the_first_look_is_not_enough_everything_is_looked_at_r17(outside: int) -> None:
    memory = watched(records(outside), asked={"product": "Tarnwell Register"})
    answer = await memory.answer()

    fitting = [candidate.ref for candidate in answer.candidates if candidate.validity.state != "out_of_range"]
    assert fitting == [f"experience/{number:02d}" for number in range(outside, FOUND)][: DATA_INVESTIGATION.results]
    assert len(answer.candidates) == DATA_INVESTIGATION.results
    assert [len(look) for look in memory.resolved] == [FIRST_LOOK, FOUND]
    assert answer.abstained == (outside == FOUND)


async def test_places_for_what_contrasts_are_filled_from_further_down_r5() -> None:
    failed = [experience(f"f{number}", draft(Outcome.FAILED)) for number in range(8)]
    memory = watched([*records(0)[: FOUND - 8], *failed], strategy=newest(DATA_INVESTIGATION.id))
    answer = await memory.answer()
    assert [bool(candidate.contrast) for candidate in answer.candidates].count(True) == memory.strategy.contrast
