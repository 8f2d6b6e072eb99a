"""The session behind a browser's cookie, and what the page to sign in needs.

Every sign-in makes a new token, so nobody can be given a session to sign in to. The token is in an HttpOnly cookie
and, as a hash, in the record; the token of the forms is derived from it and stored nowhere.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.responses import Response

from activities.issuer.issuer import Attempt
from api.same_site import derived, local_path, require_same_origin, same_token
from api.sign_in_services import SignInServices
from contracts import limits
from contracts.errors import CrossSite, NotAuthenticated, UnknownIdentity
from contracts.identity import SignedIn

SIGN_IN_SECONDS = 900
"""How long somebody may take to sign in."""
_LONGEST_TOKEN = 100


@dataclass(frozen=True)
class PageSession:
    """Who uses the pages in this browser."""

    principal: SignedIn
    csrf: str
    """Goes with every form as its field `csrf`."""
    expires_at: datetime


def sign_in_of(request: Request) -> SignInServices:
    """Return what the app was handed for sign-in."""
    return cast("SignInServices", request.app.state.services.sign_in)


def session_cookie(services: SignInServices) -> str:
    """Return the cookie's name; over https one that no other host can set."""
    return "__Host-caselore" if services.is_https else "caselore"


async def find_session(request: Request) -> PageSession:
    """Return the session of the request's cookie.

    Raises:
        NotAuthenticated: There is none that stands.
    """
    services = sign_in_of(request)
    token = request.cookies.get(session_cookie(services), "")
    if not token or len(token) > _LONGEST_TOKEN:
        raise NotAuthenticated("Nobody is signed in.", field="Cookie", accepted="a sign-in")
    found = await services.sessions.find(token)
    return PageSession(found.principal, derived(token, "form"), found.expires_at)


async def session_of(request: Request) -> PageSession:
    """Return the session that `api.page_route` found, before the route's own work.

    Raises:
        NotAuthenticated: The route asks for none, and there is none.
    """
    session = getattr(request.state, "session", None)
    return session if isinstance(session, PageSession) else await find_session(request)


Session = Annotated[PageSession, Depends(session_of)]
"""A page's parameter for the session."""


async def require_form_token(request: Request, expected: str) -> None:
    """Refuse a post whose page isn't of this site and this session.

    Args:
        request: Its form is read, within the limits that its body was read in.
        expected: The token of the session's forms.

    Raises:
        CrossSite: It comes from elsewhere, or carries another token or none.
    """
    require_same_origin(request, sign_in_of(request).origin)
    sent = request.headers.get("x-csrf-token") or (await request.form()).get("csrf")
    if not same_token(sent, expected):
        raise CrossSite(
            "The form was made for another session, or an earlier one.",
            field="csrf",
            accepted="the token of the page as it is loaded now",
        )


async def begin_session(request: Request, response: Response, token: str) -> None:
    """Put a new session into the browser, and end the one that it had."""
    services = sign_in_of(request)
    if earlier := request.cookies.get(session_cookie(services)):
        await services.sessions.end(earlier[:_LONGEST_TOKEN])
    _set(response, services, session_cookie(services), token, int(limits.SESSION.total_seconds()))
    drop_sign_in(request, response)


def end_cookie(request: Request, response: Response) -> None:
    """Take the session's cookie out of the browser."""
    services = sign_in_of(request)
    response.delete_cookie(session_cookie(services), secure=services.is_https, httponly=True, samesite="lax")


REFUSALS = {
    "NotAuthenticated": "That key is not good: it is unknown, was revoked or has expired.",
    "UnknownIdentity": "Your organisation knows you, and nobody here is linked to you yet. "
    "Ask an administrator to link your identity to a principal.",
    "CrossSite": "That page to sign in was too old. Please try again.",
    "IssuerUnavailable": "Your organisation's sign-in can't be reached at the moment. Try again, or use an API key.",
    "Refused": "Your organisation's sign-in did not let you through. Try again, or use an API key.",
}
"""What the page to sign in tells about the last attempt, by the name of the refusal."""


