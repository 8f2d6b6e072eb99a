"""A question of another field abstains on the whole product, and one that only shares a code doesn't (R15, R20)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from activities.retrieval.bar import FAR
from contracts.casefile import CaseRecord
from deploy.commands.retrieval import lines_of, read_retrieval
from deploy.runtime import Runtime
from tests.acceptance.office import Office, by_ref, ref_of, running_office, settings_in
from tests.acceptance.samples import case, with_concept

SYMPTOM = "The harbour ledger of the pilot boats lost its tide rows."


def about(external_id: str, title: str, text: str, concept: str) -> CaseRecord:
    """Return a case with a concept of its own: what shares one with a near hit is not far."""
    return with_concept(case(external_id, title, text), concept)


RECORDS = (
    about("FAR-1", "Tide rows written again", f"{SYMPTOM} A nightly run writes them.", "tide rows"),
    about("FAR-2", "Ledger reopened after a restart", f"{SYMPTOM} The ledger was closed too early.", "ledger"),
    about("FAR-3", "Scanner stops", "The label scanner stops with PRN-40417 until it is cleaned.", "label scanner"),
)


@pytest_asyncio.fixture(name="standing", scope="module")
async def fixture_standing(folder: Path) -> AsyncIterator[tuple[Runtime, Office]]:
    async with running_office(settings_in(folder)) as (runtime, office):
        for record in RECORDS:
            await office.publish(record)
        yield runtime, office


async def test_r15_a_question_of_another_field_abstains_and_comes_out_again(standing: tuple[Runtime, Office]) -> None:
    runtime, office = standing
    answer = await office.ask("Which composer wrote the opera that opened the theatre in Venice?")
    assert answer.abstained
    assert {candidate.far for candidate in answer.candidates} == {FAR}
    assert {each.ref for each in answer.nearest} == {ref_of(record) for record in RECORDS}
    record, rerun = await read_retrieval(runtime.addresses.system_database_url, answer.request_id, again=True)
    assert rerun is not None
    assert rerun.same
    assert {candidate.far for candidate in rerun.candidates} == {FAR}
    told = "\n".join(lines_of(record))
    assert ", abstained" in told
    assert f"nearest: {answer.nearest[0].ref} revision 1: {FAR}" in told
    assert f", {FAR}; found by" in told


async def test_r15_what_is_like_the_objective_is_near_and_the_rest_says_that_it_is_far(
    standing: tuple[Runtime, Office],
) -> None:
    _, office = standing
    answer = await office.ask("Rows of the tide are missing from the ledger that the pilots keep.")
    found = by_ref(answer)
    assert not answer.abstained
    assert answer.nearest == ()
    first, second, scanner = (found[ref_of(record)].far for record in RECORDS)
    assert (first, second, scanner) == ("", "", FAR)


async def test_r15_a_code_that_both_name_is_near_whatever_else_is_said(standing: tuple[Runtime, Office]) -> None:
    _, office = standing
    answer = await office.ask("What is PRN-40417?")
    assert by_ref(answer)[ref_of(RECORDS[2])].far == ""
    assert not answer.abstained
