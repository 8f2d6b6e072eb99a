"""The issuer of people's tokens as the API uses it: bearer tokens, and the sign-in of a browser."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx

from activities.issuer.documents import SECONDS, IssuerDocuments, fetch_json
from activities.issuer.safe_urls import is_loopback
from activities.issuer.tokens import TokenVerifier
from contracts.errors import InvalidField, NotAuthenticated
from contracts.sign_in import PersonIdentity

LONGEST_CODE = 4_000
"""Characters of an authorization code."""


@dataclass(frozen=True)
class Attempt:
    """What a browser's sign-in is recognised by when it comes back."""

    state: str
    nonce: str
    verifier: str
    """Of PKCE: only who began the sign-in can redeem its code (RFC 7636)."""

    @property
    def challenge(self) -> str:
        """What is told of the verifier beforehand."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


class Issuer:
    """One issuer, and what this deployment is to it.

    Args:
        issuer: Its URL as its tokens spell it.
        audience: Whom a bearer token must be for.
        client_id: Who signs browsers in; None: bearer tokens only.
        client_secret: Of that client; None: a public client, by PKCE alone.
        clock: Seconds that only grow.
        transport: Another way to send, for tests.
    """

    def __init__(
        self,
        issuer: str,
        audience: str,
        *,
        client_id: str | None = None,
        client_secret: str | None = None,
        clock: Callable[[], float] = monotonic,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url = issuer
        self._audience = audience
        self._client_id = client_id
        self._client_secret = client_secret
        self._http = httpx.AsyncClient(
            timeout=SECONDS,
            follow_redirects=False,
            transport=transport,
            limits=httpx.Limits(max_connections=4),
            trust_env=not is_loopback(urlsplit(issuer).hostname or ""),  # a proxy can't reach this machine
        )
        self._documents = IssuerDocuments(issuer, self._http, clock)
        self._tokens = TokenVerifier(self._documents)

    @property
    def signs_browsers_in(self) -> bool:
        """Whether a browser can be sent to it."""
        return self._client_id is not None

    async def verify(self, token: str) -> PersonIdentity:
        """Return the person that a bearer token is about; see `TokenVerifier.verify`."""
        return await self._tokens.verify(token, audience=self._audience)

    async def sign_in_url(self, attempt: Attempt, redirect_uri: str) -> str:
        """Return where to send a browser that wants to sign in.

        Raises:
            IssuerUnavailable: The issuer can't be reached.
        """
        asked = {
            "response_type": "code",
            "client_id": self._require_client(),
            "redirect_uri": redirect_uri,
            "scope": "openid",
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        url = (await self._documents.endpoints()).authorization
        return url + ("&" if "?" in url else "?") + urlencode(asked)

    async def redeem(self, code: str, attempt: Attempt, redirect_uri: str) -> PersonIdentity:
        """Return the person that came back with a code.

        Raises:
            NotAuthenticated: The issuer's answer holds no token for this sign-in.
            IssuerUnavailable: The issuer can't be reached, or doesn't take the code.
        """
        if not code or len(code) > LONGEST_CODE:
            raise NotAuthenticated("The issuer sent no code.", field="code", accepted="a sign-in from its beginning")
        client_id = self._require_client()
        endpoints = await self._documents.endpoints()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": client_id,
            "code_verifier": attempt.verifier,
        }
        auth: httpx.BasicAuth | None = None
        if self._client_secret is not None and endpoints.takes_basic:
            auth = httpx.BasicAuth(quote_plus(client_id), quote_plus(self._client_secret))
        elif self._client_secret is not None:
            form["client_secret"] = self._client_secret
        answer = await fetch_json(self._http, "POST", endpoints.token, data=form, auth=auth)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise NotAuthenticated("The issuer sent no identity token.", field="code", accepted="the scope openid")
        return await self._tokens.verify(token, audience=client_id, nonce=attempt.nonce)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _require_client(self) -> str:
        if self._client_id is None:
            raise InvalidField(
                "Browsers can't be signed in by the issuer here.",
                field="CASELORE_OIDC_CLIENT_ID",
                accepted="a client's id; or sign in with an API key",
            )
        return self._client_id
