"""The outbox, what the indexes hold, and how far they have come (R8, R9, R15)."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Computed, Index, Integer, Sequence, Table, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB

from activities.records.schema.base import id_column, label, metadata, moment, text_column, uuid_text
from contracts.labels import Collection
from contracts.outbox import EventKind, Topic

outbox_position = Sequence("outbox_position", metadata=metadata)

outbox = Table(
    "outbox",
    metadata,
    # Set by a trigger under an advisory lock, so that positions commit in their own order.
    Column("position", BigInteger, primary_key=True, autoincrement=False, server_default=text("0")),
    id_column("event_id", primary_key=False),
    *label("topic", Topic),
    *label("kind", EventKind),
    Column("key", Text, nullable=False),
    Column("source", Text, Computed("split_part(key, '/', 1)", persisted=True)),
    Column("payload", JSONB, nullable=False, comment="Ids and labels only (R11)"),
    moment("created_at", default=True),
    moment("available_at", default=True),
    Column("attempts", Integer, nullable=False, server_default="0", comment="Leases so far; fences late holders"),
    Column("failures", Integer, nullable=False, server_default="0", comment="Of the event, not of a service"),
    moment("claimed_until", nullable=True),
    moment("delivered_at", nullable=True),
    text_column("outcome"),
    moment("dead_at", nullable=True),
    UniqueConstraint("event_id"),
    Index("ix_outbox_pending", "topic", "position", postgresql_where=text("delivered_at IS NULL")),
    Index("ix_outbox_pending_key", "key", "topic", "position", postgresql_where=text("delivered_at IS NULL")),
)

projections = Table(
    "projections",
    metadata,
    Column("key", Text, primary_key=True),
    Column("target_id", uuid_text, Computed("CAST(split_part(key, '/', 2) AS uuid)", persisted=True)),
    Column("revision", Integer, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("points", Integer, nullable=False),
    moment("projected_at", default=True),
    Index("ix_projections_target_id", "target_id"),
)

watermarks = Table(
    "watermarks",
    metadata,
    Column("collection", Text, primary_key=True),
    label("collection", Collection)[1],
    Column("position", BigInteger, nullable=False),
    moment("moved_at", default=True),
)
