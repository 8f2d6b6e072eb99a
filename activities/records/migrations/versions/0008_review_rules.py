"""Reviewers' edits, declined units, delegations, reinstatement."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from activities.records import row_security

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

KINDS = "'decide', 'resubmit', 'correct', 'retire', 'supersede'"
EVENTS = "'propose', 'remind', 'escalate', 'accept', 'return', 'reject', 'resubmit', 'correct', 'retire', 'supersede'"
OPEN = "'draft', 'returned', 'rejected'"
ENDED = "'current', 'suspended', 'corrected', 'superseded', 'retired'"

OWN = """
CREATE FUNCTION app_own_roles() RETURNS TABLE (domain_id text, role text) LANGUAGE sql STABLE AS $$
  SELECT r.domain_id, r.role FROM domain_roles r WHERE r.principal_id = app_principal()
$$;
"""
# Whose role it is: NULL for one's own, else the delegator's; a lent role counts while its holder has it (R7).
LENT = """
CREATE FUNCTION app_review_roles() RETURNS TABLE (domain_id text, role text, on_behalf_of text) LANGUAGE sql STABLE AS $$
  SELECT r.domain_id, r.role, CAST(NULL AS text) FROM domain_roles r WHERE r.principal_id = app_principal()
  UNION ALL
  SELECT d.domain_id, d.role, d.delegator_id FROM delegations d
    JOIN domain_roles r ON r.principal_id = d.delegator_id AND r.domain_id = d.domain_id AND r.role = d.role
   WHERE d.delegate_id = app_principal() AND d.revoked_at IS NULL AND d.expires_at > now()
$$;
CREATE OR REPLACE FUNCTION app_review_domains() RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT domain_id FROM app_review_roles()
$$;
CREATE POLICY app_read_lent ON domain_roles FOR SELECT TO caselore_app USING (EXISTS (
  SELECT 1 FROM delegations d WHERE d.delegator_id = principal_id AND d.delegate_id = (SELECT app_principal())
     AND d.domain_id = domain_roles.domain_id AND d.role = domain_roles.role
     AND d.revoked_at IS NULL AND d.expires_at > now()));
"""
OWN_ONLY = """
DROP POLICY app_read_lent ON domain_roles;
CREATE OR REPLACE FUNCTION app_review_domains() RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT domain_id FROM domain_roles WHERE principal_id = app_principal()
$$;
DROP FUNCTION app_review_roles();
"""
# A delegation is given once and taken back once; so is where a trimmed text comes from.
IMMUTABLE = """
CREATE TRIGGER delegations_immutable BEFORE UPDATE OF id, delegator_id, delegate_id, domain_id, role, reason,
  expires_at, created_at ON delegations FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER delegations_revoked_once BEFORE UPDATE OF revoked_at, revoked_by ON delegations
  FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER revisions_origin_immutable BEFORE UPDATE OF experience_id, number, trimmed_from ON revisions
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""


