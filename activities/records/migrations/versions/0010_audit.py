"""The hash-chained record of who decided what."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from activities.records import row_security
from activities.records.audit_rules import Rule

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = ["audit", "reconcile_reports"]

# The chain's functions run as the schema's owner, whom forced policies bind like anyone else: as a member of the
# system role it may read what they look up.
MEMBER = f"""
DO $$ BEGIN
  IF NOT pg_has_role(current_user, '{row_security.SYSTEM}', 'USAGE') THEN
    EXECUTE format('GRANT {row_security.SYSTEM} TO %I', current_user);
  END IF;
END $$
"""

# As contracts.audit.encoding: every value with its length in bytes, details in the order of their names' bytes.
FUNCTIONS = f"""
CREATE FUNCTION audit_value(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN value IS NULL THEN '-' ELSE octet_length(value) || ':' || value END
$$;
CREATE FUNCTION audit_hash(seq bigint, at timestamptz, actor_id text, action text, subject text, revision integer,
  digest text, cause_id uuid, details jsonb, previous text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(
    audit_value('caselore.audit.1') || audit_value(seq::text)
    || audit_value(CAST(extract(epoch FROM at) * 1000000 AS bigint)::text)
    || audit_value(actor_id) || audit_value(action) || audit_value(subject) || audit_value(revision::text)
    || audit_value(digest) || audit_value(cause_id::text)
    || audit_value((SELECT count(*) FROM jsonb_object_keys(details))::text)
    || coalesce((SELECT string_agg(audit_value(d.key) || audit_value(d.value), '' ORDER BY d.key COLLATE "C")
                   FROM jsonb_each_text(details) d), '')
    || audit_value(previous), 'UTF8')), 'hex')
$$;
-- Appends a row in the caller's transaction. The lock is the outbox's own, so the two can't be taken in two orders;
-- it lasts until commit, so the chain's order is the order of commits.
CREATE FUNCTION audit_append(actor_id text, action text, subject text, revision integer, digest text, cause_id uuid,
  details jsonb) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  head audit;
  row audit;
BEGIN
  IF EXISTS (SELECT FROM jsonb_each(details) d WHERE jsonb_typeof(d.value) <> 'string') THEN
    RAISE EXCEPTION 'details of an audit row are texts' USING ERRCODE = 'check_violation';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('caselore.outbox'));
  SELECT a.* INTO head FROM audit a ORDER BY a.seq DESC LIMIT 1;
  row.seq := coalesce(head.seq, 0) + 1;
  row.at := greatest(clock_timestamp(), head.at);
  row.previous := coalesce(head.hash, repeat('0', 64));
  row.hash := audit_hash(row.seq, row.at, actor_id, action, subject, revision, coalesce(digest, ''), cause_id,
                         details, row.previous);
  INSERT INTO audit (seq, at, actor_id, action, subject, revision, digest, cause_id, details, previous, hash)
  VALUES (row.seq, row.at, actor_id, action, subject, revision, coalesce(digest, ''), cause_id, details,
          row.previous, row.hash);
  RETURN row.seq;
END $$;
-- Who acts: the principal of an application's transaction; for the system's, whom it says it acts for.
CREATE FUNCTION audit_actor() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN session_user = '{row_security.APP}' THEN app_principal()
              ELSE NULLIF(current_setting('caselore.actor', true), '') END
