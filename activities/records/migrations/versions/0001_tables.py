"""Tables: the whole record as it starts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE SEQUENCE outbox_position")
    op.create_table(
        "domains",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_domains")),
    )
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
    op.create_index("ix_outbox_topic_position", "outbox", ["topic", "position"], unique=False)
    op.create_table(
        "principals",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("administrator", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint("kind IN ('person', 'agent')", name=op.f("ck_principals_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_principals")),
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
        "tenants",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenants")),
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
        "api_keys",
        sa.Column("hash", sa.Text(), nullable=False, comment="SHA-256 of the key; the key itself is never stored"),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name=op.f("fk_api_keys_principal_id")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_api_keys")),
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
        "domain_roles",
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.CheckConstraint("role IN ('curator', 'owner')", name=op.f("ck_domain_roles_role")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_domain_roles_domain_id")),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name=op.f("fk_domain_roles_principal_id")),
        sa.PrimaryKeyConstraint("principal_id", "domain_id", "role", name=op.f("pk_domain_roles")),
    )
    op.create_table(
        "grants",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("purpose", sa.Text(), server_default="", nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name=op.f("fk_grants_principal_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_grants_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grants")),
        sa.UniqueConstraint(
            "principal_id",
            "tenant_id",
            "case_id",
            name=op.f("uq_grants_principal_id_tenant_id_case_id"),
            postgresql_nulls_not_distinct=True,
        ),
    )
    op.create_table(
        "origins",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_origins_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_origins")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_origins_id_tenant_id")),
        sa.UniqueConstraint("tenant_id", "source", "external_id", name=op.f("uq_origins_tenant_id_source_external_id")),
    )
    op.create_index("ix_origins_external_id_source", "origins", ["external_id", "source"], unique=False)
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
        "cases",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("origin_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("waiting_on", sa.Text(), server_default="", nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=True),
        sa.Column("request_type", sa.Text(), server_default="", nullable=False),
        sa.Column("symptom_tags", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("product", sa.Text(), server_default="", nullable=False),
        sa.Column("system", sa.Text(), server_default="", nullable=False),
        sa.Column("environment", sa.Text(), server_default="", nullable=False),
        sa.Column("version", sa.Text(), server_default="", nullable=False),
        sa.Column("object_refs", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "source_revision", sa.Integer(), nullable=True, comment="Highest revision of the origin that is in the case"
        ),
        sa.Column("revision", sa.Integer(), server_default="1", nullable=False),
        sa.Column(
            "search",
            postgresql.TSVECTOR(),
            sa.Computed("to_tsvector('simple', title || ' ' || left(body, 100000))", persisted=True),
            nullable=True,
        ),
        sa.CheckConstraint("state IN ('open', 'waiting', 'completed', 'reopened')", name=op.f("ck_cases_state")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_cases_domain_id")),
        sa.ForeignKeyConstraint(
            ["origin_id", "tenant_id"], ["origins.id", "origins.tenant_id"], name=op.f("fk_cases_origin_id_tenant_id")
        ),
        sa.ForeignKeyConstraint(["origin_id"], ["origins.id"], name=op.f("fk_cases_origin_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_cases_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cases")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_cases_id_tenant_id")),
        sa.UniqueConstraint("origin_id", name=op.f("uq_cases_origin_id")),
    )
    op.create_index("ix_cases_object_refs", "cases", ["object_refs"], unique=False, postgresql_using="gin")
    op.create_index("ix_cases_search", "cases", ["search"], unique=False, postgresql_using="gin")
    op.create_index("ix_cases_tenant_id_opened_at", "cases", ["tenant_id", "opened_at"], unique=False)
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
        "arrivals",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("origin_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("source_revision", sa.Integer(), nullable=False, comment="-1 when the source has no revisions"),
        sa.Column("content_version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("delivery_id", sa.Text(), nullable=False),
        sa.Column("disposition", sa.Text(), nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("subject", sa.Text(), server_default="", nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "facts",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="contracts.cases.CaseFacts, as delivered",
        ),
        sa.Column("redeliveries", sa.Integer(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "disposition IN ('opened', 'attached', 'conflict', 'late')", name=op.f("ck_arrivals_disposition")
        ),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], name=op.f("fk_arrivals_case_id_tenant_id")
        ),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"], name=op.f("fk_arrivals_case_id")),
        sa.ForeignKeyConstraint(
            ["origin_id", "tenant_id"],
            ["origins.id", "origins.tenant_id"],
            name=op.f("fk_arrivals_origin_id_tenant_id"),
        ),
        sa.ForeignKeyConstraint(["origin_id"], ["origins.id"], name=op.f("fk_arrivals_origin_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arrivals")),
        sa.UniqueConstraint(
            "origin_id",
            "source_revision",
            "content_version",
            name=op.f("uq_arrivals_origin_id_source_revision_content_version"),
        ),
        sa.UniqueConstraint(
            "origin_id", "source_revision", "digest", name=op.f("uq_arrivals_origin_id_source_revision_digest")
        ),
    )
    op.create_index(op.f("ix_arrivals_case_id"), "arrivals", ["case_id"], unique=False)
    op.create_table(
        "case_links",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("other_case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column(
            "decided_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("removed_by", sa.Text(), nullable=True),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('related', 'duplicate_of')", name=op.f("ck_case_links_kind")),
        sa.CheckConstraint("case_id <> other_case_id", name=op.f("ck_case_links_two_cases")),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], name=op.f("fk_case_links_case_id_tenant_id")
        ),
        sa.ForeignKeyConstraint(["decided_by"], ["principals.id"], name=op.f("fk_case_links_decided_by")),
        sa.ForeignKeyConstraint(
            ["other_case_id", "tenant_id"],
            ["cases.id", "cases.tenant_id"],
            name=op.f("fk_case_links_other_case_id_tenant_id"),
        ),
        sa.ForeignKeyConstraint(["removed_by"], ["principals.id"], name=op.f("fk_case_links_removed_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_case_links")),
    )
    op.create_index(
        "uq_case_links_live",
        "case_links",
        ["case_id", "other_case_id", "kind"],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "case_papers",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint(
            "kind IN ('evidence', 'execution', 'proof', 'memory_use')", name=op.f("ck_case_papers_kind")
        ),
        sa.ForeignKeyConstraint(["author_id"], ["principals.id"], name=op.f("fk_case_papers_author_id")),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], name=op.f("fk_case_papers_case_id_tenant_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_case_papers")),
        sa.UniqueConstraint("id", "case_id", "kind", name=op.f("uq_case_papers_id_case_id_kind")),
    )
    op.create_index(op.f("ix_case_papers_case_id"), "case_papers", ["case_id"], unique=False)
    op.create_table(
        "case_states",
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("waiting_on", sa.Text(), server_default="", nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("state IN ('open', 'waiting', 'completed', 'reopened')", name=op.f("ck_case_states_state")),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], name=op.f("fk_case_states_case_id_tenant_id")
        ),
        sa.ForeignKeyConstraint(["changed_by"], ["principals.id"], name=op.f("fk_case_states_changed_by")),
        sa.PrimaryKeyConstraint("case_id", "seq", name=op.f("pk_case_states")),
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
    op.create_table(
        "retrieval_requests",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("profile_id", sa.Text(), nullable=False),
        sa.Column("strategy_id", sa.Text(), nullable=False),
        sa.Column("strategy_version", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=True, comment="Of the case that the work is for"),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column(
            "request",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="contracts.retrieval.RetrievalRequest",
        ),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column(
            "requested_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column(
            "answer",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="contracts.retrieval.Answer without its candidates",
        ),
        sa.Column("abstained", sa.Boolean(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"],
            ["cases.id", "cases.tenant_id"],
            name=op.f("fk_retrieval_requests_case_id_tenant_id"),
        ),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"], name=op.f("fk_retrieval_requests_case_id")),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name=op.f("fk_retrieval_requests_principal_id")),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name=op.f("fk_retrieval_requests_profile_id")),
        sa.ForeignKeyConstraint(
            ["strategy_id", "strategy_version"],
            ["strategy_versions.strategy_id", "strategy_versions.version"],
            name=op.f("fk_retrieval_requests_strategy_id_strategy_version"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retrieval_requests")),
        sa.CheckConstraint(
            "(case_id IS NULL) = (tenant_id IS NULL)", name=op.f("ck_retrieval_requests_tenant_of_the_case")
        ),
        sa.CheckConstraint("(answer IS NULL) = (answered_at IS NULL)", name=op.f("ck_retrieval_requests_answered")),
    )
    op.create_index(op.f("ix_retrieval_requests_case_id"), "retrieval_requests", ["case_id"], unique=False)
    op.create_index(
        "ix_retrieval_requests_principal_id_requested_at",
        "retrieval_requests",
        ["principal_id", "requested_at"],
        unique=False,
    )
    op.create_table(
        "case_results",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("proof_level", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), server_default="", nullable=False),
        sa.Column("execution_paper_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("execution_kind", sa.Text(), sa.Computed("'execution'", persisted=True), nullable=True),
        sa.Column("proof_paper_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("proof_kind", sa.Text(), sa.Computed("'proof'", persisted=True), nullable=True),
        sa.Column("effort", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("recorded_by", sa.Text(), nullable=False),
        sa.Column(
            "recorded_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint(
            "outcome <> 'succeeded' OR proof_level IN ('executed', 'verified')", name=op.f("ck_case_results_succeeded")
        ),
        sa.CheckConstraint(
            "outcome IN ('succeeded', 'failed', 'rejected_route', 'unverified')", name=op.f("ck_case_results_outcome")
        ),
        sa.CheckConstraint(
            "proof_level <> 'verified' OR proof_paper_id IS NOT NULL", name=op.f("ck_case_results_proof")
        ),
        sa.CheckConstraint(
            "proof_level IN ('none', 'reported', 'executed', 'verified')", name=op.f("ck_case_results_proof_level")
        ),
        sa.CheckConstraint(
            "proof_level NOT IN ('executed', 'verified') OR execution_paper_id IS NOT NULL",
            name=op.f("ck_case_results_execution"),
        ),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], name=op.f("fk_case_results_case_id_tenant_id")
        ),
        sa.ForeignKeyConstraint(
            ["execution_paper_id", "case_id", "execution_kind"],
            ["case_papers.id", "case_papers.case_id", "case_papers.kind"],
            name=op.f("fk_case_results_execution_paper_id_case_id_execution_kind"),
        ),
        sa.ForeignKeyConstraint(
            ["proof_paper_id", "case_id", "proof_kind"],
            ["case_papers.id", "case_papers.case_id", "case_papers.kind"],
            name=op.f("fk_case_results_proof_paper_id_case_id_proof_kind"),
        ),
        sa.ForeignKeyConstraint(["recorded_by"], ["principals.id"], name=op.f("fk_case_results_recorded_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_case_results")),
        sa.UniqueConstraint(
            "id", "case_id", "tenant_id", "outcome", name=op.f("uq_case_results_id_case_id_tenant_id_outcome")
        ),
    )
    op.create_index(op.f("ix_case_results_case_id"), "case_results", ["case_id"], unique=False)
    op.create_table(
        "memory_uses",
        sa.Column("decision_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("request_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), server_default="", nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column(
            "decided_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(["decided_by"], ["principals.id"], name=op.f("fk_memory_uses_decided_by")),
        sa.ForeignKeyConstraint(["request_id"], ["retrieval_requests.id"], name=op.f("fk_memory_uses_request_id")),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_memory_uses")),
    )
    op.create_index(op.f("ix_memory_uses_request_id"), "memory_uses", ["request_id"], unique=False)
    op.create_table(
        "retrieval_candidates",
        sa.Column("request_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column(
            "candidate",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="contracts.retrieval.Candidate",
        ),
        sa.ForeignKeyConstraint(
            ["request_id"], ["retrieval_requests.id"], name=op.f("fk_retrieval_candidates_request_id")
        ),
        sa.PrimaryKeyConstraint("request_id", "rank", name=op.f("pk_retrieval_candidates")),
    )
    op.create_index("ix_retrieval_candidates_ref", "retrieval_candidates", ["ref", "revision"], unique=False)
    op.create_index(
        "uq_retrieval_candidates_ref", "retrieval_candidates", ["request_id", "ref", "revision"], unique=True
    )
    op.create_table(
        "experiences",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("result_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=False),
        sa.Column("proposer_id", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False, comment="Number of the newest draft"),
        sa.Column("current_revision", sa.Integer(), nullable=True, comment="The published one, also while suspended"),
        sa.Column("suspended", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("superseded_by", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("stage_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reminded", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("escalated", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("row_version", sa.Integer(), server_default="1", nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint(
            "(stage = 'superseded') = (superseded_by IS NOT NULL)", name=op.f("ck_experiences_superseded")
        ),
        sa.CheckConstraint(
            "stage IN ('curator_review', 'owner_review', 'returned', 'published', 'rejected', 'retired', 'superseded')",
            name=op.f("ck_experiences_stage"),
        ),
        sa.CheckConstraint("superseded_by <> id", name=op.f("ck_experiences_not_itself")),
        sa.CheckConstraint("NOT suspended OR current_revision IS NOT NULL", name=op.f("ck_experiences_suspended")),
        sa.UniqueConstraint("id", "outcome", name=op.f("uq_experiences_id_outcome")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_experiences_domain_id")),
        sa.ForeignKeyConstraint(["proposer_id"], ["principals.id"], name=op.f("fk_experiences_proposer_id")),
        sa.ForeignKeyConstraint(
            ["result_id", "case_id", "tenant_id", "outcome"],
            ["case_results.id", "case_results.case_id", "case_results.tenant_id", "case_results.outcome"],
            name=op.f("fk_experiences_result_id_case_id_tenant_id_outcome"),
        ),
        sa.ForeignKeyConstraint(["superseded_by"], ["experiences.id"], name=op.f("fk_experiences_superseded_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiences")),
    )
    op.create_index(op.f("ix_experiences_case_id"), "experiences", ["case_id"], unique=False)
    op.create_index(op.f("ix_experiences_superseded_by"), "experiences", ["superseded_by"], unique=False)
    op.create_index(
        "ix_experiences_domain_id_stage_due_at", "experiences", ["domain_id", "stage", "due_at"], unique=False
    )
    op.create_table(
        "fresh_checks",
        sa.Column("decision_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("check_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("outcome IN ('held', 'failed')", name=op.f("ck_fresh_checks_outcome")),
        sa.ForeignKeyConstraint(["decision_id"], ["memory_uses.decision_id"], name=op.f("fk_fresh_checks_decision_id")),
        sa.PrimaryKeyConstraint("decision_id", "check_id", name=op.f("pk_fresh_checks")),
    )
    op.create_table(
        "retrieval_reads",
        sa.Column("request_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id", "ref", "revision"],
            ["retrieval_candidates.request_id", "retrieval_candidates.ref", "retrieval_candidates.revision"],
            name=op.f("fk_retrieval_reads_request_id_ref_revision"),
        ),
        sa.PrimaryKeyConstraint("request_id", "ref", "revision", name=op.f("pk_retrieval_reads")),
    )
    op.create_table(
        "retrieval_verdicts",
        sa.Column("decision_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("request_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            "verdict IN ('chosen', 'rejected', 'not_applicable')", name=op.f("ck_retrieval_verdicts_verdict")
        ),
        sa.ForeignKeyConstraint(
            ["decision_id"], ["memory_uses.decision_id"], name=op.f("fk_retrieval_verdicts_decision_id")
        ),
        sa.ForeignKeyConstraint(
            ["request_id", "ref", "revision"],
            ["retrieval_candidates.request_id", "retrieval_candidates.ref", "retrieval_candidates.revision"],
            name=op.f("fk_retrieval_verdicts_request_id_ref_revision"),
        ),
        sa.PrimaryKeyConstraint("decision_id", "ref", "revision", name=op.f("pk_retrieval_verdicts")),
    )
    op.create_index("ix_retrieval_verdicts_ref", "retrieval_verdicts", ["ref", "revision"], unique=False)
    op.create_table(
        "commands",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("experience_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("content", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False, comment="Of the content: a repeated id must bring the same"),
        sa.Column("issued_by", sa.Text(), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column(
            "outcome",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Stage that it led to, or the refusal's type",
        ),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(state = 'pending') = (settled_at IS NULL)", name=op.f("ck_commands_settled")),
        sa.CheckConstraint(
            "kind IN ('decide', 'resubmit', 'correct', 'retire', 'supersede')", name=op.f("ck_commands_kind")
        ),
        sa.CheckConstraint("state IN ('pending', 'applied', 'refused')", name=op.f("ck_commands_state")),
        sa.ForeignKeyConstraint(["experience_id"], ["experiences.id"], name=op.f("fk_commands_experience_id")),
        sa.ForeignKeyConstraint(["issued_by"], ["principals.id"], name=op.f("fk_commands_issued_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commands")),
    )
    op.create_index(op.f("ix_commands_experience_id"), "commands", ["experience_id"], unique=False)
    op.create_table(
        "revisions",
        sa.Column("experience_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), server_default="draft", nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("proof_level", sa.Text(), nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column(
            "content", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="contracts.experience.Draft"
        ),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "searchable",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The approved words that full text looks through",
        ),
        sa.Column(
            "search",
            postgresql.TSVECTOR(),
            sa.Computed("to_tsvector('simple', title || ' ' || left(searchable, 100000))", persisted=True),
            nullable=True,
        ),
        sa.CheckConstraint(
            "(state IN ('draft', 'returned', 'rejected')) = (published_at IS NULL)", name=op.f("ck_revisions_published")
        ),
        sa.CheckConstraint(
            "outcome IN ('succeeded', 'failed', 'rejected_route', 'unverified')", name=op.f("ck_revisions_outcome")
        ),
        sa.CheckConstraint(
            "proof_level IN ('none', 'reported', 'executed', 'verified')", name=op.f("ck_revisions_proof_level")
        ),
        sa.CheckConstraint(
            "state IN ('draft', 'returned', 'rejected', 'current', 'suspended', 'corrected', 'superseded', 'retired')",
            name=op.f("ck_revisions_state"),
        ),
        sa.ForeignKeyConstraint(["author_id"], ["principals.id"], name=op.f("fk_revisions_author_id")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_revisions_domain_id")),
        sa.ForeignKeyConstraint(["experience_id"], ["experiences.id"], name=op.f("fk_revisions_experience_id")),
        sa.ForeignKeyConstraint(
            ["experience_id", "outcome"],
            ["experiences.id", "experiences.outcome"],
            name=op.f("fk_revisions_experience_id_outcome"),
        ),
        sa.PrimaryKeyConstraint("experience_id", "number", name=op.f("pk_revisions")),
        sa.UniqueConstraint(
            "experience_id", "number", "author_id", name=op.f("uq_revisions_experience_id_number_author_id")
        ),
    )
    op.create_index(
        "ix_revisions_search",
        "revisions",
        ["search"],
        unique=False,
        postgresql_using="gin",
        postgresql_where=sa.text("state = 'current'"),
    )
    op.create_index(
        "uq_revisions_current",
        "revisions",
        ["experience_id"],
        unique=True,
        postgresql_where=sa.text("state IN ('current', 'suspended')"),
    )
    op.create_index(
        "uq_revisions_draft",
        "revisions",
        ["experience_id"],
        unique=True,
        postgresql_where=sa.text("state = 'draft'"),
    )
    op.create_table(
        "transitions",
        sa.Column("experience_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("from_stage", sa.Text(), nullable=True),
        sa.Column("to_stage", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("cause_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("actor_id", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint(
            "event IN ('propose', 'remind', 'escalate', 'accept', 'return', 'reject', 'resubmit', 'correct', 'retire', 'supersede')",
            name=op.f("ck_transitions_event"),
        ),
        sa.CheckConstraint(
            "to_stage IN ('curator_review', 'owner_review', 'returned', 'published', 'rejected', 'retired', 'superseded')",
            name=op.f("ck_transitions_to_stage"),
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["principals.id"], name=op.f("fk_transitions_actor_id")),
        sa.ForeignKeyConstraint(["experience_id"], ["experiences.id"], name=op.f("fk_transitions_experience_id")),
        sa.PrimaryKeyConstraint("experience_id", "seq", name=op.f("pk_transitions")),
        sa.UniqueConstraint("cause_id", name=op.f("uq_transitions_cause_id")),
    )
    op.create_table(
        "review_decisions",
        sa.Column("decision_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("experience_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reviewer_id", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False, comment="Of the reviewed draft"),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "decided_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint("stage IN ('curator_review', 'owner_review')", name=op.f("ck_review_decisions_stage")),
        sa.CheckConstraint("verdict IN ('accept', 'reject', 'return')", name=op.f("ck_review_decisions_verdict")),
        sa.CheckConstraint("reviewer_id <> author_id", name=op.f("ck_review_decisions_not_the_author")),
        sa.ForeignKeyConstraint(
            ["experience_id", "revision", "author_id"],
            ["revisions.experience_id", "revisions.number", "revisions.author_id"],
            name=op.f("fk_review_decisions_experience_id_revision_author_id"),
        ),
        sa.ForeignKeyConstraint(["reviewer_id"], ["principals.id"], name=op.f("fk_review_decisions_reviewer_id")),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_review_decisions")),
        sa.UniqueConstraint(
            "experience_id",
            "revision",
            "reviewer_id",
            name=op.f("uq_review_decisions_experience_id_revision_reviewer_id"),
        ),
        sa.UniqueConstraint(
            "experience_id", "revision", "stage", name=op.f("uq_review_decisions_experience_id_revision_stage")
        ),
    )
    op.create_foreign_key(
        "fk_grants_case_id_tenant_id", "grants", "cases", ["case_id", "tenant_id"], ["id", "tenant_id"]
    )
    op.create_foreign_key(
        "fk_experiences_id_current_revision",
        "experiences",
        "revisions",
        ["id", "current_revision"],
        ["experience_id", "number"],
    )


def downgrade() -> None:
    op.drop_constraint("fk_experiences_id_current_revision", "experiences")
    op.drop_constraint("fk_grants_case_id_tenant_id", "grants")
    op.drop_table("review_decisions")
    op.drop_table("transitions")
    op.drop_index("uq_revisions_draft", table_name="revisions", postgresql_where=sa.text("state = 'draft'"))
    op.drop_index(
        "uq_revisions_current", table_name="revisions", postgresql_where=sa.text("state IN ('current', 'suspended')")
    )
    op.drop_index(
        "ix_revisions_search",
        table_name="revisions",
        postgresql_using="gin",
        postgresql_where=sa.text("state = 'current'"),
    )
    op.drop_table("revisions")
    op.drop_index(op.f("ix_commands_experience_id"), table_name="commands")
    op.drop_table("commands")
    op.drop_index("ix_retrieval_verdicts_ref", table_name="retrieval_verdicts")
    op.drop_table("retrieval_verdicts")
    op.drop_table("retrieval_reads")
    op.drop_table("fresh_checks")
    op.drop_index("ix_experiences_domain_id_stage_due_at", table_name="experiences")
    op.drop_index(op.f("ix_experiences_superseded_by"), table_name="experiences")
    op.drop_index(op.f("ix_experiences_case_id"), table_name="experiences")
    op.drop_table("experiences")
    op.drop_index("uq_retrieval_candidates_ref", table_name="retrieval_candidates")
    op.drop_index("ix_retrieval_candidates_ref", table_name="retrieval_candidates")
    op.drop_table("retrieval_candidates")
    op.drop_index(op.f("ix_memory_uses_request_id"), table_name="memory_uses")
    op.drop_table("memory_uses")
    op.drop_index(op.f("ix_case_results_case_id"), table_name="case_results")
    op.drop_table("case_results")
    op.drop_index("ix_retrieval_requests_principal_id_requested_at", table_name="retrieval_requests")
    op.drop_index(op.f("ix_retrieval_requests_case_id"), table_name="retrieval_requests")
    op.drop_table("retrieval_requests")
    op.drop_table("profile_members")
    op.drop_table("case_states")
    op.drop_index(op.f("ix_case_papers_case_id"), table_name="case_papers")
    op.drop_table("case_papers")
    op.drop_index("uq_case_links_live", table_name="case_links", postgresql_where=sa.text("removed_at IS NULL"))
    op.drop_table("case_links")
    op.drop_index(op.f("ix_arrivals_case_id"), table_name="arrivals")
    op.drop_table("arrivals")
    op.drop_table("profiles")
    op.drop_index("ix_cases_tenant_id_opened_at", table_name="cases")
    op.drop_index("ix_cases_search", table_name="cases", postgresql_using="gin")
    op.drop_index("ix_cases_object_refs", table_name="cases", postgresql_using="gin")
    op.drop_table("cases")
    op.drop_index(
        "uq_article_revisions_current", table_name="article_revisions", postgresql_where=sa.text("state = 'current'")
    )
    op.drop_index("ix_article_revisions_search", table_name="article_revisions", postgresql_using="gin")
    op.drop_table("article_revisions")
    op.drop_table("strategy_versions")
    op.drop_index("ix_origins_external_id_source", table_name="origins")
    op.drop_table("origins")
    op.drop_table("grants")
    op.drop_table("domain_roles")
    op.drop_table("articles")
    op.drop_table("api_keys")
    op.drop_table("watermarks")
    op.drop_table("tenants")
    op.drop_table("strategies")
    op.drop_index("ix_projections_target_id", table_name="projections")
    op.drop_table("projections")
    op.drop_table("principals")
    op.drop_index("ix_outbox_topic_position", table_name="outbox")
    op.drop_index("ix_outbox_pending_key", table_name="outbox", postgresql_where=sa.text("delivered_at IS NULL"))
    op.drop_index("ix_outbox_pending", table_name="outbox", postgresql_where=sa.text("delivered_at IS NULL"))
    op.drop_table("outbox")
    op.drop_table("domains")
    op.execute("DROP SEQUENCE outbox_position")
