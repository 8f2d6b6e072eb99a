"""The tree of refusals, as clients meet it (R22). Its drawing is checked in tests/architecture."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import errors
from contracts.errors import CaseloreError, Conflict, InvalidInput, NotFound, NotPermitted, NotProof, every_error

DEFINED = {name: cls for name, cls in vars(errors).items() if isinstance(cls, type) and issubclass(cls, CaseloreError)}
KINDS = (InvalidInput, NotFound, NotPermitted, Conflict, NotProof, errors.Unavailable)


def test_every_error_knows_each_class_by_its_name() -> None:
    known = every_error()
    assert {name: known.get(name) for name in DEFINED} == DEFINED
    assert all(name == cls.__name__ for name, cls in known.items())


@pytest.mark.parametrize("cls", DEFINED.values(), ids=DEFINED)
def test_an_error_can_be_rebuilt_from_its_type_and_words(cls: type[CaseloreError]) -> None:
    raised = cls("No.", field="stage", accepted="another")
    rebuilt = every_error()[raised.type](raised.message, field=raised.field, accepted=raised.accepted)
    assert type(rebuilt) is cls
    assert str(rebuilt) == str(raised)
    copied = pickle.loads(pickle.dumps(raised))
    assert (type(copied), copied.message, copied.field, copied.accepted) == (cls, "No.", "stage", "another")


@pytest.mark.parametrize("cls", [cls for cls in DEFINED.values() if cls is not CaseloreError])
def test_each_refusal_is_of_exactly_one_kind(cls: type[CaseloreError]) -> None:
    assert [kind for kind in KINDS if issubclass(cls, kind)] != []
    assert len([kind for kind in KINDS if issubclass(cls, kind)]) == 1


def test_a_refusal_is_not_a_value_error() -> None:
    """Else pydantic would swallow it into its own error, and its type would be lost on the way out."""
    assert [cls for cls in DEFINED.values() if issubclass(cls, (ValueError, AssertionError))] == []


@given(message=st.text(min_size=1), field=st.text("abc._"), accepted=st.text("abc ,"))
@settings(deadline=None)
def test_r22_the_sentence_names_the_field_and_what_would_be_accepted(message: str, field: str, accepted: str) -> None:
    text = str(CaseloreError(message, field=field, accepted=accepted))
    assert text.startswith(message)
    assert (f" [{field}]" in text.removeprefix(message)) == bool(field)
    assert (f" Accepted: {accepted}." in text.removeprefix(message)) == bool(accepted)
    if not field and not accepted:
        assert text == message
