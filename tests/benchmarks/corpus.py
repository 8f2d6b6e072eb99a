"""Published experience in bulk, for measuring at sizes that no unattended import reaches in a bench's time.

Each text is put together from sentences of the demo cases, with an identifier of its own, and each body vector is the
normalised sum of its sentences' vectors: the geometry of real sentences without embedding 100,000 texts. Rows go in as
the schema's owner with triggers off; what retrieval reads (revisions, index points, projections) is as it would be
after as many publications, and no audit rows, papers or lifecycles stand behind it.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
from sqlalchemy import make_url

from activities.index.edge import EdgeIndex
from contracts.experience import Draft
from contracts.index import IndexChange, Point, VectorName
from contracts.projection import Entry, ProjectionSource, experience_source
from deploy.runtime import Runtime

Vector = npt.NDArray[np.float64]
_BATCH = 500
_SPREAD = 0.02
"""Of the noise on each coordinate: no two points are the same."""
_IDS = uuid.UUID("5f4c2c86-5b1f-5d6b-9a52-1c3f0a2f7f10")

_TEMPLATES = """
SELECT r.content, r.searchable, e.tenant_id, e.case_id, e.result_id, e.proposer_id, r.author_id
  FROM revisions r JOIN experiences e ON e.id = r.experience_id
 WHERE r.kind = 'experience' AND r.state = 'current' ORDER BY r.experience_id LIMIT 200
