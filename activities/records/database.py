"""Connections to Postgres: transactions as a principal, or as the system."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

_AS_PRINCIPAL = text("SELECT set_config('caselore.principal', :principal, true)")


_FOR = text("SELECT set_config('caselore.actor', :actor, true)")
_acting_for: ContextVar[str] = ContextVar("acting_for", default="")


@contextmanager
def acting_for(principal_id: str) -> Generator[None]:
    """Let the audit chain name a principal as the actor of the system's transactions in the block.

    For administration, which no row of the record tells by whom it was done; "" names nobody.
    """
    token = _acting_for.set(principal_id)
    try:
        yield
    finally:
        _acting_for.reset(token)


class Database:
    """The two ways into the record.

    Args:
        app_url: As `caselore_app`: row-level security shows what the transaction's principal may see.
        system_url: As `caselore_system`: lifecycle, projector and sign-in, across tenants.
        pool_size: Connections of each role at most.
    """

    def __init__(self, app_url: str, system_url: str, *, pool_size: int = 10) -> None:
        self.system_url = system_url
        self._app = _engine(app_url, pool_size)
        self._system = _engine(system_url, pool_size)

    @asynccontextmanager
    async def as_principal(self, principal_id: str) -> AsyncGenerator[AsyncConnection]:
        """Open a transaction that sees only what `principal_id` may see (R4)."""
        async with self._app.begin() as connection:
            await connection.execute(_AS_PRINCIPAL, {"principal": principal_id})
            yield connection

    @asynccontextmanager
    async def as_nobody(self) -> AsyncGenerator[AsyncConnection]:
        """Open an application transaction with no principal: it sees no rows (R4)."""
        async with self._app.begin() as connection:
            yield connection

    @asynccontextmanager
    async def as_system(self) -> AsyncGenerator[AsyncConnection]:
        """Open a transaction that works across tenants."""
        async with self._system.begin() as connection:
            if actor := _acting_for.get():
                await connection.execute(_FOR, {"actor": actor})
            yield connection

    async def close(self) -> None:
        """Close every connection."""
        await self._app.dispose()
        await self._system.dispose()


def _engine(url: str, pool_size: int) -> AsyncEngine:
    return create_async_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        hide_parameters=True,  # they are case text, and errors are logged
        pool_pre_ping=True,  # Postgres may have been restarted under us
        pool_timeout=10,
        connect_args={"connect_timeout": 5, "options": "-c statement_timeout=30000"},
    )
