"""Ports of reconciliation: record and index read page by page, so that no size of either has to fit in memory."""

from __future__ import annotations

from collections.abc import Collection as Group
from collections.abc import Sequence
from typing import Protocol

from contracts.index import IndexChange, Stored
from contracts.labels import Collection
from contracts.projection import ProjectionSource
from contracts.reconcile import ReconcileReport, Recorded


class RecordContents(Protocol):
    """What the indexes should hold, and what is on its way to them."""

    async def keys_after(self, after: str, limit: int) -> list[str]:
        """Return the next keys that the indexes should hold, or that were recorded as projected, in order.

        Args:
            after: The last key of the page before; "" for the first page.
            limit: Keys at most; fewer mean the end.
        """
        ...

    async def known(self, keys: Group[str]) -> set[str]:
        """Return those of `keys` that `keys_after` would give."""
        ...

    async def desired(self, keys: Sequence[str]) -> list[ProjectionSource]:
        """Return the projected state of each key, in order."""
        ...

    async def recorded_of(self, keys: Group[str]) -> dict[str, Recorded]:
        """Return the note of what was projected, of those keys that have one."""
        ...

    async def pending(self, keys: Group[str]) -> set[str]:
        """Return those of `keys` with a change on its way; one that was set aside as dead is not on its way."""
        ...

    async def movement(self) -> tuple[int, int]:
        """Return the head of the outbox and how many changes of indexes are on their way."""
        ...

    async def announce(self, keys: Sequence[str], *, held: bool = False) -> None:
        """Ask for a fresh projection of each key, through the outbox like any other."""
        ...


class IndexContents(Protocol):
    """What the indexes hold. Every method may raise `IndexUnavailable`."""

    async def page(self, collection: Collection, after: str | None, limit: int) -> tuple[list[Stored], str | None]:
        """Return the next points in order of their ids, and where the page after them begins; None at the end."""
        ...

    async def points_of(self, collection: Collection, targets: Group[str]) -> list[Stored]:
        """Return every point of `targets`."""
        ...

    async def apply(self, changes: Sequence[IndexChange]) -> None:
        """Make each change and return when they survive a crash."""
        ...


class ReconcileReports(Protocol):
    """Where reports are kept."""

    async def keep(self, report: ReconcileReport, *, asked_by: str, repaired: bool) -> str:
        """Keep a report and return its id."""
        ...
