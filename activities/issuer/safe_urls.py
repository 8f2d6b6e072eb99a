"""Addresses that something secret may be sent to."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_safe_url(url: str) -> bool:
    """Tell whether what is sent to a URL can't be read on the way: https, or this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if not parts.hostname or parts.username is not None or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, by its name alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
