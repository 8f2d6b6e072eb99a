"""Feedback counts once per retrieval and not by one person alone; a fresh check says who settled it (R20, R21)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from activities.records import row_security
from activities.records.audit_rules import Rule

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

# Several decisions on one retrieval are one piece of work: its latest word counts. That many tenants spoke is true
# only when as many asked and as many spoke: one person can be let see several tenants (R21).
_LATEST = ("of_request", "o.said_at DESC, o.number DESC")
_SPOKE = "least(count(DISTINCT l.of_tenant), count(DISTINCT l.asked_by), count(DISTINCT l.given_by))"
_LATEST_BEFORE = ("decision_id", "o.number DESC")
_SPOKE_BEFORE = "count(DISTINCT l.of_tenant)"


def _count(which: str, latest: tuple[str, str], spoke: str) -> str:
    """Return the SQL that counts the totals of some candidates anew."""
    per, newest = latest
    return f"""
  INSERT INTO feedback_totals (ref, revision, helped, misled, not_applicable, tenants)
  SELECT l.ref, l.revision, count(*) FILTER (WHERE l.usefulness = 'helped'),
         count(*) FILTER (WHERE l.usefulness = 'misled'), count(*) FILTER (WHERE l.usefulness = 'not_applicable'),
         {spoke}
    FROM (SELECT DISTINCT ON (o.ref, o.revision, o.{per}) o.ref, o.revision, o.usefulness, o.of_tenant, o.asked_by,
                 f.given_by
            FROM feedback_outcomes o JOIN feedbacks f ON f.id = o.feedback_id
           WHERE {which} AND o.of_tenant IS NOT NULL
           ORDER BY o.ref, o.revision, o.{per}, {newest}) l
   GROUP BY l.ref, l.revision
  ON CONFLICT (ref, revision) DO UPDATE SET helped = EXCLUDED.helped, misled = EXCLUDED.misled,
    not_applicable = EXCLUDED.not_applicable, tenants = EXCLUDED.tenants;
"""


def _counting(latest: tuple[str, str], spoke: str) -> tuple[str, str]:
    """Return the SQL of the function that counts with every row, and of counting everything anew."""
    function = f"""
CREATE OR REPLACE FUNCTION feedback_counted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NEW.ref LIKE 'case/%' THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('caselore.feedback'), hashtext(NEW.ref));
  {_count("o.ref = NEW.ref AND o.revision = NEW.revision", latest, spoke)}
  RETURN NULL;
END $$
"""
    return function, _count("o.ref NOT LIKE 'case/%'", latest, spoke)


def _owned(columns: str, values: str) -> str:
    """Return the SQL of the function that says whose a row is, whatever its writer says."""
    return f"""
CREATE OR REPLACE FUNCTION feedback_owned() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  SELECT coalesce(q.tenant_id, q.request ->> 'tenant_id'), q.case_id, q.principal_id{values}
    INTO NEW.of_tenant, NEW.of_case, NEW.asked_by{columns}
    FROM memory_uses u JOIN retrieval_requests q ON q.id = u.request_id
    JOIN feedbacks f ON f.id = NEW.feedback_id
   WHERE u.decision_id = NEW.decision_id;
  RETURN NEW;
END $$
"""


OWNED = _owned(", NEW.of_request, NEW.said_at", ", q.id, f.given_at")
OWNED_BEFORE = _owned("", "")
BACKFILL = """
UPDATE feedback_outcomes o SET of_request = u.request_id, said_at = f.given_at
  FROM feedbacks f, memory_uses u WHERE f.id = o.feedback_id AND u.decision_id = o.decision_id
"""

_ME = "(SELECT app_principal())"
_GRANTED = "of_tenant IN (SELECT app_tenants()) OR of_case IN (SELECT app_cases())"
# Outside a case a retrieval is its asker's, also one that names a tenant of which the asker may see a single case.
_WITHIN = "of_tenant IS NULL OR (SELECT app_narrowing()) IS NULL OR of_tenant = ANY (SELECT unnest(app_narrowing()))"
READ = f"{_GRANTED} OR (of_case IS NULL AND asked_by = {_ME} AND ({_WITHIN}))"
READ_BEFORE = f"{_GRANTED} OR (of_tenant IS NULL AND asked_by = {_ME})"
_CHECKS = row_security.READ["fresh_checks"]

# An agent names its checks in words of its own: the chain, which nothing is erased from, holds the hash.
RULE = Rule(
    "fresh_checks", "check_settled", "'decision/' || @.decision_id", actor="@.settled_by", cause="@.decision_id",
    on=("UPDATE",), of="outcome", when="NEW.outcome IS NOT NULL AND OLD.outcome IS NULL",
    details={"check": "left(encode(sha256(convert_to(@.check_id, 'UTF8')), 'hex'), 16)", "outcome": "@.outcome"},
)  # fmt: skip


def upgrade() -> None:
    op.add_column("feedback_outcomes", sa.Column("of_request", sa.Uuid(as_uuid=False), nullable=True))
    op.add_column("feedback_outcomes", sa.Column("said_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(BACKFILL)
    op.alter_column("feedback_outcomes", "of_request", nullable=False)
    op.alter_column("feedback_outcomes", "said_at", nullable=False)
    op.alter_column(
        "feedback_totals",
        "tenants",
        existing_type=sa.Integer(),
        comment="How many tenants, askers and people said something, the least of them: shown from some on (R21)",
        existing_comment="How many said something: shown from some on (R21)",
    )
    op.execute(OWNED)
    for statement in _counting(_LATEST, _SPOKE):
        op.execute(statement)
    op.execute(f"ALTER POLICY app_read ON feedback_outcomes USING ({READ})")

    op.add_column("fresh_checks", sa.Column("settled_by", sa.Text(), nullable=True))
    op.create_foreign_key(op.f("fk_fresh_checks_settled_by"), "fresh_checks", "principals", ["settled_by"], ["id"])
    op.execute(f"GRANT UPDATE (settled_by) ON fresh_checks TO {row_security.APP}")
    op.execute(f"ALTER POLICY app_change ON fresh_checks WITH CHECK ({_CHECKS} AND settled_by = {_ME})")
    for statement in RULE.statements():
        op.execute(statement)


def downgrade() -> None:
    op.execute(f"DROP FUNCTION {RULE.name} CASCADE")
    op.execute(f"ALTER POLICY app_change ON fresh_checks WITH CHECK ({_CHECKS})")
    op.drop_column("fresh_checks", "settled_by")

    op.execute(f"ALTER POLICY app_read ON feedback_outcomes USING ({READ_BEFORE})")
    for statement in _counting(_LATEST_BEFORE, _SPOKE_BEFORE):
        op.execute(statement)
    op.execute(OWNED_BEFORE)
    op.alter_column(
        "feedback_totals",
        "tenants",
        existing_type=sa.Integer(),
        comment="How many said something: shown from some on (R21)",
        existing_comment="How many tenants, askers and people said something, the least of them: shown from some on (R21)",
    )
    op.drop_column("feedback_outcomes", "said_at")
    op.drop_column("feedback_outcomes", "of_request")
