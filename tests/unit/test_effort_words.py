"""Effort as people and agents are told it: ranges with their sample, what isn't counted, and what it isn't (R19)."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from api.pages.render import environment
from contracts.cases import Effort
from contracts.effort import EffortSummary, Finished, compared, summary
from contracts.effort_words import own_words, range_words, summary_lines
from contracts.labels import Outcome, ValidityState


def work(number: int, *, active: float | None = None, **given: object) -> Finished:
    values = {"outcome": Outcome.SUCCEEDED, "validity": ValidityState.OK, **given}
    effort = Effort(estimate_hours=4, active_hours=number if active is None else active, waiting_hours=10 * number)
    return Finished.model_validate({"ref": f"experience/{number}", "revision": 1, "effort": effort, **values})


SEVEN = [
    *(work(number) for number in range(1, 6)),
    work(6, is_far=True),
    work(7, outcome=Outcome.FAILED),
]
COVERS = "67% of such work lies from p10 to p90, on average"


def page(found: EffortSummary) -> str:
    shown = environment().get_template("parts.html").module.effort_ranges(found)  # type: ignore[attr-defined]
    return " ".join(re.sub(r"<[^>]+>", " ", str(shown)).split())


def test_a_range_is_told_with_its_sample_and_what_is_not_counted_r19() -> None:
    assert summary_lines(summary(SEVEN, 5)) == [
        f"Active hours: p10 1, p50 3, p90 5 from 5 items, 1 to 5; {COVERS}",
        f"Waiting hours: p10 10, p50 30, p90 50 from 5 items, 10 to 50; {COVERS}",
        f"Active/estimate: p10 0.25, p50 0.75, p90 1.25 from 5 items, 0.25 to 1.25; {COVERS}",
        "Shown and not counted: 2",
        "Past hours of work and of waiting, apart. Neither a price for today nor a date to commit to.",
    ]


def test_the_page_tells_the_same_r19() -> None:
    shown = page(summary(SEVEN, 5))
    assert (
        "Active hours 5 1 1 3 5 5 Waiting hours 5 10 10 30 50 50 Active over estimate 5 0.25 0.25 0.75 1.25 1.25"
        in shown
    )
    assert "Shown below and not counted: 1 far from objective, 1 not succeeded." in shown
    assert "67 of 100 further works" in shown
    assert "Neither a price for today nor a date to commit to." in shown


def test_what_tells_of_a_job_again_is_named_so_r19() -> None:
    twice = [work(1, work="k"), work(2, work="k")]
    assert own_words(compared(twice)[1]).startswith("effort, same work as another: ")
    assert "not counted: 1 same work as another." in page(summary(twice, 5))


def test_too_few_items_get_no_range_and_the_reason_r19() -> None:
    found = summary(SEVEN, 6)
    assert range_words(found.active) == "5 comparable items with active hours; 6 needed for a range."
    shown = page(found)
    assert "Active hours 5 5 comparable items with active hours; 6 needed for a range." in shown
    assert "of 100 further works" not in shown


@given(st.none() | st.floats(0, 1e6), st.none() | st.floats(0, 1e6), st.none() | st.floats(0, 1e6))
def test_an_items_own_hours_are_never_added_up_r19(
    estimate: float | None, active: float | None, waiting: float | None
) -> None:
    effort = Effort(estimate_hours=estimate, active_hours=active, waiting_hours=waiting)
    (row,) = compared([SEVEN[0].model_copy(update={"effort": effort})])
    said = own_words(row)
    named = [name for name in ("estimated", "active", "waiting") if f"{name} " in said.partition(": ")[2]]
    given_ = {"estimated": estimate, "active": active, "waiting": waiting}
    assert named == [name for name, value in given_.items() if value is not None]
    assert said.count(" h") - said.count(" hours") == len(named)
