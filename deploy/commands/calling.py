"""Whose key a command calls with, and where (R4): a command sees what its caller may see, and no more.

`CASELORE_URL` and `CASELORE_API_KEY` name another Caselore and a key. Without them the Caselore of the data folder is
called, with a key of its trial team (`--as NAME`) or the administrator's.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from api.client import CaseloreClient
from contracts.errors import NotAuthenticated, RuntimeUnavailable
from deploy.commands.attach import attached
from deploy.commands.progress import say
from deploy.credential import KEY, URL
from deploy.settings import Settings

_KEYS = "keys"


@asynccontextmanager
async def calling(settings: Settings, caller: str | None = None) -> AsyncGenerator[CaseloreClient]:
    """Yield the client of whoever runs the command.

    Args:
        settings: Of the process; they name the data folder.
        caller: Somebody of the trial team; None takes `CASELORE_API_KEY`, or the administrator's key.

    Raises:
        NotAuthenticated: There is a URL and no key, or the team has nobody of that name.
    """
    url, key = os.environ.get(URL, ""), os.environ.get(KEY, "")
    if caller is not None:
        key = _key_of(settings.data_dir, caller)
    if url:
        if not key:
            raise NotAuthenticated(f"{URL} is set, and there is no key.", field=KEY, accepted="an API key of yours")
        async with CaseloreClient(url, key) as client:
            yield client
        return
    async with attached(settings, progress=say) as target:
        if not key:
            yield target.admin
            return
        async with CaseloreClient(target.http, key) as client:
            yield client


def keep_key(data_dir: Path, name: str, key: str) -> Path:
    """Write a team member's key, readable by its owner only, and return where it is."""
    folder = data_dir / _KEYS
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / f"{name}.key"
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(key + "\n")
    return file


def kept_keys(data_dir: Path) -> tuple[str, ...]:
    """Return the names whose keys the data folder holds."""
    return tuple(sorted(file.stem for file in (data_dir / _KEYS).glob("*.key")))


def _key_of(data_dir: Path, name: str) -> str:
    names = kept_keys(data_dir)
    if name not in names:
        known = ", ".join(names) or "nobody yet: `caselore team` makes a trial team"
        raise NotAuthenticated(f"The data folder has no key of {name!r}.", field="--as", accepted=known)
    try:
        return (data_dir / _KEYS / f"{name}.key").read_text().strip()
    except OSError as error:
        raise RuntimeUnavailable(f"The key of {name!r} can't be read: {error.strerror}.", field="--as") from None
