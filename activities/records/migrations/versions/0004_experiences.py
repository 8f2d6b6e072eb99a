"""Experiences, their revisions, decisions and commands."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
        "fk_experiences_id_current_revision",
        "experiences",
        "revisions",
        ["id", "current_revision"],
        ["experience_id", "number"],
    )


def downgrade() -> None:
    op.drop_constraint("fk_experiences_id_current_revision", "experiences")
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
    op.drop_index("ix_experiences_domain_id_stage_due_at", table_name="experiences")
    op.drop_index(op.f("ix_experiences_superseded_by"), table_name="experiences")
    op.drop_index(op.f("ix_experiences_case_id"), table_name="experiences")
    op.drop_table("experiences")
