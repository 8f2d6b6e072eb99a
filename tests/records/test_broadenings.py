"""Broadened retrievals: recorded with their reason, inside the caller's own scope (R13, R18)."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from contracts import limits
from contracts.cases import CaseResult
from contracts.errors import (
    CaseloreError,
    DeliveryPending,
    IdempotencyConflict,
    InvalidField,
    UnknownProfile,
    UnknownRetrieval,
    UnknownStrategy,
    UnverifiedResult,
)
from contracts.labels import Outcome, ProofLevel
from contracts.strategies import ROOT_CLASSIFICATION_2
from contracts.widening import RequestFact
from tests.records.asking import NO_RANKINGS, answer, answered, ask, candidate, citing
from tests.records.broadening import broadening, consultation
from tests.records.world import World, changed, new_id


@pytest_asyncio.fixture(scope="module", name="two")
async def fixture_two(shared: World) -> World:
    """`ann` works for acme, `bob` for other; `amy` works for acme with another profile."""
    await shared.tenant("other")
    await shared.principal("bob", "other")
    await shared.principal("amy", "acme")
    await shared.profile("data-agent", "bob")
    await shared.profile("amys", "amy")
    return shared


async def test_r18_a_broadening_is_recorded_with_what_it_came_from_and_why(two: World) -> None:
    """And filed in the case; once, however often it is asked for."""
    case_id = await two.open_case()
    first = await answered(two, await ask(two, case_id=case_id, version="7.4", environment="test"))
    asked = broadening(domains=("development",), dropped=(RequestFact.VERSION,), results=30)
    await two.broadenings.open("ann", first.request.request_id, asked)
    before = two.everything()
    await two.broadenings.open("ann", first.request.request_id, asked)
    assert changed(two.everything(), before) == []

    task = await two.retrievals.load(asked.request_id)
    assert task.broadened is not None
    assert (task.broadened.request_id, task.broadened.reason, task.broadened.depth) == (
        first.request.request_id, asked.reason, 1,
    )  # fmt: skip
    assert task.broadened.widened == asked.widening()
    assert task.domains == ("data", "development")
    assert (task.request.version, task.request.environment, task.request.results) == ("", "test", 30)
    assert (task.request.objective, task.request.case_id) == (first.request.objective, case_id)
    assert (task.strategy, task.scope) == (first.strategy, first.scope)
    ((kind, paper),) = two.rows("SELECT kind, text FROM case_papers WHERE case_id = %s", case_id)
    filed = json.loads(paper)
    assert (kind, filed["broadened_from"], filed["reason"]) == ("memory_use", first.request.request_id, asked.reason)
    assert filed["widened"] == {"domains": ["development"], "dropped": ["version"], "results": 30}
    assert two.rows(
        "SELECT actor_id, cause_id::text FROM audit WHERE action = 'broadening' AND subject = %s",
        f"retrieval/{asked.request_id}",
    ) == [("ann", first.request.request_id)]


async def test_r18_what_was_widened_stays_wide_in_the_next_one(two: World) -> None:
    """And there is an end to it."""
    task = await answered(two, await ask(two, version="7.4", system="s", product="p", environment="e"))
    assert task.domains is None
    ways: list[dict[str, Any]] = [
        {"domains": ("development",)}, {"dropped": (RequestFact.VERSION,)}, {"every_domain": True}, {"results": 20},
        {"results": 30},
    ]  # fmt: skip
    assert len(ways) == limits.BROADENINGS
    reads: list[tuple[str, ...] | None] = []
    for depth, way in enumerate(ways, start=1):
        asked = broadening(**way)
        await two.broadenings.open("ann", task.request.request_id, asked)
        task = await answered(two, await two.retrievals.load(asked.request_id))
        assert task.broadened is not None and task.broadened.depth == depth
        reads.append(task.domains)
    assert reads == [("data", "development"), ("data", "development"), (), (), ()]
    assert task.request.version == ""
    before = two.everything()
    with pytest.raises(InvalidField, match="in a row"):
        await two.broadenings.open("ann", task.request.request_id, broadening(results=40))
    assert changed(two.everything(), before) == []


async def test_r18_another_strategy_answers_in_its_pinned_version(two: World) -> None:
    task = await answered(two, await ask(two))
    asked = broadening(strategy_id="root-classification")
    await two.broadenings.open("ann", task.request.request_id, asked)
    wider = await two.retrievals.load(asked.request_id)
    assert (wider.strategy.id, wider.strategy.version) == (ROOT_CLASSIFICATION_2.id, ROOT_CLASSIFICATION_2.version)
    assert wider.profile == task.profile, "the profile's own domain is where it starts from"
    assert wider.request.results == 20, "no fewer than either strategy would list"


@pytest.mark.parametrize("way", [{"every_domain": True}, {"strategy_id": "root-classification"}])
async def test_r18_only_what_is_said_becomes_wider(two: World, way: dict[str, Any]) -> None:
    task = await answered(two, await ask(two, results=3))
    asked = broadening(**way)
    await two.broadenings.open("ann", task.request.request_id, asked)
    assert (await two.retrievals.load(asked.request_id)).request.results == 3


async def test_r18_nothing_is_broadened_that_would_not_become_wider(two: World) -> None:
    """Nor by somebody who may not, nor before there is an answer; nothing is stored."""
    task = await answered(two, await ask(two, results=10, case_id=await two.open_case()))
    unanswered = await ask(two)
    own = task.request.request_id
    before = two.everything()
    refusals: list[tuple[str, str, dict[str, Any], type[CaseloreError]]] = [
        ("ann", own, {"domains": ("data",)}, InvalidField),
        ("ann", own, {"domains": ("no such",)}, InvalidField),
        ("ann", own, {"dropped": (RequestFact.VERSION,)}, InvalidField),
        ("ann", own, {"results": 10}, InvalidField),
        ("ann", own, {"tokens": 300}, InvalidField),
        ("ann", own, {"strategy_id": "data-investigation"}, InvalidField),
        ("ann", own, {"strategy_id": "no such"}, UnknownStrategy),
        ("ann", own, {"strategy_id": "development", "strategy_version": 2**60}, UnknownStrategy),
        ("ann", unanswered.request.request_id, {"every_domain": True}, DeliveryPending),
        ("ann", new_id(), {"every_domain": True}, UnknownRetrieval),
        ("ann", "no id", {"every_domain": True}, UnknownRetrieval),
        ("bob", own, {"every_domain": True}, UnknownRetrieval),
        ("amy", own, {"every_domain": True}, UnknownProfile),
    ]
    for who, request_id, fields, error in refusals:
        with pytest.raises(error):
            await two.broadenings.open(who, request_id, broadening(**fields))
    assert changed(two.everything(), before) == []


async def test_r13_an_id_is_used_once_and_the_scope_is_the_callers_own(two: World) -> None:
    """A colleague who broadens gets what the colleague may see, not what the first asker may."""
    await two.principal("kim", "acme", "other")
    await two.profile("data-agent", "kim")
    task = await answered(two, await ask(two, "kim", case_id=await two.open_case()))
    assert task.scope.tenants == {"acme", "other"}
    asked = broadening()
    await two.broadenings.open("ann", task.request.request_id, asked)
    assert (await two.retrievals.load(asked.request_id)).scope.tenants == {"acme"}
    before = two.everything()
    for twin in (asked.model_copy(update={"reason": "Another."}), asked.model_copy(update={"results": 40})):
        with pytest.raises(IdempotencyConflict):
            await two.broadenings.open("ann", task.request.request_id, twin)
    with pytest.raises(IdempotencyConflict):
        await two.broadenings.open("kim", task.request.request_id, asked)
    with pytest.raises(IdempotencyConflict):
        await two.broadenings.open(
            "ann", task.request.request_id, asked.model_copy(update={"request_id": task.request.request_id})
        )
    assert changed(two.everything(), before) == []


async def test_r18_the_answer_says_what_it_broadens(two: World) -> None:
    task = await answered(two, await ask(two))
    asked = broadening()
    await two.broadenings.open("ann", task.request.request_id, asked)
    wider = await two.retrievals.load(asked.request_id)
    await two.retrievals.save(wider, answer(wider, broadened=wider.broadened), NO_RANKINGS)
    stored = await two.memory.answer("ann", asked.request_id)
    assert stored is not None and stored.broadened == wider.broadened


async def test_r4_no_sql_of_the_application_broadens_for_another(two: World) -> None:
    """Neither in another's name, nor of a retrieval that can't be seen, nor one that somebody else asked."""
    theirs = await answered(two, await ask(two, "bob"))
    own, colleagues = await ask(two), await ask(two, "amy", "amys", case_id=await two.open_case())
    before = two.everything()
    for request_id, broadened_from, asked_by in (
        (own.request.request_id, theirs.request.request_id, "ann"),
        (theirs.request.request_id, own.request.request_id, "ann"),
        (colleagues.request.request_id, own.request.request_id, "ann"),
        (own.request.request_id, colleagues.request.request_id, "bob"),
    ):
        with pytest.raises(ProgrammingError, match="row-level security"):
            async with two.database.as_principal("ann") as connection:
                await connection.execute(
                    text(
                        "INSERT INTO broadenings (request_id, broadened_from, depth, widened, asked_by)"
                        " VALUES (CAST(:request_id AS uuid), CAST(:before AS uuid), 1, '{}', :asked_by)"
                    ),
                    {"request_id": request_id, "before": broadened_from, "asked_by": asked_by},
                )
    assert changed(two.everything(), before) == []


async def test_r20_a_broadening_s_paper_proves_nothing(two: World) -> None:
    case_id = await two.open_case()
    task = await answered(two, await ask(two, case_id=case_id), candidate(1, f"experience/{new_id()}"))
    await two.broadenings.open("ann", task.request.request_id, broadening())
    paper_id = two.one("SELECT id::text FROM case_papers WHERE case_id = %s", case_id)
    result = CaseResult(
        id=new_id(),
        case_id=case_id,
        outcome=Outcome.FAILED,
        proof_level=ProofLevel.EXECUTED,
        summary="As was looked for.",
        execution_paper_id=paper_id,
    )
    with pytest.raises(UnverifiedResult):
        await two.cases.record_result("ann", result)


async def test_an_id_may_name_a_broadening_a_question_and_a_decision(two: World) -> None:
    """Each is the key of its own kind only: none of their papers stands in another's way."""
    ref, case_id = f"experience/{await two.published()}", await two.open_case()
    first = await answered(two, await ask(two, case_id=case_id), candidate(1, ref))
    asked = broadening()
    await two.broadenings.open("ann", first.request.request_id, asked)
    wider = await answered(two, await two.retrievals.load(asked.request_id), candidate(1, ref))
    await two.consultations.ask("ann", asked.request_id, consultation(consultation_id=asked.request_id))
    await two.memory.decide("ann", citing(wider, ref, decision_id=asked.request_id))
    assert two.one("SELECT count(*) FROM case_papers WHERE case_id = %s", case_id) == 3
