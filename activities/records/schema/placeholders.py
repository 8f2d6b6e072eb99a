"""Which placeholder stands for which value within a case; the values themselves are not here (R6)."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Integer, LargeBinary, Table, Text

from activities.records.schema.base import metadata, moment, one_of, uuid_text
from contracts.personal_data import PersonalDataKind

NAME_PART = "name_part"
"""A distinctive word of a name, kept so that the name is recognised by it later."""

case_keys = Table(
    "case_keys",
    metadata,
    Column("case_id", uuid_text, primary_key=True),
    Column("tenant_id", Text, nullable=False),
    Column("key", LargeBinary, nullable=False, comment="Random; without it the case's fingerprints say nothing (R11)"),
    moment("created_at", default=True),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
)

case_placeholders = Table(
    "case_placeholders",
    metadata,
    Column("case_id", uuid_text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("fingerprint", Text, primary_key=True, comment="HMAC-SHA256 of the normal spelling under the case's key"),
    Column("tenant_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    moment("created_at", default=True),
    one_of("kind", *PersonalDataKind, NAME_PART),
    CheckConstraint("number > 0", name="number"),
    ForeignKeyConstraint(["case_id", "tenant_id"], ["cases.id", "cases.tenant_id"]),
)
