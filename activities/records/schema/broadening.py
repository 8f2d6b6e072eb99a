"""Broadened retrievals, consultations of other domains with their replies, and feedback on cited candidates.

A consultation is two rows, so that row-level security keeps them apart: what the asking side knows, and the brief
that is all the consulted domain is told (R18, R21).
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Index, Integer, PrimaryKeyConstraint, Table, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from activities.records.schema.base import (
    id_column,
    key_reference,
    label,
    metadata,
    moment,
    reference,
    text_column,
    uuid_text,
)
from contracts import limits
from contracts.feedback import Usefulness

broadenings = Table(
    "broadenings",
    metadata,
    Column("request_id", uuid_text, nullable=False),
    PrimaryKeyConstraint("request_id"),
    reference("broadened_from", "retrieval_requests.id", index=True),
    Column("depth", Integer, nullable=False, comment="How many retrievals came before it"),
    text_column("reason"),
    Column("widened", JSONB, nullable=False, comment="contracts.widening.Widening: labels only"),
    Column("domains", ARRAY(Text), comment="Read where the strategy reads its own only; NULL: own, empty: every one"),
    key_reference("asked_by", "principals.id"),
    moment("asked_at", default=True),
    ForeignKeyConstraint(["request_id"], ["retrieval_requests.id"]),
    CheckConstraint("request_id <> broadened_from", name="not_itself"),
    CheckConstraint(f"depth BETWEEN 1 AND {limits.BROADENINGS}", name="depth"),
)

consultations = Table(
    "consultations",
    metadata,
    id_column(),
    reference("request_id", "retrieval_requests.id", index=True),
    text_column("reason"),
    Column("digest", Text, nullable=False),
    key_reference("asked_by", "principals.id"),
    moment("asked_at", default=True),
)

consultation_briefs = Table(
    "consultation_briefs",
    metadata,
    reference("consultation_id", "consultations.id"),
    PrimaryKeyConstraint("consultation_id"),
    key_reference("domain_id", "domains.id"),
    text_column("brief"),
    moment("asked_at", default=True),
    Index("ix_consultation_briefs_domain_id", "domain_id", "asked_at"),
)

consulted_retrievals = Table(
    "consulted_retrievals",
    metadata,
    Column("request_id", uuid_text, nullable=False),
    PrimaryKeyConstraint("request_id"),
    reference("consultation_id", "consultation_briefs.consultation_id", index=True),
    ForeignKeyConstraint(["request_id"], ["retrieval_requests.id"]),
    Index("uq_consulted_retrievals_consultation", "request_id", "consultation_id", unique=True),
)

consultation_replies = Table(
    "consultation_replies",
    metadata,
    reference("consultation_id", "consultation_briefs.consultation_id"),
    PrimaryKeyConstraint("consultation_id"),
    Column("reply_id", uuid_text, nullable=False, unique=True),
    Column("request_id", uuid_text, comment="The replier's own retrieval for the consultation"),
    text_column("text"),
    Column("digest", Text, nullable=False),
    Column("paper_id", uuid_text, nullable=False, comment="In the asker's case, when it has one"),
    key_reference("replied_by", "principals.id"),
    Column("replied_as", Text, nullable=False, comment="owner, curator or the profile"),
    moment("replied_at", default=True),
    ForeignKeyConstraint(
        ["request_id", "consultation_id"],
        ["consulted_retrievals.request_id", "consulted_retrievals.consultation_id"],
    ),
)

consultation_withdrawals = Table(
    "consultation_withdrawals",
    metadata,
    reference("consultation_id", "consultation_briefs.consultation_id"),
    PrimaryKeyConstraint("consultation_id"),
    moment("withdrawn_at", default=True),
)

consultation_citations = Table(
    "consultation_citations",
    metadata,
    reference("consultation_id", "consultation_replies.consultation_id"),
    Column("request_id", uuid_text, nullable=False),
    Column("ref", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    PrimaryKeyConstraint("consultation_id", "ref", "revision"),
    text_column("why"),
    # What crosses to the asker are published texts: no case is named to who can't see it (R21).
    CheckConstraint("ref ~ '^(experience|article)/'", name="published"),
    ForeignKeyConstraint(
        ["request_id", "ref", "revision"],
        ["retrieval_candidates.request_id", "retrieval_candidates.ref", "retrieval_candidates.revision"],
    ),
    Index("ix_consultation_citations_ref", "ref"),
)

feedbacks = Table(
    "feedbacks",
    metadata,
    id_column(),
    reference("decision_id", "memory_uses.decision_id"),
    Column("number", Integer, nullable=False, comment="From 1, in the order of the decision's feedback"),
    reference("replaces", "feedbacks.id", nullable=True),
    Column("digest", Text, nullable=False),
    key_reference("given_by", "principals.id"),
    moment("given_at", default=True),
    CheckConstraint("(number = 1) = (replaces IS NULL)", name="replaces"),
    Index("uq_feedbacks_decision_id_number", "decision_id", "number", unique=True),
)

feedback_outcomes = Table(
    "feedback_outcomes",
    metadata,
    reference("feedback_id", "feedbacks.id"),
    Column("decision_id", uuid_text, nullable=False),
    Column("ref", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    PrimaryKeyConstraint("feedback_id", "ref", "revision"),
    Column("number", Integer, nullable=False, comment="Of the feedback; the highest counts"),
    *label("usefulness", Usefulness),
    text_column("note"),
    # Copied from the retrieval by the database, so that counting needs no look at every retrieval.
    Column("of_tenant", Text, comment="NULL: of no tenant"),
    Column("of_case", uuid_text),
    key_reference("asked_by", "principals.id"),
    Column("of_request", uuid_text, nullable=False),
    moment("said_at"),
    # Only what the decision cites can be said to have helped or misled (R20).
    ForeignKeyConstraint(
        ["decision_id", "ref", "revision"],
        ["retrieval_verdicts.decision_id", "retrieval_verdicts.ref", "retrieval_verdicts.revision"],
    ),
    Index("ix_feedback_outcomes_ref", "ref", "revision"),
    Index("uq_feedback_outcomes_number", "decision_id", "ref", "revision", "number", unique=True),
)

feedback_totals = Table(
    "feedback_totals",
    metadata,
    Column("ref", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    PrimaryKeyConstraint("ref", "revision"),
    *(Column(word.value, Integer, nullable=False) for word in Usefulness),
    Column(
        "tenants",
        Integer,
        nullable=False,
        comment="How many tenants, askers and people said something, the least of them: shown from some on (R21)",
    ),
)
