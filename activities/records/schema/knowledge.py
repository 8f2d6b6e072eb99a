"""Profiles and strategies (R14)."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

from activities.records.schema.base import key_reference, metadata, moment, text_column

strategies = Table("strategies", metadata, Column("id", Text, primary_key=True), text_column("title"))

strategy_versions = Table(
    "strategy_versions",
    metadata,
    key_reference("strategy_id", "strategies.id"),
    Column("version", Integer, nullable=False),
    PrimaryKeyConstraint("strategy_id", "version"),
    Column("definition", JSONB, nullable=False, comment="contracts.strategy.Strategy"),
    Column("digest", Text, nullable=False),
    moment("created_at", default=True),
    moment("first_used_at", nullable=True),
    CheckConstraint("version >= 1", name="version"),
)

profiles = Table(
    "profiles",
    metadata,
    Column("id", Text, primary_key=True),
    key_reference("domain_id", "domains.id"),
    Column("strategy_id", Text, nullable=False),
    Column("strategy_version", Integer, nullable=False),
    ForeignKeyConstraint(
        ["strategy_id", "strategy_version"], ["strategy_versions.strategy_id", "strategy_versions.version"]
    ),
)

profile_members = Table(
    "profile_members",
    metadata,
    key_reference("profile_id", "profiles.id"),
    key_reference("principal_id", "principals.id"),
    PrimaryKeyConstraint("profile_id", "principal_id"),
    UniqueConstraint("principal_id", "profile_id"),
)
