"""What is typed at the command line becomes the record that was meant, or a refusal that names its option (R22)."""

from __future__ import annotations

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from contracts.broadening import Broadening
from contracts.errors import InvalidField, InvalidInput
from deploy.cli import app
from deploy.commands.typed import Cited, again, cited, origin_of, record_of

REF = "experience/6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a05"
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1).filter(str.strip)


@given(WORDS, st.integers(0, 2**31 - 1))
def test_a_reason_may_hold_anything_after_the_first_sign(why: str, revision: int) -> None:
    assert cited([f"{REF}@{revision}={why}"], "--choose", is_needed=True) == [Cited(REF, revision, why.strip())]


def test_reasons_with_the_signs_of_the_form_are_kept_whole() -> None:
    typed = ["case/c@0=mail to=a@b@3", f" {REF} @ 12 = x=5 "]
    assert cited(typed, "--reject", is_needed=True) == [Cited("case/c", 0, "mail to=a@b@3"), Cited(REF, 12, "x=5")]


def test_a_note_may_be_left_out_and_nothing_typed_is_nothing() -> None:
    assert cited([f"{REF}@1", f"{REF}@2="], "--helped") == [Cited(REF, 1, ""), Cited(REF, 2, "")]
    assert cited(None, "--helped") == []


@pytest.mark.parametrize("typed", ["", REF, f"{REF}@", "@1=why", f"{REF}@x=why", f"{REF}@-1=why", f"{REF}@1²=why"])
@pytest.mark.parametrize("is_needed", [False, True])
def test_r22_what_is_no_reference_is_refused_with_its_form(typed: str, *, is_needed: bool) -> None:
    with pytest.raises(typer.BadParameter, match="REF@REV") as refused:
        cited([typed], "--choose", is_needed=is_needed)
    assert refused.value.param_hint == "--choose"


@pytest.mark.parametrize("typed", [f"{REF}@1", f"{REF}@1=", f"{REF}@1=  ", f"{REF}@{'9' * 5000}=why"])
def test_r20_a_citation_has_a_reason_and_a_revision(typed: str) -> None:
    with pytest.raises(typer.BadParameter):
        cited([typed], "--choose", is_needed=True)


def test_an_origin_is_a_source_and_its_id_there() -> None:
    assert origin_of(None) is None
    assert origin_of("desk/SD-1") == {"source": "desk", "external_id": "SD-1"}
    assert origin_of("desk/2026/1") == {"source": "desk", "external_id": "2026/1"}
    for typed in ("desk", "desk/", "/SD-1", " / "):
        with pytest.raises(typer.BadParameter, match="SOURCE/EXTERNAL_ID"):
            origin_of(typed)


def test_r22_a_record_that_breaks_its_rule_is_refused_by_its_field() -> None:
    values = {"request_id": "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a05", "reason": "It is needed."}
    with pytest.raises(InvalidField, match="says what it widens"):
        record_of(Broadening, values)
    with pytest.raises(InvalidInput) as refused:
        record_of(Broadening, {**values, "dropped": ["colour"]})
    assert refused.value.field == "dropped.0"
    assert "schema_version" in refused.value.accepted


def test_the_next_command_is_for_the_same_caller() -> None:
    assert again("retrieval check D C --held", "ann") == "caselore retrieval check D C --held --as ann"
    assert again("consultations list", None) == "caselore consultations list"


@pytest.mark.parametrize(
    "typed",
    [
        ("retrieval", "check", "D", "check-1"),
        ("retrieval", "check", "D", "check-1", "--held", "--failed"),
        ("retrieval", "feedback", "D"),
        ("retrieval", "feedback", "D", "--helped", "nothing"),
        ("retrieval", "decide", "R", "--summary", "s", "--choose", f"{REF}@1"),
        ("retrieval", "broaden", "R"),
        ("consultations", "reply", "C", "--text", "t", "--cite", f"{REF}@1"),
        ("retrieve", "o", "--origin", "desk"),
        ("retrieve", "o", "--proof", "certain"),
        ("retrieve", "o", "--not-older-than", "yesterday"),
        ("retrieve", "o", "--tokens", "10"),
    ],
)
def test_r22_a_command_that_is_called_wrongly_ends_before_it_calls(typed: tuple[str, ...]) -> None:
    assert CliRunner().invoke(app, typed).exit_code == 2
