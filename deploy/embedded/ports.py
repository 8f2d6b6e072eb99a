"""Says that a TCP port is taken, by whom, and what to change, before a service fails in its own words."""

from __future__ import annotations

import errno
import socket

import psutil

from contracts.errors import RuntimeUnavailable


def ensure_port_free(host: str, port: int, *, setting: str, host_setting: str = "") -> None:
    """Return when `port` can be bound on `host` now.

    Args:
        host: The address that the service will listen on.
        port: The port.
        setting: The environment variable that moves the port.
        host_setting: The environment variable that changes the host, if one does.

    Raises:
        RuntimeUnavailable: The port is taken or may not be used, or the host is not an address of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as candidate:
            # As servers do: a port that only waits for late packets of a closed connection is free.
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            candidate.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise RuntimeUnavailable(
                f"Port {port} on {host} is taken{_holder(port)}.", field=setting, accepted="a free port"
            ) from None
        if error.errno in (errno.EACCES, errno.EPERM):
            raise RuntimeUnavailable(
                f"Port {port} may not be used by this account.", field=setting, accepted="a port above 1023"
            ) from None
        raise RuntimeUnavailable(
            f"{host} is not an address of this machine ({error.strerror}).",
            field=host_setting or setting,
            accepted="127.0.0.1 for this machine only, 0.0.0.0 for every network",
        ) from None


def _holder(port: int) -> str:
    """Return " by NAME (process PID)" for the listener, "" when the system doesn't tell us."""
    try:
        for connection in psutil.net_connections(kind="tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
            if listens and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    except psutil.Error:
        pass
    return ""
