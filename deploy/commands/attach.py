"""Where a command finds a running Caselore: the one on this data folder, or one that it starts for itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from api.client import CaseloreClient
from contracts.errors import RuntimeUnavailable
from deploy.administrator_key import administrator_key
from deploy.embedded.runtime_record import read_record
from deploy.settings import Settings


@dataclass(frozen=True)
class Attached:
    """A running Caselore, and an administrator's client of it."""

    http: str
    temporal_ui: str | None
    admin: CaseloreClient
    is_ours: bool
    """Whether it ends with this command."""
    system_database_url: str = ""
    """The record as the system's role reads it."""


@asynccontextmanager
async def attached(settings: Settings, *, progress: Callable[[str], None]) -> AsyncGenerator[Attached]:
    """Use the Caselore that runs on the data folder, or run one as long as the block.

    Raises:
        RuntimeUnavailable: It can't be started, or the folder has no administrator key.
    """
    record = read_record(settings.data_dir)
    if record is not None:
        async with CaseloreClient(record.http, _key(settings)) as admin:
            progress(f"using the Caselore that runs at {record.http}")
            database = settings.system_database_url or record.system_database_url or ""
            yield Attached(record.http, record.temporal_ui, admin, is_ours=False, system_database_url=database)
        return
    from deploy.runtime import running  # it takes seconds, and only a start of one's own needs it

    async with (
        running(settings, progress=progress) as runtime,
        CaseloreClient(runtime.addresses.http, _key(settings)) as admin,
    ):
        addresses = runtime.addresses
        yield Attached(
            addresses.http,
            addresses.temporal_ui,
            admin,
            is_ours=True,
            system_database_url=addresses.system_database_url,
        )


def _key(settings: Settings) -> str:
    key = administrator_key(settings.data_dir)
    if key is None:
        raise RuntimeUnavailable(
            f"{settings.data_dir} has no administrator key.",
            field="CASELORE_DATA_DIR",
            accepted="a folder that `caselore up` was started on",
        )
    return key
