"""A taken port is refused in words that help."""

from __future__ import annotations

import os
import socket

import pytest

from contracts.errors import RuntimeUnavailable
from deploy.embedded.ports import ensure_port_free
from deploy.embedded.services import EmbeddedServices
from deploy.settings import Settings


@pytest.mark.parametrize("name", ["http_port", "temporal_port", "temporal_ui_port"])
async def test_a_taken_port_names_itself_its_holder_and_its_setting(settings: Settings, name: str) -> None:
    port = getattr(settings, name)
    lines: list[str] = []
    with socket.create_server(("127.0.0.1", port)), pytest.raises(RuntimeUnavailable) as refused:
        async with EmbeddedServices(settings, progress=lines.append):
            pass
    assert f"Port {port} on 127.0.0.1 is taken" in refused.value.message
    assert f"(process {os.getpid()})" in refused.value.message
    assert refused.value.field == f"CASELORE_{name.upper()}"
    assert lines == [], "nothing was started"


async def test_the_folder_is_free_after_a_refused_start(settings: Settings) -> None:
    for _ in range(2):
        with socket.create_server(("127.0.0.1", settings.http_port)), pytest.raises(RuntimeUnavailable, match="Port"):
            async with EmbeddedServices(settings):
                pass


def test_a_listener_on_every_network_takes_the_port_too() -> None:
    with socket.create_server(("0.0.0.0", 0)) as listener, pytest.raises(RuntimeUnavailable, match="is taken"):
        ensure_port_free("127.0.0.1", listener.getsockname()[1], setting="CASELORE_HTTP_PORT")


def test_a_foreign_host_names_the_host_setting() -> None:
    with pytest.raises(RuntimeUnavailable) as refused:
        ensure_port_free("192.0.2.1", 8420, setting="CASELORE_HTTP_PORT", host_setting="CASELORE_HTTP_HOST")
    assert refused.value.field == "CASELORE_HTTP_HOST"
