"""Connections to Postgres: transactions as a principal, or as the system."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from activities.records.live_connections import keep_alive
from contracts.telemetry_ports import Tracing

_AS_PRINCIPAL = text(
    "SELECT set_config('caselore.principal', :principal, true), set_config('caselore.tenants', :tenants, true)"
)
_FOR = text("SELECT set_config('caselore.actor', :actor, true)")
_acting_for: ContextVar[str] = ContextVar("acting_for", default="")
_narrowed_to: ContextVar[tuple[str, ...] | None] = ContextVar("narrowed_to", default=None)


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


@contextmanager
def narrowed_to(tenants: Iterable[str] | None) -> Generator[None]:
    """Let the block's transactions as a principal see these of its tenants only; None: all that it may see (R4, R13).

    A block within a block can only narrow further.
    """
    outer = _narrowed_to.get()
    narrowed = outer if tenants is None else tuple(t for t in tenants if outer is None or t in outer)
    token = _narrowed_to.set(narrowed)
    try:
        yield
    finally:
        _narrowed_to.reset(token)


class Database:
    """The two ways into the record.

    Args:
        app_url: As `caselore_app`: row-level security shows what the transaction's principal may see.
        system_url: As `caselore_system`: lifecycle, projector and sign-in, across tenants.
        pool_size: Connections of each role at most.
        tracing: Follows each transaction, from the wait for a connection to its commit.
    """

    def __init__(self, app_url: str, system_url: str, *, pool_size: int = 10, tracing: Tracing | None = None) -> None:
        self.system_url = system_url
        self._tracing = tracing
        self._app = _engine(app_url, pool_size)
        self._system = _engine(system_url, pool_size)
        self._system_apart = self._system.execution_options(isolation_level="AUTOCOMMIT")  # of the same pool

    @asynccontextmanager
    async def as_principal(self, principal_id: str) -> AsyncGenerator[AsyncConnection]:
        """Open a transaction that sees only what `principal_id` may see, within what `narrowed_to` leaves (R4)."""
        async with self._begin(self._app, "principal") as connection:
            narrowed = _narrowed_to.get()
            tenants = "" if narrowed is None else json.dumps(narrowed)
            await connection.execute(_AS_PRINCIPAL, {"principal": principal_id, "tenants": tenants})
            yield connection

    @asynccontextmanager
    async def as_nobody(self) -> AsyncGenerator[AsyncConnection]:
        """Open an application transaction with no principal: it sees no rows (R4)."""
        async with self._begin(self._app, "nobody") as connection:
            yield connection

    @asynccontextmanager
    async def as_system(self) -> AsyncGenerator[AsyncConnection]:
        """Open a transaction that works across tenants."""
        async with self._begin(self._system, "system") as connection:
            if actor := _acting_for.get():
                await connection.execute(_FOR, {"actor": actor})
            yield connection

    @asynccontextmanager
    async def as_system_apart(self) -> AsyncGenerator[AsyncConnection]:
        """Open a connection whose statements are each a transaction of their own, across tenants.

        For one statement, or some that need no common moment: each costs one round trip, where a transaction around
        them costs two more. It names no actor to the audit chain.
        """
        with nullcontext() if self._tracing is None else self._tracing.step("record statements", role="system"):
            async with self._system_apart.connect() as connection:
                yield connection

    @asynccontextmanager
    async def _begin(self, engine: AsyncEngine, role: str) -> AsyncGenerator[AsyncConnection]:
        with nullcontext() if self._tracing is None else self._tracing.step("record transaction", role=role):
            async with engine.begin() as connection:
                yield connection

    async def close(self) -> None:
        """Close every connection."""
        await self._app.dispose()
        await self._system.dispose()


def _engine(url: str, pool_size: int) -> AsyncEngine:
    engine = create_async_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        hide_parameters=True,  # they are case text, and errors are logged
        pool_timeout=10,
        pool_use_lifo=True,  # the busiest connections know the statements, whose planning is dear
        connect_args={"connect_timeout": 5, "prepare_threshold": 2, "options": "-c statement_timeout=30000"},
    )
    keep_alive(engine)
    return engine
