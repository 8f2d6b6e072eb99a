"""A moment with its zone, that can be told in UTC (R22)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, ValidationInfo

from contracts.errors import InvalidField


def _in_utc(value: datetime, info: ValidationInfo) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidField(
            "The time is beyond the calendar.",
            field=info.field_name or "",
            accepted="a time in the years 1 to 9999 UTC",
        ) from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""Stored as UTC; near the calendar's ends another zone's time may be none."""
