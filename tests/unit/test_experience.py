"""Experience: no text claims more than its case result (R5), and one digest for one text (R7)."""

import unicodedata
from itertools import product
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts import limits
from contracts.cases import CaseResult, Effort
from contracts.errors import CaseloreError, InvalidField, OutcomeOverstated, TextTooLong, UnstorableText
from contracts.experience import Draft, KnowledgeUnit, Limits, Proposal, RoutingSynopsis, SourceSpan
from contracts.labels import Outcome, ProofLevel, UnitKind

steady = settings(deadline=None)
LABELS = list(product(Outcome, ProofLevel))
words = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12)


def unit(**changes: Any) -> KnowledgeUnit:
    plain = {
        "id": "u1",
        "kind": UnitKind.PROPOSITION,
        "text": "The register row was missing.",
        "concepts": ("register",),
        "intent": "Print the document again",
        "outcome": Outcome.FAILED,
        "proof_level": ProofLevel.NONE,
    }
    return KnowledgeUnit.model_validate({**plain, **changes})


def draft(**changes: Any) -> Draft:
    outcome = changes.get("outcome", Outcome.SUCCEEDED)
    plain = {
        "title": "Document printed after the register row was added",
        "domain_id": "data",
        "outcome": Outcome.SUCCEEDED,
        "proof_level": ProofLevel.VERIFIED,
        "synopsis": RoutingSynopsis(request_type="printing", route="data", disposition="verified document", text="Ok."),
        "units": (unit(outcome=outcome),),
    }
    return Draft.model_validate({**plain, **changes})


def case_result(outcome: Outcome, level: ProofLevel, effort: Effort | None = None) -> CaseResult:
    """A result with these labels, also where the rules of results would refuse it."""
    return CaseResult.model_construct(outcome=outcome, proof_level=level, effort=effort)


HOURS = st.none() | st.sampled_from([0, 0.1, 3, 1e6])
EFFORTS = st.builds(
    Effort,
    estimate_hours=HOURS,
    active_hours=HOURS,
    waiting_hours=HOURS,
    changed_scope=st.sampled_from(["", " ", "A second form.", "Another form."]),
)


class TestUnits:
    @pytest.mark.parametrize("outcome", Outcome)
    def test_r5_a_prescription_comes_only_from_a_success(self, outcome: Outcome) -> None:
        if outcome is Outcome.SUCCEEDED:
            assert unit(kind=UnitKind.PRESCRIPTION, outcome=outcome).kind is UnitKind.PRESCRIPTION
            return
        with pytest.raises(OutcomeOverstated) as refusal:
            unit(kind=UnitKind.PRESCRIPTION, outcome=outcome)
        assert refusal.value.field == "units.kind"
        assert outcome.value in refusal.value.message

    @pytest.mark.parametrize(("outcome", "level"), LABELS)
    def test_r5_what_did_not_succeed_can_be_told_as_a_proposition(self, outcome: Outcome, level: ProofLevel) -> None:
        if (outcome, level) != (Outcome.UNVERIFIED, ProofLevel.VERIFIED):
            assert unit(outcome=outcome, proof_level=level).outcome is outcome

    def test_a_proposition_names_its_concepts_and_a_prescription_its_intent(self) -> None:
        assert unit(intent="").intent == ""
        assert unit(kind=UnitKind.PRESCRIPTION, outcome=Outcome.SUCCEEDED, concepts=()).concepts == ()
        with pytest.raises(InvalidField) as refusal:
            unit(concepts=())
        assert refusal.value.field == "units.concepts"
        with pytest.raises(InvalidField) as refusal:
            unit(kind=UnitKind.PRESCRIPTION, outcome=Outcome.SUCCEEDED, intent="")
        assert refusal.value.field == "units.intent"

    def test_a_blank_intent_is_none(self) -> None:
        with pytest.raises(InvalidField):
            unit(kind=UnitKind.PRESCRIPTION, outcome=Outcome.SUCCEEDED, intent=" \t")

    @given(start=st.integers(-3, 50), end=st.integers(-3, 50))
    @steady
    def test_a_span_holds_at_least_one_character(self, start: int, end: int) -> None:
        if 0 <= start < end:
            span = SourceSpan(paper_id="p", start=start, end=end)
            assert (span.start, span.end) == (start, end)
        else:
            with pytest.raises((InvalidField, ValidationError)):
                SourceSpan(paper_id="p", start=start, end=end)

    def test_r22_spans_are_counted(self) -> None:
        span = SourceSpan(paper_id="p", start=0, end=1)
        assert len(unit(spans=(span,) * limits.SPANS_PER_UNIT).spans) == limits.SPANS_PER_UNIT
        with pytest.raises(ValidationError):
            unit(spans=(span,) * (limits.SPANS_PER_UNIT + 1))


