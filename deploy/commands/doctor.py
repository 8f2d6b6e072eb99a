"""`caselore doctor`: what is wrong with this Caselore, and how to mend it."""

from __future__ import annotations

import asyncio
import shutil
import stat
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import typer
from rich.text import Text

from activities.embedding import offline_minilm
from api.client import CaseloreClient
from contracts.errors import CaseloreError, NotPermitted
from deploy.administrator_key import KEY_FILE, administrator_key
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.embedded.cluster import postgres_programs
from deploy.embedded.ports import ensure_port_free
from deploy.embedded.runtime_record import RuntimeRecord, read_record
from deploy.embedded.temporal_server import temporal_binary
from deploy.settings import PREFIX, Settings, load_settings

_SPACE = 2 * 2**30
"""Bytes that should be free on the disk of the data folder."""
_OLDEST_PYTHON = (3, 11)
_LAG = 60.0
"""Seconds behind which an index is said to lag."""
_MARKS = {"ok": ("ok   ", "green"), "look": ("look ", "yellow"), "wrong": ("wrong", "bold red")}


@dataclass(frozen=True)
class Diagnosis:
    """What was looked at, how it is, and what to do about it."""

    what: str
    state: str
    """`ok`, `look` (works, and a person should know) or `wrong`."""
    found: str
    mend: str = ""


async def doctor(json_file: Path | None) -> None:
    """Look at settings, machine, data folder and the running Caselore, and print what to do.

    Raises:
        typer.Exit: Code 1 when something is wrong.
    """
    diagnoses = [diagnosis async for diagnosis in _all()]
    for each in diagnoses:
        mark, style = _MARKS[each.state]
        console.print(Text.assemble((mark, style), f"  {each.what}: {each.found}"))
        if each.mend:
            console.print(Text(f"         {each.mend}", style="dim"))
    wrong = sum(each.state == "wrong" for each in diagnoses)
    write_json(json_file, {"wrong": wrong, "diagnoses": [asdict(each) for each in diagnoses]})
    if wrong:
        raise typer.Exit(1)


async def _all() -> AsyncIterator[Diagnosis]:
    yield _python()
    try:
        settings = load_settings()
    except CaseloreError as refusal:
        yield Diagnosis("settings", "wrong", refusal.message, f"{refusal.field}: {refusal.accepted}")
        return
    yield Diagnosis("settings", "ok", "can be read")
    for each in _folder(settings.data_dir):
        yield each
    record = read_record(settings.data_dir)
    for each in await asyncio.to_thread(lambda: list(_programs(settings))):
        yield each
    if record is None:
        for each in _ports(settings):
            yield each
        yield Diagnosis(
            "Caselore", "look", f"nothing runs on {settings.data_dir}", "`caselore up`, or `make up`, starts it"
        )
        return
    async for each in _running(settings, record):
        yield each


def _python() -> Diagnosis:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < _OLDEST_PYTHON:
        return Diagnosis("Python", "wrong", version, "Python 3.11 or newer is needed")
    return Diagnosis("Python", "ok", version)


def _folder(folder: Path) -> Iterator[Diagnosis]:
    if not folder.exists():
        yield Diagnosis("data folder", "look", f"{folder} is not there yet", "the first `caselore up` makes it")
        return
    probe = folder / ".doctor"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        mend = f"make it writable, or name another by {PREFIX}DATA_DIR"
        yield Diagnosis("data folder", "wrong", f"{folder}: {error.strerror}", mend)
        return
    free = shutil.disk_usage(folder).free
    if free < _SPACE:
        yield Diagnosis("disk", "look", f"{free / 2**30:.1f} GB are free at {folder}", "databases stop when it is full")
    else:
        yield Diagnosis("data folder", "ok", f"{folder}, {free / 2**30:.0f} GB free")
    key = folder / KEY_FILE
    if key.exists() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        yield Diagnosis("administrator's key", "wrong", f"{key} can be read by others", f"chmod 600 {key}")


def _programs(settings: Settings) -> Iterator[Diagnosis]:
    mend = "pip install 'caselore[embedded]', or `make clean` and make again"
    wanted: list[tuple[str, Callable[[], Path]]] = []
    if settings.is_database_embedded:
        wanted.append(("PostgreSQL", postgres_programs))
    if settings.is_temporal_embedded:
        wanted.append(("Temporal server", temporal_binary))
    if settings.embedding_path is None:
        wanted.append(("embedding model", lambda: offline_minilm.prepare(settings.data_dir / "models")))
    for what, find in wanted:
        if what == "embedding model" and not settings.data_dir.exists():
            continue
        try:
            find()
        except CaseloreError as refusal:
            yield Diagnosis(what, "wrong", refusal.message, mend)
        else:
            yield Diagnosis(what, "ok", "installed")


def _ports(settings: Settings) -> Iterator[Diagnosis]:
    wanted = [("http_port", settings.http_port)]
    if settings.is_temporal_embedded:
        wanted += [("temporal_port", settings.temporal_port), ("temporal_ui_port", settings.temporal_ui_port)]
    for name, port in wanted:
        variable = PREFIX + name.upper()
        try:
            ensure_port_free(settings.http_host, port, setting=variable)
        except CaseloreError as refusal:
            yield Diagnosis(f"port {port}", "wrong", refusal.message, f"{refusal.field}: {refusal.accepted}")
        else:
            yield Diagnosis(f"port {port}", "ok", "free")


async def _running(settings: Settings, record: RuntimeRecord) -> AsyncIterator[Diagnosis]:
    yield Diagnosis("Caselore", "ok", f"process {record.pid} at {record.http}")
    key = administrator_key(settings.data_dir)
    async with CaseloreClient(record.http, key or "", timeout=10, retries=0) as client:
        try:
            ready = await client.ready()
        except CaseloreError as refusal:
            mend = f"look at its output, or end process {record.pid} and start it again: nothing is lost"
            yield Diagnosis("HTTP API", "wrong", refusal.message, mend)
            return
        for name in ready.down:
            yield Diagnosis(name, "wrong", "doesn't answer", f"its log is in {settings.data_dir / 'logs'}")
        if not ready.down:
            yield Diagnosis("database, Temporal, index", "ok", "answer")
        if key is None:
            mend = f"{settings.data_dir / KEY_FILE} is missing: put a key back, or start on a new folder"
            yield Diagnosis("administrator's key", "wrong", "there is none", mend)
            return
        try:
            async for each in _work(client):
                yield each
        except NotPermitted as refusal:
            yield Diagnosis("administrator's key", "wrong", refusal.message, "the key is not that of this database")
        except CaseloreError as refusal:
            yield Diagnosis("HTTP API", "wrong", refusal.message, f"its log is in {settings.data_dir / 'logs'}")


async def _work(client: CaseloreClient) -> AsyncIterator[Diagnosis]:
    for mark in await client.watermarks():
        found = f"position {mark.position}, {mark.pending} pending"
        if mark.lag_seconds > _LAG:
            mend = "answers read the rest from the record; `caselore deadletters list` when it stays so"
            yield Diagnosis(f"index {mark.collection}", "look", f"{found}, {mark.lag_seconds:.0f} s behind", mend)
        else:
            yield Diagnosis(f"index {mark.collection}", "ok", found)
    letters = await client.dead_letters(limit=1000)
    if letters:
        yield Diagnosis("dead letters", "wrong", f"{len(letters)} events are set aside", "`caselore deadletters list`")
    else:
        yield Diagnosis("dead letters", "ok", "none")
