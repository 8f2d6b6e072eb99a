"""An issuer for development: whoever reaches it signs in as anybody, so it is reached on this machine only.

It speaks what the pages ask of a real one (discovery, keys, authorization code with PKCE, tokens), and is a part of
the embedded runtime alone, where `CASELORE_DEVELOPMENT_ISSUER` asks for it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from activities.issuer.safe_urls import is_loopback
from activities.records.person_identities import PersonIdentities
from api.request_body import BodyTooLarge, read_body, replayed
from api.same_site import require_same_origin
from contracts.errors import CaseloreError
from contracts.sign_in import IdentityLink
from deploy.embedded.issuer_keys import ALGORITHM, IssuerKeys

PATH = "/development-issuer"
CLIENT = "caselore-pages"
AUDIENCE = "caselore"
TOKEN_SECONDS = 3_600
CODE_SECONDS = 60
MOST_CODES = 1_000
LISTED = 500
_FORM_BYTES = 64 * 1024
_ASKED = ("client_id", "redirect_uri", "response_type", "state", "nonce", "code_challenge", "code_challenge_method")


@dataclass(frozen=True)
class _Code:
    subject: str
    nonce: str
    challenge: str
    until: float


class DevelopmentIssuer:
    """The issuer as an application to be mounted at `PATH`.

    Args:
        public_url: Where browsers reach the pages; on this machine.
        people: Those who may be chosen; choosing one links its identity here to it.
        keys: What tokens are signed with.
    """

    def __init__(self, public_url: str, people: PersonIdentities, keys: IssuerKeys) -> None:
        if not is_loopback(urlsplit(public_url).hostname or ""):
            raise ValueError("the development issuer is for this machine only")
        self.url = public_url + PATH
        self.keys = keys
        self._origin = public_url
        self._people = people
        self._codes: OrderedDict[str, _Code] = OrderedDict()
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/keys", self._published),
                Route("/authorize", self._choose),
                Route("/authorize", self._chosen, methods=["POST"]),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    def token(self, subject: str, audience: str = AUDIENCE, **claims: Any) -> str:
        """Return a signed token about `subject`; `claims` are added or replace its own, and None leaves one out."""
        key_id, key = self.keys.current
        now = int(time.time())
        own = {"iss": self.url, "sub": subject, "aud": audience, "iat": now, "exp": now + TOKEN_SECONDS}
        said = {name: value for name, value in {**own, **claims}.items() if value is not None}
        return jwt.encode(said, key, algorithm=ALGORITHM, headers={"kid": key_id})

    async def _discovery(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": [ALGORITHM],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def _published(self, _: Request) -> Response:
        return JSONResponse(self.keys.published())

    async def _choose(self, request: Request) -> Response:
        asked = {name: request.query_params.get(name, "") for name in _ASKED}
        if refused := self._refusal(request, asked):
            return refused
        people = await self._people.people(limit=LISTED)
        hidden = "".join(_hidden(name, value) for name, value in asked.items())
        rows = "".join(
            f'<p><button name="subject" value="{escape(each.id)}">{escape(each.name or each.id)}'
            f" ({escape(each.id)})</button></p>"
            for each in people
        )
        return HTMLResponse(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Development sign-in</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="stylesheet" href="/static/caselore.css"></head><body><main class="narrow">'
            "<h1>Sign in as</h1><p>This issuer is for development on this machine: it asks for no password.</p>"
            f'<form method="post" action="{PATH}/authorize">{hidden}{rows}</form></main></body></html>'
        )

    async def _chosen(self, request: Request) -> Response:
        try:
            require_same_origin(request, self._origin)
            form = await _form(request)
        except (CaseloreError, BodyTooLarge):
            return JSONResponse({"error": "invalid_request"}, status_code=403)
        if refused := self._refusal(request, form):
            return refused
        subject = form.get("subject", "")
        try:
            await self._people.link(None, IdentityLink(issuer=self.url, subject=subject, principal_id=subject))
        except (CaseloreError, ValueError):
            return JSONResponse({"error": "invalid_request"}, status_code=400)
        code = secrets.token_urlsafe(32)
        self._codes[code] = _Code(subject, form["nonce"], form["code_challenge"], time.monotonic() + CODE_SECONDS)
        while len(self._codes) > MOST_CODES:
            self._codes.popitem(last=False)
        answer = urlencode({"code": code, "state": form["state"], "iss": self.url})
        return RedirectResponse(f"{form['redirect_uri']}?{answer}", status_code=303)

    async def _token(self, request: Request) -> Response:
        try:
            form = await _form(request)
        except BodyTooLarge:
            return JSONResponse({"error": "invalid_request"}, status_code=413)
        code = self._codes.pop(form.get("code", ""), None)
        hashed = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()
        good = (
            code is not None
            and code.until > time.monotonic()
            and form.get("client_id") == CLIENT
            and form.get("redirect_uri") == self._callback
            and hmac.compare_digest(proof, code.challenge)
        )
        if code is None or not good:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        return JSONResponse(
            {
                "token_type": "Bearer",
                "expires_in": TOKEN_SECONDS,
                "access_token": self.token(code.subject),
                "id_token": self.token(code.subject, CLIENT, nonce=code.nonce),
            }
        )

    @property
    def _callback(self) -> str:
        return f"{self._origin}/sign-in/callback"

    def _refusal(self, request: Request, asked: dict[str, str]) -> Response | None:
        # A name that somebody else makes point to this machine would let their pages in here.
        if not is_loopback(urlsplit(f"//{request.headers.get('host', '')}").hostname or ""):
            return JSONResponse({"error": "invalid_request"}, status_code=403)
        good = (
            asked.get("client_id") == CLIENT
            and asked.get("redirect_uri") == self._callback
            and asked.get("response_type") == "code"
            and asked.get("code_challenge_method") == "S256"
            and all(0 < len(asked.get(name, "")) <= 200 for name in ("state", "nonce", "code_challenge"))
        )
        return None if good else JSONResponse({"error": "invalid_request"}, status_code=400)


async def _form(request: Request) -> dict[str, str]:
    read = replayed(request, await read_body(request, _FORM_BYTES))
    return {name: value for name, value in (await read.form()).items() if isinstance(value, str)}


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
