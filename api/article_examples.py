"""Examples of articles for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi.openapi.models import Example

ARTICLE_ID = "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a0e"
ARTICLE: dict[str, Any] = {
    "kind": "method",
    "title": "How a letter type is registered",
    "domain_id": "data",
    "body": "# Before\n\nLook whether the letter type has its row.\n\n# Then\n\nInsert it, and start the next run.",
    "limits": {"products": ["Policy"], "version_from": "7.2", "version_to": "7.4"},
    "sources": [{"kind": "system", "locator": "print register", "version": "7.4"}],
    "concepts": ["print register"],
}
ARTICLE_PROPOSAL = {
    "example": Example(summary="A method of the domain", value={"article_id": ARTICLE_ID, "article": ARTICLE})
}
ARTICLE_CHANGE = {
    "article": Example(
        summary="Correct an article",
        value={
            "command_id": "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a0f",
            "experience_id": ARTICLE_ID,
            "kind": "correct",
            "reason": "The run starts by itself since 7.4.",
            "article": ARTICLE,
        },
    )
}
