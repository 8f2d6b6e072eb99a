"""Domains as other writes need them."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from contracts.errors import UnknownDomain


async def require_domain(connection: AsyncConnection, domain_id: str) -> None:
    """Refuse a domain that does not exist.

    Raises:
        UnknownDomain: Names the domains there are.
    """
    known = list((await connection.execute(text("SELECT id FROM domains ORDER BY id"))).scalars())
    if domain_id not in known:
        raise UnknownDomain(
            f"There is no domain {domain_id!r}.", field="domain_id", accepted=", ".join(known[:20]) or "none yet"
        )
