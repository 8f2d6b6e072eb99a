"""Spans: connected as told, and only what is on the list leaves (R11, R12)."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id

from activities.telemetry.tracing import LABEL_CHARACTERS, GuardedExit, NotForEver, OpenTelemetryTracing
from workflows.outbox_projector import PROJECTOR_ID

SECRET = "Frau Sommer's printer"


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(spans: InMemorySpanExporter) -> TracerProvider:
    provider = TracerProvider(sampler=NotForEver([PROJECTOR_ID]), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(GuardedExit(spans)))
    return provider


@pytest.fixture
def tracing(provider: TracerProvider) -> OpenTelemetryTracing:
    return OpenTelemetryTracing(provider.get_tracer("test"))


def test_steps_are_one_trace_and_what_is_told_is_kept(
    spans: InMemorySpanExporter, tracing: OpenTelemetryTracing
) -> None:
    with tracing.step("GET", after={}, http_method="GET") as request:
        with tracing.step("read route", route="lexical") as step:
            step.tell(found=3)
        request.rename("GET /v1/cases")
        request.tell(http_status=200)
    inner, outer = spans.get_finished_spans()
    assert (outer.name, outer.kind, inner.kind) == ("GET /v1/cases", SpanKind.SERVER, SpanKind.INTERNAL)
    assert inner.parent == outer.get_span_context()
    assert dict(inner.attributes or {}) == {"caselore.route": "lexical", "caselore.found": 3}
    assert dict(outer.attributes or {}) == {"http.request.method": "GET", "http.response.status_code": 200}


def test_a_caller_s_own_trace_is_gone_on_with(spans: InMemorySpanExporter, tracing: OpenTelemetryTracing) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    with tracing.step("GET", after={"traceparent": f"00-{trace}-b7ad6b7169203331-01"}):
        pass
    with tracing.step("GET", after={"traceparent": "not a trace"}):
        pass
    ours, own = spans.get_finished_spans()
    assert ours.context is not None
    assert format_trace_id(ours.context.trace_id) == trace
    assert own.parent is None


def test_a_request_is_no_part_of_the_trace_around_it(
    spans: InMemorySpanExporter, tracing: OpenTelemetryTracing
) -> None:
    with tracing.step("outer"):
        with tracing.step("GET", after={}):
            pass
        with tracing.step("project batch", apart=True):
            pass
    request, apart, _ = spans.get_finished_spans()
    assert request.parent is None
    assert apart.parent is None


def test_r11_an_error_is_told_by_its_kind_alone(spans: InMemorySpanExporter, tracing: OpenTelemetryTracing) -> None:
    with pytest.raises(ValueError, match=SECRET), tracing.step("read route"):
        raise ValueError(SECRET)
    (span,) = spans.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert dict(span.attributes or {}) == {"error.type": "ValueError"}
    assert SECRET not in span.to_json()


def test_r11_nothing_else_leaves_whoever_made_the_span(spans: InMemorySpanExporter, provider: TracerProvider) -> None:
    tracer = provider.get_tracer("a library")
    with pytest.raises(ValueError, match=SECRET), tracer.start_as_current_span("call") as span:
        span.set_attribute("db.statement", SECRET)
        span.set_attribute("caselore.query", "x" * 10_000)
        span.add_event(SECRET, {"text": SECRET})
        raise ValueError(SECRET)
    (left,) = spans.get_finished_spans()
    assert SECRET not in left.to_json()
    assert dict(left.attributes or {}) == {"caselore.query": "x" * LABEL_CHARACTERS, "error.type": "ValueError"}
    assert left.status.status_code is StatusCode.ERROR
    assert left.status.description is None


def test_a_workflow_that_never_ends_has_no_trace_but_its_batches_have(
    spans: InMemorySpanExporter, provider: TracerProvider, tracing: OpenTelemetryTracing
) -> None:
    tracer = provider.get_tracer("temporal")
    with (
        tracer.start_as_current_span("RunActivity", attributes={"temporalWorkflowID": PROJECTOR_ID}),
        tracing.step("record transaction"),
        tracing.step("project batch", apart=True),
        tracing.step("record transaction"),
    ):
        pass
    assert [span.name for span in spans.get_finished_spans()] == ["record transaction", "project batch"]


def test_a_transaction_that_nothing_asked_for_has_no_trace(
    spans: InMemorySpanExporter, tracing: OpenTelemetryTracing
) -> None:
    with tracing.step("record transaction"):
        pass
    assert spans.get_finished_spans() == ()
