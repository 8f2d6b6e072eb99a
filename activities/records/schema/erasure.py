"""Erasures, and what they left of the things that others cite (R11)."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, Integer, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

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
from contracts.erasure import ErasureState

erasures = Table(
    "erasures",
    metadata,
    id_column(),
    key_reference("tenant_id", "tenants.id"),
    Column("case_id", uuid_text, nullable=True, comment="Of a case; the others are of a subject"),
    Column("subject", JSONB(none_as_null=True), nullable=True, comment="What to find; NULL as soon as it is done"),
    Column("subject_values", Integer, nullable=False, server_default="0", comment="How many named the subject"),
    Column("keep_published", Boolean, nullable=False, server_default=text("false")),
    text_column("reason"),
    key_reference("requested_by", "principals.id"),
    moment("requested_at", default=True),
    *label("state", ErasureState),
    Column("attempts", Integer, nullable=False, server_default="1", comment="How often it was asked for"),
    text_column("why"),
    Column("stores", JSONB, nullable=False, server_default="[]", comment="contracts.erasure.StoreReport"),
    moment("finished_at", nullable=True),
    CheckConstraint("state <> 'done' OR subject IS NULL", name="nothing_left"),
    CheckConstraint("(state = 'running') = (finished_at IS NULL)", name="finished"),
)

tombstones = Table(
    "tombstones",
    metadata,
    reference("erasure_id", "erasures.id"),
    Column("ref", Text, nullable=False, comment="case/<id>, experience/<id> or experience/<id>/<revision>"),
    PrimaryKeyConstraint("ref", "erasure_id"),
    text_column("digest", comment="Of the text that was there"),
    moment("erased_at", default=True),
)
