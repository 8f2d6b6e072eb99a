"""What was typed at the command line, as the records that it stands for; what can't be read names its option (R22)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from api.problems import invalid

M = TypeVar("M", bound=BaseModel)
_REVISION = re.compile("[0-9]{1,10}")


class Cited(NamedTuple):
    """A candidate at a revision, with what was said of it."""

    ref: str
    revision: int
    said: str


def cited(typed: Sequence[str] | None, option: str, *, word: str = "WHY", is_needed: bool = False) -> list[Cited]:
    """Return what was typed as `REF@REV=WHY`; everything after the first `=` is the reason.

    Args:
        typed: Each value of the option.
        option: Its name, for the refusal.
        word: What stands for the reason in that option's help.
        is_needed: Whether a reason has to be given.

    Raises:
        typer.BadParameter: A value is otherwise; says how it should be.
    """
    return [_cited(each, option, word, is_needed) for each in typed or ()]


def origin_of(typed: str | None) -> dict[str, str] | None:
    """Return the source identity that was typed as `SOURCE/EXTERNAL_ID`; the id may hold further slashes.

    Raises:
        typer.BadParameter: It is otherwise.
    """
    if typed is None:
        return None
    source, slash, external_id = (part.strip() for part in typed.partition("/"))
    if not (source and slash and external_id):
        raise typer.BadParameter(f"{typed!r} is not SOURCE/EXTERNAL_ID.", param_hint="--origin")
    return {"source": source, "external_id": external_id}


def record_of(model: type[M], values: Mapping[str, Any]) -> M:
    """Return the record of what was typed.

    Raises:
        InvalidInput: Names the field at fault, as everywhere.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise invalid([dict(each) for each in error.errors(include_url=False, include_input=False)]) from None


def again(command: str, caller: str | None) -> str:
    """Return a command to type next, by the same caller."""
    return f"caselore {command} --as {caller}" if caller else f"caselore {command}"


def _cited(typed: str, option: str, word: str, is_needed: bool) -> Cited:
    head, _, said = typed.partition("=")
    ref, _, number = (part.strip() for part in head.rpartition("@"))
    if not (ref and _REVISION.fullmatch(number)) or (is_needed and not said.strip()):
        form = f"REF@REV={word}" if is_needed else f"REF@REV[={word}]"
        raise typer.BadParameter(f"{typed!r} is not {form}, with ref and revision as answered.", param_hint=option)
    return Cited(ref, int(number), said.strip())
