"""Ports for runtimes that tests and benchmarks start."""

from __future__ import annotations

import random
import socket
from contextlib import suppress


def free_ports(count: int) -> list[int]:
    """Return ports that are free now, all different.

    Below the range that systems give to outgoing connections: one of those could take a port between two starts.
    """
    found: list[int] = []
    for port in random.sample(range(20_000, 32_000), 1_000):
        with suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError("no free ports")


def port_settings() -> dict[str, int]:
    """Return the port settings of one runtime."""
    http, temporal, ui = free_ports(3)
    return {"http_port": http, "temporal_port": temporal, "temporal_ui_port": ui}
