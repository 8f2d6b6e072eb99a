"""What a fresh record needs before anybody can use it: the schema, the shipped strategies, an administrator."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from activities.records.identities import Identities
from activities.records.migrate import migrate
from contracts.identity import Principal
from contracts.labels import PrincipalKind
from contracts.strategies import SHIPPED
from deploy.embedded.services import Addresses

ADMINISTRATOR = "administrator"
KEY_FILE = "admin.key"


async def prepare_schema(addresses: Addresses) -> None:
    """Bring the schema up, where migrating is this process's business."""
    if addresses.owner_database_url is not None:
        await asyncio.to_thread(migrate, addresses.owner_database_url)


async def prepare_records(identities: Identities, data_dir: Path) -> None:
    """Add the shipped strategies, and an administrator whose key is kept in `data_dir`; harmless to repeat."""
    for strategy in SHIPPED:
        await identities.add_strategy(strategy)
    await identities.add_principal(
        Principal(id=ADMINISTRATOR, kind=PrincipalKind.PERSON, name="Administrator"), administrator=True
    )
    file = data_dir / KEY_FILE
    if file.exists():
        # The database may be a new one: the key in the file is the one that people use.
        await identities.accept_key(ADMINISTRATOR, file.read_text().strip())
        return
    key = await identities.issue_key(ADMINISTRATOR)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(key + "\n")


def administrator_key(data_dir: Path) -> str | None:
    """Return the administrator's key of a data folder that was started once."""
    file = data_dir / KEY_FILE
    return file.read_text().strip() if file.exists() else None
