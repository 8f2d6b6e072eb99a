"""Structured logs to standard error, one JSON object a line: ids and labels, never case text."""

from __future__ import annotations

import logging
import sys

import structlog
from opentelemetry import trace
from structlog.typing import EventDict, Processor, WrappedLogger


def configure(level: int = logging.WARNING) -> None:
    """Send our log lines from `level` on, and the warnings of libraries, to standard error.

    Libraries are never asked for more: at lower levels they tell addresses with their queries.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        with_trace,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name, kind_of_error],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[handler])


def with_trace(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Add the ids of the trace and span that the line belongs to, if there is one."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)
    return event


def kind_of_error(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Put an exception's kind in place of its words and its trace: they can hold the texts of a case."""
    given = event.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()
    kind = given[0] if isinstance(given, tuple) else type(given) if isinstance(given, BaseException) else None
    if isinstance(kind, type):
        event["error"] = kind.__name__
    return event
