"""Broadened and consulted retrievals, and how often a candidate helped."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from activities.records import row_security
from activities.records.audit_rules import Rule

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLES = [
    "broadenings", "consultations", "consultation_briefs", "consulted_retrievals", "consultation_replies",
    "consultation_citations", "feedbacks", "feedback_outcomes", "feedback_totals",
]  # fmt: skip

# A domain is consulted through those who hold a profile of it or review for it.
CONSULTED = """
CREATE FUNCTION app_consulted_domains() RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT p.domain_id FROM profile_members m JOIN profiles p ON p.id = m.profile_id
   WHERE m.principal_id = app_principal()
  UNION SELECT app_review_domains()
$$;
"""
# Who replies has no grant for the case; the paper, and nothing else, is filed there under the reply's own id (R18).
FILE_REPLY = f"""
CREATE FUNCTION app_file_consult_reply(consultation uuid, paper_title text, paper_text text, paper_digest text)
  RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO case_papers (id, tenant_id, case_id, kind, title, text, digest, author_id)
  SELECT r.paper_id, q.tenant_id, q.case_id, 'evidence', paper_title, paper_text, paper_digest, r.replied_by
    FROM consultation_replies r JOIN consultations c ON c.id = r.consultation_id
    JOIN retrieval_requests q ON q.id = c.request_id
   WHERE r.consultation_id = consultation AND r.replied_by = app_principal() AND q.case_id IS NOT NULL
  ON CONFLICT (id) DO NOTHING;
  RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION app_file_consult_reply FROM PUBLIC;
GRANT EXECUTE ON FUNCTION app_file_consult_reply TO {row_security.APP};
"""
# Whose feedback a row is comes from the retrieval that it is about, whatever the writer says. Totals are counted anew
# with every row: of published things only, and without what has no tenant of its own (R21).
COUNTING = """
CREATE FUNCTION feedback_owned() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  SELECT coalesce(q.tenant_id, q.request ->> 'tenant_id'), q.case_id, q.principal_id
    INTO NEW.of_tenant, NEW.of_case, NEW.asked_by
    FROM memory_uses u JOIN retrieval_requests q ON q.id = u.request_id WHERE u.decision_id = NEW.decision_id;
  RETURN NEW;
END $$;
CREATE FUNCTION feedback_counted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NEW.ref LIKE 'case/%' THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('caselore.feedback'), hashtext(NEW.ref));
  INSERT INTO feedback_totals (ref, revision, helped, misled, not_applicable, tenants)
  SELECT NEW.ref, NEW.revision, count(*) FILTER (WHERE l.usefulness = 'helped'),
         count(*) FILTER (WHERE l.usefulness = 'misled'), count(*) FILTER (WHERE l.usefulness = 'not_applicable'),
         count(DISTINCT l.of_tenant)
    FROM (SELECT DISTINCT ON (o.decision_id) o.usefulness, o.of_tenant FROM feedback_outcomes o
           WHERE o.ref = NEW.ref AND o.revision = NEW.revision AND o.of_tenant IS NOT NULL
           ORDER BY o.decision_id, o.number DESC) l
  ON CONFLICT (ref, revision) DO UPDATE SET helped = EXCLUDED.helped, misled = EXCLUDED.misled,
    not_applicable = EXCLUDED.not_applicable, tenants = EXCLUDED.tenants;
  RETURN NULL;
