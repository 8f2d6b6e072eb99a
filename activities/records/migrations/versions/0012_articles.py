"""Articles go through the lifecycle of experience, as its other kind; their own tables go."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from activities.records import row_security
from activities.records.audit_rules import Rule

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

OF_A_CASE = ("tenant_id", "case_id", "result_id", "outcome")
LABELLED = ("outcome", "proof_level")

# An article is its domain's: its people see and review its drafts, with roles of their own or lent (R7), and so does
# who proposed it. Everybody who is signed in reads the current revision, and whether it is searchable.
POLICIES = """
CREATE POLICY app_read_articles ON experiences FOR SELECT TO caselore_app
  USING (kind = 'article' AND proposer_id = (SELECT app_principal()));
CREATE POLICY app_write_articles ON experiences FOR INSERT TO caselore_app
  WITH CHECK (kind = 'article' AND proposer_id = (SELECT app_principal()) AND stage = 'curator_review'
              AND domain_id IN (SELECT app_review_domains()));
CREATE POLICY app_read_articles ON projections FOR SELECT TO caselore_app USING (split_part(key, '/', 1) = 'article'
  AND (SELECT true FROM revisions r WHERE r.experience_id = target_id AND r.kind = 'article' AND r.state = 'current'));
"""
NO_POLICIES = """
DROP POLICY app_read_articles ON projections;
DROP POLICY app_write_articles ON experiences;
DROP POLICY app_read_articles ON experiences;
"""
IMMUTABLE = """
CREATE TRIGGER article_revisions_immutable BEFORE UPDATE OF content, digest, title, body, author_id
  ON article_revisions FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""
RULES = [
    Rule(
        "article_revisions", "article_draft", "'article/' || @.article_id", actor="@.author_id",
        revision="@.number", digest="@.digest",
    ),
    Rule(
        "article_revisions", "article_state", "'article/' || @.article_id", on=("UPDATE",), of="state",
        when="OLD.state IS DISTINCT FROM NEW.state", revision="@.number", digest="@.digest",
        details={"from": "OLD.state", "to": "@.state"},
    ),
]  # fmt: skip


def upgrade() -> None:
    op.drop_table("article_revisions")
    op.drop_table("articles")
    for rule in RULES:
        op.execute(f"DROP FUNCTION {rule.name}")
    for table, columns, name in (
        ("experiences", OF_A_CASE, "of_a_case"),
        ("revisions", LABELLED, "labelled"),
    ):
        op.add_column(table, sa.Column("kind", sa.Text(), server_default="experience", nullable=False))
        op.create_check_constraint(op.f(f"ck_{table}_kind"), table, "kind IN ('experience', 'article')")
        for column in columns:
            op.alter_column(table, column, nullable=True)
        op.create_check_constraint(
            op.f(f"ck_{table}_{name}"),
            table,
            f"num_nonnulls({', '.join(columns)}) = CASE kind WHEN 'experience' THEN {len(columns)} ELSE 0 END",
        )
    op.create_unique_constraint(op.f("uq_experiences_id_kind"), "experiences", ["id", "kind"])
    op.create_foreign_key(
        op.f("fk_revisions_experience_id_kind"), "revisions", "experiences", ["experience_id", "kind"], ["id", "kind"]
    )
    op.create_index(
        "ix_revisions_articles",
        "revisions",
        ["domain_id", "experience_id"],
        unique=False,
        postgresql_where=sa.text("kind = 'article' AND state = 'current'"),
    )
    op.execute(POLICIES)


def downgrade() -> None:
    op.execute(NO_POLICIES)
    op.drop_index("ix_revisions_articles", table_name="revisions")
    op.drop_constraint(op.f("fk_revisions_experience_id_kind"), "revisions", type_="foreignkey")
    op.drop_constraint(op.f("uq_experiences_id_kind"), "experiences", type_="unique")
    for table, columns, name in (
        ("revisions", LABELLED, "labelled"),
        ("experiences", OF_A_CASE, "of_a_case"),
    ):
        op.drop_constraint(op.f(f"ck_{table}_{name}"), table)
        op.drop_constraint(op.f(f"ck_{table}_kind"), table)
        op.drop_column(table, "kind")
        for column in columns:
            op.alter_column(table, column, nullable=False)  # a record with articles can't go back
    _old_tables()
    for statement in row_security.statements(["articles", "article_revisions"]):
        op.execute(statement)
    op.execute(IMMUTABLE)
    for rule in RULES:
        for statement in rule.statements():
            op.execute(statement)


def _old_tables() -> None:
    now = sa.text("clock_timestamp()")
    op.create_table(
        "articles",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("domain_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=now, nullable=False),
        sa.CheckConstraint("kind IN ('memory', 'method', 'skill')", name=op.f("ck_articles_kind")),
        sa.ForeignKeyConstraint(["domain_id"], ["domains.id"], name=op.f("fk_articles_domain_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["principals.id"], name=op.f("fk_articles_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_articles")),
    )
    op.create_table(
        "article_revisions",
        sa.Column("article_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), server_default="draft", nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "content", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="Source and version scope"
        ),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=now, nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "search",
            postgresql.TSVECTOR(),
            sa.Computed("to_tsvector('simple', title || ' ' || left(body, 100000))", persisted=True),
            nullable=True,
        ),
        sa.CheckConstraint(
            "state IN ('draft', 'current', 'replaced', 'retired')", name=op.f("ck_article_revisions_state")
        ),
        sa.CheckConstraint("(state = 'draft') = (published_at IS NULL)", name=op.f("ck_article_revisions_published")),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name=op.f("fk_article_revisions_article_id")),
        sa.ForeignKeyConstraint(["author_id"], ["principals.id"], name=op.f("fk_article_revisions_author_id")),
        sa.PrimaryKeyConstraint("article_id", "number", name=op.f("pk_article_revisions")),
    )
    op.create_index("ix_article_revisions_search", "article_revisions", ["search"], postgresql_using="gin")
    op.create_index(
        "uq_article_revisions_current",
        "article_revisions",
        ["article_id"],
        unique=True,
        postgresql_where=sa.text("state = 'current'"),
    )
