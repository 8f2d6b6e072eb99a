"""The lifecycle table: every stage and event leads to a stage or to a named refusal (R7, R8, R10)."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.errors import CaseloreError, InvalidField, LifecycleClosed, NotPublished, SamePerson, StaleStage
from contracts.labels import DomainRole
from contracts.lifecycle import (
    CLOSED,
    RESTS,
    REVIEWED,
    VERDICTS,
    Event,
    Noted,
    Stage,
    check_apart,
    reviewer_role,
    transition,
)

steady = settings(deadline=None)

S, E = Stage, Event
EXPECTED: dict[tuple[Stage, Event], Stage] = {
    (S.CURATOR_REVIEW, E.ACCEPT): S.OWNER_REVIEW,
    (S.CURATOR_REVIEW, E.RETURN): S.RETURNED,
    (S.CURATOR_REVIEW, E.REVISE): S.CURATOR_REVIEW,
    (S.OWNER_REVIEW, E.ACCEPT): S.PUBLISHED,
    (S.OWNER_REVIEW, E.RETURN): S.RETURNED,
    (S.OWNER_REVIEW, E.REVISE): S.CURATOR_REVIEW,
    (S.RETURNED, E.RESUBMIT): S.CURATOR_REVIEW,
}


def expected_from(stage: Stage, event: Event, rests_at: Stage) -> Stage | None:
    """Return where an event leads by the rules in words; None for a refusal."""
    if stage is S.RETIRED:
        return S.CURATOR_REVIEW if event is E.REINSTATE else None
    if stage in CLOSED:
        return None
    if event is E.REJECT and stage in REVIEWED:
        return rests_at
    if rests_at is S.PUBLISHED:
        if event is E.CORRECT and stage is S.PUBLISHED:
            return S.CURATOR_REVIEW
        if event in (E.RETIRE, E.SUPERSEDE):
            return S.RETIRED if event is E.RETIRE else S.SUPERSEDED
    return EXPECTED.get((stage, event))


# A stage of rest is where it rests; a superseded experience rests nowhere.
POSSIBLE = [
    (stage, event, rests_at)
    for stage, event, rests_at in product(Stage, Event, sorted(RESTS))
    if stage not in RESTS or stage is rests_at
]


@pytest.mark.parametrize(("stage", "event", "rests_at"), POSSIBLE)
def test_every_stage_and_event_has_its_answer(stage: Stage, event: Event, rests_at: Stage) -> None:
    expected = expected_from(stage, event, rests_at)
    if expected is not None:
        assert transition(stage, event, rests_at=rests_at) is expected
        return
    with pytest.raises(CaseloreError) as refusal:
        transition(stage, event, rests_at=rests_at)
    if stage in CLOSED:
        assert type(refusal.value) is LifecycleClosed
        assert refusal.value.accepted, "it says what would go"
    elif event in (E.RETIRE, E.SUPERSEDE, E.CORRECT) and rests_at is not S.PUBLISHED:
        assert type(refusal.value) is NotPublished
    else:
        assert type(refusal.value) is StaleStage
    assert refusal.value.field


@pytest.mark.parametrize(("stage", "event"), list(product([S.REJECTED, S.SUPERSEDED], Event)))
@pytest.mark.parametrize("rests_at", sorted(RESTS))
def test_nothing_leaves_rejected_or_superseded(stage: Stage, event: Event, rests_at: Stage) -> None:
    with pytest.raises(LifecycleClosed):
        transition(stage, event, rests_at=rests_at)


@pytest.mark.parametrize("event", [event for event in Event if event is not E.REINSTATE])
def test_r10_only_a_reinstatement_leaves_retired(event: Event) -> None:
    assert transition(S.RETIRED, E.REINSTATE, rests_at=S.RETIRED) is S.CURATOR_REVIEW
    with pytest.raises(LifecycleClosed) as refusal:
        transition(S.RETIRED, event, rests_at=S.RETIRED)
    assert refusal.value.accepted == "reinstate"


@pytest.mark.parametrize(("stage", "rests_at"), list(product(sorted(REVIEWED), sorted(RESTS))))
def test_r10_a_rejected_draft_leaves_what_was_before_it(stage: Stage, rests_at: Stage) -> None:
    assert transition(stage, E.REJECT, rests_at=rests_at) is rests_at


@pytest.mark.parametrize("stage", [S.CURATOR_REVIEW, S.OWNER_REVIEW, S.RETURNED, S.PUBLISHED])
def test_r10_retirement_and_supersession_end_a_running_correction(stage: Stage) -> None:
    assert transition(stage, E.RETIRE, rests_at=S.PUBLISHED) is S.RETIRED
    assert transition(stage, E.SUPERSEDE, rests_at=S.PUBLISHED) is S.SUPERSEDED


@pytest.mark.parametrize("stage", [S.CURATOR_REVIEW, S.OWNER_REVIEW, S.RETURNED])
@pytest.mark.parametrize("event", [E.RETIRE, E.SUPERSEDE, E.CORRECT])
def test_r10_while_a_reinstatement_is_reviewed_nothing_is_published(stage: Stage, event: Event) -> None:
    with pytest.raises(NotPublished):
        transition(stage, event, rests_at=S.RETIRED)


def test_a_refusal_names_steps_that_would_be_taken() -> None:
    """Whatever a refusal says is accepted is accepted (R22)."""
    for stage, event, rests_at in POSSIBLE:
        try:
            transition(stage, event, rests_at=rests_at)
        except StaleStage as refusal:
            named = [Event(word) for word in refusal.accepted.split(", ")]
            assert named, f"{event} from {stage}"
            for step in named:
                transition(stage, step, rests_at=rests_at)
        except CaseloreError:
            continue


PEOPLE = ["ann", "cora", "carl", "otto", "olga"]
steps = st.tuples(st.sampled_from(Event), st.sampled_from(PEOPLE), st.sampled_from([None, *PEOPLE]), st.booleans())


@given(steps=st.lists(steps, max_size=60))
@steady
def test_r7_r10_whoever_does_what_in_which_order(steps: list[tuple[Event, str, str | None, bool]]) -> None:
    """A record in miniature: no way publishes a text that two apart from its authors haven't accepted, superseded is
    the end, a rejected correction leaves the current revision, a rejected reinstatement none.
    """
    stage, rests_at = S.CURATOR_REVIEW, S.REJECTED
    authors, accepted = {"ann"}, list[frozenset[str]]()
    draft, current = 1, None
    for event, who, behalf, trims in steps:
        on_behalf_of = None if behalf == who else behalf
        before = (stage, rests_at, current)
        try:
            after = transition(stage, event, rests_at=rests_at)
            if event in VERDICTS:
                check_apart(who, on_behalf_of, authors=authors, reviewers=frozenset[str]().union(*accepted))
        except CaseloreError:
            continue
        assert before[0] is not S.SUPERSEDED
        if event is E.ACCEPT:
            accepted.append(frozenset(filter(None, {who, on_behalf_of})))
            draft += trims  # the rest of the text carries the acceptance over
        elif event in (E.RESUBMIT, E.REVISE, E.CORRECT, E.REINSTATE):
            if event in (E.CORRECT, E.REINSTATE):
                authors = {"ann"}
            authors, accepted, draft = authors | {who}, [], draft + 1
        if after is S.PUBLISHED and event is E.ACCEPT:
            assert stage is S.OWNER_REVIEW
            assert len(accepted) == 2, "both reviews accepted this very text"
            assert not accepted[0] & accepted[1]
            assert not (accepted[0] | accepted[1]) & authors
            current, rests_at = draft, S.PUBLISHED
        elif event is E.REJECT:
            assert after is rests_at
            assert current == before[2]
        if event in (E.RETIRE, E.SUPERSEDE):
            assert current is not None, "only a published revision can be ended"
            current, rests_at = None, S.RETIRED
        assert (current is not None) is (rests_at is S.PUBLISHED)
        assert after is not S.PUBLISHED or current is not None
        stage = after


class TestApart:
    @pytest.mark.parametrize("behalf", [None, "otto"])
    def test_r7_who_had_no_part_may_decide(self, behalf: str | None) -> None:
        check_apart("carl", behalf, authors={"ann"}, reviewers={"cora"})

    @pytest.mark.parametrize(("who", "behalf"), [("ann", None), ("cora", None), ("carl", "ann"), ("carl", "cora")])
    def test_r7_neither_the_reviewer_nor_whom_it_stands_in_for_had_a_part(self, who: str, behalf: str | None) -> None:
        with pytest.raises(SamePerson) as refusal:
            check_apart(who, behalf, authors={"ann"}, reviewers={"cora"})
        assert refusal.value.field == "reviewer"


@given(events=st.lists(st.sampled_from(Event), min_size=1, max_size=60))
@steady
def test_r10_while_something_is_published_no_verdict_ends_the_lifecycle(events: list[Event]) -> None:
    stage = S.PUBLISHED
    for event in events:
        try:
            stage = transition(stage, event, rests_at=S.PUBLISHED)
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
    for stage, verdict, rests_at in product(set(Stage) - REVIEWED, VERDICTS, RESTS):
        with pytest.raises((StaleStage, LifecycleClosed)):
            transition(stage, verdict, rests_at=rests_at)


def test_the_sets_of_stages_do_not_overlap_and_leave_the_two_between() -> None:
    assert not REVIEWED & CLOSED
    assert set(Stage) - REVIEWED - CLOSED == {S.RETURNED, S.PUBLISHED}
    assert not RESTS & REVIEWED


def test_what_a_history_notes_is_no_event_of_the_table() -> None:
    assert not {noted.value for noted in Noted} & {event.value for event in Event}
