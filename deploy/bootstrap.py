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
from deploy.administrator_key import KEY_FILE, administrator_key
from deploy.embedded.services import Addresses

ADMINISTRATOR = "administrator"


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
    kept = administrator_key(data_dir)
    if kept is not None:
        # The database may be a new one: the key in the file is the one that people use.
        await identities.accept_key(ADMINISTRATOR, kept)
        return
    key = await identities.issue_key(ADMINISTRATOR)
    with os.fdopen(os.open(data_dir / KEY_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(key + "\n")