"""
_EXPERIENCES = (
    "COPY experiences (id, kind, tenant_id, case_id, result_id, outcome, domain_id, proposer_id, stage, revision,"
    " current_revision, stage_since) FROM STDIN"
)
_REVISIONS = (
    "COPY revisions (experience_id, number, state, kind, outcome, proof_level, domain_id, title, content, digest,"
    " author_id, published_at, searchable) FROM STDIN"
)
_PROJECTIONS = "COPY projections (key, revision, content_hash, points) FROM STDIN"


@dataclass(frozen=True)
class Template:
    """A published demo experience: its draft, and the row that it hangs on."""

    draft: Draft
    row: dict[str, Any]


@dataclass(frozen=True)
class Grown:
    """What it took to get to a size."""

    published: int
    seconds_for_rows_and_points: float
    seconds_for_graphs: float


class Corpus:
    """Makes a running embedded Caselore hold as many published experiences as asked for.

    Args:
        runtime: With the demo cases published.
        seed: Of every choice.
    """

    def __init__(self, runtime: Runtime, seed: int = 20_261_130) -> None:
        self._runtime = runtime
        self._random = random.Random(seed)
        self._noise = np.random.default_rng(seed)
        url = make_url(str(runtime.addresses.owner_database_url)).set(drivername="postgresql")
        self._url = url.render_as_string(hide_password=False)
        self._templates: list[Template] = []
        self._sentences: list[str] = []
        self._vectors: dict[str, Vector] = {}
        self._spoken: dict[str, Vector] = {}
        self._made = 0

    async def grow(self, total: int) -> Grown:
        """Publish until `total` are current, then build the index's graphs by opening it again."""
        await asyncio.to_thread(self._read_templates)
        present = await asyncio.to_thread(self._count)
        began = time.perf_counter()
        for batch in self._batches(total - present):
            await asyncio.to_thread(self._insert, batch)
            await self._runtime.parts.index.apply([change for source in batch for change in self._changes(source[1])])
        stored = time.perf_counter()
        await asyncio.to_thread(self._analyse)
        index = self._runtime.parts.index
        assert isinstance(index, EdgeIndex)
        await index.close()
        await index.open()
        return Grown(total, round(stored - began, 1), round(time.perf_counter() - stored, 1))

    def _count(self) -> int:
        with psycopg.connect(self._url) as connection:
            row = connection.execute("SELECT count(*) FROM revisions WHERE state = 'current'").fetchone()
        return int(row[0]) if row else 0

    def _read_templates(self) -> None:
        if self._templates:
            return
        with psycopg.connect(self._url) as connection:
            rows = connection.execute(_TEMPLATES).fetchall()
        names = ("searchable", "tenant_id", "case_id", "result_id", "proposer_id", "author_id")
        self._templates = [
            Template(Draft.model_validate(content), dict(zip(names, rest, strict=True))) for content, *rest in rows
        ]
        texts = [
            sentence
            for template in self._templates
            for text in (template.draft.synopsis.text, *(unit.text for unit in template.draft.units))
            for sentence in re.split(r"(?<=[.!?])\s+", text)
            if len(sentence) > 20
        ]
        self._sentences = list(dict.fromkeys(texts))
        titles = [template.draft.title for template in self._templates]
        wanted = [*self._sentences, *titles]
        vectors = self._runtime.parts.embedder.embed(wanted)
        self._vectors = {text: np.asarray(vector) for text, vector in zip(wanted, vectors, strict=True)}
        self._spoken = {sentence: self._vectors[sentence] for sentence in self._sentences}

    def _batches(self, count: int) -> Iterator[list[tuple[Template, ProjectionSource, Draft]]]:
        for start in range(0, count, _BATCH):
            yield [self._one() for _ in range(min(_BATCH, count - start))]

    def _one(self) -> tuple[Template, ProjectionSource, Draft]:
        self._made += 1
        template = self._random.choice(self._templates)
        number = f"BX-{self._made:06d}"
        units = tuple(
            unit.model_copy(update={"text": " ".join(self._random.sample(self._sentences, 3)), "spans": ()})
            for unit in template.draft.units
        )
        synopsis = template.draft.synopsis.model_copy(
            update={"text": " ".join(self._random.sample(self._sentences, 3))}
        )
        draft = template.draft.model_copy(
            update={"title": f"{template.draft.title} ({number})", "units": units, "synopsis": synopsis}
        )
        experience_id = str(uuid.uuid5(_IDS, number))
        return template, experience_source(experience_id, template.row["tenant_id"], 1, draft.digest(), draft), draft

    def _insert(self, batch: Sequence[tuple[Template, ProjectionSource, Draft]]) -> None:
        with psycopg.connect(self._url) as connection, connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            with cursor.copy(_EXPERIENCES) as rows:
                for template, source, draft in batch:
                    row, key = template.row, source.key.partition("/")[2]
                    rows.write_row(
                        (key, "experience", row["tenant_id"], row["case_id"], row["result_id"], draft.outcome,
                         draft.domain_id, row["proposer_id"], "published", 1, 1, "now")
                    )  # fmt: skip
            with cursor.copy(_REVISIONS) as rows:
                for template, source, draft in batch:
                    content = json.dumps(draft.model_dump(mode="json"))
                    searchable = " ".join((draft.synopsis.text, *(unit.text for unit in draft.units)))
                    rows.write_row(
                        (source.key.partition("/")[2], 1, "current", "experience", draft.outcome, draft.proof_level,
                         draft.domain_id, draft.title, content, source.content_hash, template.row["author_id"], "now",
                         searchable)
                    )  # fmt: skip
            with cursor.copy(_PROJECTIONS) as rows:
                for _, source, _ in batch:
                    rows.write_row((source.key, 1, source.content_hash, len(source.entries)))

    def _analyse(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE) experiences, revisions, projections")
            connection.execute("CHECKPOINT")  # else it is written while something is measured

    def _changes(self, source: ProjectionSource) -> list[IndexChange]:
        return [
            IndexChange(
                collection, source.key, tuple(self._point(e) for e in source.entries if e.collection is collection)
            )
            for collection in source.collections
        ]

    def _point(self, entry: Entry) -> Point:
        model = self._runtime.parts.embedder.model
        title = self._vectors[entry.title.rpartition(" (")[0]]
        said = np.sum([vector for sentence, vector in self._spoken.items() if sentence in entry.body], axis=0)
        return Point(
            id=entry.id,
            payload=entry.payload.model_copy(update={"model": model}),
            vectors={VectorName.TITLE: self._near(title), VectorName.BODY: self._near(said)},
            lexical=f"{entry.title}\n{entry.title}\n{entry.body}",
        )

    def _near(self, vector: Vector) -> list[float]:
        moved = vector / np.linalg.norm(vector) + self._noise.normal(0, _SPREAD, len(vector))
        return (moved / np.linalg.norm(moved)).tolist()
