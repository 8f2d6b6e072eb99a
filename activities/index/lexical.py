"""BM25 sparse vectors, made alike for both adapters.

The engine multiplies by the inverse document frequency when it searches (the IDF modifier of the sparse vector);
here only term frequency and length are weighed. Changing a setting changes stored vectors: raise `SCHEMA_VERSION`.
"""

from __future__ import annotations

from dataclasses import dataclass

from qdrant_edge import Bm25, Bm25Config

VECTOR = "bm25"
"""Name of the sparse vector in every collection."""

_ENCODER = Bm25(Bm25Config(k=1.2, b=0.75, avg_len=256.0, language="english", lowercase=True, ascii_folding=True))


@dataclass(frozen=True, slots=True)
class Terms:
    """Term ids with their weights."""

    indices: list[int]
    values: list[float]


def document_terms(text: str) -> Terms:
    """Return the weighed terms of a text to be found; none for a text without words."""
    vector = _ENCODER.embed_document(text)
    return Terms(list(vector.indices), list(vector.values))


def query_terms(text: str) -> Terms:
    """Return the terms to look for, each with weight 1; none for a text without words."""
    vector = _ENCODER.embed_query(text)
    return Terms(list(vector.indices), list(vector.values))
