"""What differs between two drafts (R7)."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from contracts.cases import Effort
from contracts.draft_difference import (
    PIECES,
    FieldChange,
    FieldChangeKind,
    PieceKind,
    draft_difference,
    word_pieces,
)
from contracts.experience import Draft, Limits, SourceSpan
from tests.unit.test_admission import draft, unit

_WORDS = st.lists(st.sampled_from(["row", "rows", "print", "7.4", " ", "\n", ".", "é"]), max_size=40).map("".join)
_LABELS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=5).map(tuple)
_UNITS = st.dictionaries(
    st.sampled_from("uvwx"), st.sampled_from(["One.", "Two.", "Two more."]), min_size=1, max_size=4
)


@st.composite
def drafts(make: st.DrawFn) -> Draft:
    units = [unit(name, text=text, concepts=make(_LABELS) or ("c",)) for name, text in make(_UNITS).items()]
    return draft(
        *units,
        title=make(st.sampled_from(["Missing row", "Missing rows"])),
        limits=Limits(products=make(_LABELS)),
        effort=make(st.sampled_from([None, Effort(), Effort(active_hours=2)])),
    )


def changes(before: Draft, after: Draft) -> dict[str, FieldChange]:
    return {change.field: change for change in draft_difference(before, after)}


@given(drafts(), drafts())
def test_equal_drafts_give_no_changes_and_different_ones_give_some(one: Draft, other: Draft) -> None:
    assert draft_difference(one, one) == ()
    assert bool(draft_difference(one, other)) == (one != other)


@given(st.one_of(_WORDS, st.text(max_size=60)), st.one_of(_WORDS, st.text(max_size=60)))
def test_the_pieces_make_the_old_text_and_the_new_one(old: str, new: str) -> None:
    pieces = word_pieces(old, new)
    change = FieldChange(field="title", kind=FieldChangeKind.CHANGED, pieces=pieces)
    assert (change.before, change.after) == (old, new)
    assert len(pieces) <= PIECES
    assert all(piece.text for piece in pieces)
    assert (old == new) == all(piece.kind is PieceKind.EQUAL for piece in pieces)


def test_a_changed_word_stands_alone_between_the_words_that_stayed() -> None:
    change = changes(draft(), draft(unit(text="The rows were missing.")))["units[0].text"]
    assert [(piece.kind, piece.text) for piece in change.pieces] == [
        (PieceKind.EQUAL, "The "),
        (PieceKind.DELETE, "row"),
        (PieceKind.INSERT, "rows"),
        (PieceKind.EQUAL, " "),
        (PieceKind.DELETE, "was"),
        (PieceKind.INSERT, "were"),
        (PieceKind.EQUAL, " missing."),
    ]


def test_units_are_matched_by_their_ids() -> None:
    before = draft(unit("a"), unit("b"), unit("c"))
    after = draft(unit("b", text="Other."), unit("d"))
    found = draft_difference(before, after)
    (changed,) = [change for change in found if change.kind is FieldChangeKind.CHANGED]
    assert (changed.field, changed.before, changed.after) == ("units[0].text", "The row was missing.", "Other.")
    by_kind = {kind: {change.field for change in found if change.kind is kind} for kind in FieldChangeKind}
    assert "units[1].id" in by_kind[FieldChangeKind.ADDED]
    assert by_kind[FieldChangeKind.REMOVED] >= {"units[0].text", "units[0].id", "units[2].text", "units[2].id"}
    assert not by_kind[FieldChangeKind.MOVED]


def test_a_unit_that_only_moved_is_told_as_that() -> None:
    (moved,) = draft_difference(draft(unit("a"), unit("b")), draft(unit("b"), unit("a")))
    assert moved.kind is FieldChangeKind.MOVED
    assert moved.pieces == ()


def test_a_label_in_front_changes_no_other_label() -> None:
    before, after = draft(limits=Limits(products=("P", "Q"))), draft(limits=Limits(products=("N", "P", "Q")))
    assert list(changes(before, after)) == ["limits.products[0]"]
    assert changes(before, after)["limits.products[0]"].kind is FieldChangeKind.ADDED
    assert changes(after, before)["limits.products[0]"].kind is FieldChangeKind.REMOVED


def test_labels_numbers_and_spans_are_compared_too() -> None:
    before = draft(effort=Effort(active_hours=2))
    after = draft(unit(spans=(SourceSpan(paper_id="p", start=0, end=9),)), effort=Effort(active_hours=3.5))
    found = changes(before, after)
    assert (found["units[0].spans[0].end"].before, found["units[0].spans[0].end"].after) == ("10", "9")
    assert (found["effort.active_hours"].before, found["effort.active_hours"].after) == ("2.0", "3.5")
    assert changes(draft(), before)["effort"].kind is FieldChangeKind.ADDED


def test_the_longest_texts_are_compared_in_bounded_time_and_pieces() -> None:
    """R22: words that are all alike are the worst case of the comparison."""
    old, new = "a b " * 1000, "b a c " * 660
    began = time.process_time()
    pieces = word_pieces(old, new)
    assert time.process_time() - began < 2
    assert len(pieces) <= PIECES
    every_other = " ".join(f"{n} x" for n in range(300)), " ".join(f"{n} y" for n in range(300))
    assert len(word_pieces(*every_other)) <= PIECES
