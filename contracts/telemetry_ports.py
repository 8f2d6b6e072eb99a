"""Ports: what activities and the API tell operators of their work (R12, R15, R23). Ids, labels and numbers only.

No method takes a text of a case: what it is given goes to systems that no erasure reaches (R11).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from contracts.labels import Collection
from contracts.retrieval import RouteState
from contracts.strategy import Route

Label = str | int | float | bool


class Step(Protocol):
    """One step of a trace, while it lasts."""

    def tell(self, **labels: Label) -> None:
        """Add what became known meanwhile: ids, counts, words of the vocabulary."""
        ...

    def rename(self, name: str) -> None:
        """Give the step the name that it could not have at its start."""
        ...

    def fail(self, kind: str) -> None:
        """Say that the step failed, and with what kind of error."""
        ...


class Tracing(Protocol):
    """Follows a request through the parts that serve it."""

    def step(
        self, name: str, *, after: Mapping[str, str] | None = None, apart: bool = False, **labels: Label
    ) -> AbstractContextManager[Step]:
        """Open a step within the one that is open; an error that leaves it is told by its kind and passes.

        Args:
            name: One of few: what varies is a label.
            after: Headers of a request from outside, which may name the caller's own trace (W3C traceparent).
            apart: Begin a trace of its own, for work that no single request asked for.
            labels: What is known at the start.
        """
        ...


class Measures(Protocol):
    """Counts and times. A label's values come from a short list, never from a caller, and none names a tenant."""

    def request_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an HTTP request; `route` is its template."""
        ...

    def retrieval_answered(self, strategy: str, *, abstained: bool, seconds: float) -> None:
        """Count a retrieval that was answered anew."""
        ...

    def route_ended(
        self, strategy: str, collection: Collection, route: Route, state: RouteState, seconds: float
    ) -> None:
        """Count a route of a retrieval."""
        ...

    def index_asked(self, collection: Collection, query: str, seconds: float) -> None:
        """Count a query of the search index; `query` is `dense` or `lexical`."""
        ...

    def batch_projected(self, events: int, seconds: float) -> None:
        """Count a batch of events that the projector has dealt with."""
        ...

    def projection_failed(self, events: int, *, dead: bool) -> None:
        """Count events that could not be projected: given back, or set aside for a person."""
        ...
