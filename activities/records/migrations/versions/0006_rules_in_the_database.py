"""Rules in the database: ordered outbox positions, immutable records, row-level security."""

from __future__ import annotations

from alembic import op

from activities.records import row_security

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = [
    "tenants", "principals", "api_keys", "grants", "domains", "domain_roles", "origins", "cases", "contents", "arrivals",
    "case_states", "case_links", "case_papers", "case_results", "experiences", "revisions", "commands",
    "review_decisions", "transitions", "articles", "article_revisions", "strategies", "strategy_versions",
    "profiles", "profile_members", "outbox", "projections", "watermarks", "retrieval_requests",
    "retrieval_candidates", "retrieval_reads", "memory_uses", "retrieval_verdicts", "fresh_checks",
]  # fmt: skip

# A position is taken under a lock that lasts until commit: whoever sees position n sees all below it (R9).
POSITION = """
CREATE FUNCTION outbox_take_position() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('caselore.outbox'));
  NEW.position := nextval('outbox_position');
  PERFORM pg_notify('caselore_outbox', NEW.topic);
  RETURN NEW;
END $$;
CREATE TRIGGER outbox_position BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION outbox_take_position();
"""

# What was reviewed, decided or used stays as it was (R7, R14).
IMMUTABLE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER review_decisions_immutable BEFORE UPDATE OR DELETE ON review_decisions
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER transitions_immutable BEFORE UPDATE OR DELETE ON transitions
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER revisions_immutable BEFORE UPDATE OF content, digest, title, searchable, outcome, proof_level,
  author_id, domain_id ON revisions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER strategies_immutable BEFORE UPDATE OF definition, digest, first_used_at ON strategy_versions
  FOR EACH ROW WHEN (OLD.first_used_at IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER article_revisions_immutable BEFORE UPDATE OF content, digest, title, body, author_id
  ON article_revisions FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""


def upgrade() -> None:
    op.execute(POSITION)
    op.execute(IMMUTABLE)
    for statement in [*row_security.foundations(), *row_security.statements(TABLES)]:
        op.execute(statement)


def downgrade() -> None:
    for table in TABLES:
        for policy in ("system_all", "app_read", "app_write", "app_change"):
            op.execute(f"DROP POLICY IF EXISTS {policy} ON {table}")
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    op.execute(
        "DROP FUNCTION app_review_domains(), app_cases(), app_tenants(), app_principal(),"
        " outbox_take_position(), refuse_change() CASCADE"
    )
    for role in (row_security.APP, row_security.SYSTEM):
        op.execute(f"DROP OWNED BY {role}")
