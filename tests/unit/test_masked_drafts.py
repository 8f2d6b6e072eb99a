"""An imported experience is masked as its case is, before anybody reviews it (R6)."""

from __future__ import annotations

from activities.personal_data.finder import RuleFinder
from contracts import limits
from contracts.cases import Case, CaseFacts, Origin
from contracts.draft_fields import text_fields
from contracts.experience import Draft, RoutingSynopsis
from contracts.labels import CaseState
from contracts.masking import PLACEHOLDER, MaskedPlace, SanitisedCase
from contracts.personal_data import Certainty, PersonalDataKind
from deploy.masked_drafts import masked_draft, personal_data_in, placeholders_of
from tests.records.world import NOON
from tests.unit.test_admission import draft, unit

BODY = "Dear desk,\nthe letter is blank.\nKind regards,\nLudmilla Sampleton\nl.sampleton@north.example"
MAIL = "l.sampleton@north.example"
FINDER = RuleFinder()


def case() -> Case:
    return Case(
        id="c",
        origin=Origin(tenant_id="north", source="desk", external_id="1"),
        title="Blank letter",
        body=BODY,
        state=CaseState.OPEN,
        facts=CaseFacts(),
        opened_at=NOON,
        revision=1,
    )


def sanitised() -> SanitisedCase:
    places = tuple(
        MaskedPlace(
            field="text",
            start=BODY.index(value),
            end=BODY.index(value) + len(value),
            kind=kind,
            certainty=Certainty.LIKELY,
            placeholder=name,
        )
        for value, kind, name in (
            ("Ludmilla Sampleton", PersonalDataKind.NAME, "[person 1]"),
            (MAIL, PersonalDataKind.MAIL, "[mail 4]"),
        )
    )
    return SanitisedCase(case_id="c", revision=1, title="Blank letter", text="", places=places)


def masked(text: Draft) -> Draft:
    places = personal_data_in(text, [BODY], FINDER)
    return masked_draft(text, places, placeholders_of(sanitised(), case(), {}))


def test_a_draft_says_what_its_case_says_for_a_person() -> None:
    """A name that nothing around it tells is known from the case's signature."""
    text = masked(draft(unit(text=f"Ludmilla Sampleton ({MAIL}) saw it on version 7.4.1, error E-1042.")))
    assert text.units[0].text == "[person 1] ([mail 4]) saw it on version 7.4.1, error E-1042."
    assert personal_data_in(text, [BODY], FINDER) == {}


def test_what_the_case_does_not_hold_is_taken_out_in_words() -> None:
    """A placeholder that the case doesn't declare would be refused by admission."""
    text = masked(draft(title="Ask other.person@south.example"))
    assert text.title == "Ask (mail removed)"


def test_nothing_else_changes() -> None:
    clean = draft(unit(intent="Print again.", use_when="Always."))
    assert personal_data_in(clean, [BODY], FINDER) == {}
    touched = masked(draft(unit(text=f"{MAIL} wrote."), unit("u2")))
    before = [field.text for field in text_fields(draft(unit(text=f"{MAIL} wrote."), unit("u2")))]
    after = [field.text for field in text_fields(touched)]
    assert [(old, new) for old, new in zip(before, after, strict=True) if old != new] == [
        (f"{MAIL} wrote.", "[mail 4] wrote.")
    ]


def test_a_masked_text_still_fits_and_ends_in_no_half_placeholder() -> None:
    """R22: a placeholder may be longer than what it stands for."""
    short = "a@b.example"
    text = f"{short} " * 40
    synopsis = RoutingSynopsis(request_type=text[: limits.LINE], route="r", disposition="d", text="t")
    places = personal_data_in(draft(synopsis=synopsis), [], FINDER)
    known = {(PersonalDataKind.MAIL, short): "[mail 123456]"}
    line = masked_draft(draft(synopsis=synopsis), places, known).synopsis.request_type
    assert len(line) <= limits.LINE
    assert short not in line
    assert "[" not in PLACEHOLDER.sub("", line)
