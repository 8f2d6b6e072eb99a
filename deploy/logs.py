"""Structured logs to standard error: ids and labels, never case text."""

from __future__ import annotations

import logging
import sys

import structlog


def configure(level: int = logging.WARNING) -> None:
    """Send our log lines, and those of libraries from `level` on, to standard error."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
