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

ERASURE_TIMEOUT = timedelta(hours=2)
"""For one step of an erasure: it may read all that a tenant has, or write an index anew."""
ERASURE_HEARTBEAT = timedelta(seconds=30)
ERASURE_ATTEMPTS = RetryPolicy(
    initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=30), maximum_attempts=100
)
"""Most of an hour; then a person is told, who can ask again."""

ANSWER_TIMEOUT = timedelta(seconds=45)
"""For one retrieval, a wait for the watermark included."""
ANSWER_ATTEMPTS = RetryPolicy(initial_interval=timedelta(milliseconds=100), maximum_attempts=3)
RETRIEVAL_TIMEOUT = timedelta(minutes=2)
"""For the whole retrieval workflow."""

RECONCILE_TIMEOUT = timedelta(hours=2)
"""For one walk through record and indexes; a silent one is taken up again after its heartbeat."""
RECONCILE_ATTEMPTS = RetryPolicy(initial_interval=timedelta(seconds=5), maximum_attempts=5)
RECONCILE_RUN_TIMEOUT = timedelta(hours=6)
"""For the whole workflow; the next run of its schedule begins anew."""
