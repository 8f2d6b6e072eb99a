"""`contracts.telemetry_ports.Tracing` on OpenTelemetry, and the one exit for everything that is traced.

Whoever makes a span, ours or a library's: at the exit only labels on the list leave, an error is told by its kind
alone, and nothing else that could hold a text of a case (R11).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, Sampler, SamplingResult, TraceIdRatioBased
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer, TraceState, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import Attributes, AttributeValue

from contracts.telemetry_ports import Label, Step

OURS = "caselore."
"""Before the name of each of our labels."""
LABELS = frozenset(
    {
        f"{OURS}{name}"
        for name in (
            *("request_id", "retrieval_id", "principal", "strategy", "strategy_version", "collection", "route"),
            *("query", "state", "role", "kind", "key", "found", "limit", "candidates", "abstained", "events"),
        )
    }
    | {"http.request.method", "http.route", "http.response.status_code", "error.type"}
    # What Temporal's interceptor says: ids and names of our own workflows and activities.
    | {"temporalWorkflowID", "temporalRunID", "temporalActivityID", "temporalActivityType", "temporalUpdateID"}
)
"""The labels that may leave."""
LABEL_CHARACTERS = 200
_KIND = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,99}\Z")
_PROPAGATOR = TraceContextTextMapPropagator()


class OpenTelemetryTracing:
    """Makes spans with a tracer."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def step(
        self, name: str, *, after: Mapping[str, str] | None = None, apart: bool = False, **labels: Label
    ) -> Generator[Step]:
        """See `contracts.telemetry_ports.Tracing.step`."""
        context = Context() if apart or after is not None else None
        if after is not None:
            context = _PROPAGATOR.extract(after, context)
        with self._tracer.start_as_current_span(
            name,
            context,
            SpanKind.INTERNAL if after is None else SpanKind.SERVER,
            {_named(label): value for label, value in labels.items()},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            told = _SpanStep(span)
            try:
                yield told
            except BaseException as error:
                told.fail(type(error).__name__)
                raise


class _SpanStep:
    """`contracts.telemetry_ports.Step` on a span."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def tell(self, **labels: Label) -> None:
        """See `contracts.telemetry_ports.Step.tell`."""
        for label, value in labels.items():
            self._span.set_attribute(_named(label), value)

    def rename(self, name: str) -> None:
        """See `contracts.telemetry_ports.Step.rename`."""
        self._span.update_name(name)

    def fail(self, kind: str) -> None:
        """See `contracts.telemetry_ports.Step.fail`."""
        self._span.set_attribute("error.type", kind)
        self._span.set_status(StatusCode.ERROR)


_HTTP = {
    "http_method": "http.request.method",
    "http_route": "http.route",
    "http_status": "http.response.status_code",
}


def _named(label: str) -> str:
    return _HTTP.get(label, OURS + label)


class NotForEver(Sampler):
    """Leaves out workflows that never end, whose trace would grow for ever, and what nothing asked for.

    Args:
        workflow_ids: The ones to leave out, with all that they do; work in them may begin traces of its own.
        ratio: The part of all other traces that is kept, 0 to 1. A caller's own decision goes before it.
        parts: Names of spans that are told as a part of something only: by themselves they are looks at the clock.
    """

    def __init__(
        self, workflow_ids: Sequence[str], ratio: float = 1.0, *, parts: Sequence[str] = ("record transaction",)
    ) -> None:
        self._left_out = frozenset(workflow_ids)
        self._parts = frozenset(parts)
        self._others = ParentBased(TraceIdRatioBased(ratio))

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """Return whether the span is kept."""
        is_alone = not get_current_span(parent_context).get_span_context().is_valid
        if (attributes and attributes.get("temporalWorkflowID") in self._left_out) or (
            is_alone and name in self._parts
        ):
            return SamplingResult(Decision.DROP)
        return self._others.should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)

    def get_description(self) -> str:
        """Return what this does, in a word."""
        return f"NotForEver({sorted(self._left_out)}, {self._others.get_description()})"


class GuardedExit(SpanExporter):
    """Lets only what is on the list leave, and hands that to another exporter."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export what may leave of each span."""
        return self._exporter.export([guarded(span) for span in spans])

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter."""
        return self._exporter.force_flush(timeout_millis)


def guarded(span: ReadableSpan) -> ReadableSpan:
    """Return what may leave of a span: its name, times and place in the trace, and what `LABELS` lists."""
    labels = _allowed(span.attributes)
    kinds = [kind for event in span.events if (kind := _kind_of(event))]
    if kinds:
        labels.setdefault("error.type", kinds[-1])
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=labels,
        links=[Link(link.context) for link in span.links],
        kind=span.kind,
        status=Status(StatusCode.ERROR if kinds else span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _allowed(attributes: Mapping[str, AttributeValue] | None) -> dict[str, AttributeValue]:
    return {
        name: value[:LABEL_CHARACTERS] if isinstance(value, str) else value
        for name, value in (attributes or {}).items()
        if name in LABELS and isinstance(value, str | int | float | bool)
    }


def _kind_of(event: Event) -> str:
    """Return the kind of a recorded exception, "" of anything else."""
    kind = str((event.attributes or {}).get("exception.type", ""))
    return kind if event.name == "exception" and _KIND.match(kind) else ""
