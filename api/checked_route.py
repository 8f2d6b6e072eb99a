"""The route class of the whole API: who calls is settled first, then the body is looked at as it came (R22)."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any, ClassVar, NoReturn, cast

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException

from activities.intake import prepared
from api.authentication import Authentication, admit, working_as
from api.permissions import Permission, permission_of
from api.preconditions import failed, field_of, with_expected, with_tag
from api.problem_responses import respond, respond_unexpected
from api.problems import invalid
from api.request_body import BodyTooLarge, read_body, replayed, require_few_elements
from contracts.errors import CaseloreError, InvalidField, UnstorableText
from contracts.identity import SignedIn

BODY_BYTES = 4 * 1024 * 1024
"""The largest request body."""
DELIVERY_BYTES = 40 * 1024 * 1024
"""The largest body of a delivery: `limits.DELIVERED_BODY` characters, which JSON may write as escapes."""


class CheckedRoute(APIRoute):
    """A route that `api.permissions` names, whose refusals are problem details and whose failures leak nothing."""

    body_bytes: ClassVar[int] = BODY_BYTES

    @staticmethod
    def prepare(request: Request, parsed: Any, content: bytes) -> tuple[Any, bytes]:  # noqa: ARG004
        """Return what was posted as the route takes it, parsed and as bytes."""
        return parsed, content

    @cached_property
    def permission(self) -> Permission:
        """What this route asks of its caller."""
        return permission_of(set(self.methods or ()), self.path)

    @cached_property
    def _body(self) -> TypeAdapter[Any] | None:
        return (
            None if self.body_field is None else TypeAdapter(cast("type[Any]", self.body_field.field_info.annotation))
        )

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler inside our checks."""
        inner = super().get_route_handler()
        permission, body, matched = self.permission, self._body, field_of(self.openapi_extra)

        async def handle(request: Request) -> Response:
            try:
                caller = await _admit(request, permission)
                if body is not None:
                    request = await self._with_checked_body(request, body)
                with working_as(caller, permission):
                    return with_tag(request, await inner(request))
            except CaseloreError as error:
                unmet = failed(request, matched, error)
                return respond(error) if unmet is None else respond(unmet, status=412)
            except RequestValidationError as error:
                return respond(invalid(error.errors()))
            except HTTPException:
                raise
            except BodyTooLarge as error:
                return respond(error.refusal, status=413)
            except Exception as error:
                return respond_unexpected(request, error)

        return handle

    async def _with_checked_body(self, request: Request, body: TypeAdapter[Any]) -> Request:
        """Return the request with its body read and found to be of the documented form."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise InvalidField("The body is not declared as JSON.", field="Content-Type", accepted="application/json")
        content = await read_body(request, self.body_bytes)
        parsed, content = self.prepare(request, _parse(content), content)
        parsed, content = with_expected(request, field_of(self.openapi_extra), parsed, content)
        _check_texts(parsed)
        try:
            # Stored records ignore what they don't know; a caller is told, or a misspelt field would be lost.
            body.validate_python(parsed, extra="forbid")
        except ValidationError as error:
            raise invalid(cast("list[dict[str, Any]]", error.errors(include_url=False, include_input=False))) from None
        return replayed(request, content)


class DeliveryRoute(CheckedRoute):
    """A route that takes deliveries: large ones, and those with characters that no database can hold (R22).

    Such characters are replaced, except in identities; `request.state.posted` says what was.
    """

    body_bytes: ClassVar[int] = DELIVERY_BYTES

    @staticmethod
    def prepare(request: Request, parsed: Any, content: bytes) -> tuple[Any, bytes]:
        """Return the delivery in storable form."""
        if not isinstance(parsed, dict):
            return parsed, content
        posted = prepared(cast("dict[str, Any]", parsed))
        request.state.posted = posted
        if posted.cleaned:
            content = json.dumps(posted.delivery).encode()
        return posted.delivery, content


async def _admit(request: Request, permission: Permission) -> SignedIn | None:
    """Return who calls, where the route asks for somebody."""
    if permission is Permission.PUBLIC:
        return None
    authentication = cast(Authentication, request.app.state.authentication)
    caller = await authentication.sign_in(request.headers.get("authorization"))
    admit(caller, permission)
    request.state.caller = caller
    return caller


def _parse(content: bytes) -> Any:
    require_few_elements(content)
    try:
        return json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InvalidField("The body can't be read as JSON.", field="body", accepted="one JSON value") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _check_texts(parsed: Any) -> None:
    """Refuse a text that no database can hold, with its whole path.

    Raises:
        UnstorableText: NUL or an unpaired surrogate in a key or value.
    """
    pending: list[tuple[tuple[str, ...], Any]] = [((), parsed)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            _check_text(value, path)
        elif isinstance(value, dict):
            for key, item in cast("dict[str, Any]", value).items():
                _check_text(key, path)
                pending.append(((*path, key), item))
        elif isinstance(value, list):
            pending.extend(((*path, str(at)), item) for at, item in enumerate(cast("list[Any]", value)))


def _check_text(value: str, path: tuple[str, ...]) -> None:
    if "\x00" in value:
        raise UnstorableText(
            "The text holds a NUL character.", field=".".join(path) or "body", accepted="text without U+0000"
        )
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise UnstorableText(
            "The text holds an unpaired surrogate.",
            field=".".join(path) or "body",
            accepted="whole Unicode characters",
        )
