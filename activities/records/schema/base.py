"""Shared column shapes and the naming of constraints."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, Column, DateTime, ForeignKey, MetaData, Text, Uuid, func
from sqlalchemy.dialects.postgresql import ARRAY

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


uuid_text = Uuid(as_uuid=False)
"""A UUID that reads as text."""


def id_column(name: str = "id", *, primary_key: bool = True) -> Column[str]:
    """Return a UUID column that reads as text."""
    return Column(name, uuid_text, primary_key=primary_key, nullable=False)


def reference(name: str, target: str, *, nullable: bool = False, index: bool = False) -> Column[str]:
    """Return a UUID foreign key."""
    return Column(name, uuid_text, ForeignKey(target), nullable=nullable, index=index)


def key_reference(name: str, target: str, *, nullable: bool = False, primary_key: bool = False) -> Column[str]:
    """Return a text foreign key (tenants, principals, domains: their ids are words)."""
    return Column(name, Text, ForeignKey(target), nullable=nullable, primary_key=primary_key)


def label(name: str, values: type[StrEnum], *, nullable: bool = False) -> tuple[Column[str], CheckConstraint]:
    """Return a text column and the check that it holds one of `values`."""
    return Column(name, Text, nullable=nullable), one_of(name, *values)


def one_of(name: str, *values: str) -> CheckConstraint:
    """Return a check that a column holds one of `values` (or NULL)."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{name} IN ({listed})", name=name)


def text_column(name: str, **options: Any) -> Column[str]:
    """Return a text column that is empty, not NULL, when there is nothing to say."""
    return Column(name, Text, nullable=False, server_default="", **options)


def labels_column(name: str) -> Column[list[str]]:
    """Return a list of words."""
    return Column(name, ARRAY(Text), nullable=False, server_default="{}")


def moment(name: str, *, nullable: bool = False, default: bool = False) -> Column[Any]:
    """Return a time with zone."""
    return Column(
        name, DateTime(timezone=True), nullable=nullable, server_default=func.clock_timestamp() if default else None
    )
