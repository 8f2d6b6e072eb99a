"""Records whose text was erased: the ids, digests, times and labels stay, so that what cites them still reads (R11).

Each function takes a record as JSON and returns what is left of it, in the same shape.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from contracts.articles import ArticleDraft, ArticleKind, SourceKind, SourceReference
from contracts.concept_links import kind_of_link
from contracts.erased_text import ERASED
from contracts.experience import Draft, KnowledgeUnit, RoutingSynopsis
from contracts.labels import Outcome, ProofLevel, UnitKind
from contracts.strategy import Route

Record = Mapping[str, Any]

_COMMAND = (
    "decision_id", "command_id", "experience_id", "stage", "digest", "verdict", "kind", "suspend", "superseded_by",
    "acknowledged_scope",
)  # fmt: skip
_REQUEST = (
    "request_id", "profile_id", "tenant_id", "case_id", "strategy_version", "required_proof", "not_older_than",
    "results", "tokens", "wait_for_position", "consultation_id",
)  # fmt: skip


def erased_draft(content: Record) -> dict[str, Any]:
    """Return a draft that says nothing any more; domain, outcome and proof level stay."""
    outcome, proof_level = Outcome(content["outcome"]), ProofLevel(content["proof_level"])
    unit = KnowledgeUnit(
        id="erased",
        kind=UnitKind.PROPOSITION,
        text=ERASED,
        concepts=(ERASED,),
        outcome=outcome,
        proof_level=proof_level,
    )
    draft = Draft(
        title=ERASED,
        domain_id=content["domain_id"],
        outcome=outcome,
        proof_level=proof_level,
        synopsis=RoutingSynopsis(request_type=ERASED, route=ERASED, disposition=ERASED, text=ERASED),
        units=(unit,),
    )
    return draft.model_dump(mode="json")


def erased_article(content: Record) -> dict[str, Any]:
    """Return an article that says nothing any more; kind and owner stay."""
    article = ArticleDraft(
        kind=ArticleKind(content["kind"]),
        title=ERASED,
        domain_id=content["domain_id"],
        body=ERASED,
        sources=(SourceReference(kind=SourceKind.DOCUMENT, locator=ERASED),),
    )
    return article.model_dump(mode="json")


def erased_command(content: Record) -> dict[str, Any]:
    """Return a decision or change without its words."""
    left = {name: content[name] for name in _COMMAND if name in content}
    left |= {name: ERASED for name in ("comment", "reason") if content.get(name)}
    if content.get("draft"):
        left["draft"] = erased_draft(content["draft"])
    if content.get("article"):
        left["article"] = erased_article(content["article"])
    return left


def erased_request(content: Record) -> dict[str, Any]:
    """Return a retrieval request without objective, origin and circumstances."""
    left = {name: content[name] for name in _REQUEST if name in content}
    return left | {"purpose": ERASED, "objective": ERASED}


def erased_answer(content: Record) -> dict[str, Any]:
    """Return an answer without remarks, which may repeat words of the request."""
    broadened = content.get("broadened")
    return {
        **content,
        **({"broadened": {**broadened, "reason": ERASED}} if broadened else {}),
        "notes": _erased_lines(content.get("notes", [])),
        "not_read": _erased_lines(content.get("not_read", [])),
        "routes": [{**route, "why": ERASED if route.get("why") else ""} for route in content.get("routes", [])],
        "nearest": [{**each, "why": _erased_lines(each["why"])} for each in content.get("nearest", [])],
    }


def erased_candidate(content: Record) -> dict[str, Any]:
    """Return a candidate whose own text was erased: what it was and how it was found stays."""
    return {
        **erased_asking(content),
        "title": ERASED,
        "extract": ERASED,
        "source_origin": None,
        "limits": {},
        "effort": erased_effort(content["effort"]) if content.get("effort") else None,
    }


def erased_nearest(content: Record, refs: Collection[str]) -> dict[str, Any]:
    """Return an answer that says nothing of why these, which were erased, came nearest to it."""
    named: list[dict[str, Any]] = content.get("nearest", [])
    return {
        **content,
        "nearest": [{**each, "why": _erased_lines(each["why"])} if each["ref"] in refs else each for each in named],
    }


def erased_asking(content: Record) -> dict[str, Any]:
    """Return a candidate without what its validity, and the terms that it shares, repeat of an erased request."""
    validity = content["validity"]
    return {
        **content,
        "validity": {**validity, "reasons": _erased_lines(validity.get("reasons", []))},
        "reason": without_terms(content.get("reason", [])),
    }


def without_terms(reason: Iterable[Record]) -> list[dict[str, Any]]:
    """Return why a candidate was found, with the kind only of the concepts and intents that it was found by."""
    return [
        {**match, "fields": [kind_of_link(each) for each in match["fields"]]}
        if match["route"] == Route.CONCEPT_LINKS
        else dict(match)
        for match in reason
    ]


def erased_effort(content: Record) -> dict[str, Any]:
    """Return an effort's hours without what changed in scope."""
    return {**content, "changed_scope": ERASED if content.get("changed_scope") else ""}


def without_origin(content: Record) -> dict[str, Any]:
    """Return a retrieval request without the source identity that it named."""
    return {**content, "origin": None}


def marked_citations(paper: str, refs: Collection[str], *, words: bool) -> str:
    """Return a memory-use paper that says which of the things it cites were erased.

    Args:
        paper: Its text, JSON.
        refs: What was erased.
        words: Whether what the paper says of them goes as well.
    """
    try:
        content = json.loads(paper)
    except ValueError:
        return paper
    if not isinstance(content, dict):
        return paper
    fields = cast("dict[str, Any]", content)
    citations: list[dict[str, Any]] = fields.get("citations", [])
    marks = {"why": ERASED, "erased": True} if words else {"erased": True}
    marked = [citation | marks if citation.get("ref") in refs else citation for citation in citations]
    if marked == citations:
        return paper
    return json.dumps({**fields, "citations": marked}, ensure_ascii=False, indent=1)


def _erased_lines(lines: Collection[str]) -> list[str]:
    return [ERASED] if lines else []
