"""Ports of erasure (R11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.erased_text import Eraser
from contracts.erasure import StoreReport


@dataclass(frozen=True, slots=True)
class ErasureWork:
    """What other stores are looked through for."""

    tenant_id: str
    is_of_case: bool
    eraser: Eraser
    """Finds what the subject is named by, or words of the case."""
    gone: frozenset[str]
    """`case/<id>` and `experience/<id>` that no index may hold any more."""


class ErasureRecords(Protocol):
    """The record as an erasure sees it. Every call may be repeated; those about an erasure that ended do nothing."""

    async def remove(self, erasure_id: str) -> int:
        """Remove what is to be erased from the record; return how many fields that were.

        Experiences that leave retrieval do so in the same transaction; their lifecycles and the index are told by
        outbox events of it.
        """
        ...

    async def work(self, erasure_id: str) -> ErasureWork:
        """Return what to look for in other stores; when the erasure has ended, nothing."""
        ...

    async def pending(self, erasure_id: str) -> int:
        """Return how many index events of what lost text are not projected yet."""
        ...

    async def workflows(self, erasure_id: str, limit: int) -> tuple[list[str], int]:
        """Return ids of the workflows that may have dealt with it, the likeliest first, and how many there are."""
        ...

    async def left(self, erasure_id: str) -> StoreReport:
        """Return what is in the record now that should not be."""
        ...

    async def vacuum(self, erasure_id: str) -> StoreReport:
        """Have the database let go of dead rows, as far as it may be asked to."""
        ...

    async def report(self, erasure_id: str, *reports: StoreReport) -> None:
        """Put what was done in a store into the receipt, in place of an earlier report of that store."""
        ...

    async def finish(self, erasure_id: str, why: str) -> None:
        """End the erasure: done, and the subject's values go; or, with a reason, for a person to look at."""
        ...


class WorkflowHistories(Protocol):
    """What Temporal keeps of workflows."""

    async def holding(self, workflow_ids: Sequence[str], eraser: Eraser) -> tuple[int, list[str]]:
        """Return how many runs were looked through, and the workflows with a run that holds a value.

        Histories with all payloads, search attributes, memo, summaries and details.

        Raises:
            DeliveryPending: Temporal can't be reached.
        """
        ...
