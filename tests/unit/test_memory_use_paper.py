"""The case paper of a cited decision: what it rests on by ids, and earlier papers stay readable (R11, R20)."""

from __future__ import annotations

import json
import uuid

from activities.records.memory_use_paper import Basis, memory_use_paper
from contracts import limits
from contracts.erased_records import marked_citations
from contracts.retrieval import Citation, CitationVerdict, FreshCheck, MemoryUse

REFS = [f"experience/{uuid.UUID(int=number)}" for number in range(limits.RESULTS)]


def use(why: str) -> MemoryUse:
    return MemoryUse(
        decision_id=str(uuid.UUID(int=1)),
        request_id=str(uuid.UUID(int=2)),
        summary=why,
        citations=tuple(Citation(ref=ref, revision=1, verdict=CitationVerdict.CHOSEN, why=why) for ref in REFS),
        checks=tuple(FreshCheck(check_id=str(number), text=why) for number in range(limits.CITATIONS)),
    )


def basis() -> Basis:
    named = tuple((ref, 1) for ref in REFS)
    return Basis("data-investigation v1", "d" * 64, (("detail", 7),), named, named[:2])


def test_r20_the_longest_paper_holds_all_that_the_decision_rests_on() -> None:
    paper = memory_use_paper(use('\\"\n' * (limits.PARAGRAPH // 3 - 1) + "x"), basis())
    assert len(paper.text) <= limits.BODY
    told = json.loads(paper.text)
    assert "Shortened" in told["note"]
    assert [each["ref"] for each in told["candidates"]] == REFS
    assert [each["ref"] for each in told["reads"]] == REFS[:2]
    assert [each["read_in_full"] for each in told["citations"]] == [True, True, *[False] * (len(REFS) - 2)]
    assert (told["strategy_digest"], told["watermarks"]) == ("d" * 64, [{"collection": "detail", "position": 7}])


def test_r11_an_erasure_marks_what_papers_of_now_and_of_before_cite() -> None:
    now = memory_use_paper(use("It fits."), basis()).text
    later = ("strategy_digest", "candidates", "reads", "watermarks")
    before = {name: value for name, value in json.loads(now).items() if name not in later}
    before["citations"] = [
        {name: value for name, value in each.items() if name != "read_in_full"} for each in before["citations"]
    ]
    for paper in (now, json.dumps(before)):
        marked = json.loads(marked_citations(paper, {REFS[0]}, words=True))
        assert [each.get("erased", False) for each in marked["citations"]] == [True, *[False] * (len(REFS) - 1)]
