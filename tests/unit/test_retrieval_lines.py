"""A past retrieval in lines for a terminal: nothing that it rests on is left out (R16, R18, R20)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from contracts.consultation import Asked, ConsultationState, ConsultationView, ReplyCitation, ReplyView
from contracts.labels import CandidateKind, Collection, Outcome, ProofLevel, ValidityState
from contracts.retrieval import (
    Answer,
    Candidate,
    Match,
    RetrievalRequest,
    RouteReport,
    RouteState,
    Validity,
)
from contracts.retrieval_record import BroadeningDone, RetrievalRecord
from contracts.strategies import DATA_INVESTIGATION
from contracts.strategy import Route
from contracts.widening import BroadenedFrom, RequestFact, Widening
from deploy.commands.retrieval import lines_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FIRST, THIS, NEXT, CASE, QUESTION = (f"00000000-0000-0000-0000-00000000000{number}" for number in range(5))


def answer(**given: Any) -> Answer:
    values: dict[str, Any] = {"candidates": (), "routes": (), **given}
    return Answer(
        request_id=THIS,
        strategy_id=DATA_INVESTIGATION.id,
        strategy_version=1,
        strategy_digest="d",
        watermarks=(),
        answered_at=NOW,
        **values,
    )


def record(asked: dict[str, Any] | None = None, **given: Any) -> RetrievalRecord:
    return RetrievalRecord(
        request_id=THIS,
        principal_id="ann",
        profile_id="p",
        requested_at=NOW,
        strategy=DATA_INVESTIGATION,
        strategy_digest="d",
        request=RetrievalRequest(request_id=THIS, profile_id="p", purpose="x", objective="y", **(asked or {})),
        **given,
    )


def test_a_route_that_failed_or_was_skipped_is_told_with_why_r16() -> None:
    routes = [
        RouteReport(route=Route.LEXICAL, collection=Collection.DETAIL, state=RouteState.OK, found=3),
        RouteReport(route=Route.DENSE_BODY, collection=Collection.DETAIL, state=RouteState.FAILED, why="timed out"),
        RouteReport(route=Route.REGISTRY, collection=Collection.CASES, state=RouteState.SKIPPED, why="no origin"),
    ]
    told = lines_of(record(answer=answer(routes=routes)))
    assert [line for line in told if line.startswith("  route ")] == [
        "  route dense_body over detail failed: timed out",
        "  route registry over cases skipped: no origin",
    ]


def test_each_candidate_tells_its_proof_and_what_matched_r20() -> None:
    candidate = Candidate(
        rank=1,
        kind=CandidateKind.EXPERIENCE,
        owner="data",
        ref="experience/a",
        revision=2,
        title="Row",
        extract="",
        state="current",
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
        reason=(
            Match(route=Route.LEXICAL, collection=Collection.DETAIL, rank=3, fields=("title", "body")),
            Match(route=Route.DENSE_BODY, collection=Collection.DETAIL, rank=1),
        ),
        validity=Validity(state=ValidityState.OK),
    )
    told = lines_of(record(answer=answer(candidates=(candidate,))))
    assert "       succeeded, proof verified, ok; found by lexical 3 (title, body), dense_body 1" in told


def test_the_case_and_the_facts_that_candidates_were_held_against_are_told_r20() -> None:
    asked = {"case_id": CASE, "product": "Atlas", "required_proof": ProofLevel.VERIFIED, "object_refs": ("doc/1",)}
    told = lines_of(record(asked))
    for line in (
        f"  for case {CASE}",
        "  for objects: doc/1",
        "  held against: product Atlas, required proof verified",
    ):
        assert line in told
    assert "  held against: nothing stated" in lines_of(record())


def test_what_it_broadens_and_what_broadens_it_are_told_with_what_was_widened_r18() -> None:
    before = BroadenedFrom(request_id=FIRST, reason="Nothing fits.", widened=Widening(dropped=(RequestFact.VERSION,)))
    wider = BroadeningDone(
        request_id=NEXT, reason="Still nothing.", widened=Widening(every_domain=True), asked_by="ann", asked_at=NOW
    )
    told = lines_of(record(answer=answer(broadened=before), broadenings=(wider,), broadenings_left_out=2))
    at = told.index(f"  broadens {FIRST}: Nothing fits.")
    assert told[at + 1] == "    widened: not held against version"
    assert told[-3:] == [
        f"  broadened by {NEXT}, ann at 2026-03-01 00:00:00: Still nothing.",
        "    widened: every domain",
        "  2 more broadenings, left out here",
    ]


def test_what_was_asked_of_other_domains_is_told_with_its_reply_r18() -> None:
    reply = ReplyView(
        text="It skips it.",
        citations=(ReplyCitation(ref="experience/a", revision=1, why="The same."),),
        replied_as="owner",
        replied_at=NOW,
    )
    view = ConsultationView(
        consultation_id=QUESTION,
        domain_id="development",
        brief="Does it?",
        asked_at=NOW,
        state=ConsultationState.REPLIED,
        reply=reply,
        asked=Asked(request_id=THIS, reason="The data is right.", asked_by="ann"),
    )
    still_open = view.model_copy(update={"state": ConsultationState.OPEN, "reply": None})
    assert lines_of(record(consultations=(view, still_open)))[-6:] == [
        f"  consulted development at 2026-03-01 00:00:00: replied, consultation {QUESTION}",
        "    brief: Does it?",
        "    reply as owner at 2026-03-01 00:00:00: It skips it.",
        "    rests on experience/a revision 1: The same.",
        f"  consulted development at 2026-03-01 00:00:00: open, consultation {QUESTION}",
        "    brief: Does it?",
    ]


def test_decisions_that_are_left_out_are_counted_r20() -> None:
    assert lines_of(record(uses_left_out=3))[-1] == "  3 more decisions, left out here"
    assert not any("left out here" in line for line in lines_of(record()))
