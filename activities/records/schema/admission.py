"""What admission found in a draft, what reviewers dismissed, and who works on a review (R6, R7)."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
)

from activities.records.schema.base import (
    key_reference,
    label,
    metadata,
    moment,
    one_of,
    reference,
    text_column,
    uuid_text,
)
from contracts.admission import Check, Severity
from contracts.lifecycle import Stage

admissions = Table(
    "admissions",
    metadata,
    Column("experience_id", uuid_text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("personal_data", Boolean, nullable=False, comment="Whether a finder looked for personal data"),
    moment("examined_at", default=True),
    PrimaryKeyConstraint("experience_id", "revision"),
    ForeignKeyConstraint(["experience_id", "revision"], ["revisions.experience_id", "revisions.number"]),
)

# Places only, never the text in them.
admission_findings = Table(
    "admission_findings",
    metadata,
    Column("experience_id", uuid_text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("finding_id", Text, nullable=False),
    Column("seq", Integer, nullable=False, comment="In the order of the draft's fields"),
    *label("check_name", Check),
    *label("severity", Severity),
    Column("field", Text, nullable=False),
    Column("start_at", Integer, nullable=False),
    Column("end_at", Integer, nullable=False),
    text_column("kind"),
    text_column("certainty"),
    PrimaryKeyConstraint("experience_id", "revision", "finding_id"),
    ForeignKeyConstraint(["experience_id", "revision"], ["admissions.experience_id", "admissions.revision"]),
    CheckConstraint("start_at >= 0 AND end_at >= start_at", name="place"),
)

finding_dismissals = Table(
    "finding_dismissals",
    metadata,
    Column("experience_id", uuid_text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("finding_id", Text, nullable=False),
    Column("reason", Text, nullable=False),
    key_reference("dismissed_by", "principals.id"),
    Column("decision_id", uuid_text, nullable=False),
    moment("dismissed_at", default=True),
    Column("carried_from", Integer, comment="The earlier revision in which the same text was dismissed"),
    PrimaryKeyConstraint("experience_id", "revision", "finding_id"),
    ForeignKeyConstraint(
        ["experience_id", "revision", "finding_id"],
        ["admission_findings.experience_id", "admission_findings.revision", "admission_findings.finding_id"],
    ),
)

review_claims = Table(
    "review_claims",
    metadata,
    reference("experience_id", "experiences.id"),
    Column("revision", Integer, nullable=False),
    Column("stage", Text, nullable=False),
    one_of("stage", Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW),
    key_reference("claimed_by", "principals.id"),
    moment("claimed_at", default=True),
    moment("claimed_until"),
    PrimaryKeyConstraint("experience_id"),
)
