"""Where measures and traces of a process go: to whoever scrapes, and to a collector that the settings name."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from importlib.metadata import version
from time import monotonic

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from prometheus_client import (
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import CollectorRegistry
from temporalio.client import Interceptor
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from activities.failures import failure_fields
from activities.observation import Telemetry
from activities.records.gauges import GaugesTable
from activities.telemetry.measures import PrometheusMeasures
from activities.telemetry.record_gauges import RecordGauges
from activities.telemetry.tracing import GuardedExit, NotForEver, OpenTelemetryTracing
from deploy.embedded.ports import ensure_port_free
from deploy.settings import Settings
from workflows.outbox_projector import PROJECTOR_ID

NAME = "caselore"
REMEMBERED_SECONDS = 10.0
"""How long a reading of the record is shown again: scrapers can't load the database, however many there are."""
READ_SECONDS = 8.0
"""How long a reading may take; Prometheus itself waits for 10."""

_log = structlog.get_logger()


class Metrics:
    """What a process shows to scrapers: counts and times of its own, and how the record stands.

    Args:
        gauges: Reads the record.
        registry: With the measures of this process.
        shown: The record's gauges in that registry.
    """

    def __init__(self, gauges: GaugesTable, registry: CollectorRegistry, shown: RecordGauges) -> None:
        self._gauges = gauges
        self._registry = registry
        self._shown = shown
        self._turn = asyncio.Lock()
        self._good_until = 0.0

    async def __call__(self) -> bytes:
        """Return everything in Prometheus' text format; a record that can't be read is told as a gauge."""
        async with self._turn:
            if monotonic() >= self._good_until:
                await self._read()
                self._good_until = monotonic() + REMEMBERED_SECONDS
        return await asyncio.to_thread(generate_latest, self._registry)

    async def _read(self) -> None:
        try:
            async with asyncio.timeout(READ_SECONDS):
                self._shown.show(await self._gauges.read())
        except Exception as error:
            _log.warning("gauges_unreadable", **failure_fields(error))
            self._shown.show(None)


@dataclass(frozen=True)
class Observability:
    """The telemetry of one process."""

    telemetry: Telemetry
    registry: CollectorRegistry
    record: RecordGauges
    interceptors: tuple[Interceptor, ...] = ()
    """For the Temporal client; workers take them over from it."""
    provider: TracerProvider | None = None
    temporal: Runtime | None = None
    """Shows what Temporal's own SDK measures."""

    def metrics(self, gauges: GaugesTable) -> Metrics:
        """Return what scrapers read."""
        return Metrics(gauges, self.registry, self.record)

    async def close(self) -> None:
        """Send what is still to be sent."""
        if self.provider is not None:
            await asyncio.to_thread(self.provider.shutdown)


def observability(settings: Settings, *, spans: SpanProcessor | None = None) -> Observability:
    """Return the telemetry that the settings ask for.

    Args:
        settings: What the process was told.
        spans: Takes finished spans in place of the collector.

    Raises:
        RuntimeUnavailable: The port for Temporal's own metrics is taken.
    """
    disable_created_metrics()  # twice as many series, and no scraper asks for them
    registry = CollectorRegistry()
    for collector in (ProcessCollector, PlatformCollector, GCCollector):
        collector(registry=registry)
    measures, record = PrometheusMeasures(registry), RecordGauges(registry)
    temporal = _temporal_metrics(settings)
    if spans is None and settings.otlp_endpoint is not None:
        exporter = OTLPSpanExporter(f"{settings.otlp_endpoint}/v1/traces")
        spans = BatchSpanProcessor(GuardedExit(exporter))
    if spans is None:
        return Observability(Telemetry(measures=measures), registry, record, temporal=temporal)
    provider = TracerProvider(
        resource=Resource.create(
            {"service.name": NAME, "service.version": version(NAME), "service.instance.id": str(os.getpid())}
        ),
        sampler=NotForEver([PROJECTOR_ID], settings.trace_ratio),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(spans)
    tracer = provider.get_tracer(NAME, version(NAME))
    return Observability(
        Telemetry(OpenTelemetryTracing(tracer), measures),
        registry,
        record,
        interceptors=(TracingInterceptor(tracer),),
        provider=provider,
        temporal=temporal,
    )


def _temporal_metrics(settings: Settings) -> Runtime | None:
    if settings.temporal_metrics_port is None:
        return None
    ensure_port_free(
        settings.metrics_host,
        settings.temporal_metrics_port,
        setting="CASELORE_TEMPORAL_METRICS_PORT",
        host_setting="CASELORE_METRICS_HOST",
    )
    address = f"{settings.metrics_host}:{settings.temporal_metrics_port}"
    return Runtime(
        telemetry=TelemetryConfig(
            metrics=PrometheusConfig(
                bind_address=address, counters_total_suffix=True, unit_suffix=True, durations_as_seconds=True
            ),
        )
    )
