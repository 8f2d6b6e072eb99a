"""One request from many hands at the same moment is stored once, and nobody meets a database error (R8, R24)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from contracts import limits
from contracts.cases import CaseResult, Paper
from contracts.experience import Proposal
from contracts.labels import Outcome, PaperKind, ProofLevel
from tests.records.asking import answered, ask, candidate, citing
from tests.records.broadening import broadening, consultation, feedback, reply
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


async def test_what_goes_on_from_an_answer_is_stored_once(shared: World) -> None:
    """R18, R20: broadening, question, reply and feedback; each hand gets the same answer."""
    ref = f"experience/{await shared.published()}"
    case_id = await shared.open_case()
    task = await answered(shared, await ask(shared, case_id=case_id), candidate(1, ref))
    use = citing(task, ref)
    await shared.memory.decide("ann", use)
    request_id, latest = task.request.request_id, None
    for number in range(limits.CONSULTATIONS):
        wider, asked, said = broadening(), consultation(), reply()
        given = feedback(use, replaces=latest)
        latest = given.feedback_id
        await repeated(lambda wider=wider: shared.broadenings.open("ann", request_id, wider))
        await repeated(lambda asked=asked: shared.consultations.ask("ann", request_id, asked))
        await repeated(lambda asked=asked, said=said: shared.consultations.reply("otto", asked.consultation_id, said))
        await repeated(lambda given=given: shared.feedbacks.give("ann", given))
        for table, each in (
            ("broadenings", 1), ("consultations", 1), ("consultation_briefs", 1), ("consultation_replies", 1),
            ("feedbacks", 1), ("case_papers", 3),
        ):  # fmt: skip
            before = 1 if table == "case_papers" else 0  # the decision's own
            where = f" WHERE case_id = '{case_id}'" if table == "case_papers" else ""
            assert shared.one(f"SELECT count(*) FROM {table}{where}") == before + each * (number + 1), table
