"""Names of collections: one version per schema and model, behind one stable alias.

A later schema or another model is built beside the current version and the alias moved to it afterwards, so
vectors of two models never meet in one collection.
"""

from __future__ import annotations

import hashlib
import re

from contracts.index import SCHEMA_VERSION
from contracts.labels import Collection

REINDEX = "run `caselore reindex` to build the index for this model and schema"
"""What to do about every mismatch."""

_SLUG_LENGTH = 40


def version_name(collection: Collection, model: str) -> str:
    """Return the name of the version that holds this schema and model, such as `detail-v1-minilm-1f2e3d4c`."""
    return f"{collection}-v{SCHEMA_VERSION}-{model_slug(model)}"


def model_slug(model: str) -> str:
    """Return a short name that is safe in paths and addresses; different models never share one."""
    words = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:_SLUG_LENGTH].strip("-")
    return f"{words}-{hashlib.sha256(model.encode()).hexdigest()[:8]}".lstrip("-")
