"""The token budget bounds what a whole answer says: titles, reasons and limits count too (R13, R15)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.retrieval.budget import CHARACTERS_PER_TOKEN, HEAD, LABELS, LEAST_EXTRACT, fit, head, room
from activities.retrieval.extracts import Words
from api.mcp.answers import told, view_of
from api.mcp.candidates import limits_line, reasons_of
from contracts.experience import Limits
from contracts.labels import Outcome
from contracts.retrieval import Answer, Validity, ValidityState
from contracts.strategies import DATA_INVESTIGATION_3
from tests.unit.test_retrieval_engine import detail_of, draft, experience

TOLD_HEAD = 2_000
"""Characters of a candidate in text beside twice its share: labels, routes, lists of limits, title."""
ANSWER_HEAD = 3_000
TEXTS = st.text("ab ,.", max_size=500)
LONG = Limits(note="n" * 3_900, products=tuple(f"p{number}" + "x" * 290 for number in range(30)))


def validity(*reasons: str) -> Validity:
    return Validity(state=ValidityState.REVALIDATE, reasons=reasons)


async def answered(count: int, limits: Limits, *, use_when: str = "", title: str = "t", **asked: Any) -> Answer:
    text = draft(limits=limits, use_when=use_when)
    records = [replace(experience(str(number), text), title=title) for number in range(count)]
    return await detail_of(*records, strategy=DATA_INVESTIGATION_3, asked=asked).answer()


@pytest.mark.parametrize("tokens", [200, 1_000, 4_000])
async def test_r13_long_limits_stay_within_the_budget(tokens: int) -> None:
    answer = await answered(10, LONG, use_when="w" * 190, title="t" * 300, tokens=tokens, product="q")
    assert len(answer.candidates) == 10
    text = told(view_of(answer, "guide"))
    assert len(text) <= 2 * tokens * CHARACTERS_PER_TOKEN + 10 * TOLD_HEAD + ANSWER_HEAD
    for each in answer.candidates:
        assert each.limits.model_copy(update={"note": ""}) == LONG.model_copy(update={"note": ""})
        assert each.limits.note.endswith(" [...]")
        assert sum(map(len, each.validity.reasons)) + len(each.limits.note) <= HEAD + 2 * tokens
        assert each.validity.state is ValidityState.OUT_OF_RANGE


@settings(max_examples=60)
@given(
    st.lists(TEXTS.filter(str.strip), max_size=30),
    TEXTS,
    st.sampled_from([200, 500, 4_000]),
    st.integers(1, 10),
)
async def test_r13_the_text_of_an_answer_is_bounded(labels: list[str], note: str, tokens: int, count: int) -> None:
    limits = Limits(products=tuple(each[:300] for each in labels), systems=("s",), note=note * 7)
    answer = await answered(count, limits, use_when=note, title=note[:300] or "t", tokens=tokens)
    shown = len(answer.candidates)
    text = told(view_of(answer, "guide"))
    assert len(text) <= 2 * tokens * CHARACTERS_PER_TOKEN + shown * TOLD_HEAD + ANSWER_HEAD


@given(st.text("ab .", max_size=300), st.lists(TEXTS, max_size=40), TEXTS, st.integers(200, 32_000), st.integers(1, 50))
def test_r13_a_head_keeps_its_room_and_says_what_it_leaves_out(
    title: str, reasons: list[str], note: str, tokens: int, places: int
) -> None:
    places = min(places, room(tokens))
    given_ = Limits(note=note * 8)
    found = head(title, validity(*reasons), given_, tokens=tokens, places=places)
    share = tokens * CHARACTERS_PER_TOKEN // places
    assert 0 <= found.beside <= max(0, share - LEAST_EXTRACT)
    shown = found.validity.reasons
    assert len(title) + sum(map(len, shown)) + len(found.limits.note) <= HEAD + found.beside
    if len(title) + sum(map(len, reasons)) + len(given_.note) <= HEAD:
        assert (found.validity, found.limits, found.beside) == (validity(*reasons), given_, 0)
    more = re.fullmatch(r"and (\d+) more reasons?", shown[-1]) if shown else None
    assert len(shown) - bool(more) + (int(more[1]) if more else 0) == len(reasons)
    for one, other in zip(shown[: len(shown) - bool(more)], reasons, strict=False):
        assert other.startswith(one.removesuffix(" [...]").rstrip())
    assert found.validity.state is ValidityState.REVALIDATE


@given(
    st.lists(st.tuples(TEXTS, st.integers(0, 5_000)), min_size=1, max_size=10),
    st.integers(200, 4_000),
)
def test_r13_heads_and_extracts_share_one_budget(parts: list[tuple[str, int]], tokens: int) -> None:
    heads = [head("", validity("r" * size), Limits(), tokens=tokens, places=len(parts)).beside for _, size in parts]
    words = [Words("Outcome: failed. Not a fix.", text * 9) for text, _ in parts]
    fitted = fit(words, tokens, heads)
    assert sum(len(text) for text, _ in fitted) + sum(heads) <= tokens * CHARACTERS_PER_TOKEN
    assert all(text.startswith("Outcome: failed. Not a fix.") for text, _ in fitted)
    assert fit(words, tokens, [0] * len(words)) == fit(words, tokens)


async def test_r5_what_failed_is_told_first_however_many_reasons_there_are() -> None:
    text = draft(Outcome.FAILED, limits=LONG)
    record = experience("a", text.model_copy(update={"limits": LONG}))
    answer = await detail_of(record, asked={"tokens": 200, "results": 10, "product": "q"}).answer()
    assert answer.candidates[0].validity.reasons[0].startswith("Outcome: failed")


async def test_r20_a_head_is_the_same_beside_any_other_candidates() -> None:
    """A rerun that lacks the text of one candidate still compares the reasons of the others."""
    alone = await answered(1, LONG, use_when="w" * 190, tokens=400, results=5)
    among = await answered(5, LONG, use_when="w" * 190, tokens=400, results=5)
    (one,), first = alone.candidates, among.candidates[0]
    assert (one.validity, one.limits) == (first.validity, first.limits)


def test_r15_a_model_is_told_how_many_reasons_and_labels_there_are_beside_those_shown() -> None:
    many = [f"reason {number}" for number in range(13)]
    assert reasons_of(validity(*many))[-2:] == ("reason 9", "and 3 more reasons")
    assert reasons_of(validity(*many[:11]))[-1] == "and 1 more reason"
    assert reasons_of(validity(*many[:10])) == tuple(many[:10])
    assert reasons_of(validity(*many, "and 4 more reasons"))[-1] == "and 7 more reasons"
    labels = Limits(products=tuple(f"{number:02}{'x' * 58}" for number in range(12)))
    brief = limits_line(labels, most=LABELS)
    assert brief.endswith("and 9 more")
    assert limits_line(labels).count("x" * 58) == 12
    assert limits_line(Limits(note="n" * 900)) == f"note: {'n' * 900}"
    ordinary = Limits(products=("Policy", "Claims"), systems=("print",), version_to="7", note="Fixed later.")
    assert limits_line(ordinary, most=LABELS) == limits_line(ordinary)