$$;
CREATE FUNCTION audit_time(at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;
REVOKE ALL ON FUNCTION audit_append FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_append TO {row_security.SYSTEM};
"""
SIGNATURES = "audit_value, audit_hash, audit_append, audit_actor, audit_time"

APPEND_ONLY = """
CREATE TRIGGER audit_immutable BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_not_truncated BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""


EXPERIENCE = "'experience/' || @.experience_id"
STATE = "OLD.state IS DISTINCT FROM NEW.state"
GRANT = {"principal": "@.principal_id", "tenant": "@.tenant_id", "case": "@.case_id::text"}
ROLE = {"domain": "@.domain_id", "role": "@.role"}
KEY = {"key": "left(@.hash, 8)", "expires": "audit_time(@.expires_at)"}

KEPT = [
    Rule(
        "revisions", "draft", EXPERIENCE, actor="@.author_id", revision="@.number", digest="@.digest",
        details={"outcome": "@.outcome", "proof_level": "@.proof_level", "domain": "@.domain_id"},
    ),
    Rule(
        "review_decisions", "decision", EXPERIENCE, actor="@.reviewer_id", revision="@.revision", digest="@.digest",
        cause="@.decision_id",
        details={"stage": "@.stage", "verdict": "@.verdict", "on_behalf_of": "@.on_behalf_of"},
    ),
    Rule(
        "transitions", "transition", EXPERIENCE, actor="@.actor_id", revision="@.revision", cause="@.cause_id",
        digest="(SELECT r.digest FROM revisions r WHERE r.experience_id = @.experience_id AND r.number = @.revision)",
        details={
            "seq": "@.seq::text", "event": "@.event", "from": "@.from_stage", "to": "@.to_stage",
            "suspended": "@.suspended::text",
        },
    ),
]  # fmt: skip
"""What every row of the table must have in the chain (contracts.audit; `caselore audit verify`)."""

RULES = [
    *KEPT,
    Rule(
        "revisions", "revision_state", EXPERIENCE, on=("UPDATE",), of="state", when=STATE, revision="@.number", digest="@.digest",
        details={"from": "OLD.state", "to": "@.state"},
    ),
    Rule(
        "commands", "command", EXPERIENCE, actor="@.issued_by", digest="@.digest", cause="@.id",
        details={"kind": "@.kind"},
    ),
    Rule(
        "delegations", "delegation", "'principal/' || @.delegator_id", actor="@.delegator_id", cause="@.id",
        details={**ROLE, "delegate": "@.delegate_id", "expires": "audit_time(@.expires_at)"},
    ),
    Rule(
        "delegations", "delegation_revoked", "'principal/' || @.delegator_id", actor="@.revoked_by", cause="@.id",
        on=("UPDATE",), of="revoked_at", when="NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL",
        details={**ROLE, "delegate": "@.delegate_id"},
    ),
    Rule(
        "finding_dismissals", "dismissal", EXPERIENCE, actor="@.dismissed_by", revision="@.revision",
        cause="@.decision_id", details={"finding": "@.finding_id", "carried_from": "@.carried_from::text"},
    ),
    Rule(
        "article_revisions", "article_draft", "'article/' || @.article_id", actor="@.author_id",
        revision="@.number", digest="@.digest",
    ),
    Rule(
        "article_revisions", "article_state", "'article/' || @.article_id", on=("UPDATE",), of="state", when=STATE, revision="@.number",
        digest="@.digest", details={"from": "OLD.state", "to": "@.state"},
    ),
    Rule(
        "case_links", "case_link", "'case/' || @.case_id", actor="@.decided_by", cause="@.id",
        details={"kind": "@.kind", "other": "'case/' || @.other_case_id"},
    ),
    Rule(
        "case_links", "case_unlink", "'case/' || @.case_id", actor="@.removed_by", cause="@.id",
        on=("UPDATE",), of="removed_at", when="NEW.removed_at IS NOT NULL AND OLD.removed_at IS NULL",
        details={"kind": "@.kind", "other": "'case/' || @.other_case_id"},
    ),
    Rule(
        "grants", "grant", "'grant/' || @.id", on=("INSERT", "UPDATE"),
        details={**GRANT, "expires": "audit_time(@.expires_at)"},
    ),
    Rule("grants", "grant_removed", "'grant/' || @.id", on=("DELETE",), details=GRANT),
    Rule("domain_roles", "role", "'principal/' || @.principal_id", on=("INSERT", "UPDATE"), details=ROLE),
    Rule("domain_roles", "role_removed", "'principal/' || @.principal_id", on=("DELETE",), details=ROLE),
    Rule(
        "principals", "principal", "'principal/' || @.id", on=("INSERT", "UPDATE"),
        details={"kind": "@.kind", "active": "@.active::text", "administrator": "@.administrator::text"},
    ),
    Rule("api_keys", "api_key", "'principal/' || @.principal_id", on=("INSERT", "UPDATE"), details=KEY),
    Rule("api_keys", "api_key_removed", "'principal/' || @.principal_id", on=("DELETE",), details=KEY),
    Rule(
        "profiles", "profile", "'profile/' || @.id", on=("INSERT", "UPDATE"),
        details={
            "domain": "@.domain_id", "strategy": "@.strategy_id", "strategy_version": "@.strategy_version::text",
        },
    ),
    Rule("profile_members", "profile_member", "'profile/' || @.profile_id", details={"principal": "@.principal_id"}),
    Rule(
        "profile_members", "profile_member_removed", "'profile/' || @.profile_id", on=("DELETE",),
        details={"principal": "@.principal_id"},
    ),
    Rule(
        "strategy_versions", "strategy_version", "'strategy/' || @.strategy_id", revision="@.version",
        digest="@.digest",
    ),
    Rule(
        "memory_uses", "memory_use", "'retrieval/' || @.request_id", actor="@.decided_by", digest="@.digest",
        cause="@.decision_id",
    ),
]  # fmt: skip

# What was there before the chain begins it, in the order of its own times.
BACKFILL = "; ".join(
    [
        "SELECT audit_append({}) FROM (SELECT * FROM {} ORDER BY {}) kept".format(
            rule.values("kept").replace("jsonb_build_object(", f"jsonb_build_object('at', audit_time(kept.{at}), "),
            rule.table,
            at,
        )
        for rule, at in zip(KEPT, ("created_at", "decided_at", "at"), strict=True)
    ]
)


def upgrade() -> None:
    op.execute(MEMBER)
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_id", sa.Text(), nullable=True, comment="NULL: the system by itself"),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column(
            "subject_id",
            sa.Uuid(as_uuid=False),
            sa.Computed(
                "CASE WHEN subject ~ '^(experience|case)/[0-9a-f-]{36}$'"
                " THEN CAST(split_part(subject, '/', 2) AS uuid) END",
                persisted=True,
            ),
            nullable=True,
        ),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.Column("digest", sa.Text(), server_default="", nullable=False),
        sa.Column("cause_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column(
            "details",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Ids and labels only (R11)",
        ),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False, comment="contracts.audit.row_hash"),
        sa.CheckConstraint("jsonb_typeof(details) = 'object'", name=op.f("ck_audit_details")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_subject_seq", "audit", ["subject", "seq"], unique=False)
    op.create_index("ix_audit_actor_id_seq", "audit", ["actor_id", "seq"], unique=False)
    op.create_table(
        "reconcile_reports",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False, comment="schedule, start, or the administrator's id"),
        sa.Column("repaired", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "report",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="contracts.reconcile.ReconcileReport: counts and ids only",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reconcile_reports")),
    )
    op.create_index("ix_reconcile_reports_began_at", "reconcile_reports", ["began_at"], unique=False)
    for statement in row_security.statements(TABLES):
        op.execute(statement)
    op.execute(f"REVOKE INSERT, UPDATE, DELETE ON audit FROM {row_security.SYSTEM}")
    op.execute(FUNCTIONS)
    op.execute(APPEND_ONLY)
    for rule in RULES:
        for statement in rule.statements():
            op.execute(statement)
    op.execute(BACKFILL)


def downgrade() -> None:
    for rule in RULES:
        op.execute(f"DROP FUNCTION {rule.name} CASCADE")
    op.drop_table("audit")
    op.drop_table("reconcile_reports")
    op.execute(f"DROP FUNCTION {SIGNATURES}")
