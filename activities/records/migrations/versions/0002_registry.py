"""Origins, arrivals and cases with their papers and results."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "origins",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="contracts.arrivals.origin_key: an id may be too long to be indexed",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_origins_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_origins")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_origins_id_tenant_id")),
        sa.UniqueConstraint("key", name=op.f("uq_origins_key")),
    )
    op.create_index("ix_origins_external_id", "origins", ["external_id"], unique=False, postgresql_using="hash")
    op.create_table(
        "cases",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("origin_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("written", sa.Text(), server_default="", nullable=False),
        sa.Column("body_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column(
            "content_id",
            sa.Uuid(as_uuid=False),
            nullable=True,
            comment="Of contents, when the body is over the limit",
        ),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("waiting_on", sa.Text(), server_default="", nullable=False),
        sa.Column("source_state", sa.Text(), server_default="", nullable=False),
        sa.Column("order_assumed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
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
        sa.Column("content_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), server_default="1", nullable=False),
        sa.Column(
            "search",
            postgresql.TSVECTOR(),
            sa.Computed(
                "to_tsvector('simple', title || ' ' || left(CASE WHEN written = '' THEN body ELSE written END, 100000))",
                persisted=True,
            ),
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
        "contents",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint("kind IN ('body', 'raw')", name=op.f("ck_contents_kind")),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], name=op.f("fk_contents_case_id_tenant_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contents")),
        sa.UniqueConstraint("id", "case_id", name=op.f("uq_contents_id_case_id")),
    )
    op.create_index(op.f("ix_contents_case_id"), "contents", ["case_id"], unique=False)
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
        sa.Column("source", sa.Text(), server_default="", nullable=False),
        sa.Column("external_id", sa.Text(), server_default="", nullable=False),
        sa.Column("subject", sa.Text(), server_default="", nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("body_format", sa.Text(), nullable=False),
        sa.Column("written", sa.Text(), server_default="", nullable=False),
        sa.Column("body_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column(
            "content_id",
            sa.Uuid(as_uuid=False),
            nullable=True,
            comment="Of contents, when the body is over the limit",
        ),
        sa.Column("source_state", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "attributes",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
        ),
        sa.Column(
            "facts",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="contracts.cases.CaseFacts, as delivered",
        ),
        sa.Column(
            "cleaned",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="[]",
            nullable=False,
        ),
        sa.Column(
            "raw_content_id",
            sa.Uuid(as_uuid=False),
            nullable=True,
            comment="Of contents, when something was cleaned",
        ),
        sa.Column("delivery_id_reused", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("order_assumed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("redeliveries", sa.Integer(), server_default="0", nullable=False),
        sa.CheckConstraint("body_format IN ('text', 'html')", name=op.f("ck_arrivals_body_format")),
        sa.CheckConstraint(
            "disposition IN ('opened', 'attached', 'conflict', 'late')", name=op.f("ck_arrivals_disposition")
        ),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], name=op.f("fk_arrivals_case_id_tenant_id")
        ),
        sa.ForeignKeyConstraint(["case_id"], ["cases.id"], name=op.f("fk_arrivals_case_id")),
        sa.ForeignKeyConstraint(
            ["content_id", "case_id"],
            ["contents.id", "contents.case_id"],
            name=op.f("fk_arrivals_content_id_case_id"),
        ),
        sa.ForeignKeyConstraint(
            ["raw_content_id", "case_id"],
            ["contents.id", "contents.case_id"],
            name=op.f("fk_arrivals_raw_content_id_case_id"),
        ),
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
    op.create_index("ix_arrivals_origin_id_delivery_id", "arrivals", ["origin_id", "delivery_id"], unique=False)
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
        sa.Column("removal_reason", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("(removed_by IS NULL) = (removed_at IS NULL)", name=op.f("ck_case_links_removed")),
        sa.CheckConstraint("kind IN ('related', 'duplicate_of', 'merged_into')", name=op.f("ck_case_links_kind")),
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
    op.create_index(
        "uq_case_links_merged",
        "case_links",
        ["case_id"],
        unique=True,
        postgresql_where=sa.text("kind = 'merged_into' AND removed_at IS NULL"),
    )
    op.create_index("ix_case_links_case_id", "case_links", ["case_id"], unique=False)
    op.create_index("ix_case_links_other_case_id", "case_links", ["other_case_id"], unique=False)
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
    op.create_foreign_key(
        "fk_grants_case_id_tenant_id", "grants", "cases", ["case_id", "tenant_id"], ["id", "tenant_id"]
    )


def downgrade() -> None:
    op.drop_constraint("fk_grants_case_id_tenant_id", "grants")
    op.drop_index(op.f("ix_case_results_case_id"), table_name="case_results")
    op.drop_table("case_results")
    op.drop_table("case_states")
    op.drop_index(op.f("ix_case_papers_case_id"), table_name="case_papers")
    op.drop_table("case_papers")
    op.drop_index("ix_case_links_other_case_id", table_name="case_links")
    op.drop_index("ix_case_links_case_id", table_name="case_links")
    op.drop_index("uq_case_links_merged", table_name="case_links")
    op.drop_index("uq_case_links_live", table_name="case_links", postgresql_where=sa.text("removed_at IS NULL"))
    op.drop_table("case_links")
    op.drop_index("ix_arrivals_origin_id_delivery_id", table_name="arrivals")
    op.drop_index(op.f("ix_arrivals_case_id"), table_name="arrivals")
    op.drop_table("arrivals")
    op.drop_index(op.f("ix_contents_case_id"), table_name="contents")
    op.drop_table("contents")
    op.drop_index("ix_cases_tenant_id_opened_at", table_name="cases")
    op.drop_index("ix_cases_search", table_name="cases", postgresql_using="gin")
    op.drop_index("ix_cases_object_refs", table_name="cases", postgresql_using="gin")
    op.drop_table("cases")
    op.drop_index("ix_origins_external_id", table_name="origins", postgresql_using="hash")
    op.drop_table("origins")
