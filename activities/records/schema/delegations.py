"""Review roles that their holders lend to somebody, until a time (R7)."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Index, Table, Text

from activities.records.schema.base import id_column, key_reference, label, metadata, moment
from contracts.labels import DomainRole

delegations = Table(
    "delegations",
    metadata,
    id_column(),
    key_reference("delegator_id", "principals.id"),
    key_reference("delegate_id", "principals.id"),
    key_reference("domain_id", "domains.id"),
    *label("role", DomainRole),
    Column("reason", Text, nullable=False),
    moment("expires_at"),
    moment("created_at", default=True),
    moment("revoked_at", nullable=True),
    key_reference("revoked_by", "principals.id", nullable=True),
    CheckConstraint("delegate_id <> delegator_id", name="not_oneself"),
    CheckConstraint("expires_at > created_at", name="expires"),
    CheckConstraint("(revoked_at IS NULL) = (revoked_by IS NULL)", name="revoked"),
    Index("ix_delegations_delegate_id", "delegate_id"),
    Index("ix_delegations_delegator_id", "delegator_id"),
)
