"""A question to another domain can be withdrawn; what is withdrawn, its consulted side doesn't see any longer (R18)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from activities.records import row_security
from activities.records.audit_rules import Rule

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

# Replying, withdrawing and erasing the case wait for each other: first the case, then the consultation.
LOCK = f"""
CREATE FUNCTION app_lock_consultation(consultation uuid) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM 1 FROM consultations c JOIN retrieval_requests q ON q.id = c.request_id JOIN cases k ON k.id = q.case_id
    WHERE c.id = consultation FOR KEY SHARE OF k;
  PERFORM pg_advisory_xact_lock(hashtext('caselore.consultation'), hashtext(consultation::text));
END $$;
REVOKE ALL ON FUNCTION app_lock_consultation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION app_lock_consultation TO {row_security.APP};
"""
# What is withdrawn is the asking side's to know; to the other side the brief is just not there.
IS_WITHDRAWN = f"""
CREATE FUNCTION app_is_withdrawn(consultation uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT EXISTS (SELECT 1 FROM consultation_withdrawals w WHERE w.consultation_id = consultation)
$$;
REVOKE ALL ON FUNCTION app_is_withdrawn FROM PUBLIC;
GRANT EXECUTE ON FUNCTION app_is_withdrawn TO {row_security.APP};
"""
_ME = "(SELECT app_principal())"
_CONSULTED = "domain_id IN (SELECT app_consulted_domains())"
_OPEN = "NOT app_is_withdrawn(consultation_id)"
_ASKING = "EXISTS (SELECT 1 FROM consultations c WHERE c.id = consultation_briefs.consultation_id)"
READ = "EXISTS (SELECT 1 FROM consultations c WHERE c.id = consultation_id)"
WRITE = (
    f"EXISTS (SELECT 1 FROM consultations c WHERE c.id = consultation_id AND c.asked_by = {_ME}) AND NOT EXISTS"
    " (SELECT 1 FROM consultation_replies y WHERE y.consultation_id = consultation_withdrawals.consultation_id)"
)
RULE = Rule(
    "consultation_withdrawals", "consultation_withdrawn", "'consultation/' || @.consultation_id",
    cause="@.consultation_id",
)  # fmt: skip


def upgrade() -> None:
    op.create_table(
        "consultation_withdrawals",
        sa.Column("consultation_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column(
            "withdrawn_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["consultation_id"],
            ["consultation_briefs.consultation_id"],
            name=op.f("fk_consultation_withdrawals_consultation_id"),
        ),
        sa.PrimaryKeyConstraint("consultation_id", name=op.f("pk_consultation_withdrawals")),
    )
    for statement in row_security.statements(["consultation_withdrawals"]):
        op.execute(statement)
    op.execute(LOCK)
    op.execute(IS_WITHDRAWN)
    app = row_security.APP
    op.execute(f"GRANT SELECT, INSERT ON consultation_withdrawals TO {app}")
    op.execute(f"CREATE POLICY app_read ON consultation_withdrawals FOR SELECT TO {app} USING ({READ})")
    op.execute(f"CREATE POLICY app_write ON consultation_withdrawals FOR INSERT TO {app} WITH CHECK ({WRITE})")
    op.execute(f"ALTER POLICY app_read ON consultation_briefs USING (({_CONSULTED} AND {_OPEN}) OR {_ASKING})")
    for statement in RULE.statements():
        op.execute(statement)


def downgrade() -> None:
    op.execute(f"DROP FUNCTION {RULE.name} CASCADE")
    op.execute(f"ALTER POLICY app_read ON consultation_briefs USING ({_CONSULTED} OR {_ASKING})")
    op.execute("DROP FUNCTION app_is_withdrawn")
    op.execute("DROP FUNCTION app_lock_consultation")
    op.drop_table("consultation_withdrawals")
