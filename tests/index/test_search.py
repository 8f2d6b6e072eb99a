"""What `search` promises, for every adapter: filters and order."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from contracts.errors import IndexSchemaMismatch
from contracts.index import DenseQuery, Filter, Scope, VectorName
from contracts.labels import CandidateKind, Collection, Outcome, ProofLevel
from contracts.ports import SearchIndex
from tests.index.samples import EVERYTHING, NOTHING, change, dense, lexical, targets, vector

DETAIL = Collection.DETAIL


@pytest.fixture
async def library(index: SearchIndex) -> AsyncGenerator[SearchIndex]:
    await index.apply(
        [
            change(
                DETAIL,
                "experience/1",
                "renewal batch misses a register row",
                domain="data",
                outcome=Outcome.SUCCEEDED,
                proof_level=ProofLevel.VERIFIED,
                symptom_tags=("missing row", "renewal"),
                products=("life",),
                environments=("prod", "test"),
            ),
            change(
                DETAIL,
                "experience/2",
                "renewal premium differs",
                domain="configuration",
                outcome=Outcome.FAILED,
                proof_level=ProofLevel.REPORTED,
                symptom_tags=("renewal",),
                products=("Life",),
                environments=("test",),
            ),
            change(DETAIL, "article/1", "how the register is filled", domain="data", request_type="howto"),
        ]
    )
    yield index


NARROWED: list[tuple[Filter, set[str]]] = [
    (EVERYTHING, {"experience/1", "experience/2", "article/1"}),
    (Filter(kinds=(CandidateKind.ARTICLE,)), {"article/1"}),
    (Filter(domains=("data",)), {"experience/1", "article/1"}),
    (
        Filter(domains=("data", "configuration"), kinds=(CandidateKind.EXPERIENCE,)),
        {"experience/1", "experience/2"},
    ),
    (Filter(outcomes=(Outcome.FAILED, Outcome.UNVERIFIED)), {"experience/2"}),
    (Filter(proof_levels=(ProofLevel.VERIFIED,)), {"experience/1"}),
    (Filter(states=("current",)), {"experience/1", "experience/2", "article/1"}),
    (Filter(states=("open",)), set()),
    (Filter(request_types=("howto",)), {"article/1"}),
    (Filter(symptom_tags=("renewal",)), {"experience/1", "experience/2"}),
    (Filter(symptom_tags=("renewal", "no such tag"), products=("life",)), {"experience/1"}),
    (Filter(products=("LIFE",)), set()),
    (Filter(environments=("prod",)), {"experience/1"}),
    (Filter(concepts=("any",)), set()),
    (Filter(systems=("any",)), set()),
    (Filter(names=("hong kong",)), set()),
    (Filter(links=("concept: renewal register",)), set()),
    (Filter(not_targets=("experience/1",)), {"experience/2", "article/1"}),
    (Filter(domains=("data",), not_targets=("article/1", "experience/1")), set()),
]


async def test_each_filter_field_narrows(library: SearchIndex) -> None:
    for where, expected in NARROWED:
        by_vector = await dense(library, DETAIL, "any", where=where)
        by_words = await lexical(library, DETAIL, "renewal register", where=where)
        assert (where, set(targets(by_vector)), set(targets(by_words))) == (where, expected, expected)


async def test_published_collections_are_not_scoped(library: SearchIndex) -> None:
    """R21: published text is general; only `cases` is partitioned."""
    for scope in (NOTHING, Scope(tenants=frozenset({"other"}))):
        assert len(await dense(library, DETAIL, "any", scope=scope)) == 3


async def test_the_nearest_comes_first_in_the_named_vector(library: SearchIndex) -> None:
    hits = await dense(library, DETAIL, "experience/2")
    assert hits[0].target == "experience/2"
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    assert (hits[0].revision, hits[0].content_hash, hits[0].kind) == (1, "experience/2#1", CandidateKind.EXPERIENCE)
    by_title = DenseQuery(vector(("title", "article/1")), VectorName.TITLE)
    found = await library.search(DETAIL, by_title, scope=NOTHING, where=EVERYTHING, limit=1)
    assert targets(found) == ["article/1"]


async def test_rarer_words_weigh_more_and_stems_match(library: SearchIndex) -> None:
    assert targets(await lexical(library, DETAIL, "renewals premiums")) == ["experience/2", "experience/1"]


async def test_a_query_without_words_finds_nothing(library: SearchIndex) -> None:
    for text in ("", "   ", "the of and", "?!", "\u200b"):
        assert (text, await lexical(library, DETAIL, text)) == (text, [])


async def test_r22_a_query_vector_of_another_length_is_refused(library: SearchIndex) -> None:
    with pytest.raises(IndexSchemaMismatch, match="3 dimensions"):
        await library.search(
            DETAIL, DenseQuery([1.0, 0.0, 0.0], VectorName.BODY), scope=NOTHING, where=EVERYTHING, limit=5
        )


async def test_no_limit_no_hits(library: SearchIndex) -> None:
    assert await dense(library, DETAIL, "any", limit=0) == []


async def test_equal_scores_come_in_order_of_target_and_are_cut_there(index: SearchIndex) -> None:
    names = [f"experience/{number:03}" for number in range(60)]
    await index.apply([change(DETAIL, name, seed="same") for name in reversed(names)])
    await index.apply([change(DETAIL, "experience/best", "printer printer", seed="near")])
    for limit in (1, 7, 59, 61, 100):
        assert targets(await dense(index, DETAIL, "near", limit=limit)) == ["experience/best", *names][:limit]
        assert targets(await lexical(index, DETAIL, "printer", limit=limit)) == ["experience/best", *names][:limit]
