"""The route class of the pages: session, form token and permission are settled before a page does anything (R4)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse

from api.authentication import admit, working_as
from api.permissions import Permission, permission_of
from api.problems import status_of
from api.request_body import BodyTooLarge, read_body, replayed
from api.sessions import find_session, require_form_token
from contracts.errors import CaseloreError, NotAuthenticated
from contracts.identity import SignedIn

FORM_BYTES = 1024 * 1024
"""The largest posted form."""
_SAFE = frozenset({"GET", "HEAD"})


class PageRoute(APIRoute):
    """A page or form that `api.permissions` names. A subclass renders its refusals."""

    @cached_property
    def permission(self) -> Permission:
        """What this page asks of whoever looks at it."""
        return permission_of(set(self.methods or ()), self.path)

    async def refused(self, request: Request, error: Exception) -> Response:
        """Return the response to a refusal: to the page to sign in when nobody is signed in, else a sentence."""
        if isinstance(error, NotAuthenticated):
            return to_sign_in(request)
        if not isinstance(error, CaseloreError):
            raise error
        return PlainTextResponse(str(error), status_code=status_of(type(error)))

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler inside our checks."""
        inner = super().get_route_handler()
        permission = self.permission

        async def handle(request: Request) -> Response:
            try:
                if request.method not in _SAFE:
                    request = replayed(request, await read_body(request, FORM_BYTES))
                caller = await _admit(request, permission)
                with working_as(caller, permission):
                    return await inner(request)
            except HTTPException:
                raise
            except BodyTooLarge as error:
                return await self.refused(request, error.refusal)
            except Exception as error:
                return await self.refused(request, error)

        return handle


def to_sign_in(request: Request) -> Response:
    """Return the way to the page to sign in, which comes back to what was asked for, unless that was a form."""
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    following = f"?next={quote(path, safe='')}" if request.method in _SAFE and path != "/" else ""
    return RedirectResponse(f"/sign-in{following}", status_code=303)


async def _admit(request: Request, permission: Permission) -> SignedIn | None:
    """Return who uses the page, where it asks for somebody."""
    if permission is Permission.PUBLIC:
        return None
    session = await find_session(request)
    if request.method not in _SAFE:
        await require_form_token(request, session.csrf)
    admit(session.principal, permission)
    request.state.session = session
    request.state.caller = session.principal
    return session.principal
