"""Two tenants on one Caselore: the published pattern crosses, nothing else does (R4, R21)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from contracts.cases import Paper
from contracts.errors import CaseloreError, NotFound, NotPermitted, UnverifiedResult
from contracts.labels import CandidateKind, CaseState, PaperKind
from contracts.retrieval import Citation, CitationVerdict, MemoryUse, OriginRef
from contracts.review import ChangeCommand, ChangeKind
from deploy.importing import delivery_of, experience_id, proposal_of
from tests.acceptance.office import TENANTS, Office, by_ref, fresh, ref_of, running_office, settings_in
from tests.acceptance.samples import NOW, case

PATTERN = "The orchid exporter drops the last line when a file has no closing line end."
THEIRS = case("SOUTH-77", "Orchid exporter drops the last line", PATTERN, tenant="south")
OPEN = THEIRS.model_copy(
    update={"external_id": "SOUTH-78", "subject": "Orchid exporter again", "body": f"{PATTERN} Our file is ORC-5.",
            "result": None, "experience": None, "papers": ()}
)  # fmt: skip
OURS = case("NORTH-11", "Orchid importer", "The orchid importer needs a closing line end.")
SECRETS = ("SOUTH-77", "SOUTH-78", "ORC-5", "confidential to south")
PROFILES = ("root-support", "data-specialist", "development-specialist", "effort-assessor")


@dataclass
class Two:
    office: Office
    case_id: str
    """Of the other tenant's completed case."""
    open_id: str


@pytest_asyncio.fixture(scope="module")
async def two(folder: Path) -> AsyncIterator[Two]:
    async with running_office(settings_in(folder)) as (_, office):
        await office.publish(THEIRS, OPEN, OURS)
        yield Two(office, await office.case_id(THEIRS), await office.case_id(OPEN))


@pytest.mark.parametrize("profile", PROFILES)
async def test_r21_a_published_pattern_crosses_without_its_origin(two: Two, profile: str) -> None:
    answer = await two.office.ask(PATTERN, profile=profile)
    found = by_ref(answer)[ref_of(THEIRS)]
    assert PATTERN in found.extract
    assert (found.source_case, found.source_origin) == (None, None)
    _keeps_quiet(two, answer.model_dump_json())
    assert answer.omitted_by_permission == 0, "a count of another tenant's cases would identify them"

    own = by_ref(await two.office.ask(PATTERN, tenant="south", profile=profile))[ref_of(THEIRS)]
    assert own.source_case == two.case_id
    assert own.source_origin == OriginRef(source=THEIRS.source, external_id=THEIRS.external_id)


@pytest.mark.parametrize("profile", PROFILES)
async def test_r4_cases_stay_with_their_tenant(two: Two, profile: str) -> None:
    """By words, by the identity itself, by a scope that names the other tenant, and by its case."""
    origin = OriginRef(source=OPEN.source, external_id=OPEN.external_id)
    ways: list[dict[str, Any]] = [{}, {"origin": origin}, {"object_refs": ("SOUTH-78",)}]
    for given in ways:
        answer = await two.office.ask(f"{PATTERN} Our file is ORC-5.", profile=profile, **given)
        assert not any(
            candidate.ref in (f"case/{two.case_id}", f"case/{two.open_id}") for candidate in answer.candidates
        )
        _keeps_quiet(two, answer.model_dump_json(exclude={"request_id"}))
    beyond: list[dict[str, Any]] = [{"tenant_id": "south"}, {"case_id": two.open_id}]
    for given in beyond:
        try:
            answer = await two.office.ask(PATTERN, profile=profile, **given)
        except (NotPermitted, NotFound) as refusal:
            _keeps_quiet(two, refusal.message)
        else:
            assert not any(candidate.kind is CandidateKind.CASE for candidate in answer.candidates)
            _keeps_quiet(two, answer.model_dump_json())


async def test_r4_the_owner_of_a_case_sees_it(two: Two) -> None:
    answer = await two.office.ask(PATTERN, tenant="south", profile="root-support")
    assert by_ref(answer)[f"case/{two.open_id}"].state == CaseState.OPEN
    agent = two.office.agents["south"]
    assert (await agent.get_case(two.open_id)).body == OPEN.body
    assert {each.id for each in await agent.list_cases("south")} == {two.case_id, two.open_id}


async def test_r4_no_call_reaches_into_another_tenant(two: Two) -> None:
    stranger = two.office.agents["north"]
    paper = Paper(id=fresh(), kind=PaperKind.EVIDENCE, title="Put in", text="by a stranger")
    calls = {
        "case": lambda: stranger.get_case(two.open_id),
        "cases": lambda: stranger.list_cases("south"),
        "papers": lambda: stranger.file_papers(two.open_id, [paper]),
        "state": lambda: stranger.change_state(two.open_id, CaseState.WAITING, expected_revision=1, at=NOW,
                                               waiting_on="them"),
        "arrival": lambda: stranger.deliver(delivery_of(OPEN).model_copy(update={"delivery_id": fresh()})),
        "propose": lambda: stranger.propose(proposal_of(THEIRS).model_copy(update={"experience_id": fresh()})),
        "experience": lambda: stranger.get_experience(experience_id(THEIRS)),
        "change": lambda: stranger.change(
            ChangeCommand(
                command_id=fresh(), experience_id=experience_id(THEIRS), kind=ChangeKind.RETIRE, reason="Not ours."
            )
        ),
    }  # fmt: skip
    for name, call in calls.items():
        try:
            given = await call()
        except CaseloreError as refusal:
            assert isinstance(refusal, (NotPermitted, NotFound, UnverifiedResult)), f"{name}: {refusal.type}"
            _keeps_quiet(two, refusal.message)
        else:
            assert given == [], name
    unknown = proposal_of(OURS).model_copy(update={"experience_id": fresh(), "result_id": fresh()})
    with pytest.raises(UnverifiedResult) as nothing:
        await stranger.propose(unknown)
    with pytest.raises(UnverifiedResult) as theirs:
        await stranger.propose(proposal_of(THEIRS).model_copy(update={"experience_id": fresh()}))
    assert str(theirs.value) == str(nothing.value), "whether another tenant has a result can't be told"
    case_now = await two.office.agents["south"].get_case(two.open_id)
    assert (case_now.state, case_now.revision) == (CaseState.OPEN, 1)


async def test_r21_an_answer_belongs_to_who_asked(two: Two) -> None:
    answer = await two.office.ask(PATTERN, tenant="south")
    stranger = two.office.agents["north"]
    with pytest.raises((NotFound, NotPermitted)):
        await stranger.get_retrieval(answer.request_id)
    with pytest.raises((NotFound, NotPermitted)):
        await stranger.read(answer.request_id, ref_of(THEIRS), 1)
    citation = Citation(ref=ref_of(THEIRS), revision=1, verdict=CitationVerdict.CHOSEN, why="It fits.")
    use = MemoryUse(decision_id=fresh(), request_id=answer.request_id, summary="Taken.", citations=(citation,))
    with pytest.raises((NotFound, NotPermitted)):
        await stranger.record_use(use)


async def test_r21_a_text_that_crossed_is_read_without_its_places_in_papers(two: Two) -> None:
    answer = await two.office.ask(PATTERN)
    read = await two.office.agents["north"].read(answer.request_id, ref_of(THEIRS), 1)
    assert PATTERN in read.model_dump_json()
    _keeps_quiet(two, read.model_dump_json())


def _keeps_quiet(two: Two, text: str) -> None:
    told = json.dumps(text)
    assert [secret for secret in (*SECRETS, two.case_id, two.open_id, TENANTS[1].name) if secret in told] == []
