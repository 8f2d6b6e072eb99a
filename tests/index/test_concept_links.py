"""Concept and intent links over every adapter: who shares a term is found, with the term, inside scope and filter."""

from __future__ import annotations

from typing import Any

from activities.retrieval.concept_links import CONCEPTS_FOLLOWED, ConceptLinks
from contracts.candidates import Found
from contracts.concept_links import links_of
from contracts.index import Filter, Scope
from contracts.labels import CandidateKind, Collection
from contracts.ports import SearchIndex
from contracts.strategy import Links
from tests.index.samples import change, dense, vector

DETAIL, CASES = Collection.DETAIL, Collection.CASES
FIRST, SHARING, BY_INTENT, OTHER = "experience/1", "experience/2", "experience/3", "article/4"
START = {FIRST: links_of(["Renewal Register"], ["restore printing"])}


async def _library(index: SearchIndex) -> None:
    links: dict[str, Any] = {
        FIRST: START[FIRST],
        SHARING: links_of(["renewal  register", "tariff"]),
        BY_INTENT: links_of([], ["Restore printing"]),
        OTHER: links_of(["stale document"]),
    }
    await index.apply([change(DETAIL, ref, links=each, domain="data") for ref, each in links.items()])


async def _shared(
    index: SearchIndex, objective: str = "x", where: Filter | None = None, **given: Any
) -> dict[str, tuple[str, ...]]:
    found: list[Found] = await ConceptLinks(index).sharing(
        given.get("collection", DETAIL),
        given.get("scope", Scope()),
        where or Filter(),
        start=given.get("start", START),
        objective=objective,
        vector=vector("any"),
        links=given.get("links", Links()),
    )
    return {each.target: each.fields for each in found}


async def test_records_that_share_a_concept_or_intent_are_found_and_name_it_r15(index: SearchIndex) -> None:
    await _library(index)
    assert await _shared(index) == {
        FIRST: (CONCEPTS_FOLLOWED,),
        SHARING: ("concept: renewal register",),
        BY_INTENT: ("intent: restore printing",),
    }


async def test_a_concept_is_no_intent_of_the_same_words(index: SearchIndex) -> None:
    await index.apply([change(DETAIL, SHARING, links=links_of(["restore printing"]))])
    assert await _shared(index) == {}


async def test_the_objectives_own_words_are_followed_as_concepts(index: SearchIndex) -> None:
    await _library(index)
    assert await _shared(index, "is this a STALE document?", start={}) == {OTHER: ("concept: stale document",)}
    assert await _shared(index, "stale, and a document", start={}) == {}


async def test_links_keep_to_the_filter_and_the_depth_of_their_step(index: SearchIndex) -> None:
    await _library(index)
    assert await _shared(index, where=Filter(domains=("configuration",))) == {}
    assert await _shared(index, "stale document", Filter(kinds=(CandidateKind.ARTICLE,))) == {
        OTHER: ("concept: stale document",)
    }
    assert len(await _shared(index, links=Links(depth=2))) == 2


async def test_links_never_leave_the_scope_r4(index: SearchIndex) -> None:
    links = START[FIRST]
    await index.apply([change(CASES, f"case/{who}", tenant=who, links=links) for who in ("acme", "other")])
    acme = Scope(tenants=frozenset({"acme"}))
    assert [*await _shared(index, collection=CASES, scope=acme)] == ["case/acme"]
    assert await _shared(index, collection=CASES) == {}


async def test_a_hit_tells_its_links_and_its_section(index: SearchIndex) -> None:
    await index.apply([change(DETAIL, OTHER, links=("concept: stale document",), section=3)])
    (hit,) = await dense(index, DETAIL, "any")
    assert (hit.links, hit.section) == (("concept: stale document",), 3)
