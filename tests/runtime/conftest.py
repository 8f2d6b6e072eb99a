"""Settings with ports and a folder of their own."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from deploy.settings import Settings, load_settings


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago, all different.

    Below the range that systems give to outgoing connections: one of those could take a port between two starts.
    """
    found: list[int] = []
    for port in random.sample(range(20_000, 32_000), 500):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError("no free ports")


def embedded_settings(folder: Path) -> Settings:
    """Return settings for an embedded runtime in `folder`."""
    http, temporal, ui = free_ports(3)
    return load_settings(data_dir=folder, http_port=http, temporal_port=temporal, temporal_ui_port=ui)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An embedded runtime in an empty folder."""
    return embedded_settings(tmp_path / "data")
