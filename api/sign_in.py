"""Routes that begin and end a browser's session; the page to sign in itself is one of the pages."""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from activities.issuer.issuer import Issuer
from api.page_route import PageRoute
from api.problem_responses import log_unexpected
from api.same_site import local_path, same_token
from api.services import Services
from api.sessions import (
    attempt_in_progress,
    begin_attempt,
    begin_session,
    drop_sign_in,
    end_cookie,
    find_session,
    keep_attempt,
    refusal_name,
    require_form_token,
    session_cookie,
    sign_in_of,
    sign_in_token,
)
from contracts.errors import CaseloreError, CrossSite, InvalidField, NotAuthenticated


class SignInRoute(PageRoute):
    """A step of a sign-in, whose refusals lead back to its beginning."""

    async def refused(self, request: Request, error: Exception) -> Response:
        """Return the way back to the page to sign in, which tells what went wrong and still leads where it did."""
        if not isinstance(error, CaseloreError):
            log_unexpected(request, error)
        asked = {"refused": refusal_name(error, with_key=request.method == "POST")}
        if (following := _following(request)) != "/":
            asked["next"] = following
        response = RedirectResponse(f"/sign-in?{urlencode(asked)}", status_code=303)
        drop_sign_in(request, response)
        return response


router = APIRouter(route_class=SignInRoute, include_in_schema=False)


@router.post("/sign-in")
async def sign_in(request: Request, services: Services) -> Response:
    """Begin a session with an API key."""
    await require_form_token(request, sign_in_token(request))
    key = (await request.form()).get("key")
    if not isinstance(key, str) or not key.strip():
        raise NotAuthenticated("No key was given.", field="key", accepted="an API key")
    # Not through the remembered sign-ins: a key that was just revoked opens no session.
    principal = await services.identities.sign_in(key.strip())
    token = await services.sign_in.sessions.open(principal.id, key=key.strip())
    return await _begun(request, token, _following(request))


@router.get("/sign-in/oidc")
async def ask_issuer(request: Request, services: Services) -> Response:
    """Send the browser to the issuer."""
    issuer = _issuer(services.sign_in.issuer)
    public = urlsplit(services.sign_in.public_url)
    is_elsewhere = request.headers.get("host", "").lower() != public.netloc.lower()
    if is_elsewhere and "moved" not in request.query_params:
        # The issuer comes back to the public address, and the cookie has to be there. Asked once: behind a proxy that
        # names another host, a browser is at the public address already.
        return RedirectResponse(f"{services.sign_in.origin}/sign-in/oidc?{request.url.query}&moved=1", status_code=303)
    value, attempt = begin_attempt(_following(request))
    url = await issuer.sign_in_url(attempt, _callback(request))
    response = RedirectResponse(url, status_code=303)
    keep_attempt(request, response, value)
    return response


@router.get("/sign-in/callback")
async def come_back(request: Request, services: Services) -> Response:
    """Begin a session for the person whom the issuer vouches for."""
    issuer = _issuer(services.sign_in.issuer)
    attempt, following = attempt_in_progress(request)
    sent = request.query_params
    if not same_token(sent.get("state"), attempt.state):
        raise CrossSite("The answer belongs to another sign-in.", field="state", accepted="the state that was sent")
    if sent.get("iss", issuer.url) != issuer.url:  # RFC 9207
        raise CrossSite("The answer is of another issuer.", field="iss", accepted=issuer.url)
    if "error" in sent:
        raise InvalidField("The issuer refused the sign-in.", field="error", accepted="a code")
    identity = await issuer.redeem(sent.get("code", ""), attempt, _callback(request))
    principal = await services.sign_in.people.sign_in(identity)
    return await _begun(request, await services.sign_in.sessions.open(principal.id, identity=identity), following)


@router.post("/sign-out")
async def sign_out(request: Request, services: Services) -> Response:
    """End the session; with none, there is nothing to end."""
    response = RedirectResponse("/sign-in", status_code=303)
    try:
        session = await find_session(request)
    except NotAuthenticated:
        end_cookie(request, response)
        return response
    await require_form_token(request, session.csrf)
    await services.sign_in.sessions.end(request.cookies[session_cookie(services.sign_in)])
    end_cookie(request, response)
    return response


async def _begun(request: Request, token: str, following: str) -> Response:
    response = RedirectResponse(quote(local_path(following), safe="/?&=%:,;@+~!$'()*-._"), status_code=303)
    await begin_session(request, response, token)
    return response


def _following(request: Request) -> str:
    """Return where a sign-in leads: as its address says, or as it was begun."""
    if (wanted := request.query_params.get("next")) is not None:
        return local_path(wanted)
    try:
        return attempt_in_progress(request)[1]
    except CrossSite:
        return "/"


def _issuer(issuer: Issuer | None) -> Issuer:
    if issuer is None or not issuer.signs_browsers_in:
        raise InvalidField("No issuer signs browsers in here.", field="CASELORE_OIDC_ISSUER", accepted="an API key")
    return issuer


def _callback(request: Request) -> str:
    return f"{sign_in_of(request).public_url.rstrip('/')}/sign-in/callback"
