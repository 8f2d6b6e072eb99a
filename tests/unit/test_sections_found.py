"""An article with many sections in an index takes one place among the found, its best (spec section 4)."""

from __future__ import annotations

from typing import Any

from activities.retrieval.routes import MOST_HITS
from contracts.experience import Limits
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
