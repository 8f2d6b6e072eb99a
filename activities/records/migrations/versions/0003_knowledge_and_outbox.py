"""Articles, strategies and profiles; the outbox and what follows it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE SEQUENCE outbox_position")
    op.create_table(
        "outbox",
        sa.Column("position", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False),
        sa.Column("event_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), sa.Computed("split_part(key, '/', 1)", persisted=True), nullable=True),
        sa.Column(
            "payload", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="Ids and labels only (R11)"
        ),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column(
            "available_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column(
            "attempts",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="Leases so far; fences late holders",
        ),
        sa.Column(
            "failures",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="Of the event, not of a service",
        ),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.Column("dead_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('start', 'decide', 'signal', 'project')", name=op.f("ck_outbox_kind")),
        sa.CheckConstraint("topic IN ('lifecycle', 'index')", name=op.f("ck_outbox_topic")),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_outbox")),
        sa.UniqueConstraint("event_id", name=op.f("uq_outbox_event_id")),
    )
    op.create_index(
        "ix_outbox_pending",
        "outbox",
        ["topic", "position"],
        unique=False,
        postgresql_where=sa.text("delivered_at IS NULL"),
    )
    op.create_index(
        "ix_outbox_pending_key",
        "outbox",
        ["key", "topic", "position"],
        unique=False,
        postgresql_where=sa.text("delivered_at IS NULL"),
    )
    op.create_table(
        "projections",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column(
            "target_id",
            sa.Uuid(as_uuid=False),
            sa.Computed("CAST(split_part(key, '/', 2) AS uuid)", persisted=True),
            nullable=True,
        ),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column(
            "projected_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_projections")),
    )
    op.create_index("ix_projections_target_id", "projections", ["target_id"], unique=False)
    op.create_table(
        "strategies",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_strategies")),
    )
    op.create_table(
        "watermarks",
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("collection IN ('cases', 'routing', 'detail')", name=op.f("ck_watermarks_collection")),
        sa.PrimaryKeyConstraint("collection", name=op.f("pk_watermarks")),
    )
    op.create_table(
        "articles",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint("kind IN ('memory', 'method', 'skill')", name=op.f("ck_articles_kind")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_articles_domain_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["principals.id"], name=op.f("fk_articles_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_articles")),
    )
    op.create_table(
        "strategy_versions",
        sa.Column("strategy_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column(
            "definition", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="contracts.strategy.Strategy"
        ),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("first_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("version >= 1", name=op.f("ck_strategy_versions_version")),
        sa.ForeignKeyConstraint(["strategy_id"], ["strategies.id"], name=op.f("fk_strategy_versions_strategy_id")),
        sa.PrimaryKeyConstraint("strategy_id", "version", name=op.f("pk_strategy_versions")),
    )
    op.create_table(
        "article_revisions",
        sa.Column("article_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), server_default="draft", nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "content", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="Source and version scope"
        ),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "search",
            postgresql.TSVECTOR(),
            sa.Computed("to_tsvector('simple', title || ' ' || left(body, 100000))", persisted=True),
            nullable=True,
        ),
        sa.CheckConstraint("(state = 'draft') = (published_at IS NULL)", name=op.f("ck_article_revisions_published")),
        sa.CheckConstraint(
            "state IN ('draft', 'current', 'replaced', 'retired')", name=op.f("ck_article_revisions_state")
        ),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name=op.f("fk_article_revisions_article_id")),
        sa.ForeignKeyConstraint(["author_id"], ["principals.id"], name=op.f("fk_article_revisions_author_id")),
        sa.PrimaryKeyConstraint("article_id", "number", name=op.f("pk_article_revisions")),
    )
    op.create_index(
        "ix_article_revisions_search", "article_revisions", ["search"], unique=False, postgresql_using="gin"
    )
    op.create_index(
        "uq_article_revisions_current",
        "article_revisions",
        ["article_id"],
        unique=True,
        postgresql_where=sa.text("state = 'current'"),
    )
    op.create_table(
        "profiles",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=False),
        sa.Column("strategy_id", sa.Text(), nullable=False),
        sa.Column("strategy_version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_profiles_domain_id")),
        sa.ForeignKeyConstraint(
            ["strategy_id", "strategy_version"],
            ["strategy_versions.strategy_id", "strategy_versions.version"],
            name=op.f("fk_profiles_strategy_id_strategy_version"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_profiles")),
    )
    op.create_table(
        "profile_members",
        sa.Column("profile_id", sa.Text(), nullable=False),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name=op.f("fk_profile_members_principal_id")),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name=op.f("fk_profile_members_profile_id")),
        sa.PrimaryKeyConstraint("profile_id", "principal_id", name=op.f("pk_profile_members")),
        sa.UniqueConstraint("principal_id", "profile_id", name=op.f("uq_profile_members_principal_id_profile_id")),
    )


def downgrade() -> None:
    op.drop_table("profile_members")
    op.drop_table("profiles")
    op.drop_index(
        "uq_article_revisions_current", table_name="article_revisions", postgresql_where=sa.text("state = 'current'")
    )
    op.drop_index("ix_article_revisions_search", table_name="article_revisions", postgresql_using="gin")
    op.drop_table("article_revisions")
    op.drop_table("strategy_versions")
    op.drop_table("articles")
    op.drop_table("watermarks")
    op.drop_table("strategies")
    op.drop_index("ix_projections_target_id", table_name="projections")
    op.drop_table("projections")
    op.drop_index("ix_outbox_pending_key", table_name="outbox", postgresql_where=sa.text("delivered_at IS NULL"))
    op.drop_index("ix_outbox_pending", table_name="outbox", postgresql_where=sa.text("delivered_at IS NULL"))
    op.drop_table("outbox")
    op.execute("DROP SEQUENCE outbox_position")