class TestDraftRules:
    @pytest.mark.parametrize(("outcome", "level"), LABELS)
    def test_r5_no_unit_says_more_than_its_draft(self, outcome: Outcome, level: ProofLevel) -> None:
        for unit_outcome, unit_level in LABELS:
            if (unit_outcome, unit_level) == (Outcome.UNVERIFIED, ProofLevel.VERIFIED):
                continue  # no case result has both
            claimed = unit(outcome=unit_outcome, proof_level=unit_level)
            over_outcome = unit_outcome is Outcome.SUCCEEDED and outcome is not Outcome.SUCCEEDED
            over_proof = list(ProofLevel).index(unit_level) > list(ProofLevel).index(level)
            if not over_outcome and not over_proof:
                assert draft(outcome=outcome, proof_level=level, units=(claimed,)).units == (claimed,)
                continue
            with pytest.raises(OutcomeOverstated) as refusal:
                draft(outcome=outcome, proof_level=level, units=(claimed,))
            assert refusal.value.field == ("units.outcome" if over_outcome else "units.proof_level")

    @pytest.mark.parametrize("position", [0, 1, 2])
    def test_r5_every_unit_is_looked_at(self, position: int) -> None:
        units = [unit(id=f"u{number}") for number in range(3)]
        units[position] = unit(id=f"u{position}", outcome=Outcome.SUCCEEDED)
        with pytest.raises(OutcomeOverstated, match=f"u{position}"):
            draft(outcome=Outcome.FAILED, units=units)

    @pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.SUCCEEDED])
    def test_r5_no_draft_of_another_outcome_holds_a_prescription(self, outcome: Outcome) -> None:
        with pytest.raises(OutcomeOverstated):
            draft(outcome=outcome, units=(unit(kind=UnitKind.PRESCRIPTION, outcome=Outcome.SUCCEEDED),))

    def test_unit_ids_differ(self) -> None:
        assert len(draft(units=(unit(id="a"), unit(id="A"))).units) == 2
        with pytest.raises(InvalidField) as refusal:
            draft(units=(unit(id="a"), unit(id="b"), unit(id="a", text="Another.")))
        assert refusal.value.field == "units.id"

    def test_r22_units_are_counted(self) -> None:
        most = tuple(unit(id=str(number)) for number in range(limits.UNITS_PER_REVISION))
        assert draft(units=most).units == most
        for units in ((), (*most, unit(id="one more"))):
            with pytest.raises(ValidationError) as refusal:
                draft(units=units)
            assert refusal.value.errors()[0]["loc"] == ("units",)

    def test_r22_a_bad_text_anywhere_in_a_draft_is_refused_by_name(self) -> None:
        with pytest.raises(TextTooLong) as refusal:
            draft(title="x" * (limits.LINE + 1))
        assert refusal.value.field == "title"
        with pytest.raises(UnstorableText) as unstorable:
            unit(use_when="a\x00b")
        assert unstorable.value.field == "use_when"