def upgrade() -> None:
    op.create_table(
        "delegations",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("delegator_id", sa.Text(), nullable=False),
        sa.Column("delegate_id", sa.Text(), nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_by", sa.Text(), nullable=True),
        sa.CheckConstraint("delegate_id <> delegator_id", name=op.f("ck_delegations_not_oneself")),
        sa.CheckConstraint("expires_at > created_at", name=op.f("ck_delegations_expires")),
        sa.CheckConstraint("(revoked_at IS NULL) = (revoked_by IS NULL)", name=op.f("ck_delegations_revoked")),
        sa.CheckConstraint("role IN ('curator', 'owner')", name=op.f("ck_delegations_role")),
        sa.ForeignKeyConstraint(["delegate_id"], ["principals.id"], name=op.f("fk_delegations_delegate_id")),
        sa.ForeignKeyConstraint(["delegator_id"], ["principals.id"], name=op.f("fk_delegations_delegator_id")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_delegations_domain_id")),
        sa.ForeignKeyConstraint(["revoked_by"], ["principals.id"], name=op.f("fk_delegations_revoked_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delegations")),
    )
    op.create_index(op.f("ix_delegations_delegate_id"), "delegations", ["delegate_id"])
    op.create_index(op.f("ix_delegations_delegator_id"), "delegations", ["delegator_id"])
    op.add_column(
        "revisions",
        sa.Column(
            "trimmed_from",
            sa.Integer(),
            nullable=True,
            comment="The revision whose acceptance left units out: this one is its rest",
        ),
    )
    op.create_check_constraint(op.f("ck_revisions_trimmed_from"), "revisions", "trimmed_from = number - 1")
    op.create_foreign_key(
        op.f("fk_revisions_experience_id_trimmed_from"),
        "revisions",
        "revisions",
        ["experience_id", "trimmed_from"],
        ["experience_id", "number"],
    )
    op.add_column("review_decisions", sa.Column("on_behalf_of", sa.Text(), nullable=True))
    op.add_column(
        "review_decisions",
        sa.Column("declined_units", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
    )
    op.add_column(
        "review_decisions",
        sa.Column(
            "acknowledged_scope",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Digest of the scope difference that the owner was shown (R10)",
        ),
    )
    op.create_foreign_key(
        op.f("fk_review_decisions_on_behalf_of"), "review_decisions", "principals", ["on_behalf_of"], ["id"]
    )
    op.create_check_constraint(
        op.f("ck_review_decisions_not_for_the_author"),
        "review_decisions",
        "on_behalf_of <> author_id AND on_behalf_of <> reviewer_id",
    )
    op.create_check_constraint(
        op.f("ck_review_decisions_declined_units"), "review_decisions", "verdict = 'accept' OR declined_units = '{}'"
    )
    op.create_unique_constraint(
        op.f("uq_review_decisions_experience_id_revision_on_behalf_of"),
        "review_decisions",
        ["experience_id", "revision", "on_behalf_of"],
    )
    op.add_column(
        "commands",
        sa.Column(
            "refused_field",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The input at fault, of a refusal",
        ),
    )
    op.add_column(
        "commands",
        sa.Column(
            "refused_accepted",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="What a refusal said would be accepted",
        ),
    )
    op.add_column(
        "transitions",
        sa.Column("suspended", sa.Boolean(), server_default=sa.text("false"), nullable=False, comment="Afterwards"),
    )
    _words(f"{KINDS}, 'revise', 'reinstate'", f"{EVENTS}, 'revise', 'reinstate', 'trim'", f"{OPEN}, 'trimmed'")
    op.execute(IMMUTABLE)
    op.execute(OWN)
    for statement in row_security.statements(["delegations"]):
        op.execute(statement)
    op.execute(LENT)


def downgrade() -> None:
    op.execute(OWN_ONLY)
    op.execute("DROP TRIGGER revisions_origin_immutable ON revisions")
    _words(KINDS, EVENTS, OPEN)
    op.drop_column("commands", "refused_accepted")
    op.drop_column("commands", "refused_field")
    op.drop_column("transitions", "suspended")
    for column in ("acknowledged_scope", "declined_units", "on_behalf_of"):
        op.drop_column("review_decisions", column)
    op.drop_column("revisions", "trimmed_from")
    op.drop_table("delegations")
    op.execute("DROP FUNCTION app_own_roles()")


def _words(kinds: str, events: str, unpublished: str) -> None:
    """Let the columns hold these words. A record with words that are no longer known can't go back."""
    for table, name, condition in (
        ("commands", "kind", f"kind IN ({kinds})"),
        ("transitions", "event", f"event IN ({events})"),
        ("revisions", "state", f"state IN ({unpublished}, {ENDED})"),
        ("revisions", "published", f"(state IN ({unpublished})) = (published_at IS NULL)"),
    ):
        op.drop_constraint(f"ck_{table}_{name}", table)
        op.create_check_constraint(op.f(f"ck_{table}_{name}"), table, condition)
