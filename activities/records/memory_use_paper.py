"""The case paper of a memory use: it cites, it proves nothing (R20)."""

from __future__ import annotations

import json
import uuid
from typing import Any

from contracts import limits
from contracts.cases import Paper
from contracts.labels import PaperKind
from contracts.retrieval import MemoryUse

_PAPERS = uuid.UUID("0d0f4a55-90f3-57f5-8d0c-1f6f6f0b1f5e")
_SHORT = 200
"""Characters of each reason in a paper that would be too long with all of them."""


def paper_id(decision_id: str) -> str:
    """Return the id of a decision's paper."""
    return str(uuid.uuid5(_PAPERS, decision_id))


def memory_use_paper(use: MemoryUse, *, strategy: str) -> Paper:
    """Return the paper; its id derives from the decision's, so that a repeat files nothing.

    Args:
        use: The recorded decision.
        strategy: Id and version of the strategy that answered.
    """
    citations = [citation.model_dump(mode="json") for citation in use.citations]
    checks = [check.model_dump(mode="json") for check in use.checks]
    text = _text(use, strategy, citations, checks)
    if len(text) > limits.BODY:
        citations = [{**citation, "why": _shortened(citation["why"])} for citation in citations]
        checks = [{**check, "text": _shortened(check["text"])} for check in checks]
        text = _text(use, strategy, citations, checks, note="Shortened; the memory-use record holds every word.")
    return Paper(
        id=paper_id(use.decision_id),
        kind=PaperKind.MEMORY_USE,
        title="Memory use: cited decision",
        text=text,
    )


def _text(
    use: MemoryUse, strategy: str, citations: list[dict[str, Any]], checks: list[dict[str, Any]], **more: str
) -> str:
    content = {
        "strategy": strategy,
        "request_id": use.request_id,
        "summary": use.summary,
        "citations": citations,
        "checks": checks,
        **more,
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]} ..."
