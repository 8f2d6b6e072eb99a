"""The embedded PostgreSQL where folders and process ids are awkward."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest
from sqlalchemy import create_engine, text

from contracts.errors import RuntimeUnavailable
from deploy.embedded.postgres import EmbeddedPostgres
from tests.runtime.stored import has_row, keep_row, libpq


@contextmanager
def started(folder: Path, **settings: str) -> Generator[EmbeddedPostgres]:
    postgres = EmbeddedPostgres(folder, log=folder.parent / "postgres.log", settings=settings)
    postgres.start()
    try:
        yield postgres
    finally:
        postgres.stop()


def test_awkward_folder_names_and_foreign_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "5999")
    folder = tmp_path / f"söme, dáta % dir?x=1#{'y' * 60}" / "postgres"
    with started(folder) as postgres:
        urls = postgres.create_database("caselore")
        engine = create_engine(urls.owner)
        with engine.connect() as connection:
            assert connection.execute(text("SELECT lower('ÄÖÜ') || current_user")).scalar() == "äöüpostgres"
        engine.dispose()
        assert urls.app != urls.system != urls.owner
        socket = next(iter(part for part in postgres.urls().owner.split("host=")[1].split("&")))
        assert "%2C" not in socket, "a comma would make libpq look for two hosts"
    assert not Path(unquote(socket)).exists(), "no folder is left outside the data folder"


def test_an_unfinished_cluster_and_a_reused_process_id(tmp_path: Path) -> None:
    folder = tmp_path / "postgres"
    (tmp_path / "postgres.unfinished" / "base").mkdir(parents=True)
    with started(folder) as postgres:
        owner = postgres.create_database("caselore").owner
        value = keep_row(owner)

    account = folder.stat()
    other = subprocess.Popen(
        ["sleep", "60"],
        user=account.st_uid if os.geteuid() == 0 else None,
        group=account.st_gid if os.geteuid() == 0 else None,
    )
    try:
        lines = (other.pid, folder, int(time.time()), 5432, folder, "", "", "ready")
        (folder / "postmaster.pid").write_text("".join(f"{line}\n" for line in lines))
        with started(folder):
            assert has_row(owner, value)
        assert other.poll() is None, "a stranger's process is left alone"
    finally:
        other.kill()
        other.wait()


def test_a_refused_start_shows_the_servers_own_words(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeUnavailable, match="unrecognized configuration parameter"),
        started(tmp_path / "postgres", no_such_setting="1"),
    ):
        pass


def test_databases_are_made_once_copied_and_dropped(tmp_path: Path) -> None:
    with started(tmp_path / "postgres", fsync="off") as postgres:
        first = postgres.create_database("first")
        value = keep_row(first.owner)
        assert postgres.create_database("first") == first
        copy = postgres.create_database("copy", template="first")
        assert has_row(copy.owner, value)
        with psycopg.connect(libpq(copy.owner)):
            postgres.drop_database("copy")
        postgres.drop_database("copy")
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(libpq(copy.owner))
