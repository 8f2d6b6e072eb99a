"""The audit chain's encoding: no two rows share one, and a change of any field breaks the chain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.audit import GENESIS, AuditHead, AuditRow, check_link, encoding, row_hash

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WORDS = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=12)
ROWS = st.builds(
    AuditRow,
    seq=st.integers(1, 2**62),
    at=st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
    actor_id=st.none() | WORDS,
    action=WORDS,
    subject=WORDS,
    revision=st.none() | st.integers(-(2**31), 2**31 - 1),
    digest=WORDS,
    cause_id=st.none() | st.uuids().map(str),
    details=st.dictionaries(WORDS, WORDS, max_size=3),
    previous=st.just(GENESIS) | WORDS,
    hash=st.just(""),
)


def row(seq: int = 1, previous: str = GENESIS, **given: Any) -> AuditRow:
    values: dict[str, Any] = {"at": NOON, "action": "transition", "subject": "experience/1", **given}
    bare = AuditRow(seq=seq, previous=previous, hash="", **values)
    return bare.model_copy(update={"hash": row_hash(bare)})


def chain(length: int) -> list[AuditRow]:
    rows: list[AuditRow] = []
    for number in range(length):
        rows.append(row(number + 1, rows[-1].hash if rows else GENESIS, details={"seq": str(number)}))
    return rows


def first_break(rows: list[AuditRow]) -> tuple[int, str] | None:
    head = AuditHead()
    for each in rows:
        if reason := check_link(head, each):
            return each.seq, reason
        head = AuditHead(seq=each.seq, hash=each.hash)
    return None


@given(ROWS, ROWS)
def test_two_rows_share_an_encoding_only_when_they_are_equal(one: AuditRow, other: AuditRow) -> None:
    assert (encoding(one) == encoding(other)) == (one == other)


@given(ROWS)
def test_the_order_of_details_is_no_part_of_a_row(one: AuditRow) -> None:
    turned = one.model_copy(update={"details": dict(reversed(list(one.details.items())))})
    assert encoding(turned) == encoding(one)


def test_values_that_run_together_stay_apart() -> None:
    """Lengths are of bytes: an umlaut is two."""
    assert encoding(row(action="ab", subject="c")) != encoding(row(action="a", subject="bc"))
    assert encoding(row(details={"a": "b"})) != encoding(row(details={"ab": ""}))
    assert encoding(row(actor_id=None)) != encoding(row(actor_id=""))
    assert "2:é".encode() in encoding(row(action="é"))


@pytest.mark.parametrize(
    "changes",
    [
        {"at": NOON + timedelta(microseconds=1)},
        {"actor_id": "mallory"},
        {"action": "decision"},
        {"subject": "experience/2"},
        {"revision": 1},
        {"digest": "d"},
        {"cause_id": "8a8f6f0e-0000-4000-8000-000000000000"},
        {"details": {"seq": "9"}},
    ],
)
def test_a_change_of_any_field_is_found(changes: dict[str, Any]) -> None:
    rows = chain(5)
    rows[2] = rows[2].model_copy(update=changes)
    assert first_break(rows) == (3, "its content is not what was appended")


def test_a_whole_chain_holds_and_a_removed_moved_or_inserted_row_is_found() -> None:
    rows = chain(6)
    assert first_break(rows) is None
    assert first_break(rows[:2] + rows[3:]) == (4, "row 3 is missing")
    assert first_break(rows[1:]) == (2, "row 1 is missing")
    moved = [
        rows[0],
        rows[2].model_copy(update={"seq": 2}),
        rows[1].model_copy(update={"seq": 3}),
    ]
    assert first_break(moved) == (2, "it does not follow the row before it")
    forged = row(3, rows[1].hash, action="forged")
    assert first_break([*rows[:2], forged, *rows[3:]]) == (4, "it does not follow the row before it")
    assert first_break([*rows[:2], rows[1]]) == (2, "its number is below the row before it")


def test_only_a_kept_head_shows_a_cut_tail() -> None:
    assert first_break(chain(6)[:4]) is None
