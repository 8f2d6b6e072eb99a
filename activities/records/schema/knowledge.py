"""Domain articles and methods, profiles and strategies (R14; spec section 4)."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Computed,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR

from activities.records.schema.base import id_column, key_reference, metadata, moment, one_of, reference, text_column

articles = Table(
    "articles",
    metadata,
    id_column(),
    key_reference("domain_id", "domains.id"),
    Column("kind", Text, nullable=False),
    one_of("kind", "memory", "method", "skill"),
    key_reference("owner_id", "principals.id"),
    moment("created_at", default=True),
)

article_revisions = Table(
    "article_revisions",
    metadata,
    reference("article_id", "articles.id"),
    Column("number", Integer, nullable=False),
    PrimaryKeyConstraint("article_id", "number"),
    Column("state", Text, nullable=False, server_default="draft"),
    one_of("state", "draft", "current", "replaced", "retired"),
    Column("title", Text, nullable=False),
    text_column("body"),
    Column("content", JSONB, nullable=False, comment="Source and version scope"),
    Column("digest", Text, nullable=False),
    key_reference("author_id", "principals.id"),
    moment("created_at", default=True),
    moment("published_at", nullable=True),
    Column("search", TSVECTOR, Computed("to_tsvector('simple', title || ' ' || left(body, 100000))", persisted=True)),
    CheckConstraint("(state = 'draft') = (published_at IS NULL)", name="published"),
    Index("ix_article_revisions_search", "search", postgresql_using="gin"),
    # Exactly one canonical owned revision (spec section 4).
    Index("uq_article_revisions_current", "article_id", unique=True, postgresql_where=text("state = 'current'")),
)

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
