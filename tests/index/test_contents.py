"""What `apply`, `stored` and `drop` promise, for every adapter (R9, R10, R22)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import pytest

from contracts.errors import IndexSchemaMismatch, InvalidField
from contracts.index import IndexChange, Stored, VectorName
from contracts.labels import Collection, Outcome, ProofLevel
from contracts.ports import SearchIndex
from contracts.reconcile_ports import IndexContents
from tests.index.conftest import Opener
from tests.index.samples import change, dense, lexical, payload, point, removal, targets

DETAIL = Collection.DETAIL


async def test_opening_again_changes_nothing(index: SearchIndex, make: Opener) -> None:
    await index.apply([change(DETAIL, "experience/1")])
    await index.open()
    assert targets(await dense(index, DETAIL, "experience/1")) == ["experience/1"]


async def test_r9_a_repeated_change_has_one_effect(index: SearchIndex) -> None:
    for _ in range(3):
        await index.apply([change(DETAIL, "experience/1")])
    assert len(await index.stored(DETAIL)) == 1


async def test_r10_an_older_revision_disappears_with_the_newer_one(index: SearchIndex) -> None:
    await index.apply([change(DETAIL, "experience/1", "old words"), change(DETAIL, "experience/2", "old words")])
    await index.apply([change(DETAIL, "experience/1", "new words", revision=2)])

    stored = {each.payload.target: each.payload.revision for each in await index.stored(DETAIL)}
    assert stored == {"experience/1": 2, "experience/2": 1}
    assert targets(await lexical(index, DETAIL, "old")) == ["experience/2"]


async def test_r10_a_withdrawn_target_is_gone_and_its_neighbours_stay(index: SearchIndex) -> None:
    await index.apply([change(DETAIL, f"experience/{each}") for each in (1, 10, 11)])
    await index.apply([removal(DETAIL, "experience/1"), removal(DETAIL, "experience/none")])
    assert targets(await lexical(index, DETAIL, "printer")) == ["experience/10", "experience/11"]


async def test_of_two_changes_to_a_target_in_one_call_the_later_counts(index: SearchIndex) -> None:
    await index.apply(
        [
            change(DETAIL, "experience/1"),
            removal(DETAIL, "experience/1"),
            removal(DETAIL, "experience/2"),
            change(DETAIL, "experience/2"),
        ]
    )
    assert [each.payload.target for each in await index.stored(DETAIL)] == ["experience/2"]


async def test_collections_are_apart(index: SearchIndex) -> None:
    await index.apply([change(DETAIL, "experience/1"), change(Collection.ROUTING, "experience/1", revision=2)])
    await index.apply([removal(DETAIL, "experience/1")])
    assert await index.stored(DETAIL) == []
    assert [each.payload.revision for each in await index.stored(Collection.ROUTING)] == [2]


async def test_r9_stored_gives_back_every_payload_unchanged(index: SearchIndex) -> None:
    full = point(
        DETAIL,
        "experience/ü",
        domain="data",
        outcome=Outcome.FAILED,
        proof_level=ProofLevel.EXECUTED,
        request_type="incident",
        symptom_tags=("missing register row", "Ünïcode"),
        concepts=("renewal",),
        products=("policy",),
        systems=("batch", "register"),
        environments=("prod",),
    )
    many = [change(DETAIL, f"experience/{each}") for each in range(250)]
    await index.apply([IndexChange(DETAIL, "experience/ü", (full,)), *many])

    stored = await index.stored(DETAIL)
    assert len(stored) == 251
    assert [each.id for each in stored] == sorted(each.id for each in stored)
    assert next(each for each in stored if each.id == full.id).payload.digest() == full.payload.digest()


async def test_drop_leaves_an_empty_collection_that_works(index: SearchIndex, make: Opener) -> None:
    await index.apply([change(DETAIL, "experience/1"), change(Collection.ROUTING, "experience/1")])
    await index.drop(DETAIL)
    assert await index.stored(DETAIL) == []
    assert len(await index.stored(Collection.ROUTING)) == 1
    await index.apply([change(DETAIL, "experience/2")])
    assert targets(await dense(index, DETAIL, "experience/2")) == ["experience/2"]
    await index.open()


async def test_no_changes_are_fine(index: SearchIndex) -> None:
    await index.apply([])


async def test_a_text_without_words_is_stored_and_found_by_its_vectors(index: SearchIndex) -> None:
    await index.apply([change(DETAIL, "experience/1", "")])
    assert targets(await dense(index, DETAIL, "experience/1")) == ["experience/1"]
    assert await lexical(index, DETAIL, "printer") == []


async def test_r22_a_bad_point_is_refused_and_nothing_of_the_call_is_written(index: SearchIndex) -> None:
    good, bad = change(DETAIL, "experience/1"), point(DETAIL, "experience/2")

    def with_body(numbers: list[float]) -> IndexChange:
        vectors = {**bad.vectors, VectorName.BODY: numbers}
        return IndexChange(DETAIL, "experience/2", (replace(bad, vectors=vectors),))

    foreign = replace(bad, payload=payload("experience/2", model="another model"))
    refused: list[tuple[IndexChange, type[Exception], str]] = [
        (with_body([1.0, 0.0]), IndexSchemaMismatch, "2 dimensions"),
        (with_body([math.nan] * 8), InvalidField, "NaN"),
        (IndexChange(DETAIL, "experience/2", (foreign,)), IndexSchemaMismatch, "another model"),
        (IndexChange(DETAIL, "experience/3", (bad,)), InvalidField, "experience/3"),
    ]
    for refusal, error, words in refused:
        with pytest.raises(error, match=words):
            await index.apply([good, refusal])
        assert await index.stored(DETAIL) == []


@pytest.fixture
def contents(index: SearchIndex) -> IndexContents:
    """The same index, as a reconciliation sees it."""
    return cast("IndexContents", index)


async def test_r9_pages_hold_every_point_once_in_order(contents: IndexContents, index: SearchIndex) -> None:
    """A reconciliation walks an index of any size in pages of a fixed one."""
    targets = [f"case/{number}" for number in range(25)]
    await index.apply([change(Collection.CASES, target) for target in targets])
    assert await contents.page(Collection.DETAIL, None, 10) == ([], None)
    found: list[Stored] = []
    after, sizes = None, list[int]()
    while True:
        page, after = await contents.page(Collection.CASES, after, 10)
        found += page
        sizes.append(len(page))
        if after is None:
            break
    assert sizes == [10, 10, 5]
    assert found == await index.stored(Collection.CASES)
    assert sorted(each.payload.target for each in found) == sorted(targets)


async def test_r9_the_points_of_targets_are_all_of_theirs_and_no_others(
    contents: IndexContents, index: SearchIndex
) -> None:
    two = [point(Collection.DETAIL, "experience/1", revision=number) for number in (1, 2)]
    await index.apply([IndexChange(Collection.DETAIL, "experience/1", tuple(two))])
    await index.apply([change(Collection.DETAIL, f"experience/{number}") for number in (2, 3)])
    found = await contents.points_of(Collection.DETAIL, ["experience/1", "experience/3", "experience/9"])
    assert sorted((each.payload.target, each.payload.revision) for each in found) == [
        ("experience/1", 1),
        ("experience/1", 2),
        ("experience/3", 1),
    ]
    assert await contents.points_of(Collection.DETAIL, []) == []
    assert await contents.points_of(Collection.ROUTING, ["experience/1"]) == []
