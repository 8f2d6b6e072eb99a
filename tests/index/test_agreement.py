"""Embedded and server index answer alike, so what is tested on one holds for the other."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from activities.index.edge import EdgeIndex
from activities.index.server import ServerIndex
from contracts.index import Filter, Scope
from contracts.labels import Collection
from tests.index.samples import DIMENSIONS, MODEL, change, dense, lexical
from tests.index.server_double import ServerDouble

WORDS = ["renewal", "register", "row", "batch", "premium", "contract", "timeout", "printer", "größe", "ORA-12345"]


async def test_dense_and_lexical_answers_agree(index_folder: Path) -> None:
    source = random.Random(7)
    changes = [
        change(
            collection,
            f"case/{number}",
            " ".join(source.choices(WORDS, k=source.randint(1, 30))),
            tenant=f"t{number % 3}",
            case_id=str(number),
            domain=f"d{number % 2}",
        )
        for collection in (Collection.CASES, Collection.DETAIL)
        for number in range(120)
    ]
    edge = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    server = ServerIndex(ServerDouble(), MODEL, DIMENSIONS)
    for index in (edge, server):
        await index.open()
        await index.apply(changes)
    scope = Scope(tenants=frozenset({"t0", "t2"}))
    for collection in (Collection.CASES, Collection.DETAIL):
        for where in (Filter(), Filter(domains=("d1",), not_targets=("case/1",))):
            for query in range(6):
                found = [await dense(index, collection, query, scope=scope, where=where) for index in (edge, server)]
                assert [each.target for each in found[0]] == [each.target for each in found[1]]
                text = " ".join(source.sample(WORDS, 3))
                found = [await lexical(index, collection, text, scope=scope, where=where) for index in (edge, server)]
                assert [each.target for each in found[0]] == [each.target for each in found[1]]
                scores = [[each.score for each in hits] for hits in found]
                assert scores[0] == pytest.approx(scores[1], abs=1e-4)
    for index in (edge, server):
        await index.close()
