"""An article with many sections in an index takes one place among the found, its best (spec section 4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.retrieval.extracts import begin_of
from activities.retrieval.routes import MOST_HITS
from contracts.articles import sections
from contracts.experience import Limits
from contracts.index import DenseQuery, Hit, LexicalQuery
from contracts.labels import CandidateKind, Collection
from tests.unit.test_retrieval_engine import Memory, experience


def article() -> dict[str, Any]:
    return {"target": "article/a", "kind": CandidateKind.ARTICLE, "draft": None, "text": "Long.", "limits": Limits()}


async def test_many_sections_of_one_article_do_not_push_the_others_out() -> None:
    memory = Memory().holds(experience(), experience(**article()))
    memory.hits = {Collection.DETAIL: ["article/a"] * 120 + ["experience/a"]}
    found = (await memory.answer()).candidates
    assert [each.ref for each in found] == ["article/a", "experience/a"]
    assert {(match.rank, match.collection) for match in found[1].reason} == {(2, Collection.DETAIL)}


async def test_the_search_for_further_targets_has_an_end() -> None:
    memory = Memory().holds(experience(), experience(**article()))
    memory.hits = {Collection.DETAIL: ["article/a"] * MOST_HITS + ["experience/a"]}
    assert [each.ref for each in (await memory.answer()).candidates] == ["article/a"]


PARTS = [f"## Part {number}\n\n{f'Words of part {number} and no other. ' * 40}".strip() for number in range(6)]
LONG = "\n\n".join(PARTS)


async def _extract(section: int, *, route: str = "dense_body", tokens: int = 200, revision: int = 1) -> str:
    """Return the extract of a long article whose section an index route found."""
    long: dict[str, Any] = {**article(), "text": LONG, "revision": revision}
    memory = Memory(asked={"tokens": tokens}).holds(experience(**long))
    hit = Hit("article/a", 1, "", CandidateKind.ARTICLE, 1.0, section=section)

    async def search(collection: Collection, query: DenseQuery | LexicalQuery, **_: Any) -> list[Hit]:
        name = query.name if isinstance(query, DenseQuery) else "lexical"
        return [hit] if collection is Collection.DETAIL and route.endswith(name) else []

    memory.search = search  # type: ignore[method-assign]
    (candidate,) = (await memory.answer()).candidates
    return candidate.extract


@pytest.mark.parametrize("section", range(len(sections(LONG))))
async def test_a_long_article_shows_the_section_that_was_found_r13(section: int) -> None:
    begin = sections(LONG)[section][:30]
    for route in ("dense_body", "lexical"):
        extract = await _extract(section, route=route)
        assert extract.removeprefix("[...] ").startswith(begin)
        assert extract.startswith("[...] ") is (section > 0)
        assert len(extract) <= 800


async def test_an_article_with_room_is_shown_whole_wherever_it_was_found() -> None:
    assert await _extract(3, tokens=30_000) == LONG


async def test_a_title_tells_no_section_and_another_revision_tells_none_either() -> None:
    assert (await _extract(3, route="dense_title")).startswith("## Part 0")
    assert (await _extract(3, revision=2)).startswith("## Part 0")


@given(st.lists(st.text("ab #\n.", max_size=2500), min_size=1, max_size=8).map("\n\n".join))
def test_every_section_is_found_where_it_begins(text: str) -> None:
    text = text.strip()
    parts = sections(text)
    begins = [begin_of(text, number) for number in range(len(parts))]
    assert begins == sorted(begins)
    for part, begin in zip(parts, begins, strict=True):
        assert text[begin:].startswith(part.partition("\n\n")[0])
