"""The record's standing as Prometheus gauges: what `contracts.gauges.Gauges` says, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from activities.telemetry.measures import OTHER
from contracts.gauges import Gauges, ReviewGauge

DOMAINS = 50
"""Domains that are told apart at most, those with most in them; the others are told as one."""


class RecordGauges(Collector):
    """Shows the last reading of the record; without one, only that there is none.

    Args:
        registry: Where a scraper finds them.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._gauges: Gauges | None = None
        registry.register(self)

    def show(self, gauges: Gauges | None) -> None:
        """Take a reading; None: the record can't be read now, and an old reading would pass for the present."""
        self._gauges = gauges

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Return every family, without values."""
        yield from _Families()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return every family with the reading's values."""
        families = _Families()
        families.readable.add_metric((), int(self._gauges is not None))
        if self._gauges is not None:
            families.fill(self._gauges)
        yield from families


class _Families:
    """The gauges by name."""

    def __init__(self) -> None:
        by_stage, by_topic, by_index = ("domain", "stage"), ("topic",), ("collection",)
        self.readable = GaugeMetricFamily("caselore_record_readable", "Whether the record could be read: 1 or 0")
        self.stages = GaugeMetricFamily(
            "caselore_experiences", "Experiences and articles by domain and stage", labels=by_stage
        )
        self.waiting = GaugeMetricFamily("caselore_reviews_waiting", "Open reviews", labels=by_stage)
        self.overdue = GaugeMetricFamily(
            "caselore_reviews_overdue", "Open reviews whose deadline has passed", labels=by_stage
        )
        self.escalated = GaugeMetricFamily(
            "caselore_reviews_escalated", "Open reviews that were escalated", labels=by_stage
        )
        self.oldest_review = GaugeMetricFamily(
            "caselore_review_oldest_seconds", "How long the oldest open review has waited at its stage", labels=by_stage
        )
        self.pending = GaugeMetricFamily("caselore_outbox_pending", "Undelivered events", labels=by_topic)
        self.dead = GaugeMetricFamily(
            "caselore_outbox_dead", "Events that were set aside for a person", labels=by_topic
        )
        self.oldest_event = GaugeMetricFamily(
            "caselore_outbox_oldest_seconds", "Age of the oldest pending event", labels=by_topic
        )
        self.behind = GaugeMetricFamily(
            "caselore_index_pending", "Events that are not in the index yet", labels=by_index
        )
        self.lag = GaugeMetricFamily(
            "caselore_index_lag_seconds", "Age of the oldest event that is not in the index yet", labels=by_index
        )
        self.position = GaugeMetricFamily(
            "caselore_index_position", "Outbox position up to which everything is in the index", labels=by_index
        )
        self.erasures = GaugeMetricFamily("caselore_erasures", "Erasures by how far they have come", labels=("state",))
        self.audit = GaugeMetricFamily(
            "caselore_audit_position", "Position of the newest row of the audit chain, which only grows"
        )
        self.reconciled = GaugeMetricFamily(
            "caselore_reconcile_age_seconds", "Since the last comparison of record and indexes"
        )
        self.drifting = GaugeMetricFamily(
            "caselore_reconcile_drifting", "Keys that the last comparison found to differ"
        )

    def __iter__(self) -> Iterator[GaugeMetricFamily]:
        yield from vars(self).values()

    def fill(self, gauges: Gauges) -> None:
        """Add a reading's values."""
        name_of = _Named(gauges)
        counts = Counter[tuple[str, str]]()
        for each in gauges.stages:
            counts[name_of(each.domain_id), each.stage.value] += each.count
        for labels, count in counts.items():
            self.stages.add_metric(labels, count)
        self._fill_reviews(gauges.reviews, name_of)
        for topic in gauges.outbox:
            self.pending.add_metric((topic.topic.value,), topic.pending)
            self.dead.add_metric((topic.topic.value,), topic.dead)
            self.oldest_event.add_metric((topic.topic.value,), topic.oldest_seconds)
        for mark in gauges.watermarks:
            self.behind.add_metric((mark.collection.value,), mark.pending)
            self.lag.add_metric((mark.collection.value,), mark.lag_seconds)
            self.position.add_metric((mark.collection.value,), mark.position)
        for state, count in gauges.erasures.items():
            self.erasures.add_metric((state.value,), count)
        self.audit.add_metric((), gauges.audit_position)
        if gauges.reconciled_seconds_ago is not None and gauges.drifting is not None:
            self.reconciled.add_metric((), gauges.reconciled_seconds_ago)
            self.drifting.add_metric((), gauges.drifting)

    def _fill_reviews(self, reviews: tuple[ReviewGauge, ...], name_of: _Named) -> None:
        waiting, overdue, escalated = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        oldest: dict[tuple[str, str], float] = {}
        for each in reviews:
            labels = name_of(each.domain_id), each.stage.value
            waiting[labels] += each.waiting
            overdue[labels] += each.overdue
            escalated[labels] += each.escalated
            oldest[labels] = max(oldest.get(labels, 0.0), each.oldest_seconds)
        for labels, seconds in oldest.items():
            self.waiting.add_metric(labels, waiting[labels])
            self.overdue.add_metric(labels, overdue[labels])
            self.escalated.add_metric(labels, escalated[labels])
            self.oldest_review.add_metric(labels, seconds)


class _Named:
    """Tells the largest domains by name, the others as one."""

    def __init__(self, gauges: Gauges) -> None:
        sizes = Counter[str]()
        for each in gauges.stages:
            sizes[each.domain_id] += each.count
        self._named = {domain for domain, _ in sizes.most_common(DOMAINS)}

    def __call__(self, domain_id: str) -> str:
        return domain_id if domain_id in self._named else OTHER
