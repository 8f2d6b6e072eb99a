"""Adopting a strategy version is a reviewed act; a retrieval keeps what its answer was composed from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from activities.records import row_security
from activities.records.audit_rules import Rule

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# What is adopted is seen by everybody who is signed in, as profiles and strategies are: it tells of no tenant.
READ = """
GRANT SELECT ON strategy_adoptions TO caselore_app;
CREATE POLICY app_read ON strategy_adoptions FOR SELECT TO caselore_app
  USING ((SELECT app_principal()) IS NOT NULL);
"""
# A profile's pin changes with the decision that adopts it, in the same transaction, and in no other way (R14).
GUARD = """
CREATE FUNCTION refuse_pin_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM strategy_adoptions a WHERE a.profile_id = NEW.id AND a.state = 'adopted'
                    AND a.strategy_id = NEW.strategy_id AND a.version = NEW.strategy_version
                    AND a.decided_at >= transaction_timestamp()) THEN
    RAISE EXCEPTION 'the pin of profile % changes by an adoption only', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER profiles_pin BEFORE UPDATE OF strategy_id, strategy_version ON profiles FOR EACH ROW
  WHEN (OLD.strategy_id IS DISTINCT FROM NEW.strategy_id OR OLD.strategy_version IS DISTINCT FROM NEW.strategy_version)
  EXECUTE FUNCTION refuse_pin_change();
-- What is proposed and what was decided stay as they were written.
CREATE TRIGGER strategy_adoptions_immutable BEFORE UPDATE OF profile_id, strategy_id, version, digest,
  expected_strategy_id, expected_version, reason, proposed_by, proposed_at ON strategy_adoptions
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER strategy_adoptions_decided_once BEFORE UPDATE ON strategy_adoptions FOR EACH ROW
  WHEN (OLD.state <> 'proposed') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER strategy_adoptions_kept BEFORE DELETE ON strategy_adoptions
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""
NO_GUARD = """
DROP TRIGGER profiles_pin ON profiles;
DROP FUNCTION refuse_pin_change();
"""
PIN = {"strategy": "@.strategy_id", "strategy_version": "@.version::text", "adoption": "@.id::text"}
RULES = [
    Rule(
        "strategy_adoptions", "adoption_proposed", "'profile/' || @.profile_id", actor="@.proposed_by",
        digest="@.digest", cause="@.id", details=PIN,
    ),
    Rule(
        "strategy_adoptions", "adoption_decided", "'profile/' || @.profile_id", actor="@.decided_by",
        digest="@.digest", cause="@.decision_id", on=("UPDATE",), of="state",
        when="OLD.state IS DISTINCT FROM NEW.state",
        details={**PIN, "state": "@.state", "on_behalf_of": "@.on_behalf_of"},
    ),
]  # fmt: skip


def upgrade() -> None:
    op.add_column(
        "retrieval_requests",
        sa.Column(
            "rankings",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="contracts.rankings.Rankings: references and places only",
        ),
    )
    op.create_table(
        "strategy_adoptions",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("profile_id", sa.Text(), nullable=False),
        sa.Column("strategy_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("expected_strategy_id", sa.Text(), nullable=False),
        sa.Column("expected_version", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("proposed_by", sa.Text(), nullable=False),
        sa.Column(
            "proposed_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("state", sa.Text(), server_default="proposed", nullable=False),
        sa.Column("decision_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("on_behalf_of", sa.Text(), nullable=True),
        sa.Column("decision_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state IN ('proposed', 'adopted', 'declined')", name=op.f("ck_strategy_adoptions_state")),
        sa.CheckConstraint(
            "num_nonnulls(decision_id, decided_by, decided_at) = CASE state WHEN 'proposed' THEN 0 ELSE 3 END",
            name=op.f("ck_strategy_adoptions_decided"),
        ),
        sa.CheckConstraint(
            "decided_by <> proposed_by AND on_behalf_of IS DISTINCT FROM proposed_by",
            name=op.f("ck_strategy_adoptions_two_people"),
        ),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name=op.f("fk_strategy_adoptions_profile_id")),
        sa.ForeignKeyConstraint(["proposed_by"], ["principals.id"], name=op.f("fk_strategy_adoptions_proposed_by")),
        sa.ForeignKeyConstraint(["decided_by"], ["principals.id"], name=op.f("fk_strategy_adoptions_decided_by")),
        sa.ForeignKeyConstraint(["on_behalf_of"], ["principals.id"], name=op.f("fk_strategy_adoptions_on_behalf_of")),
        sa.ForeignKeyConstraint(
            ["strategy_id", "version"],
            ["strategy_versions.strategy_id", "strategy_versions.version"],
            name=op.f("fk_strategy_adoptions_strategy_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_strategy_adoptions")),
        sa.UniqueConstraint("decision_id", name=op.f("uq_strategy_adoptions_decision_id")),
    )
    op.create_index(
        "ix_strategy_adoptions_profile_id", "strategy_adoptions", ["profile_id", "proposed_at"], unique=False
    )
    for statement in row_security.statements(["strategy_adoptions"]):
        op.execute(statement)
    op.execute(READ)
    op.execute(GUARD)
    for rule in RULES:
        for statement in rule.statements():
            op.execute(statement)


def downgrade() -> None:
    op.execute(NO_GUARD)
    op.drop_table("strategy_adoptions")
    for rule in RULES:
        op.execute(f"DROP FUNCTION {rule.name}")
    op.drop_column("retrieval_requests", "rankings")
