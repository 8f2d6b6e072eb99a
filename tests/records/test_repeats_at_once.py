"""One request from many hands at the same moment is stored once, and nobody meets a database error (R8, R24)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from contracts.cases import CaseResult, Paper
from contracts.experience import Proposal
from contracts.labels import Outcome, PaperKind, ProofLevel
from tests.records.world import World, draft, new_id

ROUNDS = 25
HANDS = 8


async def repeated(once: Callable[[], Coroutine[Any, Any, object]]) -> None:
    await asyncio.gather(*(once() for _ in range(HANDS)))


async def test_a_proposal_is_stored_once(shared: World) -> None:
    """Two unique keys hold the id: a write may meet the other hand's at either."""
    result = await shared.result(await shared.open_case())
    ids = [new_id() for _ in range(ROUNDS)]
    for experience_id in ids:
        proposal = Proposal(experience_id=experience_id, result_id=result.id, draft=draft())
        await repeated(lambda proposal=proposal: shared.experiences.propose("ann", proposal))
    stored = "SELECT count(*) FROM revisions WHERE experience_id = ANY (CAST(%s AS uuid[]))"
    assert shared.one(stored, ids) == ROUNDS


async def test_papers_and_result_are_stored_once(shared: World) -> None:
    case_id = await shared.open_case()
    results: list[str] = []
    for _ in range(ROUNDS):
        papers = [
            Paper(id=new_id(), kind=kind, title="Seen", text="The row was added.")
            for kind in (PaperKind.EXECUTION, PaperKind.PROOF)
        ]
        result = CaseResult(
            id=new_id(),
            case_id=case_id,
            outcome=Outcome.SUCCEEDED,
            proof_level=ProofLevel.VERIFIED,
            summary="Printed.",
            execution_paper_id=papers[0].id,
            proof_paper_id=papers[1].id,
        )
        results.append(result.id)
        await repeated(lambda result=result, papers=papers: shared.cases.record_result("ann", result, papers))
    assert shared.one("SELECT count(*) FROM case_results WHERE id = ANY (CAST(%s AS uuid[]))", results) == ROUNDS
    assert shared.one("SELECT count(*) FROM case_papers WHERE case_id = %s", case_id) == 2 * ROUNDS
