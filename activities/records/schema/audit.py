"""The audit chain, and what reconciliations found (R9, R23)."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Computed, Index, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from activities.records.schema.base import id_column, metadata, moment, text_column, uuid_text

SUBJECT_ID = (
    "CASE WHEN subject ~ '^(experience|case)/[0-9a-f-]{36}$' THEN CAST(split_part(subject, '/', 2) AS uuid) END"
)

audit = Table(
    "audit",
    metadata,
    # Taken under the outbox's lock: no gap, and the order in which transactions commit.
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    moment("at"),
    Column("actor_id", Text, comment="NULL: the system by itself"),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("subject_id", uuid_text, Computed(SUBJECT_ID, persisted=True)),
    Column("revision", Integer),
    text_column("digest"),
    Column("cause_id", uuid_text),
    Column("details", JSONB, nullable=False, server_default="{}", comment="Ids and labels only (R11)"),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False, comment="contracts.audit.row_hash"),
    CheckConstraint("jsonb_typeof(details) = 'object'", name="details"),
    Index("ix_audit_subject_seq", "subject", "seq"),
    Index("ix_audit_actor_id_seq", "actor_id", "seq"),
)

reconcile_reports = Table(
    "reconcile_reports",
    metadata,
    id_column(),
    moment("began_at"),
    moment("ended_at", default=True),
    Column("asked_by", Text, nullable=False, comment="schedule, start, or the administrator's id"),
    Column("repaired", Boolean, nullable=False, server_default=text("false")),
    Column("report", JSONB, nullable=False, comment="contracts.reconcile.ReconcileReport: counts and ids only"),
    Index("ix_reconcile_reports_began_at", "began_at"),
)