def refusal_name(error: Exception, *, with_key: bool) -> str:
    """Return which of `REFUSALS` tells an error.

    Args:
        error: What went wrong.
        with_key: Whether a key was shown; without one, the issuer is who didn't let somebody through.
    """
    if isinstance(error, UnknownIdentity):
        return "UnknownIdentity"
    name = type(error).__name__
    return name if name in REFUSALS and (with_key or name != "NotAuthenticated") else "Refused"


@dataclass(frozen=True)
class SignInOffer:
    """What the page to sign in shows."""

    csrf: str
    next: str
    """Where to go on to: a path of this site."""
    refusal: str
    """A sentence on the last attempt; "" when there is nothing to say."""
    with_issuer: bool
    """Whether `/sign-in/oidc` is there for a browser."""
    secret: str
    services: SignInServices

    def attach(self, response: Response) -> None:
        """Give the browser what its form is recognised by."""
        _set(response, self.services, _sign_in_cookie(self.services), self.secret, SIGN_IN_SECONDS)
        response.headers["Cache-Control"] = "no-store"


def sign_in_offer(request: Request) -> SignInOffer:
    """Return what to show on the page to sign in; attach it to the page's response."""
    services = sign_in_of(request)
    secret = _sign_in_secret(request) or secrets.token_urlsafe(32)
    return SignInOffer(
        csrf=derived(secret, "sign-in"),
        next=local_path(request.query_params.get("next", "/")),
        refusal=REFUSALS.get(request.query_params.get("refused", ""), ""),
        with_issuer=services.issuer is not None and services.issuer.signs_browsers_in,
        secret=secret,
        services=services,
    )


def sign_in_token(request: Request) -> str:
    """Return the form token that the page to sign in was given.

    Raises:
        CrossSite: This browser wasn't given that page: somebody else signs it in (login CSRF).
    """
    secret = _sign_in_secret(request)
    if not secret:
        raise CrossSite("The page to sign in is too old.", field="csrf", accepted="the page as it is loaded now")
    return derived(secret, "sign-in")


def attempt_of(secret: str) -> Attempt:
    """Return what a browser's sign-in with the issuer is recognised by; only its cookie tells it."""
    return Attempt(derived(secret, "state"), derived(secret, "nonce"), derived(secret, "verifier"))


def begin_attempt(following: str) -> tuple[str, Attempt]:
    """Return a fresh cookie value for a sign-in with the issuer, and what it stands for."""
    secret = secrets.token_urlsafe(32)
    return f"{secret}.{local_path(following).encode().hex()}", attempt_of(secret)


def attempt_in_progress(request: Request) -> tuple[Attempt, str]:
    """Return the sign-in that this browser began, and where it goes on to.

    Raises:
        CrossSite: It began none.
    """
    value = request.cookies.get(_attempt_cookie(sign_in_of(request)), "")
    secret, _, path = value.partition(".")
    try:
        following = local_path(bytes.fromhex(path).decode())
    except ValueError:
        following = "/"
    if not secret or len(secret) > _LONGEST_TOKEN:
        raise CrossSite("This browser began no sign-in.", field="state", accepted="a sign-in from its beginning")
    return attempt_of(secret), following


def keep_attempt(request: Request, response: Response, value: str) -> None:
    """Let the browser keep the attempt until it comes back."""
    services = sign_in_of(request)
    _set(response, services, _attempt_cookie(services), value, SIGN_IN_SECONDS)


def drop_sign_in(request: Request, response: Response) -> None:
    """Take what belongs to a sign-in out of the browser."""
    services = sign_in_of(request)
    for name in (_sign_in_cookie(services), _attempt_cookie(services)):
        if name in request.cookies:
            response.delete_cookie(name, secure=services.is_https, httponly=True, samesite="lax")


def _sign_in_secret(request: Request) -> str:
    secret = request.cookies.get(_sign_in_cookie(sign_in_of(request)), "")
    return secret if len(secret) <= _LONGEST_TOKEN else ""


def _sign_in_cookie(services: SignInServices) -> str:
    return f"{session_cookie(services)}-sign-in"


def _attempt_cookie(services: SignInServices) -> str:
    return f"{session_cookie(services)}-attempt"


def _set(response: Response, services: SignInServices, name: str, value: str, seconds: int) -> None:
    response.set_cookie(name, value, max_age=seconds, path="/", secure=services.is_https, httponly=True, samesite="lax")
