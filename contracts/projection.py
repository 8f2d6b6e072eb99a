"""From records to index entries: a pure copy of approved fields and references (R9).

No text is invented here; each entry's words are words that a reviewer accepted (or a case's own).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from contracts.articles import ArticleDraft, sections
from contracts.cases import Case
from contracts.concept_links import links_of, links_of_draft
from contracts.experience import Draft, KnowledgeUnit
from contracts.identifiers import keys_of
from contracts.index import SCHEMA_VERSION, UNLIMITED, Payload, instant
from contracts.keys import label_key
from contracts.labels import CandidateKind, Collection, Outcome
from contracts.text import digest

_POINTS = uuid.UUID("6a1f3f0e-5a0b-5c3e-9d0a-0f6f7c2b8a11")


COLLECTIONS: Mapping[CandidateKind, tuple[Collection, ...]] = {
    CandidateKind.CASE: (Collection.CASES,),
    CandidateKind.EXPERIENCE: (Collection.ROUTING, Collection.DETAIL),
    CandidateKind.ARTICLE: (Collection.DETAIL,),
}
"""Where each kind of target may have points."""


def kinds_in(collection: Collection) -> frozenset[CandidateKind]:
    """Return the kinds of targets that have points in `collection`."""
    return frozenset(kind for kind, collections in COLLECTIONS.items() if collection in collections)


def collections_of(key: str) -> tuple[Collection, ...]:
    """Return the collections in which `key` may have points."""
    return COLLECTIONS[CandidateKind(key.partition("/")[0])]


@dataclass(frozen=True, slots=True)
class Entry:
    """One point to be, before its vectors are made."""

    collection: Collection
    id: str
    payload: Payload
    """With `model` still empty; the projector sets it."""
    title: str
    body: str
    meaning: str = ""
    """What the body's vector is made of; "" takes the body."""


@dataclass(frozen=True, slots=True)
class ProjectionSource:
    """What the indexes should hold for a key. No entries: nothing (withdrawn, or not yet published)."""

    key: str
    collections: tuple[Collection, ...]
    """Where the key may have points; those without an entry lose theirs."""
    entries: tuple[Entry, ...]
    revision: int
    content_hash: str


def point_id(collection: Collection, key: str, revision: int, section: int = 0) -> str:
    """Return the point's UUID; it derives from the parts' lengths and text, so parts can't run together."""
    parts = (str(SCHEMA_VERSION), collection, key, str(revision), *([str(section)] if section else []))
    return str(uuid.uuid5(_POINTS, "".join(f"{len(part)}:{part}" for part in parts)))


def experience_source(
    experience_id: str, tenant_id: str, revision: int, content_hash: str, draft: Draft | None
) -> ProjectionSource:
    """Return the entries of an experience: its synopsis in `routing`, its units in `detail`.

    Args:
        experience_id: The experience.
        tenant_id: Where its case came from; kept for filters, never shown across tenants.
        revision: The current revision, or the newest one when nothing is current.
        content_hash: Digest of that revision.
        draft: Its approved text; None when nothing is current.
    """
    key = f"experience/{experience_id}"
    collections = COLLECTIONS[CandidateKind.EXPERIENCE]
    if draft is None:
        return ProjectionSource(key, collections, (), revision, content_hash)
    synopsis = draft.synopsis
    payload = Payload(
        target=key,
        kind=CandidateKind.EXPERIENCE,
        tenant=tenant_id,
        domain=draft.domain_id,
        outcome=draft.outcome,
        proof_level=draft.proof_level,
        request_type=synopsis.request_type,
        symptom_tags=synopsis.symptom_tags,
        concepts=_distinct(concept for unit in draft.units for concept in unit.concepts),
        products=_distinct((*draft.limits.products, *filter(None, [synopsis.product]))),
        systems=_distinct((*draft.limits.systems, *filter(None, [synopsis.system]))),
        environments=draft.limits.environments,
        within_products=_within(draft.limits.products),
        within_systems=_within(draft.limits.systems),
        has_effort="no" if draft.effort is None else "yes",
        names=keys_of([draft.title, key, experience_id]),
        links=links_of_draft(draft),
        revision=revision,
        content_hash=content_hash,
        model="",
    )
    routing = _joined(
        synopsis.text, synopsis.request_type, " ".join(synopsis.symptom_tags), synopsis.route, synopsis.disposition
    )
    detail = _joined(*(unit_text(unit) for unit in draft.units), synopsis.text)
    return ProjectionSource(
        key,
        collections,
        tuple(
            Entry(collection, point_id(collection, key, revision), payload, draft.title, body)
            for collection, body in ((Collection.ROUTING, routing), (Collection.DETAIL, detail))
        ),
        revision,
        content_hash,
    )


