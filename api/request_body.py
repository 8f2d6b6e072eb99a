"""A request's body, read once within a limit, so that it can be looked at before its route sees it (R22)."""

from __future__ import annotations

import re

from fastapi import Request
from starlette.types import Message

from contracts.errors import InvalidField, TextTooLong

ELEMENTS = 250_000
"""The most values, keys, lists and objects of a JSON body: a short text of brackets is large in memory."""
_STARTS = re.compile(rb'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)|[,\[{]', re.DOTALL)
"""A whole text, or what begins a further value; what isn't closed goes to the end, so that nothing is read twice."""


class BodyTooLarge(Exception):
    """The body is over its limit; `refusal` says so.

    Args:
        largest: Bytes that would be taken.
    """

    def __init__(self, largest: int) -> None:
        super().__init__()
        self.refusal = TextTooLong(
            "The request body is too large.", field="body", accepted=f"at most {largest:,} bytes"
        )


async def read_body(request: Request, largest: int) -> bytes:
    """Return the body.

    Raises:
        BodyTooLarge: It has more than `largest` bytes; the rest is left unread.
    """
    size, chunks = 0, list[bytes]()
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > largest:
        raise BodyTooLarge(largest)
    async for chunk in request.stream():
        size += len(chunk)
        if size > largest:
            raise BodyTooLarge(largest)
        chunks.append(chunk)
    return b"".join(chunks)


def require_few_elements(content: bytes) -> None:
    """Refuse a JSON body of too many elements, before it is parsed.

    Raises:
        InvalidField: It has more than `ELEMENTS`.
    """
    if sum(content.count(each) for each in (b'"', b",", b"[", b"{")) <= ELEMENTS:
        return
    for number, _ in enumerate(_STARTS.finditer(content), start=1):
        if number > ELEMENTS:
            raise InvalidField(
                "The body has too many values.", field="body", accepted=f"at most {ELEMENTS:,} values, keys and lists"
            )


def replayed(request: Request, content: bytes) -> Request:
    """Return the request with a body that can be read once more."""
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            return await request.receive()
        sent = True
        return {"type": "http.request", "body": content, "more_body": False}

    return Request(request.scope, receive)
