"""Retrieval requests and the memory-use record."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
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


def downgrade() -> None:
    op.drop_index("ix_retrieval_verdicts_ref", table_name="retrieval_verdicts")
    op.drop_table("retrieval_verdicts")
    op.drop_table("retrieval_reads")
    op.drop_table("fresh_checks")
    op.drop_index("uq_retrieval_candidates_ref", table_name="retrieval_candidates")
    op.drop_index("ix_retrieval_candidates_ref", table_name="retrieval_candidates")
    op.drop_table("retrieval_candidates")
    op.drop_index(op.f("ix_memory_uses_request_id"), table_name="memory_uses")
    op.drop_table("memory_uses")
    op.drop_index("ix_retrieval_requests_principal_id_requested_at", table_name="retrieval_requests")
    op.drop_index(op.f("ix_retrieval_requests_case_id"), table_name="retrieval_requests")
    op.drop_table("retrieval_requests")