def case_source(case: Case) -> ProjectionSource:
    """Return the entry of a live case, in the tenant-partitioned `cases` collection (R3, R4)."""
    key = f"case/{case.id}"
    facts = case.facts
    content_hash = digest([case.title, case.body, case.state, case.facts.model_dump(mode="json")])
    payload = Payload(
        target=key,
        kind=CandidateKind.CASE,
        tenant=case.origin.tenant_id,
        case_id=case.id,
        domain=facts.domain_id or "",
        state=case.state,
        request_type=facts.request_type,
        symptom_tags=facts.symptom_tags,
        products=tuple(filter(None, [facts.product])),
        systems=tuple(filter(None, [facts.system])),
        environments=tuple(filter(None, [facts.environment])),
        names=keys_of([case.title, case.origin.external_id, *facts.object_refs, key, case.id]),
        opened_at=instant(case.opened_at),
        revision=case.revision,
        content_hash=content_hash,
        model="",
    )
    # A case's body often says little without its title: together they find its duplicates far more often.
    meaning = whole_text(case.title, case.body)
    point = point_id(Collection.CASES, key, case.revision)
    entry = Entry(Collection.CASES, point, payload, case.title, case.body, meaning)
    return ProjectionSource(key, (Collection.CASES,), (entry,), case.revision, content_hash)


def whole_text(title: str, body: str) -> str:
    """Return title and body as the one text that a case's body vector is made of."""
    return ". ".join(filter(None, [title.strip(), body.strip()]))


def article_source(
    article_id: str, domain_id: str, revision: int, content_hash: str, article: ArticleDraft | None
) -> ProjectionSource:
    """Return the entries of a domain article, in its owner's `detail`: one for each of its sections (spec section 4).

    Args:
        article_id: The article.
        domain_id: Its owner.
        revision: The current revision, or the newest one when nothing is current.
        content_hash: Digest of that revision.
        article: Its approved text; None when nothing is current.
    """
    key = f"article/{article_id}"
    if article is None:
        return ProjectionSource(key, COLLECTIONS[CandidateKind.ARTICLE], (), revision, content_hash)
    payload = Payload(
        target=key,
        kind=CandidateKind.ARTICLE,
        tenant="",
        domain=domain_id,
        concepts=_distinct(article.concepts),
        products=_distinct(article.limits.products),
        systems=_distinct(article.limits.systems),
        environments=article.limits.environments,
        within_products=_within(article.limits.products),
        within_systems=_within(article.limits.systems),
        names=keys_of([article.title, key, article_id]),
        links=links_of(article.concepts),
        revision=revision,
        content_hash=content_hash,
        model="",
    )
    entries = tuple(
        Entry(
            Collection.DETAIL,
            point_id(Collection.DETAIL, key, revision, number),
            payload.model_copy(update={"section": number}),
            article.title,
            _joined(section, " ".join(article.concepts) if number == 0 else ""),
            whole_text(article.title, section),
        )
        for number, section in enumerate(sections(article.body))
    )
    return ProjectionSource(key, COLLECTIONS[CandidateKind.ARTICLE], entries, revision, content_hash)


def outcome_label(outcome: Outcome) -> str:
    """Return the line that goes before text that must not be read as a fix; "" for a success (R5)."""
    return "" if outcome is Outcome.SUCCEEDED else f"Outcome: {outcome.replace('_', ' ')}. Not a fix."


def unit_text(unit: KnowledgeUnit) -> str:
    """Return a unit's words, its conditions labelled, and what did not succeed named as that (R5)."""
    return _joined(
        outcome_label(unit.outcome),
        unit.text,
        f"Intent: {unit.intent}" if unit.intent else "",
        f"Use when: {unit.use_when}" if unit.use_when else "",
        f"Avoid when: {unit.avoid_when}" if unit.avoid_when else "",
    )


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _within(labels: Iterable[str]) -> tuple[str, ...]:
    return _distinct(map(label_key, labels)) or (UNLIMITED,)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
