"""What an issuer publishes: its endpoints and its signing keys, fetched within bounds and kept for a while.

A key that the issuer adds is found when the first token signed with it arrives; one that it withdraws is good for
`FRESH` more seconds at most, and for `STALE` when the issuer can't be reached.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import jwt

from activities.issuer.safe_urls import is_loopback, is_safe_url
from contracts.errors import IssuerUnavailable

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""Signatures that count. Never `none`, and none with a shared secret."""

FRESH = 300.0
"""Seconds that keys are taken as they were fetched."""
STALE = 3_600.0
"""Seconds that they are still used while the issuer can't be reached."""
COOL_DOWN = 10.0
"""Seconds from one fetch for an unknown key to the next: anybody can invent key ids."""
SECONDS = 5.0
"""How long the issuer may take for one answer."""
LARGEST = 256 * 1024
MOST_KEYS = 100

_PUBLIC_PARTS = ("kty", "crv", "n", "e", "x", "y", "alg")


@dataclass(frozen=True)
class Endpoints:
    """Where an issuer is asked for what."""

    authorization: str
    token: str
    keys: str
    takes_basic: bool
    """Whether a client may authenticate by an `Authorization` header."""


@dataclass(frozen=True)
class _Fetched:
    endpoints: Endpoints
    keys: Mapping[str, jwt.PyJWK]
    at: float


class IssuerDocuments:
    """The discovery document and key set of one issuer.

    Args:
        issuer: Its URL as its tokens spell it; https, or http on this machine.
        http: Sends requests; it must not follow redirects.
        clock: Seconds that only grow.
    """

    def __init__(self, issuer: str, http: httpx.AsyncClient, clock: Callable[[], float] = time.monotonic) -> None:
        self.issuer = issuer
        self._http = http
        self._clock = clock
        self._fetched: _Fetched | None = None
        self._tried = -COOL_DOWN
        self._one_at_a_time = asyncio.Lock()

    async def endpoints(self) -> Endpoints:
        """Return the issuer's endpoints.

        Raises:
            IssuerUnavailable: It can't be reached, or its document can't be used.
        """
        return (await self._known()).endpoints

    async def key(self, key_id: str | None) -> jwt.PyJWK | None:
        """Return a signing key by its id; None when the issuer has no such key.

        Args:
            key_id: As a token names it; None: the only key there is.

        Raises:
            IssuerUnavailable: The issuer can't be reached, and what is known is too old.
        """
        fetched = await self._known()
        found = _choose(fetched.keys, key_id)
        if found is None and self._clock() - self._tried >= COOL_DOWN:
            found = _choose((await self._fetch(newer_than=fetched)).keys, key_id)
        return found

    async def _known(self) -> _Fetched:
        fetched = self._fetched
        if fetched is None or self._clock() - fetched.at > FRESH:
            return await self._fetch(newer_than=fetched)
        return fetched

    async def _fetch(self, newer_than: _Fetched | None) -> _Fetched:
        async with self._one_at_a_time:
            fetched = self._fetched
            if fetched is not None and fetched is not newer_than:
                return fetched  # somebody else has just done it
            now = self._clock()
            if now - self._tried < COOL_DOWN:
                return self._still_good(now, None)
            self._tried = now
            try:
                self._fetched = await self._fetch_now(now)
            except IssuerUnavailable as error:
                return self._still_good(now, error)
            return self._fetched

    def _still_good(self, now: float, error: IssuerUnavailable | None) -> _Fetched:
        if self._fetched is not None and now - self._fetched.at <= STALE:
            return self._fetched
        raise error or IssuerUnavailable("The issuer could not be reached a moment ago.", accepted="try again")

    async def _fetch_now(self, now: float) -> _Fetched:
        discovered = await self._get(self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        endpoints = self._endpoints(discovered)
        return _Fetched(endpoints, _usable(await self._get(endpoints.keys)), now)

    def _endpoints(self, discovered: Mapping[str, Any]) -> Endpoints:
        if discovered.get("issuer") != self.issuer:
            raise IssuerUnavailable(
                "The issuer's document names another issuer.", field="CASELORE_OIDC_ISSUER", accepted=self.issuer
            )
        found = {name: discovered.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
        for name, url in found.items():
            if not isinstance(url, str) or not self._may_be_asked(url):
                raise IssuerUnavailable(f"The issuer's {name} can't be used.", accepted="an https URL")
        ways = discovered.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return Endpoints(
            authorization=cast("str", found["authorization_endpoint"]),
            token=cast("str", found["token_endpoint"]),
            keys=cast("str", found["jwks_uri"]),
            takes_basic=not isinstance(ways, list) or "client_secret_basic" in ways,
        )

    def _may_be_asked(self, url: str) -> bool:
        """Tell whether a URL of the document is safe. An issuer elsewhere can't make us ask this machine's services."""
        here = is_loopback(urlsplit(self.issuer).hostname or "")
        return is_safe_url(url) and (here or not is_loopback(urlsplit(url).hostname or ""))

    async def _get(self, url: str) -> Mapping[str, Any]:
        return await fetch_json(self._http, "GET", url)


async def fetch_json(http: httpx.AsyncClient, method: str, url: str, **sent: Any) -> Mapping[str, Any]:
    """Return the JSON object that a URL of an issuer answers with.

    Raises:
        IssuerUnavailable: It does not answer within `SECONDS`, or not with one of reasonable size. What it said is not
            repeated.
    """
    content = b""
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    try:
        # The client's own limit is for each read: an answer that trickles in would never reach it.
        async with asyncio.timeout(SECONDS), http.stream(method, url, headers=headers, **sent) as response:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > LARGEST:
                    raise IssuerUnavailable("The issuer's answer is too large.", accepted=f"{LARGEST:,} bytes")
            status = response.status_code
    except (httpx.HTTPError, TimeoutError) as error:
        name = type(error).__name__
        raise IssuerUnavailable(f"The issuer can't be reached ({name}).", accepted="try again") from None
    try:
        parsed = json.loads(content) if status == 200 else None
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise IssuerUnavailable(f"The issuer answered {status} and nothing that can be used.", accepted="try again")
    return cast("dict[str, Any]", parsed)


def _choose(keys: Mapping[str, jwt.PyJWK], key_id: str | None) -> jwt.PyJWK | None:
    if key_id is not None:
        return keys.get(key_id)
    return next(iter(keys.values())) if len(keys) == 1 else None


def _usable(key_set: Mapping[str, Any]) -> dict[str, jwt.PyJWK]:
    """Return the keys that may have signed a token: public, asymmetric, for signatures, of an allowed algorithm."""
    listed = key_set.get("keys")
    found: dict[str, jwt.PyJWK] = {}
    for each in cast("list[Any]", listed)[:MOST_KEYS] if isinstance(listed, list) else []:
        if not isinstance(each, dict):
            continue
        data = cast("dict[str, Any]", each)
        if data.get("kty") not in ("RSA", "EC", "OKP") or data.get("use", "sig") != "sig":
            continue
        try:
            key = jwt.PyJWK({part: data[part] for part in _PUBLIC_PARTS if part in data})
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        if key.algorithm_name in ALGORITHMS:
            found.setdefault(str(data.get("kid", "")), key)
    return found
