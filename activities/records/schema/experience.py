"""Experiences and articles, their revisions, decisions and commands (R5 to R10; spec section 4)."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR

from activities.records.schema.base import (
    id_column,
    key_reference,
    label,
    labels_column,
    metadata,
    moment,
    one_of,
    reference,
    text_column,
    uuid_text,
)
from contracts.labels import Outcome, ProofLevel
from contracts.lifecycle import VERDICTS, Event, Noted, Stage
from contracts.review import ChangeKind

KINDS = ("experience", "article")

experiences = Table(
    "experiences",
    metadata,
    id_column(),
    Column("kind", Text, nullable=False, server_default="experience"),
    one_of("kind", *KINDS),
    # An article comes from no case: it is of its domain, and claims no outcome.
    Column("tenant_id", Text, nullable=True),
    Column("case_id", uuid_text, nullable=True, index=True),
    Column("result_id", uuid_text, nullable=True),
    Column("outcome", Text, nullable=True),
    CheckConstraint(
        "num_nonnulls(tenant_id, case_id, result_id, outcome) = CASE kind WHEN 'experience' THEN 4 ELSE 0 END",
        name="of_a_case",
    ),
    key_reference("domain_id", "domains.id"),
    key_reference("proposer_id", "principals.id"),
    *label("stage", Stage),
    Column("revision", Integer, nullable=False, comment="Number of the newest draft"),
    Column("current_revision", Integer, comment="The published one, also while suspended"),
    Column("suspended", Boolean, nullable=False, server_default=text("false")),
    reference("superseded_by", "experiences.id", nullable=True, index=True),
    moment("stage_since"),
    moment("due_at", nullable=True),
    Column("reminded", Boolean, nullable=False, server_default=text("false")),
    Column("escalated", Boolean, nullable=False, server_default=text("false")),
    Column("row_version", Integer, nullable=False, server_default="1"),
    moment("created_at", default=True),
    moment("erased_at", nullable=True),
    # The outcome label is the case result's own: it can't be restated (R5).
    ForeignKeyConstraint(
        ["result_id", "case_id", "tenant_id", "outcome"],
        ["case_results.id", "case_results.case_id", "case_results.tenant_id", "case_results.outcome"],
    ),
    ForeignKeyConstraint(["id", "current_revision"], ["revisions.experience_id", "revisions.number"], use_alter=True),
    UniqueConstraint("id", "outcome"),
    UniqueConstraint("id", "kind"),
    CheckConstraint("superseded_by <> id", name="not_itself"),
    CheckConstraint("NOT suspended OR current_revision IS NOT NULL", name="suspended"),
    CheckConstraint("(stage = 'superseded') = (superseded_by IS NOT NULL)", name="superseded"),
    Index("ix_experiences_domain_id_stage_due_at", "domain_id", "stage", "due_at"),
    Index("ix_experiences_stage_since", text("stage_since DESC"), text("id DESC")),
)

UNPUBLISHED = ("draft", "returned", "rejected", "trimmed")
"""`trimmed`: accepted in part; what was accepted is the next revision."""
REVISION_STATES = (*UNPUBLISHED, "current", "suspended", "corrected", "superseded", "retired")

revisions = Table(
    "revisions",
    metadata,
    reference("experience_id", "experiences.id"),
    Column("number", Integer, nullable=False),
    PrimaryKeyConstraint("experience_id", "number"),
    Column("state", Text, nullable=False, server_default="draft"),
    one_of("state", *REVISION_STATES),
    Column("kind", Text, nullable=False, server_default="experience"),
    one_of("kind", *KINDS),
    *label("outcome", Outcome, nullable=True),
    *label("proof_level", ProofLevel, nullable=True),
    CheckConstraint(
        "num_nonnulls(outcome, proof_level) = CASE kind WHEN 'experience' THEN 2 ELSE 0 END", name="labelled"
    ),
    key_reference("domain_id", "domains.id"),
    Column("title", Text, nullable=False),
    Column("content", JSONB, nullable=False, comment="contracts.experience.Draft"),
    Column("digest", Text, nullable=False),
    key_reference("author_id", "principals.id"),
    Column("trimmed_from", Integer, comment="The revision whose acceptance left units out: this one is its rest"),
    moment("created_at", default=True),
    moment("published_at", nullable=True),
    moment("ended_at", nullable=True),
    text_column("searchable", comment="The approved words that full text looks through"),
    Column(
        "search", TSVECTOR, Computed("to_tsvector('simple', title || ' ' || left(searchable, 100000))", persisted=True)
    ),
    UniqueConstraint("experience_id", "number", "author_id"),
    CheckConstraint(f"(state IN {UNPUBLISHED}) = (published_at IS NULL)", name="published"),
    CheckConstraint("trimmed_from = number - 1", name="trimmed_from"),
    ForeignKeyConstraint(["experience_id", "trimmed_from"], ["revisions.experience_id", "revisions.number"]),
    # Every revision keeps the outcome of the case result (R5).
    ForeignKeyConstraint(["experience_id", "outcome"], ["experiences.id", "experiences.outcome"]),
    ForeignKeyConstraint(["experience_id", "kind"], ["experiences.id", "experiences.kind"]),
    # One open draft per experience.
    Index("uq_revisions_draft", "experience_id", unique=True, postgresql_where=text("state = 'draft'")),
    Index("ix_revisions_search", "search", postgresql_using="gin", postgresql_where=text("state = 'current'")),
    Index(
        "ix_revisions_articles",
        "domain_id",
        "experience_id",
        postgresql_where=text("kind = 'article' AND state = 'current'"),
    ),
    # One current revision per experience and article (R8, spec section 4).
    Index(
        "uq_revisions_current",
        "experience_id",
        unique=True,
        postgresql_where=text("state IN ('current', 'suspended')"),
    ),
)
commands = Table(
    "commands",
    metadata,
    id_column(),
    reference("experience_id", "experiences.id", index=True),
    Column("kind", Text, nullable=False),
    one_of("kind", "decide", "erase", *ChangeKind),
    Column("content", JSONB, nullable=False),
    Column("digest", Text, nullable=False, comment="Of the content: a repeated id must bring the same"),
    key_reference("issued_by", "principals.id"),
    moment("issued_at", default=True),
    Column("state", Text, nullable=False, server_default="pending"),
    one_of("state", "pending", "applied", "refused"),
    text_column("outcome", comment="Stage that it led to, or the refusal's type"),
    text_column("refused_field", comment="The input at fault, of a refusal"),
    text_column("refused_accepted", comment="What a refusal said would be accepted"),
    moment("settled_at", nullable=True),
    CheckConstraint("(state = 'pending') = (settled_at IS NULL)", name="settled"),
)

review_decisions = Table(
    "review_decisions",
    metadata,
    Column("decision_id", uuid_text, primary_key=True),
    Column("experience_id", uuid_text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("stage", Text, nullable=False),
    one_of("stage", Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW),
    Column("verdict", Text, nullable=False),
    one_of("verdict", *sorted(VERDICTS)),
    key_reference("reviewer_id", "principals.id"),
    Column("author_id", Text, nullable=False, comment="Of the reviewed draft"),
    Column("digest", Text, nullable=False),
    text_column("comment"),
    moment("decided_at", default=True),
    key_reference("on_behalf_of", "principals.id", nullable=True),
    labels_column("declined_units"),
    text_column("acknowledged_scope", comment="Digest of the scope difference that the owner was shown (R10)"),
    # Proposer, curator and owner are three people (R7), and so are those whom they stand in for.
    CheckConstraint("reviewer_id <> author_id", name="not_the_author"),
    CheckConstraint("on_behalf_of <> author_id AND on_behalf_of <> reviewer_id", name="not_for_the_author"),
    CheckConstraint("verdict = 'accept' OR declined_units = '{}'", name="declined_units"),
    ForeignKeyConstraint(
        ["experience_id", "revision", "author_id"],
        ["revisions.experience_id", "revisions.number", "revisions.author_id"],
    ),
    UniqueConstraint("experience_id", "revision", "stage"),
    UniqueConstraint("experience_id", "revision", "reviewer_id"),
    UniqueConstraint("experience_id", "revision", "on_behalf_of"),
)

transitions = Table(
    "transitions",
    metadata,
    reference("experience_id", "experiences.id"),
    Column("seq", Integer, nullable=False),
    Column("from_stage", Text),
    *label("to_stage", Stage),
    Column("event", Text, nullable=False),
    one_of("event", *Noted, *Event),
    Column("revision", Integer, nullable=False),
    Column("suspended", Boolean, nullable=False, server_default=text("false"), comment="Afterwards"),
    Column("cause_id", uuid_text, nullable=True, unique=True),
    key_reference("actor_id", "principals.id", nullable=True),
    moment("at", default=True),
    PrimaryKeyConstraint("experience_id", "seq"),
)
