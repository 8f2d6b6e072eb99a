"""Timeouts and retries of every activity, in one place."""

from __future__ import annotations

from datetime import timedelta

from temporalio.common import RetryPolicy

RECORD_TIMEOUT = timedelta(seconds=15)
"""For one transaction in Postgres."""
MUST_HAPPEN = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=30))
"""No last attempt: the work is durable and waits for its service. Refusals are not retried by their own type."""

TURN_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=5))
"""A turn of the projector that failed is taken up again soon: everybody waits for it."""
TURN_TIMEOUT = timedelta(minutes=30)
"""For one turn of the projector, which ends by itself earlier."""
TURN_HEARTBEAT = timedelta(seconds=10)
"""A projector that went silent is replaced after this."""

ANSWER_TIMEOUT = timedelta(seconds=45)
"""For one retrieval, a wait for the watermark included."""
ANSWER_ATTEMPTS = RetryPolicy(initial_interval=timedelta(milliseconds=100), maximum_attempts=3)
RETRIEVAL_TIMEOUT = timedelta(minutes=2)
"""For the whole retrieval workflow."""
