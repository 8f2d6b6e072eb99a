"""Sign-in of people by an issuer, keys with a scope, and sessions of the pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from activities.records import row_security
from activities.records.audit_rules import Rule

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TABLES = ["principal_identities", "sessions"]

# The tenants that a credential is narrowed to, as a JSON list in the transaction; NULL: it is not narrowed.
NARROWING = """
CREATE FUNCTION app_narrowing() RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN coalesce(current_setting('caselore.tenants', true), '') <> '' THEN
    ARRAY(SELECT jsonb_array_elements_text(CAST(current_setting('caselore.tenants', true) AS jsonb))) END
$$
"""
# Restrictive policies come on top of what a principal may see, so a narrowed credential can't see more. Grants carry
# the rule to tenants, cases and all that hangs on them: the functions in other policies read grants as the principal.
_WITHIN = "(SELECT app_narrowing()) IS NULL OR tenant_id = ANY (SELECT unnest(app_narrowing()))"
RESTRICTED = {
    "grants": _WITHIN,
    # Articles belong to a domain and no tenant.
    "experiences": f"{_WITHIN} OR tenant_id IS NULL",
    # An answer of a wider credential can hold more than a narrower one may see.
    "retrieval_requests": "(SELECT app_narrowing()) IS NULL OR narrowed_to <@ (SELECT app_narrowing())",
}
# What other tenants' people ask a domain carries no tenant, so a narrowed credential sees only what it could ask itself.
BRIEFS = f"""
CREATE POLICY app_narrowed ON consultation_briefs AS RESTRICTIVE FOR SELECT TO {row_security.APP} USING (
  (SELECT app_narrowing()) IS NULL
  OR EXISTS (SELECT 1 FROM consultations c WHERE c.id = consultation_briefs.consultation_id))
"""

_KEY = {"key": "left(@.hash, 8)", "expires": "audit_time(@.expires_at)"}
_SCOPE = {
    "id": "@.id::text",
    "abilities": "array_to_string(@.abilities, ' ')",
    "tenants": "CAST(to_jsonb(@.tenants) AS text)",
}
_SUBJECT = "'principal/' || @.principal_id"
KEY_BEFORE = Rule("api_keys", "api_key", _SUBJECT, on=("INSERT", "UPDATE"), details=_KEY)
KEY = Rule("api_keys", "api_key", _SUBJECT, on=("INSERT", "UPDATE"), details={**_KEY, **_SCOPE})
# A subject may be somebody's name or address: the chain, which nothing is erased from, holds its hash.
_IDENTITY = {"identity": "left(@.key, 16)"}
RULES = [
    Rule("principal_identities", "identity", _SUBJECT, details=_IDENTITY),
    Rule("principal_identities", "identity_removed", _SUBJECT, on=("DELETE",), details=_IDENTITY),
]


def upgrade() -> None:
    op.execute(NARROWING)
    op.create_table(
        "principal_identities",
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="SHA-256 of issuer and subject: both may be too long to be indexed",
        ),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("linked_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["linked_by"], ["principals.id"], name=op.f("fk_principal_identities_linked_by")),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name=op.f("fk_principal_identities_principal_id")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_principal_identities")),
    )
    op.create_index("ix_principal_identities_principal_id", "principal_identities", ["principal_id"])
    op.create_table(
        "sessions",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column(
            "hash",
            sa.Text(),
            nullable=False,
            comment="SHA-256 of the cookie's token; the token itself is never stored",
        ),
        sa.Column("principal_id", sa.Text(), nullable=False),
        sa.Column(
            "key_hash", sa.Text(), nullable=True, comment="The API key that it was opened with: it ends with the key"
        ),
        sa.Column(
            "identity_key",
            sa.Text(),
            nullable=True,
            comment="The identity that it was opened with: it ends with the link",
        ),
        sa.Column("began_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("num_nonnulls(key_hash, identity_key) = 1", name=op.f("ck_sessions_opened_with")),
        sa.ForeignKeyConstraint(["key_hash"], ["api_keys.hash"], name=op.f("fk_sessions_key_hash")),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name=op.f("fk_sessions_principal_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("hash", name=op.f("uq_sessions_hash")),
    )
    op.create_index("ix_sessions_principal_id", "sessions", ["principal_id"])
    _scoped_keys()
    op.add_column(
        "retrieval_requests",
        sa.Column(
            "narrowed_to",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("app_narrowing()"),
            nullable=True,
            comment="The tenants that the asking credential was narrowed to; NULL: not narrowed",
        ),
    )
    for statement in row_security.statements(TABLES):
        op.execute(statement)
    for table, rule in RESTRICTED.items():
        op.execute(f"CREATE POLICY app_narrowed ON {table} AS RESTRICTIVE TO {row_security.APP} USING ({rule})")
    op.execute(BRIEFS)
    _replace_rule(KEY)
    for rule in RULES:
        for statement in rule.statements():
            op.execute(statement)


def downgrade() -> None:
    for rule in RULES:
        op.execute(f"DROP FUNCTION {rule.name} CASCADE")
    _replace_rule(KEY_BEFORE)
    for table in (*RESTRICTED, "consultation_briefs"):
        op.execute(f"DROP POLICY app_narrowed ON {table}")
    op.drop_column("retrieval_requests", "narrowed_to")
    op.drop_table("sessions")
    op.drop_table("principal_identities")
    # A key that was narrowed must not come back as one that isn't.
    op.execute("UPDATE api_keys SET expires_at = now() WHERE num_nonnulls(abilities, tenants) > 0")
    for column in ("issued_by", "tenants", "abilities", "label", "id"):
        op.drop_column("api_keys", column)
    op.execute("DROP FUNCTION app_narrowing()")


def _scoped_keys() -> None:
    for column in (
        sa.Column("id", sa.Uuid(as_uuid=False), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("label", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "abilities", postgresql.ARRAY(sa.Text()), nullable=True, comment="contracts.sign_in.Ability; NULL: all"
        ),
        sa.Column(
            "tenants", postgresql.ARRAY(sa.Text()), nullable=True, comment="NULL: all that the principal may see"
        ),
        sa.Column("issued_by", sa.Text(), nullable=True),
    ):
        op.add_column("api_keys", column)
    op.create_unique_constraint(op.f("uq_api_keys_id"), "api_keys", ["id"])
    op.create_foreign_key(op.f("fk_api_keys_issued_by"), "api_keys", "principals", ["issued_by"], ["id"])


def _replace_rule(rule: Rule) -> None:
    op.execute(f"DROP FUNCTION {rule.name} CASCADE")
    for statement in rule.statements():
        op.execute(statement)
