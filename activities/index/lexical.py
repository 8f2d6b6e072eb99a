"""BM25 sparse vectors, made alike for both adapters.

The engine multiplies by the inverse document frequency when it searches (the IDF modifier of the sparse vector);
here only term frequency and length are weighed. Words count in one Unicode form (NFC): a decomposed letter would end
a word, and neither spelling would find the other. Changing a setting changes stored vectors: raise `SCHEMA_VERSION`.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from qdrant_edge import Bm25, Bm25Config

VECTOR = "bm25"
"""Name of the sparse vector in every collection."""
SCANNED_BELOW = 500
"""Points that a filter leaves up to which they are scored one by one. More of them are found faster by the words'
own lists: at 10,000 points, of which a third are a domain's, in a seventh of the time."""

_WORDS = 40.0
"""Words of a usual text: longer ones pay for their length. Measured on public reports, tickets and passages; at 256 the
lexical route lost five to eight of a hundred."""
_ENCODER = Bm25(Bm25Config(k=1.2, b=0.75, avg_len=_WORDS, language="english", lowercase=True, ascii_folding=True))


@dataclass(frozen=True, slots=True)
class Terms:
    """Term ids with their weights."""

    indices: list[int]
    values: list[float]


def document_terms(text: str) -> Terms:
    """Return the weighed terms of a text to be found; none for a text without words."""
    vector = _ENCODER.embed_document(unicodedata.normalize("NFC", text))
    return Terms(list(vector.indices), list(vector.values))


def query_terms(text: str) -> Terms:
    """Return the terms to look for, each with weight 1; none for a text without words."""
    vector = _ENCODER.embed_query(unicodedata.normalize("NFC", text))
    return Terms(list(vector.indices), list(vector.values))
