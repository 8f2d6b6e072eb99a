"""Intake: from a delivery as a source posts it to an arrival in the record, the same for every way in (R1, R22)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol

import structlog
from pydantic import JsonValue, ValidationError

from contracts.arrivals import Cleaning, Preparation, as_ascii, clean
from contracts.cases import BodyFormat, Delivery, Receipt
from contracts.errors import InvalidField
from contracts.model import Model

_log = structlog.get_logger()
_AT_ONCE = 5_000
"""Characters of a body that are read on the event loop; longer ones in a thread."""

NewlyWritten = Callable[[str, BodyFormat], str]
"""Returns the newly written part of a body as plain text; "" when that is the body itself. Never raises."""


class ArrivalRecords(Protocol):
    """The record of arrivals, as intake sees it."""

    async def receive(self, principal_id: str, delivery: Delivery, preparation: Preparation = ...) -> Receipt:
        """Attach a delivery to its case, once by origin, revision and content (R1)."""
        ...


class Posted(Model):
    """A delivery as a source posted it, made storable."""

    delivery: dict[str, JsonValue]
    cleaned: tuple[Cleaning, ...] = ()
    raw: str = ""
    """As ASCII JSON, when something was cleaned."""


def prepared(posted: Mapping[str, JsonValue]) -> Posted:
    """Return a posted delivery in a form that can be stored, with what was changed and how it came.

    Raises:
        InvalidField: It is nested too deep, or holds a number that JSON has no form for.
    """
    delivery, cleaned = clean(posted)
    return Posted.model_construct(delivery=delivery, cleaned=cleaned, raw=as_ascii(posted) if cleaned else "")


class Intake:
    """Takes deliveries in.

    Args:
        records: Where arrivals are kept.
        newly_written: Tells the newly written part of a body from the quoted one.
    """

    def __init__(self, records: ArrivalRecords, newly_written: NewlyWritten) -> None:
        self._records = records
        self._newly_written = newly_written

    async def receive_posted(self, principal_id: str, posted: Mapping[str, JsonValue]) -> Receipt:
        """Take a delivery as JSON, for callers other than HTTP.

        Raises:
            InvalidField: A field breaks its rule; also whatever `receive` raises.
            UnstorableText: The origin or delivery id holds what can't be stored; an id is never rewritten.
        """
        found = prepared(posted)
        try:
            delivery = Delivery.model_validate(found.delivery, extra="forbid")
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise InvalidField(f"{first['msg']}.", field=".".join(map(str, first["loc"]))) from None
        return await self.receive(principal_id, delivery, found)

    async def receive(self, principal_id: str, delivery: Delivery, posted: Posted | None = None) -> Receipt:
        """Take a delivery, and answer a repeat with the first result (R1).

        Args:
            principal_id: Who delivers.
            delivery: What came, storable.
            posted: How it was posted, when it had to be cleaned.

        Raises:
            UnknownTenant: The tenant is not in the principal's grants.
            UnknownDomain: The facts name a domain that does not exist.
            InvalidField: A time has no zone, or is far outside of any case's life.
            TextTooLong: The attributes are over their limit.
        """
        preparation = Preparation(
            written=await self._written(delivery),
            cleaned=posted.cleaned if posted else (),
            raw=posted.raw if posted else "",
        )
        receipt = await self._records.receive(principal_id, delivery, preparation)
        _log.info(
            "delivery_taken",
            arrival_id=receipt.arrival_id,
            disposition=receipt.disposition,
            redelivered=receipt.redelivered,
            delivery_id_reused=receipt.delivery_id_reused,
            cleaned=len(preparation.cleaned),
        )
        return receipt

    async def _written(self, delivery: Delivery) -> str:
        if len(delivery.body) <= _AT_ONCE:
            return self._newly_written(delivery.body, delivery.body_format)
        return await asyncio.to_thread(self._newly_written, delivery.body, delivery.body_format)
