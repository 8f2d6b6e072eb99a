"""A stored retrieval request that its asker starts itself, in Temporal (R13)."""

from __future__ import annotations

from contracts.model import Model


class PreparedRetrieval(Model):
    """How to start the workflow that answers a stored request. Its one argument is `request_id`.

    Who asks and what may be seen was settled when the request was stored; starting it adds nothing to that.
    """

    request_id: str
    workflow: str
    """The workflow's type."""
    workflow_id: str
    task_queue: str
