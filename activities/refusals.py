"""Refusals across Temporal: a `CaseloreError` keeps its type, field and accepted values on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import structlog
from temporalio.exceptions import ApplicationError, FailureError

from activities.failures import failure_fields
from contracts.errors import CaseloreError, Unavailable, every_error

_log = structlog.get_logger()


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
    """Let a refusal leave an activity as the failure that carries it, and any other error as its bare type.

    Causes stay behind, since Temporal would keep their messages in its history (R11).
    """
    try:
        yield
    except CaseloreError as error:
        raise as_application_error(error) from None
    except (FailureError, asyncio.CancelledError):
        raise
    except Exception as error:
        _log.error("activity_failed", **failure_fields(error))
        raise ApplicationError("unexpected failure, see the worker's log", type=type(error).__name__) from None