class TestDraftAgainstItsResult:
    @pytest.mark.parametrize(("outcome", "level"), LABELS)
    def test_r5_the_same_outcome_and_no_stronger_proof(self, outcome: Outcome, level: ProofLevel) -> None:
        for draft_outcome, draft_level in LABELS:
            claimed = draft(outcome=draft_outcome, proof_level=draft_level)
            result = case_result(outcome, level)
            if draft_outcome is not outcome:
                field = "outcome"
            elif list(ProofLevel).index(draft_level) > list(ProofLevel).index(level):
                field = "proof_level"
            else:
                claimed.check_against(result)
                continue
            with pytest.raises(OutcomeOverstated) as refusal:
                claimed.check_against(result)
            assert refusal.value.field == field
            assert (outcome if field == "outcome" else level).value in refusal.value.accepted

    @given(told=EFFORTS, recorded=st.none() | EFFORTS)
    @steady
    def test_r19_the_hours_are_the_results(self, told: Effort, recorded: Effort | None) -> None:
        claimed = draft(effort=told)
        result = case_result(claimed.outcome, claimed.proof_level, recorded)
        has = recorded or Effort()
        names = ["estimate_hours", "active_hours", "waiting_hours"]
        differing = [f"effort.{name}" for name in names if getattr(told, name) != getattr(has, name)]
        if bool(told.changed_scope.strip()) != bool(has.changed_scope.strip()):
            differing.append("effort.changed_scope")
        if not differing:
            claimed.check_against(result)
            return
        with pytest.raises(InvalidField) as refusal:
            claimed.check_against(result)
        assert refusal.value.field == differing[0]
        assert "or no effort" in refusal.value.accepted

    @given(recorded=st.none() | EFFORTS)
    @steady
    def test_r19_a_draft_may_always_leave_hours_out(self, recorded: Effort | None) -> None:
        claimed = draft(effort=None)
        claimed.check_against(case_result(claimed.outcome, claimed.proof_level, recorded))

    def test_r6_what_changed_in_scope_may_be_told_without_the_case_s_words(self) -> None:
        recorded = Effort(active_hours=3, changed_scope="Anna Weber asked for a second form.")
        claimed = draft(effort=Effort(active_hours=3, changed_scope="A second form was asked for."))
        claimed.check_against(case_result(claimed.outcome, claimed.proof_level, recorded))

    def test_r19_a_refusal_says_the_results_hours_and_none_of_its_words(self) -> None:
        recorded = Effort(active_hours=2.5, changed_scope="Anna Weber asked for a second form.")
        for effort, accepted in (
            (Effort(active_hours=3), "2.5 as the case result has it"),
            (Effort(active_hours=2.5), "what changed in scope"),
            (Effort(active_hours=2.5, waiting_hours=1), "none as the case result has it"),
        ):
            claimed = draft(effort=effort)
            with pytest.raises(InvalidField) as refusal:
                claimed.check_against(case_result(claimed.outcome, claimed.proof_level, recorded))
            assert refusal.value.accepted.startswith(accepted)
            assert "Weber" not in str(refusal.value)


@st.composite
def drafts(make: st.DrawFn) -> Draft:
    outcome, level = make(st.sampled_from(LABELS))
    weaker = [known for known in ProofLevel if known.rank <= level.rank]
    units = [
        unit(
            id=f"u{number}",
            text=make(words),
            concepts=tuple(make(st.lists(words, min_size=1, max_size=3))),
            use_when=make(st.just("") | words),
            outcome=outcome,
            proof_level=make(st.sampled_from([known for known in weaker if known is not ProofLevel.VERIFIED])),
            spans=make(st.just(()) | st.just((SourceSpan(paper_id="p", start=1, end=9),))),
        )
        for number in range(make(st.integers(1, 3)))
    ]
    synopsis = RoutingSynopsis(request_type=make(words), route=make(words), disposition=make(words), text=make(words))
    hours = st.none() | st.floats(0, 1e6)
    effort = st.none() | st.builds(Effort, estimate_hours=hours, active_hours=hours, waiting_hours=hours)
    return draft(
        title=make(words),
        outcome=outcome,
        proof_level=level,
        synopsis=synopsis,
        units=units,
        limits=Limits(products=tuple(make(st.lists(words, max_size=2))), version_to=make(st.just("") | words)),
        effort=make(effort),
    )


