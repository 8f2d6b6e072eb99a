"""Tenants, principals, grants and domains."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "domains",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_domains")),
    )
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
        "tenants",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenants")),
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


def downgrade() -> None:
    op.drop_table("grants")
    op.drop_table("domain_roles")
    op.drop_table("api_keys")
    op.drop_table("tenants")
    op.drop_table("principals")
    op.drop_table("domains")
