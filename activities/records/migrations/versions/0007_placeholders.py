"""Stable placeholders for personal data, case by case."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from activities.records import row_security

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TABLES = ["case_keys", "case_placeholders"]


def upgrade() -> None:
    op.create_table(
        "case_keys",
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column(
            "key",
            sa.LargeBinary(),
            nullable=False,
            comment="Random; without it the case's fingerprints say nothing (R11)",
        ),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], name=op.f("fk_case_keys_case_id_tenant_id")
        ),
        sa.PrimaryKeyConstraint("case_id", name=op.f("pk_case_keys")),
    )
    op.create_table(
        "case_placeholders",
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column(
            "fingerprint",
            sa.Text(),
            nullable=False,
            comment="HMAC-SHA256 of the normal spelling under the case's key",
        ),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint(
            "kind IN ('name', 'mail', 'phone', 'bank_account', 'card', 'national_id', 'postal_address',"
            " 'network_address', 'credential', 'name_part')",
            name=op.f("ck_case_placeholders_kind"),
        ),
        sa.CheckConstraint("number > 0", name=op.f("ck_case_placeholders_number")),
        sa.ForeignKeyConstraint(
            ["case_id", "tenant_id"],
            ["cases.id", "cases.tenant_id"],
            name=op.f("fk_case_placeholders_case_id_tenant_id"),
        ),
        sa.PrimaryKeyConstraint("case_id", "kind", "fingerprint", name=op.f("pk_case_placeholders")),
    )
    for statement in row_security.statements(TABLES):
        op.execute(statement)


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
