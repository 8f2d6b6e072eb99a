"""Retrieval requests with candidates, reads and verdicts: the memory-use records (R20)."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from activities.records.schema.base import (
    id_column,
    key_reference,
    label,
    metadata,
    moment,
    reference,
    text_column,
    uuid_text,
)
from contracts.retrieval import CheckOutcome, CitationVerdict

retrieval_requests = Table(
    "retrieval_requests",
    metadata,
    id_column(),
    key_reference("principal_id", "principals.id"),
    key_reference("profile_id", "profiles.id"),
    Column("strategy_id", Text, nullable=False),
    Column("strategy_version", Integer, nullable=False),
    Column("tenant_id", Text, nullable=True, comment="Of the case that the work is for"),
    reference("case_id", "cases.id", nullable=True, index=True),
    Column("request", JSONB, nullable=False, comment="contracts.retrieval.RetrievalRequest"),
    Column("digest", Text, nullable=False),
    moment("requested_at", default=True),
    Column("answer", JSONB(none_as_null=True), comment="contracts.retrieval.Answer without its candidates"),
    Column("rankings", JSONB(none_as_null=True), comment="contracts.rankings.Rankings: references and places only"),
    Column("abstained", Boolean),
    moment("answered_at", nullable=True),
    Column(
        "narrowed_to",
        ARRAY(Text),
        nullable=True,
        server_default=text("app_narrowing()"),
        comment="The tenants that the asking credential was narrowed to; NULL: not narrowed",
    ),
    ForeignKeyConstraint(
        ["strategy_id", "strategy_version"], ["strategy_versions.strategy_id", "strategy_versions.version"]
    ),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
    CheckConstraint("(case_id IS NULL) = (tenant_id IS NULL)", name="tenant_of_the_case"),
    CheckConstraint("(answer IS NULL) = (answered_at IS NULL)", name="answered"),
    Index("ix_retrieval_requests_principal_id_requested_at", "principal_id", "requested_at"),
    Index("ix_retrieval_requests_requested_at", text("requested_at DESC"), "id"),
)

retrieval_candidates = Table(
    "retrieval_candidates",
    metadata,
    reference("request_id", "retrieval_requests.id"),
    Column("rank", Integer, nullable=False),
    PrimaryKeyConstraint("request_id", "rank"),
    Column("ref", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("candidate", JSONB, nullable=False, comment="contracts.retrieval.Candidate"),
    Index("uq_retrieval_candidates_ref", "request_id", "ref", "revision", unique=True),
    Index("ix_retrieval_candidates_ref", "ref", "revision"),
)

retrieval_reads = Table(
    "retrieval_reads",
    metadata,
    Column("request_id", uuid_text, nullable=False),
    Column("ref", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    PrimaryKeyConstraint("request_id", "ref", "revision"),
    moment("read_at", default=True),
    ForeignKeyConstraint(
        ["request_id", "ref", "revision"],
        ["retrieval_candidates.request_id", "retrieval_candidates.ref", "retrieval_candidates.revision"],
    ),
)

memory_uses = Table(
    "memory_uses",
    metadata,
    id_column("decision_id"),
    reference("request_id", "retrieval_requests.id", index=True),
    Column("digest", Text, nullable=False),
    text_column("summary"),
    key_reference("decided_by", "principals.id"),
    moment("decided_at", default=True),
)

retrieval_verdicts = Table(
    "retrieval_verdicts",
    metadata,
    reference("decision_id", "memory_uses.decision_id"),
    Column("request_id", uuid_text, nullable=False),
    Column("ref", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    PrimaryKeyConstraint("decision_id", "ref", "revision"),
    *label("verdict", CitationVerdict),
    text_column("why"),
    # Only what the retrieval returned can be cited (R20).
    ForeignKeyConstraint(
        ["request_id", "ref", "revision"],
        ["retrieval_candidates.request_id", "retrieval_candidates.ref", "retrieval_candidates.revision"],
    ),
    Index("ix_retrieval_verdicts_ref", "ref", "revision"),
)

fresh_checks = Table(
    "fresh_checks",
    metadata,
    reference("decision_id", "memory_uses.decision_id"),
    Column("check_id", Text, nullable=False),
    PrimaryKeyConstraint("decision_id", "check_id"),
    text_column("text"),
    *label("outcome", CheckOutcome, nullable=True),
    text_column("note"),
    moment("settled_at", nullable=True),
    key_reference("settled_by", "principals.id", nullable=True),
)
