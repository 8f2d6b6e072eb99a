"""Log lines: one JSON object each, joined to requests and traces, without the words of errors (R11)."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import format_trace_id

from deploy import logs

SECRET = "Frau Sommer's printer"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Standard error, with our logs going there."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers.clear()
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    logs.configure(logging.INFO)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)
    structlog.reset_defaults()


def lines(written: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_a_line_within_a_step_bears_the_ids_of_request_and_trace(written: io.StringIO) -> None:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("test")
    with structlog.contextvars.bound_contextvars(request_id="r-1"), tracer.start_as_current_span("step") as span:
        structlog.get_logger().info("request", status=200)
        trace_id = format_trace_id(span.get_span_context().trace_id)
    structlog.get_logger().info("outside")
    inside, outside = lines(written)
    assert (inside["event"], inside["status"], inside["request_id"]) == ("request", 200, "r-1")
    assert inside["trace_id"] == trace_id
    assert not {"trace_id", "span_id", "request_id"} & outside.keys()


def test_r11_a_library_s_warning_is_json_too_and_tells_an_error_by_its_kind(written: io.StringIO) -> None:
    library = logging.getLogger("temporalio.activity")
    library.warning("Completing activity as failed", exc_info=ValueError(SECRET))
    library.info("HTTP Request: GET /cases?words=%s", SECRET)
    (line,) = lines(written)
    assert (line["event"], line["error"], line["logger"]) == (
        "Completing activity as failed",
        "ValueError",
        "temporalio.activity",
    )
    assert SECRET not in json.dumps(line)
