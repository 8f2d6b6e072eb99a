"""The public data as the quality benchmarks read it, in place, and the way into the product's index."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from activities.index.edge import EdgeIndex
from contracts.cases import Case, CaseFacts, Origin
from contracts.index import IndexChange, Point, VectorName
from contracts.labels import CaseState
from contracts.projection import ProjectionSource
from tests.benchmarks.duplicate_reports import RememberingEmbedder

_BATCH = 512
_IDS = uuid.UUID("3c8f1f52-6d0e-5d0e-8f4e-0d6c5a2f7b10")


@dataclass(frozen=True)
class Passage:
    """A passage of a corpus."""

    id: str
    source: str
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question, with the passages that its answer needs."""

    id: str
    source: str
    text: str
    gold: tuple[str, ...]


@dataclass(frozen=True)
class Ticket:
    """A ticket with the labels that somebody gave it; none where the data has none."""

    id: str
    title: str
    body: str
    labels: dict[str, str]
    is_scored: bool


def read_passages(data: Path) -> list[Passage]:
    """Return every passage."""
    rows = _lines(data / "multihop_passages.jsonl")
    return [Passage(each["id"], each["source"], each["title"], each["text"]) for each in rows]


def read_questions(data: Path) -> list[Question]:
    """Return every question."""
    rows = _lines(data / "multihop_questions.jsonl")
    return [Question(each["id"], each["source"], each["question"], tuple(each["gold"])) for each in rows]


def read_tickets(data: Path, labels: Sequence[str]) -> list[Ticket]:
    """Return every ticket with those of its labels that are asked for."""
    return [
        Ticket(
            each["id"],
            (each["title"] or "").strip(),
            (each["body"] or "").strip(),
            {name: str(each[name]) for name in labels if each[name] is not None},
            each["split"] != "train",
        )
        for each in _lines(data / "routing_tickets.jsonl")
    ]


def id_of(name: str) -> str:
    """Return the UUID that a row of the data has in the product."""
    return str(uuid.uuid5(_IDS, name))


def closed_case(origin: Origin, title: str, body: str, opened_at: datetime) -> Case:
    """Return a row of the data as a completed case; its id is `id_of` the row's."""
    return Case(
        id=id_of(origin.external_id),
        origin=origin,
        title=title,
        body=body,
        state=CaseState.COMPLETED,
        facts=CaseFacts(),
        opened_at=opened_at,
        revision=1,
    )


async def fill(index: EdgeIndex, embedder: RememberingEmbedder, sources: Sequence[ProjectionSource]) -> None:
    """Put sources into the index as the projector does."""
    for start in range(0, len(sources), _BATCH):
        some = sources[start : start + _BATCH]
        entries = [entry for source in some for entry in source.entries]
        texts = list(dict.fromkeys(text for entry in entries for text in (entry.title, entry.meaning or entry.body)))
        vectors = dict(zip(texts, embedder.embed(texts), strict=True))
        points = {
            entry.id: Point(
                entry.id,
                entry.payload.model_copy(update={"model": embedder.model}),
                {VectorName.TITLE: vectors[entry.title], VectorName.BODY: vectors[entry.meaning or entry.body]},
                f"{entry.title}\n{entry.title}\n{entry.body}",
            )
            for entry in entries
        }
        await index.apply(
            [
                IndexChange(
                    collection,
                    source.key,
                    tuple(points[entry.id] for entry in source.entries if entry.collection is collection),
                )
                for source in some
                for collection in source.collections
            ]
        )


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
