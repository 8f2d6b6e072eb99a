"""Settings with ports and a folder of their own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from deploy.settings import Settings, load_settings


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago, all different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def embedded_settings(folder: Path) -> Settings:
    """Return settings for an embedded runtime in `folder`."""
    http, temporal, ui = free_ports(3)
    return load_settings(data_dir=folder, http_port=http, temporal_port=temporal, temporal_ui_port=ui)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An embedded runtime in an empty folder."""
    return embedded_settings(tmp_path / "data")
