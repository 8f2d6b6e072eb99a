"""Sizes, counts and times that the engine enforces, whatever route a request came by (R22)."""

from __future__ import annotations

from datetime import timedelta

LINE = 300
"""Characters of a title, a name or a label."""
PARAGRAPH = 4_000
"""Characters of a knowledge unit, a synopsis or a comment."""
BODY = 200_000
"""Characters of an arrival's body or a paper's text."""
DELIVERED_BODY = 8_000_000
"""Characters of a body as it is delivered; what is over `BODY` is kept by reference."""
IDENTIFIER = 200
"""Characters of a source, a delivery id, a tenant or a domain."""
EXTERNAL_ID = 1_000
"""Characters of a request's id in its source: message ids and paths are long."""

UNITS_PER_REVISION = 20
LABELS_PER_FIELD = 30
"""Symptom tags, concepts, products and the like."""
SPANS_PER_UNIT = 20

ARTICLE_BODY = 60_000
"""Characters of an article's text."""
ARTICLE_SECTION = 1_200
"""Characters of a part of an article that is found by itself."""
ARTICLE_SOURCES = 30
ARTICLE_REFERENCES = 30

SANITISED_PAPERS = 50
"""Newest papers of a case that are masked with it in one answer."""

RESULTS = 50
"""Candidates of one answer at most."""
RESULTS_DEFAULT = 10
TOKENS_DEFAULT = 4_000
TOKENS = 32_000
CITATIONS = 50

BROADENINGS = 5
"""Retrievals that broaden one another in a row (R18)."""
BROADENED_DOMAINS = 20
CONSULTATIONS = 10
"""Consultations that one retrieval asks for (R18)."""
FEEDBACKS = 50
"""Times that feedback is given on one decision."""
FEEDBACK_TENANTS = 3
"""Tenants that have to have said something before counts of all of them are shown (R21)."""

COMMENTS = 100
"""Remarks on fields in one decision."""
DISMISSALS = 200
"""Findings that one decision dismisses."""

REVIEW_CLAIM = timedelta(hours=2)
"""How long a claimed review is one person's to work on; claiming again renews it."""

SEEN_COMMANDS = 100
"""Command ids that a lifecycle carries over continue-as-new."""

REVIEW_DEADLINE = timedelta(days=5)
"""From entering a review stage to the reminder (R7)."""
ESCALATION_AFTER = timedelta(days=3)
"""From the reminder to the escalation (R7)."""

DELEGATION = timedelta(days=90)
"""The longest time that a review role is lent for (R7)."""

NARROWED_TENANTS = 50
"""Tenants that an API key may be narrowed to."""
SESSION_IDLE = timedelta(hours=1)
"""A session of the pages ends when nothing is asked for this long."""
SESSION = timedelta(hours=12)
"""The longest life of a session, however busy."""
SESSIONS = 20
"""Open sessions of one principal; a further sign-in ends the oldest."""

ESTIMATE_HOURS = 0.01
"""The least estimate in hours that isn't none; what it took is told as a multiple of it (R19)."""

ERASURE_VALUES = 20
"""Values that name one subject (R11)."""
ERASURE_FIELDS = 500
"""Fields that an erasure may change without saying how many were expected."""

OUTBOX_BATCH = 64
PROJECTION_BATCH = 16
"""Index events of one batch: small, since none of them is searchable before all are embedded."""
OUTBOX_LEASE = timedelta(seconds=30)
OUTBOX_ATTEMPTS = 20
"""Failed deliveries before an event is set aside for a person (dead letter)."""
WATERMARK_WAIT = timedelta(seconds=30)
"""The longest wait that a caller may ask for (R23)."""
