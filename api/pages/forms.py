"""What a form posted, as texts."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette import status

from api.problems import invalid, status_of
from contracts.errors import CaseloreError, InvalidInput, Unavailable

M = TypeVar("M", bound=BaseModel)


class Posted:
    """The texts of a posted form; line ends are LF, as everywhere in the record."""

    def __init__(self, values: Mapping[str, list[str]]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """Return the last value of a field, "" when it wasn't sent."""
        found = self._values.get(name)
        return found[-1] if found else ""

    def line(self, name: str) -> str:
        """Return the last value of a field without blanks around it."""
        return self.text(name).strip()

    def all(self, name: str) -> tuple[str, ...]:
        """Return every value of a field."""
        return tuple(self._values.get(name, ()))

    def has(self, name: str) -> bool:
        """Whether the field was sent at all: a box that is ticked, a button that was pressed."""
        return name in self._values

    def under(self, prefix: str) -> dict[str, str]:
        """Return the fields whose names begin with `prefix`, by the rest of their names, blank ones left out."""
        return {
            name[len(prefix) :]: values[-1]
            for name, values in self._values.items()
            if name.startswith(prefix) and values and values[-1].strip()
        }

    def prose(self) -> dict[str, str]:
        """Return what a person must have typed, by field: texts of more than one word."""
        return {name: values[-1] for name, values in self._values.items() if name and len(values[-1].split()) > 1}


NOTHING = Posted({})


async def posted(request: Request) -> Posted:
    """Return what a form sent; files are left out."""
    values: dict[str, list[str]] = {}
    for name, value in (await request.form()).multi_items():
        if isinstance(value, str):
            values.setdefault(name, []).append(value.replace("\r\n", "\n").replace("\r", "\n"))
    return Posted(values)


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines that say something, without blanks around them."""
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def same_id(refusal: CaseloreError, *, is_stored: bool) -> bool:
    """Return whether a refused form is to be sent again under the id that it had.

    It is, when the id may stand for what was sent; a refusal that is recorded under it stays under it.
    """
    return isinstance(refusal, Unavailable) or (isinstance(refusal, InvalidInput) and not is_stored)


def id_in(typed: Posted, name: str, refusal: CaseloreError | None, *, is_stored: bool = False) -> str:
    """Return the id that a form is sent under: the one that it had as long as that may stand for it, else a new one."""
    keeps = typed.has(name) and (refusal is None or same_id(refusal, is_stored=is_stored))
    return typed.line(name) if keeps else str(uuid.uuid4())


def status_after(refusal: CaseloreError | None) -> int:
    """Return the status of the page that shows a form, again or for the first time."""
    return status.HTTP_200_OK if refusal is None else status_of(type(refusal))


def record_of(model: type[M], values: Mapping[str, Any]) -> M:
    """Return the record of a form's values.

    Raises:
        InvalidInput: Names the field at fault, as everywhere.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise invalid([dict(each) for each in error.errors(include_url=False, include_input=False)]) from None
