"""Erasures, what they leave behind, and their way through the rules that keep records as they were."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from activities.records import row_security

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TABLES = ["erasures", "tombstones"]
KINDS = "'decide', 'resubmit', 'correct', 'retire', 'supersede', 'revise', 'reinstate'"
EVENTS = "'start', 'decide', 'signal', 'project'"

# What was decided stays as it was, but for an erasure that is under way, by the system, in a transaction that names
# it (R11). Nothing changes the audit, a strategy that was used, or deletes.
REFUSE_CHANGE = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND current_user = 'caselore_system' AND TG_TABLE_NAME NOT IN ('audit', 'strategy_versions')
     AND EXISTS (SELECT 1 FROM erasures e
                  WHERE e.id::text = current_setting('caselore.erasure', true) AND e.state = 'running') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""
REFUSE_ALWAYS = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""
# From PostgreSQL 17 on, a role that owns nothing may be let vacuum: dead rows hold their text until then.
MAINTAIN = f"""
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO {row_security.SYSTEM}';
    EXECUTE 'ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT MAINTAIN ON TABLES TO {row_security.SYSTEM}';
  END IF;
END $$
"""
NOT_MAINTAIN = f"""
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE MAINTAIN ON TABLES FROM {row_security.SYSTEM}';
    EXECUTE 'REVOKE MAINTAIN ON ALL TABLES IN SCHEMA public FROM {row_security.SYSTEM}';
  END IF;
END $$
"""


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("case_id", sa.Uuid(as_uuid=False), nullable=True, comment="Of a case; the others are of a subject"),
        sa.Column(
            "subject",
            postgresql.JSONB(none_as_null=True),
            nullable=True,
            comment="What to find; NULL as soon as it is done",
        ),
        sa.Column(
            "subject_values",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="How many named the subject",
        ),
        sa.Column("keep_published", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column(
            "requested_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="1", nullable=False, comment="How often it was asked for"),
        sa.Column("why", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "stores",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="contracts.erasure.StoreReport",
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state IN ('running', 'done', 'needs_person')", name=op.f("ck_erasures_state")),
        sa.CheckConstraint("state <> 'done' OR subject IS NULL", name=op.f("ck_erasures_nothing_left")),
        sa.CheckConstraint("(state = 'running') = (finished_at IS NULL)", name=op.f("ck_erasures_finished")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_erasures_tenant_id")),
        sa.ForeignKeyConstraint(["requested_by"], ["principals.id"], name=op.f("fk_erasures_requested_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
    )
    op.create_table(
        "tombstones",
        sa.Column("erasure_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column(
            "ref",
            sa.Text(),
            nullable=False,
            comment="case/<id>, experience/<id> or experience/<id>/<revision>",
        ),
        sa.Column("digest", sa.Text(), server_default="", nullable=False, comment="Of the text that was there"),
        sa.Column("erased_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(["erasure_id"], ["erasures.id"], name=op.f("fk_tombstones_erasure_id")),
        sa.PrimaryKeyConstraint("ref", "erasure_id", name=op.f("pk_tombstones")),
    )
    for table in ("cases", "experiences"):
        op.add_column(table, sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True))
    _words(f"{KINDS}, 'erase'", f"{EVENTS}, 'erase'")
    for statement in row_security.statements(TABLES):
        op.execute(statement)
    op.execute(REFUSE_CHANGE)
    op.execute(MAINTAIN)


def downgrade() -> None:
    op.execute(NOT_MAINTAIN)
    op.execute(REFUSE_ALWAYS)
    _words(KINDS, EVENTS)
    for table in ("cases", "experiences"):
        op.drop_column(table, "erased_at")
    for table in reversed(TABLES):
        op.drop_table(table)


def _words(kinds: str, events: str) -> None:
    """Let the columns hold these words. A record with words that are no longer known can't go back."""
    for table, words in (("commands", kinds), ("outbox", events)):
        op.drop_constraint(f"ck_{table}_kind", table)
        op.create_check_constraint(op.f(f"ck_{table}_kind"), table, f"kind IN ({words})")
