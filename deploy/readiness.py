"""The checks behind `/health/ready`: each names a part and raises when it is down (R23)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from sqlalchemy import text
from temporalio.client import Client

from contracts.errors import RuntimeUnavailable
from contracts.index import DenseQuery, Filter, Scope, VectorName
from contracts.labels import Collection
from deploy.wiring import Parts


def readiness(parts: Parts, client: Client) -> Mapping[str, Callable[[], Awaitable[None]]]:
    """Return the checks of a process by the name of what they look at."""

    async def database() -> None:
        async with parts.database.as_system() as connection:
            await connection.execute(text("SELECT 1"))

    async def temporal() -> None:
        if not await client.service_client.check_health():
            raise RuntimeUnavailable("Temporal does not serve.")

    async def index() -> None:
        nothing = DenseQuery([0.0] * (parts.embedder.dimensions - 1) + [1.0], VectorName.TITLE)
        await parts.index.search(Collection.ROUTING, nothing, scope=Scope(), where=Filter(), limit=1)

    return {"database": database, "temporal": temporal, "index": index}
