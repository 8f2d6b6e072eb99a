"""Review decisions and commands: what they must carry (R7, R10, R11)."""

from itertools import product
from typing import Any

import pytest
from pydantic import ValidationError

from contracts import limits
from contracts.errors import InvalidField, TextTooLong
from contracts.experience import Draft, KnowledgeUnit, RoutingSynopsis
from contracts.labels import Outcome, ProofLevel, UnitKind
from contracts.lifecycle import VERDICTS, Event, Stage
from contracts.review import (
    WITH_DRAFT,
    ChangeCommand,
    ChangeKind,
    CommandMessage,
    DecisionMessage,
    Reminder,
    ReviewDecision,
    Snapshot,
)

ONE, OTHER, COMMAND = (f"6f1c0f8e-7f0a-4b57-9d57-00000000abc{number}" for number in range(3))
DRAFT = Draft(
    title="Document printed",
    domain_id="data",
    outcome=Outcome.FAILED,
    proof_level=ProofLevel.REPORTED,
    synopsis=RoutingSynopsis(request_type="printing", route="data", disposition="not printed", text="Not printed."),
    units=(
        KnowledgeUnit(
            id="u1",
            kind=UnitKind.PROPOSITION,
            text="A restart did not help.",
            concepts=("restart",),
            outcome=Outcome.FAILED,
            proof_level=ProofLevel.REPORTED,
        ),
    ),
)


def decision(**changes: Any) -> ReviewDecision:
    plain = {
        "decision_id": COMMAND,
        "experience_id": ONE,
        "stage": Stage.CURATOR_REVIEW,
        "digest": "0" * 64,
        "verdict": Event.ACCEPT,
    }
    return ReviewDecision.model_validate({**plain, **changes})


def command(kind: ChangeKind, **changes: Any) -> ChangeCommand:
    return ChangeCommand.model_validate(
        {"command_id": COMMAND, "experience_id": ONE, "kind": kind, "reason": "The source changed.", **changes}
    )


class TestDecisions:
    @pytest.mark.parametrize("event", Event)
    def test_r7_only_a_reviewer_s_verdicts_are_verdicts(self, event: Event) -> None:
        if event in VERDICTS:
            assert decision(verdict=event, comment="See line 2.").verdict is event
            return
        with pytest.raises(InvalidField) as refusal:
            decision(verdict=event, comment="See line 2.")
        assert refusal.value.field == "verdict"

    @pytest.mark.parametrize(("verdict", "comment"), list(product(sorted(VERDICTS), ["", " ", "\n\t\u00a0"])))
    def test_r7_whoever_does_not_accept_says_why(self, verdict: Event, comment: str) -> None:
        if verdict is Event.ACCEPT:
            assert decision(verdict=verdict, comment=comment).comment == comment
            return
        with pytest.raises(InvalidField) as refusal:
            decision(verdict=verdict, comment=comment)
        assert refusal.value.field == "comment"

    @pytest.mark.parametrize("missing", ["decision_id", "experience_id", "stage", "digest", "verdict"])
    def test_r7_a_decision_names_the_text_and_the_stage_that_was_seen(self, missing: str) -> None:
        whole = decision().model_dump()
        del whole[missing]
        with pytest.raises(ValidationError) as refusal:
            ReviewDecision.model_validate(whole)
        assert refusal.value.errors()[0]["loc"] == (missing,)

    def test_r22_a_comment_has_its_limit(self) -> None:
        assert decision(comment="x" * limits.PARAGRAPH)
        with pytest.raises(TextTooLong) as refusal:
            decision(comment="x" * (limits.PARAGRAPH + 1))
        assert refusal.value.field == "comment"

    @pytest.mark.parametrize("verdict", sorted(VERDICTS))
    def test_r7_units_are_declined_with_an_acceptance_of_the_rest(self, verdict: Event) -> None:
        if verdict is Event.ACCEPT:
            assert decision(verdict=verdict, declined_units=("u2",)).declined_units == ("u2",)
            return
        with pytest.raises(InvalidField) as refusal:
            decision(verdict=verdict, comment="See line 2.", declined_units=("u2",))
        assert refusal.value.field == "declined_units"


class TestCommands:
    @pytest.mark.parametrize("kind", sorted(WITH_DRAFT))
    def test_r10_a_new_text_is_given_whole(self, kind: ChangeKind) -> None:
        assert command(kind, draft=DRAFT, digest="0" * 64).draft == DRAFT
        with pytest.raises(InvalidField) as refusal:
            command(kind, digest="0" * 64)
        assert refusal.value.field == "draft"

    def test_r24_an_edit_names_the_draft_that_it_was_made_from(self) -> None:
        with pytest.raises(InvalidField) as refusal:
            command(ChangeKind.REVISE, draft=DRAFT)
        assert refusal.value.field == "digest"

    def test_r10_a_retirement_needs_no_text_and_no_successor(self) -> None:
        assert command(ChangeKind.RETIRE).draft is None

    def test_r10_a_supersession_names_another_experience(self) -> None:
        assert command(ChangeKind.SUPERSEDE, superseded_by=OTHER).superseded_by == OTHER
        for successor in (None, ONE, ONE.upper(), ONE.replace("-", "")):
            with pytest.raises(InvalidField) as refusal:
                command(ChangeKind.SUPERSEDE, superseded_by=successor)
            assert refusal.value.field == "superseded_by"

    @pytest.mark.parametrize("kind", ChangeKind)
    @pytest.mark.parametrize("reason", ["", "  \n"])
    def test_r10_every_change_has_a_reason(self, kind: ChangeKind, reason: str) -> None:
        with pytest.raises(InvalidField) as refusal:
            command(kind, reason=reason, draft=DRAFT, superseded_by=OTHER)
        assert refusal.value.field == "reason"

    def test_every_kind_of_change_is_an_event_of_the_lifecycle(self) -> None:
        assert {kind.value for kind in ChangeKind} == {event.value for event in set(Event) - VERDICTS}

    def test_r10_nothing_is_suspended_unless_asked(self) -> None:
        assert command(ChangeKind.CORRECT, draft=DRAFT).suspend is False


class TestMessages:
    @pytest.mark.parametrize("model", [DecisionMessage, CommandMessage, Snapshot, Reminder])
    def test_r11_what_a_history_keeps_has_no_field_for_text(self, model: type[Any]) -> None:
        texts = {"comment", "reason", "text", "title", "body", "subject", "draft", "note", "summary", "name"}
        assert texts & set(model.model_fields) == set()

    def test_r7_a_reminder_has_one_of_two_levels(self) -> None:
        for level in ("remind", "escalate"):
            assert Reminder(experience_id=ONE, stage=Stage.OWNER_REVIEW, revision=1, level=level).level == level
        for level in ("", "accept", "remind\n", "reminder", "REMIND"):
            with pytest.raises(ValidationError):
                Reminder(experience_id=ONE, stage=Stage.OWNER_REVIEW, revision=1, level=level)

    def test_messages_of_a_later_release_still_decode(self) -> None:
        assert CommandMessage.model_validate({"command_id": COMMAND, "later": 1}) == CommandMessage(command_id=COMMAND)
