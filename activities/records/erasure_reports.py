"""What an erasure reports of a store, kept with the erasure in the transaction that did it (R11)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from contracts.erasure import PlaceCount, StoreReport

_STORES = text("SELECT stores FROM erasures WHERE id = CAST(:id AS uuid) FOR UPDATE")
_REPORT = text("""
UPDATE erasures SET stores = coalesce((SELECT jsonb_agg(s) FROM jsonb_array_elements(stores) s
                                        WHERE s ->> 'store' <> :store), '[]') || CAST(:report AS jsonb)
 WHERE id = CAST(:id AS uuid) AND state = 'running'
""")


async def put_report(connection: AsyncConnection, erasure_id: str, report: StoreReport) -> None:
    """Put a report into the receipt, in place of the one of the same store."""
    values = {"id": erasure_id, "store": report.store, "report": json.dumps([report.model_dump()])}
    await connection.execute(_REPORT, values)


async def removed_places(connection: AsyncConnection, erasure_id: str) -> tuple[PlaceCount, ...]:
    """Return what was removed from the record so far; other writers of the receipt wait for this transaction."""
    stores = (await connection.execute(_STORES, {"id": erasure_id})).scalar_one()
    reports = map(StoreReport.model_validate, stores)
    return next((report.places for report in reports if report.store == "records"), ())


async def add_removed(connection: AsyncConnection, erasure_id: str, places: Sequence[PlaceCount]) -> None:
    """Add to what was removed from the record."""
    total = {place.place: place for place in await removed_places(connection, erasure_id)}
    for place in places:
        before = total.get(place.place, PlaceCount(place=place.place, rows=0, fields=0))
        total[place.place] = PlaceCount(
            place=place.place, rows=before.rows + place.rows, fields=before.fields + place.fields
        )
    await put_report(connection, erasure_id, StoreReport(store="records", places=tuple(total.values())))
