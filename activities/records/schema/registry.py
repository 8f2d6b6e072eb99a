"""Identities, arrivals and cases: the live registry (R1 to R4)."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

from activities.records.schema.base import (
    id_column,
    key_reference,
    label,
    labels_column,
    metadata,
    moment,
    reference,
    text_column,
    uuid_text,
)
from contracts.cases import BodyFormat, CaseLinkKind, ContentKind, Disposition
from contracts.labels import CaseState, DomainRole, Outcome, PaperKind, PrincipalKind, ProofLevel

tenants = Table(
    "tenants", metadata, Column("id", Text, primary_key=True), text_column("name"), moment("created_at", default=True)
)

principals = Table(
    "principals",
    metadata,
    Column("id", Text, primary_key=True),
    *label("kind", PrincipalKind),
    text_column("name"),
    Column("active", Boolean, nullable=False, server_default=text("true")),
    Column("administrator", Boolean, nullable=False, server_default=text("false")),
    moment("created_at", default=True),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("hash", Text, primary_key=True, comment="SHA-256 of the key; the key itself is never stored"),
    key_reference("principal_id", "principals.id"),
    moment("expires_at", nullable=True),
    moment("created_at", default=True),
    Column("id", uuid_text, nullable=False, server_default=text("gen_random_uuid()")),
    text_column("label"),
    Column("abilities", ARRAY(Text), nullable=True, comment="contracts.sign_in.Ability; NULL: all"),
    Column("tenants", ARRAY(Text), nullable=True, comment="NULL: all that the principal may see"),
    key_reference("issued_by", "principals.id", nullable=True),
    UniqueConstraint("id"),
)

grants = Table(
    "grants",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    key_reference("principal_id", "principals.id"),
    key_reference("tenant_id", "tenants.id"),
    Column("case_id", uuid_text, nullable=True),
    text_column("purpose"),
    moment("expires_at", nullable=True),
    moment("created_at", default=True),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"], use_alter=True),
    UniqueConstraint("principal_id", "tenant_id", "case_id", postgresql_nulls_not_distinct=True),
)

domains = Table(
    "domains", metadata, Column("id", Text, primary_key=True), text_column("name"), text_column("description")
)

domain_roles = Table(
    "domain_roles",
    metadata,
    key_reference("principal_id", "principals.id", primary_key=True),
    key_reference("domain_id", "domains.id", primary_key=True),
    Column("role", Text, primary_key=True),
    CheckConstraint("role IN ({})".format(", ".join(f"'{role}'" for role in DomainRole)), name="role"),
)

origins = Table(
    "origins",
    metadata,
    id_column(),
    key_reference("tenant_id", "tenants.id"),
    Column("source", Text, nullable=False),
    Column("external_id", Text, nullable=False),
    Column("key", Text, nullable=False, comment="contracts.arrivals.origin_key: an id may be too long to be indexed"),
    UniqueConstraint("key"),
    Index("ix_origins_external_id", "external_id", postgresql_using="hash"),
    UniqueConstraint("id", "tenant_id"),
)

CASE_WORDS = "to_tsvector('simple', title || ' ' || left(CASE WHEN written = '' THEN body ELSE written END, 100000))"
"""What full text sees of a case: `contracts.arrivals.INDEXED_BODY` characters."""

cases = Table(
    "cases",
    metadata,
    id_column(),
    key_reference("tenant_id", "tenants.id"),
    reference("origin_id", "origins.id"),
    text_column("title"),
    text_column("body"),
    text_column("written"),
    Column("body_bytes", BigInteger, nullable=False, server_default="0"),
    Column("content_id", uuid_text, comment="Of contents, when the body is over the limit"),
    *label("state", CaseState),
    text_column("waiting_on"),
    text_column("source_state"),
    Column("order_assumed", Boolean, nullable=False, server_default=text("false")),
    key_reference("domain_id", "domains.id", nullable=True),
    text_column("request_type"),
    labels_column("symptom_tags"),
    text_column("product"),
    text_column("system"),
    text_column("environment"),
    text_column("version"),
    labels_column("object_refs"),
    moment("opened_at"),
    moment("state_since"),
    Column("source_revision", Integer, comment="Highest revision of the origin that is in the case"),
    moment("content_at", nullable=True),
    moment("erased_at", nullable=True),
    Column("revision", Integer, nullable=False, server_default="1"),
    Column("search", TSVECTOR, Computed(CASE_WORDS, persisted=True)),
    UniqueConstraint("origin_id"),
    UniqueConstraint("id", "tenant_id"),
    ForeignKeyConstraint(["origin_id", "tenant_id"], ["origins.id", "origins.tenant_id"]),
    Index("ix_cases_search", "search", postgresql_using="gin"),
    Index("ix_cases_object_refs", "object_refs", postgresql_using="gin"),
    Index("ix_cases_tenant_id_opened_at", "tenant_id", "opened_at"),
)

arrivals = Table(
    "arrivals",
    metadata,
    id_column(),
    Column("tenant_id", Text, nullable=False),
    reference("origin_id", "origins.id"),
    reference("case_id", "cases.id", index=True),
    Column("source_revision", Integer, nullable=False, comment="-1 when the source has no revisions"),
    Column("content_version", Integer, nullable=False, server_default="1"),
    Column("digest", Text, nullable=False),
    Column("delivery_id", Text, nullable=False),
    *label("disposition", Disposition),
    moment("occurred_at"),
    moment("received_at"),
    text_column("source"),
    text_column("external_id"),
    text_column("subject"),
    text_column("body"),
    *label("body_format", BodyFormat),
    text_column("written"),
    Column("body_bytes", BigInteger, nullable=False, server_default="0"),
    Column("content_id", uuid_text, comment="Of contents, when the body is over the limit"),
    text_column("source_state"),
    Column("attributes", JSONB(none_as_null=True), nullable=False, server_default="{}"),
    Column("facts", JSONB(none_as_null=True), comment="contracts.cases.CaseFacts, as delivered"),
    Column("cleaned", JSONB(none_as_null=True), nullable=False, server_default="[]"),
    Column("raw_content_id", uuid_text, comment="Of contents, when something was cleaned"),
    Column("delivery_id_reused", Boolean, nullable=False, server_default=text("false")),
    Column("order_assumed", Boolean, nullable=False, server_default=text("false")),
    Column("redeliveries", Integer, nullable=False, server_default="0"),
    Index("ix_arrivals_origin_id_delivery_id", "origin_id", "delivery_id"),
    UniqueConstraint("origin_id", "source_revision", "digest"),
    UniqueConstraint("origin_id", "source_revision", "content_version"),
    ForeignKeyConstraint(["origin_id", "tenant_id"], ["origins.id", "origins.tenant_id"]),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
    ForeignKeyConstraint(["content_id", "case_id"], ["contents.id", "contents.case_id"]),
    ForeignKeyConstraint(["raw_content_id", "case_id"], ["contents.id", "contents.case_id"]),
)

contents = Table(
    "contents",
    metadata,
    id_column(),
    Column("tenant_id", Text, nullable=False),
    Column("case_id", uuid_text, nullable=False, index=True),
    *label("kind", ContentKind),
    text_column("text"),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", Text, nullable=False),
    moment("created_at", default=True),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
    UniqueConstraint("id", "case_id"),
)

case_states = Table(
    "case_states",
    metadata,
    Column("case_id", uuid_text, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("tenant_id", Text, nullable=False),
    *label("state", CaseState),
    text_column("waiting_on"),
    key_reference("changed_by", "principals.id"),
    moment("at"),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
)

case_links = Table(
    "case_links",
    metadata,
    id_column(),
    Column("tenant_id", Text, nullable=False),
    Column("case_id", uuid_text, nullable=False),
    Column("other_case_id", uuid_text, nullable=False),
    *label("kind", CaseLinkKind),
    text_column("reason"),
    key_reference("decided_by", "principals.id"),
    moment("decided_at", default=True),
    key_reference("removed_by", "principals.id", nullable=True),
    moment("removed_at", nullable=True),
    text_column("removal_reason"),
    CheckConstraint("case_id <> other_case_id", name="two_cases"),
    CheckConstraint("(removed_by IS NULL) = (removed_at IS NULL)", name="removed"),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
    ForeignKeyConstraint(["other_case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
    Index(
        "uq_case_links_live",
        "case_id",
        "other_case_id",
        "kind",
        unique=True,
        postgresql_where=text("removed_at IS NULL"),
    ),
    # The work of a case goes on in one other case at most.
    Index(
        "uq_case_links_merged",
        "case_id",
        unique=True,
        postgresql_where=text("kind = 'merged_into' AND removed_at IS NULL"),
    ),
    Index("ix_case_links_case_id", "case_id"),
    Index("ix_case_links_other_case_id", "other_case_id"),
)

case_papers = Table(
    "case_papers",
    metadata,
    id_column(),
    Column("tenant_id", Text, nullable=False),
    Column("case_id", uuid_text, nullable=False, index=True),
    *label("kind", PaperKind),
    text_column("title"),
    text_column("text"),
    Column("digest", Text, nullable=False),
    key_reference("author_id", "principals.id"),
    moment("created_at", default=True),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
    UniqueConstraint("id", "case_id", "kind"),
)

case_results = Table(
    "case_results",
    metadata,
    id_column(),
    Column("tenant_id", Text, nullable=False),
    Column("case_id", uuid_text, nullable=False, index=True),
    *label("outcome", Outcome),
    *label("proof_level", ProofLevel),
    text_column("summary"),
    Column("execution_paper_id", uuid_text),
    Column("execution_kind", Text, Computed("'execution'", persisted=True)),
    Column("proof_paper_id", uuid_text),
    Column("proof_kind", Text, Computed("'proof'", persisted=True)),
    Column("effort", JSONB(none_as_null=True)),
    key_reference("recorded_by", "principals.id"),
    moment("recorded_at", default=True),
    # A retrieved text or any other paper can't stand in for an execution or a proof (R5, R20).
    ForeignKeyConstraint(
        ["execution_paper_id", "case_id", "execution_kind"],
        ["case_papers.id", "case_papers.case_id", "case_papers.kind"],
    ),
    ForeignKeyConstraint(
        ["proof_paper_id", "case_id", "proof_kind"],
        ["case_papers.id", "case_papers.case_id", "case_papers.kind"],
    ),
    CheckConstraint("proof_level NOT IN ('executed', 'verified') OR execution_paper_id IS NOT NULL", name="execution"),
    CheckConstraint("proof_level <> 'verified' OR proof_paper_id IS NOT NULL", name="proof"),
    CheckConstraint("outcome <> 'succeeded' OR proof_level IN ('executed', 'verified')", name="succeeded"),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
    UniqueConstraint("id", "case_id", "tenant_id", "outcome"),
)
