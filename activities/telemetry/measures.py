"""`contracts.telemetry_ports.Measures` as Prometheus counters and histograms."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from contracts.labels import Collection
from contracts.retrieval import RouteState
from contracts.strategy import Route

VALUES = 100
"""Different values that one label takes at most; what comes later is counted together."""
OTHER = "_other"
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 15.0)
_SHORT = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.5)


class FewValues:
    """Keeps a label's values few, whatever comes: the first ones stay, all others are told as one."""

    def __init__(self, most: int = VALUES) -> None:
        self._most = most
        self._known: set[str] = set()

    def of(self, value: str) -> str:
        """Return the value, or `OTHER` when there are enough of them."""
        if value not in self._known:
            if len(self._known) >= self._most:
                return OTHER
            self._known.add(value)
        return value


class PrometheusMeasures:
    """Counts and times since the process started.

    Args:
        registry: Where a scraper finds them.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._routes, self._strategies = FewValues(2 * VALUES), FewValues()
        self._requests = Histogram(
            "caselore_http_request_seconds",
            "From the arrival of an HTTP request to the end of its answer",
            ("method", "route", "status"),
            registry=registry,
            buckets=_SECONDS,
        )
        self._retrievals = Histogram(
            "caselore_retrieval_seconds",
            "From the start of a retrieval's activity to its stored answer",
            ("strategy",),
            registry=registry,
            buckets=_SECONDS,
        )
        self._abstentions = Counter(
            "caselore_retrieval_abstentions",
            "Retrievals that answered that nothing applies",
            ("strategy",),
            registry=registry,
        )
        self._route_seconds = Histogram(
            "caselore_route_seconds",
            "Of a retrieval's route, from its start to its end or time limit",
            ("strategy", "collection", "route"),
            registry=registry,
            buckets=_SHORT,
        )
        self._route_ends = Counter(
            "caselore_routes",
            "Routes of retrievals by how they ended: ok, failed, skipped",
            ("strategy", "collection", "route", "state"),
            registry=registry,
        )
        self._index_seconds = Histogram(
            "caselore_index_query_seconds",
            "Of one query of a search index",
            ("collection", "query"),
            registry=registry,
            buckets=_SHORT,
        )
        self._batches = Histogram(
            "caselore_projection_batch_seconds",
            "Of one batch of the projector, from claim to moved watermark",
            registry=registry,
            buckets=_SECONDS,
        )
        self._projected = Counter(
            "caselore_projection_events", "Events that the projector has dealt with", registry=registry
        )
        self._failures = Counter(
            "caselore_projection_failures",
            "Events that could not be projected: postponed, or dead for a person to look at",
            ("end",),
            registry=registry,
        )
        for end in ("postponed", "dead"):
            self._failures.labels(end)  # shown as 0 before the first one: a rate needs a start

    def request_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """See `contracts.telemetry_ports.Measures.request_answered`."""
        self._requests.labels(method, self._routes.of(route), str(status)).observe(seconds)

    def retrieval_answered(self, strategy: str, *, abstained: bool, seconds: float) -> None:
        """See `contracts.telemetry_ports.Measures.retrieval_answered`."""
        strategy = self._strategies.of(strategy)
        self._retrievals.labels(strategy).observe(seconds)
        self._abstentions.labels(strategy).inc(int(abstained))

    def route_ended(
        self, strategy: str, collection: Collection, route: Route, state: RouteState, seconds: float
    ) -> None:
        """See `contracts.telemetry_ports.Measures.route_ended`."""
        strategy = self._strategies.of(strategy)
        self._route_ends.labels(strategy, collection.value, route.value, state.value).inc()
        if state is not RouteState.SKIPPED:
            self._route_seconds.labels(strategy, collection.value, route.value).observe(seconds)
            self._route_ends.labels(strategy, collection.value, route.value, RouteState.FAILED.value).inc(0)

    def index_asked(self, collection: Collection, query: str, seconds: float) -> None:
        """See `contracts.telemetry_ports.Measures.index_asked`."""
        self._index_seconds.labels(collection.value, query).observe(seconds)

    def batch_projected(self, events: int, seconds: float) -> None:
        """See `contracts.telemetry_ports.Measures.batch_projected`."""
        self._projected.inc(events)
        self._batches.observe(seconds)

    def projection_failed(self, events: int, *, dead: bool) -> None:
        """See `contracts.telemetry_ports.Measures.projection_failed`."""
        self._failures.labels("dead" if dead else "postponed").inc(events)
