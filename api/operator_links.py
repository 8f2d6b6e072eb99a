"""Links from our pages to the Temporal UI (R12)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True)
class TemporalLinks:
    """Where the workflows can be looked at; without a base there are no links.

    Args:
        base: URL of the Temporal UI, as an operator's browser reaches it; "" when nobody knows.
        namespace: Of our workflows.
    """

    base: str = ""
    namespace: str = "default"

    def workflow(self, workflow_id: str) -> str:
        """Return the address of a workflow's newest run, "" without a Temporal UI."""
        if not self.base:
            return ""
        return f"{self.base}/namespaces/{quote(self.namespace, safe='')}/workflows/{quote(workflow_id, safe='')}"

    def experience(self, experience_id: str) -> str:
        """Return the address of an experience's or article's lifecycle, or ""."""
        return self.workflow(f"experience/{experience_id}")

    def retrieval(self, request_id: str) -> str:
        """Return the address of a retrieval, or ""."""
        return self.workflow(f"retrieval/{request_id}")

    def erasure(self, erasure_id: str) -> str:
        """Return the address of an erasure, or ""."""
        return self.workflow(f"erasure/{erasure_id}")


NO_LINKS = TemporalLinks()
