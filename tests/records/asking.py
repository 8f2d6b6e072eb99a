"""Retrieval requests and stored answers, as tests need them."""

from __future__ import annotations

from typing import Any

from contracts.candidates import RetrievalTask
from contracts.labels import CandidateKind, Collection
from contracts.rankings import Rankings
from contracts.retrieval import (
    Answer,
    Candidate,
    CheckResult,
    Citation,
    CitationVerdict,
    FreshCheck,
    Match,
    MemoryUse,
    RetrievalRequest,
    Validity,
    ValidityState,
)
from contracts.strategy import Route
from tests.records.world import NOON, World, new_id

NO_RANKINGS = Rankings(domain_id="data")


def request(profile: str = "data-agent", **fields: Any) -> RetrievalRequest:
    values: dict[str, Any] = {
        "request_id": new_id(),
        "profile_id": profile,
        "purpose": "resolve",
        "objective": "register row missing",
    }
    return RetrievalRequest(**{**values, **fields})


async def ask(world: World, by: str = "ann", profile: str = "data-agent", **fields: Any) -> RetrievalTask:
    """Store a request and return it as the retrieval loads it."""
    asked = request(profile, **fields)
    await world.memory.open(by, asked)
    return await world.retrievals.load(asked.request_id)


def candidate(rank: int, ref: str, revision: int = 1, *, source_case: str | None = None) -> Candidate:
    return Candidate(
        rank=rank,
        kind=CandidateKind(ref.partition("/")[0]),
        owner="data",
        ref=ref,
        revision=revision,
        title="Missing register row",
        extract="The register row was missing.",
        source_case=source_case,
        state="current",
        reason=(Match(route=Route.LEXICAL, collection=Collection.DETAIL, rank=rank),),
        validity=Validity(state=ValidityState.OK),
    )


def answer(task: RetrievalTask, *candidates: Candidate, **changes: Any) -> Answer:
    values: dict[str, Any] = {
        "request_id": task.request.request_id,
        "strategy_id": task.strategy.id,
        "strategy_version": task.strategy.version,
        "strategy_digest": task.strategy.digest(),
        "candidates": candidates,
        "watermarks": (),
        "routes": (),
        "answered_at": NOON,
    }
    return Answer(**{**values, **changes})


async def answered(world: World, task: RetrievalTask, *candidates: Candidate) -> RetrievalTask:
    await world.retrievals.save(task, answer(task, *candidates), NO_RANKINGS)
    return task


def citing(task: RetrievalTask, *refs: str, revision: int = 1, **changes: Any) -> MemoryUse:
    """Return a decision that chooses the first of `refs` and rejects the others, with one fresh check."""
    values: dict[str, Any] = {
        "decision_id": new_id(),
        "request_id": task.request.request_id,
        "summary": "The first one fits; the row has to be looked at.",
        "citations": tuple(
            Citation(
                ref=ref,
                revision=revision,
                verdict=CitationVerdict.REJECTED if number else CitationVerdict.CHOSEN,
                why="It fits." if not number else "Another mechanism.",
            )
            for number, ref in enumerate(refs)
        ),
        "checks": (FreshCheck(check_id="row", text="Is the row absent now?"),),
    }
    return MemoryUse(**{**values, **changes})


def check_result(use: MemoryUse, outcome: str = "held", note: str = "") -> CheckResult:
    return CheckResult.model_validate(
        {"decision_id": use.decision_id, "check_id": "row", "outcome": outcome, "note": note}
    )
