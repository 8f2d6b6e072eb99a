"""A filter that leaves many points is searched by other means than one that leaves few, and finds the same."""

from __future__ import annotations

import random

import pytest

from activities.index.lexical import SCANNED_BELOW
from contracts.index import Filter, Hit, IndexChange, Scope
from contracts.labels import Collection
from contracts.ports import SearchIndex
from tests.index.conftest import Opener
from tests.index.samples import change, lexical, removal

WORDS = ["printer", "jam", "tray", "feed", "roller", "paper", "toner", "fuser", "cable", "driver"]
WIDE = SCANNED_BELOW + 150
NARROW = 60
ASKED = "paper jam in the tray of the printer"


def _changes(collection: Collection) -> list[IndexChange]:
    """Points of which most are acme's and of domain data; the words of each are drawn, so that scores differ."""
    drawn = random.Random(7)
    changes: list[IndexChange] = []
    for number in range(WIDE + NARROW):
        wide = number < WIDE
        words = " ".join(drawn.choices(WORDS, weights=range(1, len(WORDS) + 1), k=drawn.randint(3, 40)))
        target = f"case/{number:04}" if collection is Collection.CASES else f"experience/{number:04}"
        fields = {"tenant": "acme" if wide else "other", "domain": "data" if wide else "configuration"}
        changes.append(change(collection, target, words, case_id=target, **fields))
    return changes


async def _filled(index: SearchIndex, changes: list[IndexChange]) -> SearchIndex:
    await index.open()
    await index.apply(changes)
    return index


def _scores(hits: list[Hit]) -> dict[str, float]:
    return {hit.target: hit.score for hit in hits}


@pytest.mark.parametrize("domain", ["data", "configuration"])
async def test_a_filtered_search_is_the_whole_one_without_the_others(make: Opener, domain: str) -> None:
    index = await _filled(make(), changes := _changes(Collection.DETAIL))
    try:
        everything = await lexical(index, Collection.DETAIL, ASKED, limit=len(changes))
        some = await lexical(index, Collection.DETAIL, ASKED, where=Filter(domains=(domain,)), limit=len(changes))
        inside = {each.target for each in changes if each.points[0].payload.domain == domain}
        assert len(some) > NARROW / 2
        assert some == [hit for hit in everything if hit.target in inside]
    finally:
        await index.close()


@pytest.mark.parametrize("tenant", ["acme", "other"])
async def test_r4_r21_scores_inside_a_scope_are_those_of_an_index_without_the_others(make: Opener, tenant: str) -> None:
    """How rare a word is tells nothing of other tenants, however many points the scope leaves."""
    changes = _changes(Collection.CASES)
    own = [each for each in changes if each.points[0].payload.tenant == tenant]
    index = await _filled(make(), changes)
    try:
        scope = Scope(frozenset({tenant}))
        among_others = await lexical(index, Collection.CASES, ASKED, scope=scope, limit=len(changes))
        await index.apply([removal(Collection.CASES, each.target) for each in changes if each not in own])
        alone = await lexical(index, Collection.CASES, ASKED, scope=scope, limit=len(changes))
        assert len(alone) > NARROW / 2
        assert _scores(among_others) == pytest.approx(_scores(alone), abs=1e-4)
    finally:
        await index.close()
