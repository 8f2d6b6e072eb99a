"""People's identities at issuers, and the sessions of the pages; API keys are in `registry`."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Index, Table, Text, UniqueConstraint

from activities.records.schema.base import id_column, key_reference, metadata, moment

principal_identities = Table(
    "principal_identities",
    metadata,
    Column("key", Text, primary_key=True, comment="SHA-256 of issuer and subject: both may be too long to be indexed"),
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    key_reference("principal_id", "principals.id"),
    moment("linked_at", default=True),
    key_reference("linked_by", "principals.id", nullable=True),
    Index("ix_principal_identities_principal_id", "principal_id"),
)

sessions = Table(
    "sessions",
    metadata,
    id_column(),
    Column("hash", Text, nullable=False, comment="SHA-256 of the cookie's token; the token itself is never stored"),
    key_reference("principal_id", "principals.id"),
    Column("key_hash", Text, nullable=True, comment="The API key that it was opened with: it ends with the key"),
    Column("identity_key", Text, nullable=True, comment="The identity that it was opened with: it ends with the link"),
    moment("began_at", default=True),
    moment("seen_at", default=True),
    moment("expires_at"),
    moment("ended_at", nullable=True),
    UniqueConstraint("hash"),
    ForeignKeyConstraint(["key_hash"], ["api_keys.hash"]),
    CheckConstraint("num_nonnulls(key_hash, identity_key) = 1", name="opened_with"),
    Index("ix_sessions_principal_id", "principal_id"),
)
