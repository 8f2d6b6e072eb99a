"""What a running Caselore holds in memory: this process, and the services that it started."""

from __future__ import annotations

import resource
import sys
from typing import Any

import psutil

from deploy.runtime import Runtime

_MB = 2**20


def memory_of(runtime: Runtime) -> dict[str, dict[str, Any]]:
    """Return the MB of each by name; a service that runs elsewhere is left out."""
    services = {"PostgreSQL": runtime.services.postgres, "Temporal": runtime.services.temporal}
    return {
        "this process": _own(),
        **{
            name: tree(service.pid)
            for name, service in services.items()
            if service is not None and service.pid is not None
        },
    }


def tree(pid: int) -> dict[str, Any]:
    """Return what a process and all below it hold.

    `resident_mb` counts memory that processes share once for each of them, as PostgreSQL's do. `share_mb` divides it
    among them; None where the system doesn't tell.
    """
    top = psutil.Process(pid)
    resident, share, count = 0, 0, 0
    is_told = True
    for process in (top, *top.children(recursive=True)):
        try:
            resident += process.memory_info().rss
            count += 1
            share += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue  # a session that ended meanwhile
        except (psutil.AccessDenied, AttributeError):
            is_told = False
    return {
        "processes": count,
        "resident_mb": round(resident / _MB),
        "share_mb": round(share / _MB) if is_told else None,
    }


def _own() -> dict[str, int]:
    resident = round(psutil.Process().memory_info().rss / _MB)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = round(most / (_MB if sys.platform == "darwin" else 1024))  # bytes there, KiB elsewhere
    return {"resident_mb": resident, "peak_mb": max(resident, peak)}  # the system notes a peak a little late
