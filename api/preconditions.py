"""Entity tags: asking again for what is known costs no text, writing names what was read (R24; RFC 9110, 8.8.3, 13).

A tag is of the very answer, as its caller sees it; where something can be written by its version, that leads it:
`"<version>-<digest of the answer>"`. `If-Match` takes the tag, or the version alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, cast

from fastapi import Request, Response

from contracts.article_views import ArticleView
from contracts.errors import CaseloreError, InvalidField, StaleDigest, StaleRevision
from contracts.views import ExperienceView

EXTENSION = "x-if-match"
"""In an operation's description: the field of its body that `If-Match` stands for."""
ANY = "*"

IF_MATCH = r'^(\*|"[0-9A-Za-z]{1,64}(-[0-9a-f]{32})?")$'
"""What `If-Match` looks like, as the OpenAPI document says it."""

_TAG = re.compile(r'"(?P<version>[0-9A-Za-z]{1,64})(?:-[0-9a-f]{32})?"')
_TAGS = re.compile(r'(?:W/)?("[^"]*")')


def versioned(response: Response, version: object) -> None:
    """Let a response's tag begin with what an optimistic write expects: a revision, or the digest of a text."""
    if str(version):
        response.headers["ETag"] = f'"{version}"'


def published_digest(view: ExperienceView | ArticleView) -> str:
    """Return the digest of the text that a correction would be of; "" when nothing is published."""
    return next((each.digest for each in view.revisions if each.number == view.current_revision), "")


def if_match(field: str) -> dict[str, Any]:
    """Return what a route says when `If-Match` may stand for a field of its body (`openapi_extra`)."""
    return {EXTENSION: field}


def field_of(said: Mapping[str, Any] | None) -> str:
    """Return the field that `If-Match` stands for; "" when the route takes no such header."""
    return str((said or {}).get(EXTENSION, ""))


def with_tag(request: Request, response: Response) -> Response:
    """Return an answer with its entity tag, or that it is the one which the caller has (304)."""
    is_json = response.headers.get("content-type") == "application/json"
    if request.method != "GET" or response.status_code != 200 or not is_json:
        return response
    version = response.headers.get("etag", "").strip('"')
    digest = hashlib.sha256(bytes(response.body)).hexdigest()[:32]
    tag = response.headers["ETag"] = f'"{version}-{digest}"' if version else f'"{digest}"'
    known = request.headers.get("if-none-match", "")
    if known.strip() == ANY or tag in _TAGS.findall(known):
        return Response(status_code=304, headers={"ETag": tag})
    return response


def with_expected(request: Request, field: str, parsed: Any, content: bytes) -> tuple[Any, bytes]:
    """Return a body, parsed and as bytes, in which `field` is what `If-Match` names; without the header as it is.

    Raises:
        InvalidField: The header is no tag of ours, or the body expects something else.
    """
    sent = _sent(request)
    if not field or sent is None or not isinstance(parsed, dict):
        return parsed, content
    tag = _TAG.fullmatch(sent)
    if tag is None:
        raise InvalidField(
            "The header is not one entity tag.",
            field="If-Match",
            accepted='an `ETag` as it was given, in quotes, or "*"',
        )
    body, version = cast("dict[str, Any]", parsed), tag["version"]
    if str(body.get(field, version)) != version:
        raise InvalidField("Header and body expect two versions.", field=field, accepted=version)
    expecting = {**body, field: version}
    return expecting, json.dumps(expecting).encode()


def failed(request: Request, field: str, error: CaseloreError) -> CaseloreError | None:
    """Return the refusal in words of the header when it is that `If-Match` fails, which is answered with 412."""
    stale = isinstance(error, (StaleRevision, StaleDigest)) and error.field == field
    if not field or not stale or _sent(request) is None:
        return None
    accepted = f'"{error.accepted}"' if error.accepted else ""
    return type(error)(error.message, field="If-Match", accepted=accepted)


def _sent(request: Request) -> str | None:
    """Return `If-Match`; None when there is none or it asks for no version in particular."""
    sent = request.headers.get("if-match", ANY).strip()
    return None if sent == ANY else sent
