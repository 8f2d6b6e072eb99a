"""What admission found in a draft, and who works on a review."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from activities.records import row_security

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = ["admissions", "admission_findings", "finding_dismissals", "review_claims"]


def upgrade() -> None:
    op.create_table(
        "admissions",
        sa.Column("experience_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("personal_data", sa.Boolean(), nullable=False, comment="Whether a finder looked for personal data"),
        sa.Column(
            "examined_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["experience_id", "revision"],
            ["revisions.experience_id", "revisions.number"],
            name=op.f("fk_admissions_experience_id_revision"),
        ),
        sa.PrimaryKeyConstraint("experience_id", "revision", name=op.f("pk_admissions")),
    )
    op.create_table(
        "admission_findings",
        sa.Column("experience_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("finding_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False, comment="In the order of the draft's fields"),
        sa.Column("check_name", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("start_at", sa.Integer(), nullable=False),
        sa.Column("end_at", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("certainty", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            "check_name IN ('span_paper', 'span_place', 'unit_source', 'prescription_proof', 'success_wording',"
            " 'placeholder', 'personal_data', 'credential')",
            name=op.f("ck_admission_findings_check_name"),
        ),
        sa.CheckConstraint(
            "severity IN ('must_fix', 'must_resolve', 'notice')", name=op.f("ck_admission_findings_severity")
        ),
        sa.CheckConstraint("start_at >= 0 AND end_at >= start_at", name=op.f("ck_admission_findings_place")),
        sa.ForeignKeyConstraint(
            ["experience_id", "revision"],
            ["admissions.experience_id", "admissions.revision"],
            name=op.f("fk_admission_findings_experience_id_revision"),
        ),
        sa.PrimaryKeyConstraint("experience_id", "revision", "finding_id", name=op.f("pk_admission_findings")),
    )
    op.create_table(
        "finding_dismissals",
        sa.Column("experience_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("finding_id", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("dismissed_by", sa.Text(), nullable=False),
        sa.Column("decision_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column(
            "dismissed_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column(
            "carried_from",
            sa.Integer(),
            nullable=True,
            comment="The earlier revision in which the same text was dismissed",
        ),
        sa.ForeignKeyConstraint(["dismissed_by"], ["principals.id"], name=op.f("fk_finding_dismissals_dismissed_by")),
        sa.ForeignKeyConstraint(
            ["experience_id", "revision", "finding_id"],
            ["admission_findings.experience_id", "admission_findings.revision", "admission_findings.finding_id"],
            name=op.f("fk_finding_dismissals_experience_id_revision_finding_id"),
        ),
        sa.PrimaryKeyConstraint("experience_id", "revision", "finding_id", name=op.f("pk_finding_dismissals")),
    )
    op.create_table(
        "review_claims",
        sa.Column("experience_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("claimed_by", sa.Text(), nullable=False),
        sa.Column(
            "claimed_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("stage IN ('curator_review', 'owner_review')", name=op.f("ck_review_claims_stage")),
        sa.ForeignKeyConstraint(["claimed_by"], ["principals.id"], name=op.f("fk_review_claims_claimed_by")),
        sa.ForeignKeyConstraint(["experience_id"], ["experiences.id"], name=op.f("fk_review_claims_experience_id")),
        sa.PrimaryKeyConstraint("experience_id", name=op.f("pk_review_claims")),
    )
    for statement in row_security.statements(TABLES):
        op.execute(statement)


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
