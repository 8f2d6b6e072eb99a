"""Related work looks at cases opened before a moment: exactly before, and never at what is no case (R2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from contracts.index import Filter, Scope, instant
from contracts.labels import Collection
from tests.index.conftest import Opener
from tests.index.samples import change, dense, lexical, targets

NOON = datetime(2026, 3, 2, 12, 0, 0, 123457, tzinfo=UTC)
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize("moment", [NOON, datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)])
async def test_a_microsecond_decides(make: Opener, moment: datetime) -> None:
    index = make()
    await index.open()
    opened = {"case/before": moment - TICK, "case/then": moment, "case/after": moment + TICK}
    await index.apply([change(Collection.CASES, target, opened_at=instant(at)) for target, at in opened.items()])
    await index.apply([change(Collection.CASES, "case/unknown"), change(Collection.DETAIL, "article/1")])
    scope, where = Scope(tenants=frozenset({"acme"})), Filter(opened_before=moment)
    assert targets(await dense(index, Collection.CASES, "x", scope=scope, where=where)) == ["case/before"]
    assert targets(await lexical(index, Collection.CASES, "printer", scope=scope, where=where)) == ["case/before"]
    assert len(await lexical(index, Collection.CASES, "printer", scope=scope)) == 4
    assert await lexical(index, Collection.CASES, "printer", where=where) == [], "no filter widens a scope (R4)"
    assert await lexical(index, Collection.DETAIL, "printer", where=where) == []
    await index.close()


def test_moments_keep_their_order_across_zones() -> None:
    east = NOON.astimezone(tz=datetime.now().astimezone().tzinfo)
    assert instant(east) == instant(NOON) == instant(NOON - TICK) + 1
