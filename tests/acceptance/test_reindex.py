"""The index is a copy: dropped, deleted or rebuilt, it holds and finds the same as before (R9, R16)."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

from contracts.casefile import CaseRecord
from contracts.labels import Collection, Outcome
from contracts.review import ChangeKind
from deploy.runtime import Runtime
from deploy.wiring import index_folder
from tests.acceptance.office import Office, running_office, settings_in, stored
from tests.acceptance.samples import case

SUBJECTS = (
    ("Boiler", "pressure", "falls when the inlet valve sticks"),
    ("Elevator", "door", "opens twice when its sensor is dirty"),
    ("Turnstile", "counter", "jumps when two badges are read at once"),
    ("Harbour crane", "cable", "slackens in the cold"),
    ("Greenhouse", "vent", "stays shut after a power cut"),
    ("Tram", "ticket printer", "prints the former fare"),
    ("Weather mast", "anemometer", "freezes without its heater"),
    ("Reservoir", "level gauge", "reads the depth in feet"),
    ("Observatory", "dome", "turns past its end stop"),
    ("Bakery", "oven timer", "loses an hour in March"),
    ("Lighthouse", "lamp", "blinks at half its speed"),
    ("Sawmill", "conveyor", "stops for dust on its eye"),
)
QUESTIONS = (
    *(f"Why is something wrong with the {part.lower()} of the {thing.lower()}?" for thing, part, _ in SUBJECTS),
    "It happens only in winter",
    "A sensor or an eye is dirty",
    "Time or unit is read wrongly",
)
PROFILES = ("data-specialist", "root-support", "effort-assessor")


async def test_r9_whatever_happens_to_the_index_it_holds_and_finds_what_the_record_says(folder: Path) -> None:
    settings = settings_in(folder / "data")
    records = [_record(number, *subject) for number, subject in enumerate(SUBJECTS)]
    async with running_office(settings) as (runtime, office):
        await office.publish(*records)
        await office.change(records[-1], ChangeKind.RETIRE)
        await office.searchable()
        before, held = await _answers(office), await _digests(runtime)
        assert all(before.values())
        assert len(held[Collection.DETAIL]) == len(records) - 1

        begun = await office.admin.reindex()
        await office.searchable()
        assert begun.keys == 2 * len(records) - 1
        assert await _digests(runtime) == held, "after a rebuild"
        assert await _answers(office) == before

    index_folder(settings).rename(folder / "old")
    async with running_office(settings) as (runtime, office):
        await office.searchable()
        assert await _digests(runtime) == held, "after the folder was deleted"
        assert await _answers(office) == before
        await office.publish(_record(50, "Aquarium", "pump", "hums when the filter is full"))
        await office.change(records[0], ChangeKind.RETIRE)
        await office.searchable()
        later = await _digests(runtime)
        assert later != held

    shutil.rmtree(index_folder(settings))
    (folder / "old").rename(index_folder(settings))
    async with running_office(settings) as (runtime, office):
        await office.searchable()
        assert await _digests(runtime) == later, "after an older folder was put in its place"


def _record(number: int, thing: str, part: str, what: str) -> CaseRecord:
    outcome = list(Outcome)[number % len(Outcome)]
    return case(f"RX-{number}", f"{thing}: {part} {what}", f"The {part} of the {thing} {what}.", outcome=outcome)


async def _answers(office: Office) -> dict[str, list[tuple[str, int]]]:
    """Return references and revisions in order, of each question, asked by one profile after the other."""
    answers = {
        question: await office.ask(question, profile=profile)
        for question, profile in zip(QUESTIONS, itertools.cycle(PROFILES), strict=False)
    }
    return {
        question: [(candidate.ref, candidate.revision) for candidate in answer.candidates]
        for question, answer in answers.items()
    }


async def _digests(runtime: Runtime) -> dict[Collection, dict[str, str]]:
    return {
        collection: {each.id: each.payload.digest() for each in points}
        for collection, points in (await stored(runtime)).items()
    }
