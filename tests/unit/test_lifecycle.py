"""The lifecycle table: every stage and event leads to a stage or to a named refusal (R7, R8, R10)."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import CaseloreError, InvalidField, LifecycleClosed, NotPublished, StaleStage
from contracts.labels import DomainRole
from contracts.lifecycle import CLOSED, REVIEWED, VERDICTS, Event, Stage, reviewer_role, transition

steady = settings(deadline=None)

S, E = Stage, Event
EXPECTED: dict[tuple[Stage, Event], Stage] = {
    (S.CURATOR_REVIEW, E.ACCEPT): S.OWNER_REVIEW,
    (S.CURATOR_REVIEW, E.RETURN): S.RETURNED,
    (S.CURATOR_REVIEW, E.REJECT): S.REJECTED,
    (S.OWNER_REVIEW, E.ACCEPT): S.PUBLISHED,
    (S.OWNER_REVIEW, E.RETURN): S.RETURNED,
    (S.OWNER_REVIEW, E.REJECT): S.REJECTED,
    (S.RETURNED, E.RESUBMIT): S.CURATOR_REVIEW,
}
EXPECTED_WITH_CURRENT: dict[tuple[Stage, Event], Stage] = {
    **EXPECTED,
    (S.CURATOR_REVIEW, E.REJECT): S.PUBLISHED,
    (S.OWNER_REVIEW, E.REJECT): S.PUBLISHED,
    (S.PUBLISHED, E.CORRECT): S.CURATOR_REVIEW,
    **{(stage, E.RETIRE): S.RETIRED for stage in Stage if stage not in CLOSED},
    **{(stage, E.SUPERSEDE): S.SUPERSEDED for stage in Stage if stage not in CLOSED},
}
# A published stage without a published revision doesn't exist.
POSSIBLE = [(s, e, has) for s, e, has in product(Stage, Event, (True, False)) if has or s is not S.PUBLISHED]


@pytest.mark.parametrize(("stage", "event", "has_current"), POSSIBLE)
def test_every_stage_and_event_has_its_answer(stage: Stage, event: Event, has_current: bool) -> None:
    expected = (EXPECTED_WITH_CURRENT if has_current else EXPECTED).get((stage, event))
    if expected is not None:
        assert transition(stage, event, has_current=has_current) is expected
        return
    with pytest.raises(CaseloreError) as refusal:
        transition(stage, event, has_current=has_current)
    if stage in CLOSED:
        assert type(refusal.value) is LifecycleClosed
    elif event in (E.RETIRE, E.SUPERSEDE, E.CORRECT) and not has_current:
        assert type(refusal.value) is NotPublished
    else:
        assert type(refusal.value) is StaleStage
    assert refusal.value.field
    assert event.value in refusal.value.message or stage.value in refusal.value.message or event is E.CORRECT


@pytest.mark.parametrize(("stage", "event"), list(product(sorted(CLOSED), Event)))
@pytest.mark.parametrize("has_current", [True, False])
def test_a_closed_stage_accepts_nothing(stage: Stage, event: Event, has_current: bool) -> None:
    with pytest.raises(LifecycleClosed):
        transition(stage, event, has_current=has_current)


@pytest.mark.parametrize("stage", sorted(REVIEWED))
def test_r10_a_rejected_correction_leaves_the_published_revision(stage: Stage) -> None:
    assert transition(stage, E.REJECT, has_current=True) is S.PUBLISHED
    assert transition(stage, E.REJECT, has_current=False) is S.REJECTED


@pytest.mark.parametrize("stage", [S.CURATOR_REVIEW, S.OWNER_REVIEW, S.RETURNED, S.PUBLISHED])
def test_r10_retirement_and_supersession_end_a_running_correction(stage: Stage) -> None:
    assert transition(stage, E.RETIRE, has_current=True) is S.RETIRED
    assert transition(stage, E.SUPERSEDE, has_current=True) is S.SUPERSEDED


def test_a_refusal_names_steps_that_would_be_taken() -> None:
    """Whatever a refusal says is accepted is accepted (R22)."""
    for stage, event, has_current in POSSIBLE:
        try:
            transition(stage, event, has_current=has_current)
        except StaleStage as refusal:
            named = [Event(word) for word in refusal.accepted.split(", ")]
            assert named, f"{event} from {stage}"
            for step in named:
                transition(stage, step, has_current=has_current)
        except CaseloreError:
            continue


@given(events=st.lists(st.sampled_from(Event), max_size=40))
@steady
def test_r7_nothing_is_published_without_both_accepts_of_the_same_draft(events: list[Event]) -> None:
    stage, has_current = S.CURATOR_REVIEW, False
    accepted_at: list[Stage] = []  # of the draft under review
    for event in events:
        try:
            after = transition(stage, event, has_current=has_current)
        except CaseloreError:
            continue
        if event is E.ACCEPT:
            accepted_at.append(stage)
        if event in (E.RETURN, E.RESUBMIT, E.CORRECT):
            accepted_at = []
        if after is S.PUBLISHED and event is not E.REJECT:
            assert (stage, event) == (S.OWNER_REVIEW, E.ACCEPT)
            assert accepted_at == [S.CURATOR_REVIEW, S.OWNER_REVIEW]
            has_current = True
        if after is S.PUBLISHED:
            assert has_current
        if after in (S.RETIRED, S.SUPERSEDED):
            assert has_current, "only a published revision can be ended"
            has_current = False
        stage = after


@given(events=st.lists(st.sampled_from(Event), min_size=1, max_size=60))
@steady
def test_r10_while_something_is_published_no_verdict_ends_the_lifecycle(events: list[Event]) -> None:
    stage = S.PUBLISHED
    for event in events:
        try:
            stage = transition(stage, event, has_current=True)
        except CaseloreError:
            continue
        if stage in CLOSED:
            assert event in (E.RETIRE, E.SUPERSEDE)
            return


def test_r7_each_reviewed_stage_waits_for_one_role_and_no_other_stage_does() -> None:
    assert {stage: reviewer_role(stage) for stage in REVIEWED} == {
        S.CURATOR_REVIEW: DomainRole.CURATOR,
        S.OWNER_REVIEW: DomainRole.OWNER,
    }
    for stage in set(Stage) - REVIEWED:
        with pytest.raises(InvalidField) as refusal:
            reviewer_role(stage)
        assert refusal.value.field == "stage"


def test_r7_verdicts_have_a_meaning_in_reviewed_stages_only() -> None:
    assert {E.ACCEPT, E.RETURN, E.REJECT} == VERDICTS
    for stage, verdict, has_current in product(set(Stage) - REVIEWED, VERDICTS, (True, False)):
        with pytest.raises((StaleStage, LifecycleClosed)):
            transition(stage, verdict, has_current=has_current)


def test_the_sets_of_stages_do_not_overlap_and_leave_the_two_between() -> None:
    assert not REVIEWED & CLOSED
    assert set(Stage) - REVIEWED - CLOSED == {S.RETURNED, S.PUBLISHED}
