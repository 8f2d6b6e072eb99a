"""What a model is told of an answer: labels before words, and words of cases quoted wherever they come in (R5, R15)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.bodies import ReadText
from api.mcp.answers import told, view_of
from api.mcp.full_texts import lines_of
from contracts.cases import Effort
from contracts.effort import ComparedEffort, Comparison
from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis
from contracts.feedback import CandidateFeedback, UsefulnessCounts
from contracts.labels import CandidateKind, Collection, Outcome, ProofLevel, UnitKind, ValidityState
from contracts.retrieval import (
    Answer,
    Candidate,
    Match,
    Nearest,
    OriginRef,
    RouteReport,
    RouteState,
    Validity,
)
from contracts.strategy import Route

REF = "experience/6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a05"
MARK = "HOSTILE"
HOSTILE = st.lists(
    st.sampled_from(["\n", "\r", "\u2028", "\x85", "> ", " ", "1. ", "\x1b", "\U000e0041", "outcome succeeded; "]),
    max_size=4,
).map(lambda parts: "".join(parts) + MARK + "".join(reversed(parts)))


def answer(text: str = "text", **changed: Any) -> Answer:
    """Return an answer with `text` wherever words of cases and their authors can be."""
    limits = Limits(products=(text,), systems=(text,), environments=(text,), version_from=text, note=text)
    candidate = Candidate(
        rank=1,
        kind=CandidateKind.EXPERIENCE,
        owner="data",
        ref=REF,
        revision=2,
        title=text,
        extract=text,
        source_origin=OriginRef(source=text, external_id=text),
        state="current",
        outcome=Outcome.FAILED,
        proof_level=ProofLevel.EXECUTED,
        reason=(Match(route=Route.LEXICAL, collection=Collection.DETAIL, rank=1, fields=(f"concept: {text}",)),),
        limits=limits,
        validity=Validity(state=ValidityState.REVALIDATE, reasons=(f"u1: check {text}",)),
        contrast="shown to contrast: failed",
        far="far from the objective",
        feedback=CandidateFeedback(own=UsefulnessCounts(helped=1, misled=3), everywhere=UsefulnessCounts(helped=9)),
        effort=ComparedEffort(active_hours=3, changed_scope=text, comparison=Comparison.SCOPE_CHANGED),
    ).model_copy(update=changed)
    return Answer(
        request_id="r",
        strategy_id="data-investigation",
        strategy_version=1,
        strategy_digest="d",
        candidates=(candidate,),
        watermarks=(),
        routes=(
            RouteReport(route=Route.DENSE_BODY, collection=Collection.DETAIL, state=RouteState.FAILED, why="too slow"),
        ),
        not_read=("cases: no origin",),
        abstained=True,
        nearest=(Nearest(ref=REF, revision=2, why=(f"limited to {text}",)),),
        withdrawn=2,
        answered_at=datetime(2026, 3, 2, tzinfo=UTC),
    )


def ours(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(">")]


@given(HOSTILE)
def test_spec_3_words_of_cases_are_on_quoted_lines_only(text: str) -> None:
    shown = told(view_of(answer(text), "Decide."))
    assert MARK in shown
    assert not [line for line in ours(shown) if MARK in line]
    assert "\x1b" not in shown
    draft = Draft(
        title=text,
        domain_id="data",
        outcome=Outcome.FAILED,
        proof_level=ProofLevel.EXECUTED,
        synopsis=RoutingSynopsis(
            request_type=text, route=text, disposition=text, text=text, symptom_tags=(text,), product=text
        ),
        units=(
            KnowledgeUnit(
                id="u1",
                kind=UnitKind.PROPOSITION,
                text=text,
                concepts=(text,),
                use_when=text,
                avoid_when=text,
                limits=Limits(note=text),
                outcome=Outcome.FAILED,
                proof_level=ProofLevel.EXECUTED,
            ),
        ),
        limits=Limits(products=(text,)),
        effort=Effort(active_hours=1, changed_scope=text),
    )
    for full in (ReadText(ref=REF, revision=1, draft=draft), ReadText(ref=REF, revision=1, text=text)):
        read = "\n".join(lines_of(text, full))
        assert MARK in read
        assert not [line for line in ours(read) if MARK in line]


def test_r5_what_failed_says_so_before_its_text_and_is_never_a_fix() -> None:
    view = view_of(answer("Restart the queue."), "Decide.")
    shown = told(view)
    said = shown.index(
        "outcome failed, proof executed; shown to contrast: failed, never a fix; far from the objective; validity"
    )
    assert said < shown.index("> Restart the queue.\n", said)
    names = list(json.loads(view.model_dump_json())["candidates"][0])
    labels = ("outcome", "proof_level", "contrast", "far", "validity", "quoted_reasons")
    assert max(map(names.index, labels)) < min(names.index("quoted_title"), names.index("quoted_text"))


def test_r15_how_the_answer_came_about_is_told() -> None:
    lines = told(view_of(answer(), "Decide.")).splitlines()
    for line in (
        "Nothing cleared the bar. Zero hits are no proof that nothing exists.",
        f"Nearest, and not applicable: {REF} revision 2",
        "Not read: cases: no origin",
        "Failed: dense_body over detail: too slow",
        "Left out, for they are no longer current: 2",
        "Earlier use, which moves no rank: helped 1, misled 3; in all organisations: helped 9",
        "You decide: Decide.",
    ):
        assert line in lines


@given(st.integers(1, 60), st.integers(0, 5_000))
def test_r22_labels_are_bounded_whatever_their_texts(labels: int, length: int) -> None:
    text = "x" * max(1, min(length, 300))
    limits = Limits(products=(text,) * min(labels, 30), note="y" * min(length, 4_000))
    reasons = Validity(state=ValidityState.REVALIDATE, reasons=("z" * length,) * labels)
    shown = told(view_of(answer("t", limits=limits, validity=reasons, title=text, extract="e"), "Decide."))
    assert len(shown) < 9_000


def test_r10_a_candidate_that_was_withdrawn_since_is_told_without_its_text() -> None:
    candidate = answer("Restart the queue.").candidates[0]
    for current, state in ((None, "withdrawn since"), (3, "now revision 3")):
        now = candidate.as_of_now(current)
        said = told(view_of(answer().model_copy(update={"candidates": (now,)}), "Decide."))
        assert f"state {state}" in said
        assert "isn't current any more: it is neither shown nor to be chosen" in said
        assert "read_candidate gives the whole" not in said
    assert candidate.as_of_now(2) == candidate
    case = candidate.model_copy(update={"kind": CandidateKind.CASE})
    assert case.as_of_now(None) == case, "a live case stands as it was answered"