END $$;
CREATE TRIGGER feedback_owned BEFORE INSERT ON feedback_outcomes FOR EACH ROW EXECUTE FUNCTION feedback_owned();
CREATE TRIGGER feedback_counted AFTER INSERT ON feedback_outcomes FOR EACH ROW EXECUTE FUNCTION feedback_counted();
"""

_ME = "(SELECT app_principal())"
_RETRIEVAL = "EXISTS (SELECT 1 FROM retrieval_requests r WHERE r.id = {table}.{column})"
_MY_RETRIEVAL = (
    f"EXISTS (SELECT 1 FROM retrieval_requests r WHERE r.id = {{table}}.request_id AND r.principal_id = {_ME})"
)
_BRIEF = "EXISTS (SELECT 1 FROM consultation_briefs b WHERE b.consultation_id = {table}.consultation_id{more})"
_OF_MINE = " AND b.domain_id IN (SELECT app_consulted_domains())"
_ASKED = "EXISTS (SELECT 1 FROM consultations c WHERE c.id = {table}.consultation_id{more})"
_REPLY = "EXISTS (SELECT 1 FROM consultation_replies y WHERE y.consultation_id = consultation_citations.consultation_id"
_DECISION = "EXISTS (SELECT 1 FROM memory_uses u WHERE u.decision_id = {table}.decision_id)"
_BY_ME = f" AND c.asked_by = {_ME}"

READ = {
    "broadenings": _RETRIEVAL.format(table="broadenings", column="request_id"),
    "consultations": _RETRIEVAL.format(table="consultations", column="request_id"),
    "consultation_briefs": "domain_id IN (SELECT app_consulted_domains()) OR "
    + _ASKED.format(table="consultation_briefs", more=""),
    "consulted_retrievals": _RETRIEVAL.format(table="consulted_retrievals", column="request_id"),
    "consultation_replies": _BRIEF.format(table="consultation_replies", more=""),
    "consultation_citations": f"{_REPLY})",
    "feedbacks": _DECISION.format(table="feedbacks"),
    "feedback_outcomes": f"of_tenant IN (SELECT app_tenants()) OR of_case IN (SELECT app_cases())"
    f" OR (of_tenant IS NULL AND asked_by = {_ME})",
    "feedback_totals": f"tenants >= 3 AND {_ME} IS NOT NULL",
}
WRITE = {
    "broadenings": f"asked_by = {_ME} AND " + _MY_RETRIEVAL.format(table="broadenings")
    + " AND " + _RETRIEVAL.format(table="broadenings", column="broadened_from"),
    "consultations": f"asked_by = {_ME} AND " + _RETRIEVAL.format(table="consultations", column="request_id"),
    "consultation_briefs": _ASKED.format(table="consultation_briefs", more=_BY_ME),
    "consulted_retrievals": _MY_RETRIEVAL.format(table="consulted_retrievals")
    + " AND " + _BRIEF.format(table="consulted_retrievals", more=_OF_MINE),
    # Nobody answers their own question (R18).
    "consultation_replies": f"replied_by = {_ME} AND " + _BRIEF.format(table="consultation_replies", more=_OF_MINE)
    + " AND NOT " + _ASKED.format(table="consultation_replies", more=_BY_ME),
    "consultation_citations": f"{_REPLY} AND y.replied_by = {_ME})",
    "feedbacks": f"given_by = {_ME} AND " + _DECISION.format(table="feedbacks"),
    "feedback_outcomes": "EXISTS (SELECT 1 FROM feedbacks f WHERE f.id = feedback_id"
    f" AND f.decision_id = feedback_outcomes.decision_id AND f.given_by = {_ME})",
}  # fmt: skip
FUNCTIONS = ("feedback_counted", "feedback_owned", "app_file_consult_reply", "app_consulted_domains")

_ABOUT = "'retrieval/' || @.request_id"
RULES = [
    Rule(
        "broadenings", "broadening", _ABOUT, actor="@.asked_by", cause="@.broadened_from",
        details={"depth": "@.depth::text"},
    ),
    Rule("consultations", "consultation", _ABOUT, actor="@.asked_by", digest="@.digest", cause="@.id"),
    Rule(
        "consultation_replies", "consult_reply", "'consultation/' || @.consultation_id", actor="@.replied_by",
        digest="@.digest", cause="@.reply_id", details={"as": "@.replied_as"},
    ),
    Rule(
        "feedbacks", "feedback", "'decision/' || @.decision_id", actor="@.given_by", digest="@.digest", cause="@.id",
        details={"number": "@.number::text"},
    ),
]  # fmt: skip


def upgrade() -> None:
    op.create_table(
        "broadenings",
        sa.Column("request_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("broadened_from", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False, comment="How many retrievals came before it"),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "widened",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="contracts.widening.Widening: labels only",
        ),
        sa.Column(
            "domains",
            postgresql.ARRAY(sa.Text()),
            nullable=True,
            comment="Read where the strategy reads its own only; NULL: own, empty: every one",
        ),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("depth BETWEEN 1 AND 5", name=op.f("ck_broadenings_depth")),
        sa.CheckConstraint("request_id <> broadened_from", name=op.f("ck_broadenings_not_itself")),
        sa.ForeignKeyConstraint(["asked_by"], ["principals.id"], name=op.f("fk_broadenings_asked_by")),
        sa.ForeignKeyConstraint(
            ["broadened_from"], ["retrieval_requests.id"], name=op.f("fk_broadenings_broadened_from")
        ),
        sa.ForeignKeyConstraint(["request_id"], ["retrieval_requests.id"], name=op.f("fk_broadenings_request_id")),
        sa.PrimaryKeyConstraint("request_id", name=op.f("pk_broadenings")),
    )
    op.create_index(op.f("ix_broadenings_broadened_from"), "broadenings", ["broadened_from"], unique=False)
    op.create_table(
        "consultations",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("request_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(["asked_by"], ["principals.id"], name=op.f("fk_consultations_asked_by")),
        sa.ForeignKeyConstraint(["request_id"], ["retrieval_requests.id"], name=op.f("fk_consultations_request_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consultations")),
    )
    op.create_index(op.f("ix_consultations_request_id"), "consultations", ["request_id"], unique=False)
    op.create_table(
        "consultation_briefs",
        sa.Column("consultation_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=False),
        sa.Column("brief", sa.Text(), server_default="", nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["consultation_id"], ["consultations.id"], name=op.f("fk_consultation_briefs_consultation_id")
        ),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_consultation_briefs_domain_id")),
        sa.PrimaryKeyConstraint("consultation_id", name=op.f("pk_consultation_briefs")),
    )
    op.create_index("ix_consultation_briefs_domain_id", "consultation_briefs", ["domain_id", "asked_at"], unique=False)
    op.create_table(
        "consulted_retrievals",
        sa.Column("request_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("consultation_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.ForeignKeyConstraint(
            ["consultation_id"],
            ["consultation_briefs.consultation_id"],
            name=op.f("fk_consulted_retrievals_consultation_id"),
        ),
        sa.ForeignKeyConstraint(
            ["request_id"], ["retrieval_requests.id"], name=op.f("fk_consulted_retrievals_request_id")
        ),
        sa.PrimaryKeyConstraint("request_id", name=op.f("pk_consulted_retrievals")),
    )
    op.create_index(
        op.f("ix_consulted_retrievals_consultation_id"), "consulted_retrievals", ["consultation_id"], unique=False
    )
    op.create_index(
        "uq_consulted_retrievals_consultation", "consulted_retrievals", ["request_id", "consultation_id"], unique=True
    )
    op.create_table(
        "consultation_replies",
        sa.Column("consultation_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("reply_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column(
            "request_id",
            sa.Uuid(as_uuid=False),
            nullable=True,
            comment="The replier's own retrieval for the consultation",
        ),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("paper_id", sa.Uuid(as_uuid=False), nullable=False, comment="In the asker's case, when it has one"),
        sa.Column("replied_by", sa.Text(), nullable=False),
        sa.Column("replied_as", sa.Text(), nullable=False, comment="owner, curator or the profile"),
        sa.Column(
            "replied_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["consultation_id"],
            ["consultation_briefs.consultation_id"],
            name=op.f("fk_consultation_replies_consultation_id"),
        ),
        sa.ForeignKeyConstraint(["replied_by"], ["principals.id"], name=op.f("fk_consultation_replies_replied_by")),
        sa.ForeignKeyConstraint(
            ["request_id", "consultation_id"],
            ["consulted_retrievals.request_id", "consulted_retrievals.consultation_id"],
            name=op.f("fk_consultation_replies_request_id_consultation_id"),
        ),
        sa.PrimaryKeyConstraint("consultation_id", name=op.f("pk_consultation_replies")),
        sa.UniqueConstraint("reply_id", name=op.f("uq_consultation_replies_reply_id")),
    )
    op.create_table(
        "consultation_citations",
        sa.Column("consultation_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("request_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("ref ~ '^(experience|article)/'", name=op.f("ck_consultation_citations_published")),
        sa.ForeignKeyConstraint(
            ["consultation_id"],
            ["consultation_replies.consultation_id"],
            name=op.f("fk_consultation_citations_consultation_id"),
        ),
        sa.ForeignKeyConstraint(
            ["request_id", "ref", "revision"],
            ["retrieval_candidates.request_id", "retrieval_candidates.ref", "retrieval_candidates.revision"],
            name=op.f("fk_consultation_citations_request_id_ref_revision"),
        ),
        sa.PrimaryKeyConstraint("consultation_id", "ref", "revision", name=op.f("pk_consultation_citations")),
    )
    op.create_index("ix_consultation_citations_ref", "consultation_citations", ["ref"], unique=False)
    op.create_table(
        "feedbacks",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("decision_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, comment="From 1, in the order of the decision's feedback"),
        sa.Column("replaces", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("given_by", sa.Text(), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("(number = 1) = (replaces IS NULL)", name=op.f("ck_feedbacks_replaces")),
        sa.ForeignKeyConstraint(["decision_id"], ["memory_uses.decision_id"], name=op.f("fk_feedbacks_decision_id")),
        sa.ForeignKeyConstraint(["given_by"], ["principals.id"], name=op.f("fk_feedbacks_given_by")),
        sa.ForeignKeyConstraint(["replaces"], ["feedbacks.id"], name=op.f("fk_feedbacks_replaces")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedbacks")),
    )
    op.create_index("uq_feedbacks_decision_id_number", "feedbacks", ["decision_id", "number"], unique=True)
    op.create_table(
        "feedback_outcomes",
        sa.Column("feedback_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("decision_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, comment="Of the feedback; the highest counts"),
        sa.Column("usefulness", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("of_tenant", sa.Text(), nullable=True, comment="NULL: of no tenant"),
        sa.Column("of_case", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["asked_by"], ["principals.id"], name=op.f("fk_feedback_outcomes_asked_by")),
        sa.CheckConstraint(
            "usefulness IN ('helped', 'misled', 'not_applicable')", name=op.f("ck_feedback_outcomes_usefulness")
        ),
        sa.ForeignKeyConstraint(
            ["decision_id", "ref", "revision"],
            ["retrieval_verdicts.decision_id", "retrieval_verdicts.ref", "retrieval_verdicts.revision"],
            name=op.f("fk_feedback_outcomes_decision_id_ref_revision"),
        ),
        sa.ForeignKeyConstraint(["feedback_id"], ["feedbacks.id"], name=op.f("fk_feedback_outcomes_feedback_id")),
        sa.PrimaryKeyConstraint("feedback_id", "ref", "revision", name=op.f("pk_feedback_outcomes")),
    )
    op.create_index("ix_feedback_outcomes_ref", "feedback_outcomes", ["ref", "revision"], unique=False)
    op.create_index(
        "uq_feedback_outcomes_number", "feedback_outcomes", ["decision_id", "ref", "revision", "number"], unique=True
    )
    op.create_table(
        "feedback_totals",
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("helped", sa.Integer(), nullable=False),
        sa.Column("misled", sa.Integer(), nullable=False),
        sa.Column("not_applicable", sa.Integer(), nullable=False),
        sa.Column("tenants", sa.Integer(), nullable=False, comment="How many said something: shown from some on (R21)"),
        sa.PrimaryKeyConstraint("ref", "revision", name=op.f("pk_feedback_totals")),
    )
    for statement in row_security.statements(TABLES):
        op.execute(statement)
    op.execute(CONSULTED)
    for table in TABLES:
        op.execute(f"GRANT SELECT ON {table} TO {row_security.APP}")
        op.execute(f"CREATE POLICY app_read ON {table} FOR SELECT TO {row_security.APP} USING ({READ[table]})")
    for table in WRITE:
        op.execute(f"GRANT INSERT ON {table} TO {row_security.APP}")
        op.execute(f"CREATE POLICY app_write ON {table} FOR INSERT TO {row_security.APP} WITH CHECK ({WRITE[table]})")
    op.execute(FILE_REPLY)
    op.execute(COUNTING)
    for rule in RULES:
        for statement in rule.statements():
            op.execute(statement)


def downgrade() -> None:
    for rule in RULES:
        op.execute(f"DROP FUNCTION {rule.name} CASCADE")
    for table in TABLES:
        op.execute(f"DROP POLICY app_read ON {table}")
    for table in WRITE:
        op.execute(f"DROP POLICY app_write ON {table}")
    for function in FUNCTIONS:
        op.execute(f"DROP FUNCTION {function} CASCADE")
    for table in reversed(TABLES):
        op.drop_table(table)
