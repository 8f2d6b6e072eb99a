"""The case papers of what was asked of memory, decided on it and checked: they cite, they prove nothing (R18, R20)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contracts import limits
from contracts.broadening import Broadening
from contracts.cases import Paper
from contracts.consultation import REPLY_TITLE, Consultation, ConsultReply
from contracts.labels import PaperKind
from contracts.retrieval import CheckResult, MemoryUse

_PAPERS = uuid.UUID("0d0f4a55-90f3-57f5-8d0c-1f6f6f0b1f5e")
_SHORT = 200
"""Characters of each reason in a paper that would be too long with all of them."""


def paper_id(decision_id: str) -> str:
    """Return the id of a decision's paper."""
    return str(uuid.uuid5(_PAPERS, decision_id))


@dataclass(frozen=True, slots=True)
class Basis:
    """What a decision rests on, by ids alone: the answer that it cites and what of it was read until then (R20)."""

    strategy: str
    """Id and version of the strategy that answered."""
    strategy_digest: str
    watermarks: tuple[tuple[str, int], ...]
    """How far the answer had each index: collection and position."""
    candidates: tuple[tuple[str, int], ...]
    """Ref and revision, in the answer's order."""
    reads: tuple[tuple[str, int], ...]
    """Those read in full until the decision, in that order."""


def memory_use_paper(use: MemoryUse, basis: Basis) -> Paper:
    """Return the paper; its id derives from the decision's, so that a repeat files nothing.

    Args:
        use: The recorded decision.
        basis: What it rests on.
    """
    citations: list[dict[str, Any]] = [
        {**each.model_dump(mode="json"), "read_in_full": (each.ref, each.revision) in basis.reads}
        for each in use.citations
    ]
    checks = [check.model_dump(mode="json") for check in use.checks]
    text = _text(use, basis, citations, checks)
    if len(text) > limits.BODY:
        citations = [{**citation, "why": _shortened(citation["why"])} for citation in citations]
        checks = [{**check, "text": _shortened(check["text"])} for check in checks]
        text = _text(use, basis, citations, checks, note="Shortened; the memory-use record holds every word.")
    return Paper(
        id=paper_id(use.decision_id),
        kind=PaperKind.MEMORY_USE,
        title="Memory use: cited decision",
        text=text,
    )


def check_paper(result: CheckResult, *, asked: str) -> Paper:
    """Return the paper of a check's result; it says how a check came out, and is no proof of a repair.

    Args:
        result: What was reported.
        asked: The check, as the decision put it.
    """
    return _paper(
        f"{result.decision_id}/{result.check_id}",
        f"Memory use: check {result.outcome}",
        {**result.model_dump(mode="json"), "check": asked},
    )


def broadening_paper(broadening: Broadening, *, broadened_from: str, strategy: str) -> Paper:
    """Return the paper of a broadened retrieval, with the reason (R18).

    Args:
        broadening: What was asked for.
        broadened_from: The retrieval before it.
        strategy: Id and version of the strategy that answers.
    """
    content = {
        "strategy": strategy,
        "request_id": broadening.request_id,
        "broadened_from": broadened_from,
        "reason": broadening.reason,
        "widened": broadening.widening().model_dump(mode="json", exclude_defaults=True),
    }
    return _paper(f"broadening/{broadening.request_id}", "Memory use: broadened retrieval", content)


def consultation_paper(consultation: Consultation, *, request_id: str) -> Paper:
    """Return the paper of a question to another domain (R18).

    Args:
        consultation: What was asked.
        request_id: The retrieval that it was asked for.
    """
    content = {"request_id": request_id, **consultation.model_dump(mode="json")}
    title = f"Memory use: domain {consultation.domain_id} consulted"
    return _paper(f"consultation/{consultation.consultation_id}", title, content)


def reply_paper(paper_id: str, reply: ConsultReply, *, consultation_id: str, domain_id: str, replied_as: str) -> Paper:
    """Return the paper of a consult reply, as evidence: no grant, no adopted conclusion, no proof (R18).

    Args:
        paper_id: Its id, which the consulted side doesn't choose.
        reply: What was answered.
        consultation_id: The question.
        domain_id: Whose answer it is.
        replied_as: `owner`, `curator`, or the profile.
    """
    content = {
        "note": f"{REPLY_TITLE}.",
        "consultation_id": consultation_id,
        "domain": domain_id,
        "replied_as": replied_as,
        "text": reply.text,
        "citations": [citation.model_dump(mode="json") for citation in reply.citations],
    }
    text = json.dumps(content, ensure_ascii=False, indent=1)
    if len(text) > limits.BODY:
        content["citations"] = [{**each.model_dump(mode="json"), "why": ""} for each in reply.citations]
        text = json.dumps(content, ensure_ascii=False, indent=1)
    return Paper(id=paper_id, kind=PaperKind.EVIDENCE, title=REPLY_TITLE, text=text)


def _paper(key: str, title: str, content: dict[str, Any]) -> Paper:
    text = json.dumps(content, ensure_ascii=False, indent=1)
    return Paper(id=paper_id(key), kind=PaperKind.MEMORY_USE, title=title[: limits.LINE], text=text)


def _text(
    use: MemoryUse, basis: Basis, citations: list[dict[str, Any]], checks: list[dict[str, Any]], **more: str
) -> str:
    content = {
        "strategy": basis.strategy,
        "strategy_digest": basis.strategy_digest,
        "request_id": use.request_id,
        "summary": use.summary,
        "citations": citations,
        "checks": checks,
        "candidates": _cited(basis.candidates),
        "reads": _cited(basis.reads),
        "watermarks": [{"collection": collection, "position": position} for collection, position in basis.watermarks],
        **more,
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def _cited(named: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"ref": ref, "revision": revision} for ref, revision in named]


def _shortened(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]} ..."
