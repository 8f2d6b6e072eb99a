"""Active and waiting hours stay apart (R19)."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from contracts.case_hours import StateChange, case_hours
from contracts.labels import CaseState

BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)


def at(state: CaseState, hours: float) -> StateChange:
    return StateChange(state=state, at=BEGIN + timedelta(hours=hours))


def test_waiting_is_not_active_and_completion_ends_both() -> None:
    history = [at(CaseState.OPEN, 0), at(CaseState.WAITING, 2), at(CaseState.OPEN, 50), at(CaseState.COMPLETED, 53)]
    hours = case_hours(history, BEGIN + timedelta(days=30))
    assert (hours.active, hours.waiting, hours.is_running) == (5, 48, False)


def test_a_reopened_case_is_active_until_now() -> None:
    history = [at(CaseState.OPEN, 0), at(CaseState.COMPLETED, 1), at(CaseState.REOPENED, 10)]
    hours = case_hours(history, BEGIN + timedelta(hours=14))
    assert (hours.active, hours.waiting, hours.is_running) == (5, 0, True)


def test_no_history_is_no_hours() -> None:
    assert case_hours([], BEGIN).model_dump() == {"active": 0, "waiting": 0, "is_running": False}


@given(
    changes=st.lists(st.tuples(st.sampled_from(CaseState), st.integers(0, 1000)), min_size=1),
    until=st.integers(0, 2000),
)
def test_hours_are_never_negative_and_never_more_than_the_time_there_was(
    changes: list[tuple[CaseState, int]], until: int
) -> None:
    history = [at(state, hours) for state, hours in changes]
    end = BEGIN + timedelta(hours=until)
    hours = case_hours(history, end)
    span = max(until, *(moment for _, moment in changes)) - min(moment for _, moment in changes)
    assert hours.active >= 0
    assert hours.waiting >= 0
    assert hours.active + hours.waiting <= span + 1e-9
    assert hours == case_hours(sorted(history, key=lambda change: change.at), end)
