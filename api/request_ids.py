"""The id of a request: in its answer, in every log line about it, and in what its caller is told of a refusal."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

HEADER = "X-Request-ID"
_WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}\Z")
_current: ContextVar[str] = ContextVar("request_id", default="")


def begin(sent: str | None) -> str:
    """Return the id of the request that begins: the caller's, when it is well-formed, else a new one."""
    id_ = sent if sent is not None and _WELL_FORMED.match(sent) else uuid.uuid4().hex
    _current.set(id_)  # each request has a context of its own
    return id_


def current() -> str:
    """Return the id of the request that is being answered, "" outside of one."""
    return _current.get()
