"""Refusals across Temporal: a `CaseloreError` keeps its type, field and accepted values on the way."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from temporalio.exceptions import ApplicationError

from contracts.errors import CaseloreError, Unavailable, every_error


def as_application_error(error: CaseloreError) -> ApplicationError:
    """Return the failure that carries `error`; only `Unavailable` is worth a retry."""
    return ApplicationError(
        error.message,
        {"field": error.field, "accepted": error.accepted},
        type=error.type,
        non_retryable=not isinstance(error, Unavailable),
    )


def from_application_error(error: ApplicationError) -> CaseloreError:
    """Return the refusal that `error` carries; a plain `CaseloreError` when it carries none of ours."""
    known = every_error().get(error.type or "", CaseloreError)
    first: Any = next(iter(error.details), None)
    details = cast("Mapping[str, object]", first) if isinstance(first, Mapping) else {}
    return known(error.message, field=str(details.get("field", "")), accepted=str(details.get("accepted", "")))


@contextmanager
def crossing() -> Generator[None]:
    """Let a refusal leave an activity as the failure that carries it."""
    try:
        yield
    except CaseloreError as error:
        raise as_application_error(error) from error