def leaves(content: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    if isinstance(content, dict):
        return [leaf for key, value in content.items() for leaf in leaves(value, (*path, key))]
    if isinstance(content, list) and content:
        return [leaf for number, value in enumerate(content) for leaf in leaves(value, (*path, number))]
    return [(path, content)]


def changed(content: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    if isinstance(content, dict):
        return {**content, path[0]: changed(content[path[0]], path[1:], value)}
    return [changed(item, path[1:], value) if number == path[0] else item for number, item in enumerate(content)]


class TestDraftDigest:
    @given(original=drafts())
    @steady
    def test_r7_a_draft_that_was_stored_has_the_digest_that_was_reviewed(self, original: Draft) -> None:
        assert Draft.model_validate_json(original.model_dump_json()).digest() == original.digest()
        assert Draft.model_validate(original.model_dump(mode="json")).digest() == original.digest()

    @given(original=drafts())
    @steady
    def test_r7_another_spelling_is_the_same_text(self, original: Draft) -> None:
        respelled = original.model_copy(
            update={
                "title": unicodedata.normalize("NFD", original.title) + " ",
                "synopsis": original.synopsis.model_copy(update={"text": f"\r\n{original.synopsis.text} \r\n"}),
            }
        )
        assert respelled.digest() == original.digest()

    @given(original=drafts(), data=st.data())
    @steady
    def test_r7_a_change_anywhere_is_another_text(self, original: Draft, data: st.DataObject) -> None:
        """No field escapes review: labels, limits, spans and effort included."""
        content = original.model_dump(mode="json")
        path, value = data.draw(st.sampled_from(leaves(content)))
        if isinstance(value, str):
            other: Any = value + "x"
        else:
            other = 7.25 if value is None or value == [] else value + 1
        if path[-1] in ("outcome", "proof_level", "kind"):
            choices = {"outcome": Outcome, "proof_level": ProofLevel, "kind": UnitKind}[str(path[-1])]
            other = data.draw(st.sampled_from([known.value for known in choices if known.value != value]))
        altered = changed(content, path, other)
        try:
            another = Draft.model_validate(altered)
        except (CaseloreError, ValidationError):
            reject()  # the rules don't allow this change
        assert another.digest() != original.digest()

    @given(original=drafts())
    @steady
    def test_r7_the_order_of_units_is_part_of_the_text(self, original: Draft) -> None:
        if len(original.units) > 1:
            assert draft_with_units(original, original.units[::-1]).digest() != original.digest()


def draft_with_units(original: Draft, units: tuple[KnowledgeUnit, ...]) -> Draft:
    return original.model_copy(update={"units": units})


def test_a_proposal_keeps_the_caller_s_id() -> None:
    key = "4f0c7f0e-3b0a-4f0e-9c57-6f4c1c9f0001"
    assert Proposal(experience_id=key, result_id=key, draft=draft()).experience_id == key


class TestDeclinedUnits:
    WHOLE = draft(units=tuple(unit(id=f"u{n}", outcome=Outcome.SUCCEEDED) for n in range(1, 4)))

    def test_r7_the_rest_is_the_same_text_for_everybody(self) -> None:
        rest = self.WHOLE.without_units(["u2", "u2"])
        assert [each.id for each in rest.units] == ["u1", "u3"]
        assert rest.digest() == self.WHOLE.without_units(("u2",)).digest() != self.WHOLE.digest()
        assert rest == Draft.model_validate(rest.model_dump())
        assert self.WHOLE.without_units(()) == self.WHOLE

    @pytest.mark.parametrize(
        ("declined", "accepted"), [(["u9"], "u1, u2, u3"), (["u1", "u2", "u3"], "return or reject")]
    )
    def test_r7_what_is_not_there_and_all_that_is_cannot_be_declined(self, declined: list[str], accepted: str) -> None:
        with pytest.raises(InvalidField) as refusal:
            self.WHOLE.without_units(declined)
        assert refusal.value.field == "declined_units"
        assert accepted in refusal.value.accepted
