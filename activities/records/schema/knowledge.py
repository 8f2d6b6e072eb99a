"""Profiles, strategies and how a profile comes to another one (R14)."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

from activities.records.schema.base import id_column, key_reference, metadata, moment, one_of, text_column, uuid_text
from contracts.adoption import AdoptionState

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

strategy_adoptions = Table(
    "strategy_adoptions",
    metadata,
    id_column(),
    key_reference("profile_id", "profiles.id"),
    Column("strategy_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("expected_strategy_id", Text, nullable=False),
    Column("expected_version", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    key_reference("proposed_by", "principals.id"),
    moment("proposed_at", default=True),
    Column("state", Text, nullable=False, server_default=AdoptionState.PROPOSED),
    one_of("state", *AdoptionState),
    Column("decision_id", uuid_text, nullable=True, unique=True),
    key_reference("decided_by", "principals.id", nullable=True),
    key_reference("on_behalf_of", "principals.id", nullable=True),
    text_column("decision_reason"),
    moment("decided_at", nullable=True),
    ForeignKeyConstraint(["strategy_id", "version"], ["strategy_versions.strategy_id", "strategy_versions.version"]),
    CheckConstraint(
        "num_nonnulls(decision_id, decided_by, decided_at) = CASE state WHEN 'proposed' THEN 0 ELSE 3 END",
        name="decided",
    ),
    CheckConstraint("decided_by <> proposed_by AND on_behalf_of IS DISTINCT FROM proposed_by", name="two_people"),
    Index("ix_strategy_adoptions_profile_id", "profile_id", "proposed_at"),
)
