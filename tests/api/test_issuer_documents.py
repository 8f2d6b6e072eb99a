"""What an issuer publishes, as it may come: keys that count or don't, answers without sense or without end (R22)."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from activities.issuer import documents
from activities.issuer.issuer import Attempt, Issuer
from contracts.errors import IssuerUnavailable, NotAuthenticated
from contracts.sign_in import PersonIdentity
from tests.api.issuer_world import Clock
from tests.api.made_up_issuer import AUDIENCE, DISCOVERY, DOCUMENT, ISSUER, issuer_answering, key_set, token_of


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (rsa.generate_private_key(65537, 2048), "RS256"),
        (ec.generate_private_key(ec.SECP256R1()), "ES256"),
        (ed25519.Ed25519PrivateKey.generate(), "EdDSA"),
    ],
)
async def test_three_kinds_of_signature_are_taken(key: Any, algorithm: str) -> None:
    issuer = issuer_answering({DISCOVERY: DOCUMENT, "/keys": key_set(key)})
    expected = PersonIdentity(issuer=ISSUER, subject="00u")
    assert await issuer.verify(token_of(key, algorithm)) == expected
    assert await issuer.verify(token_of(key, algorithm, None)) == expected, "the only key needs no name"
    others = issuer_answering({DISCOVERY: DOCUMENT, "/keys": key_set(key, ec.generate_private_key(ec.SECP256R1()))})
    with pytest.raises(NotAuthenticated):
        await others.verify(token_of(key, algorithm, None))
    if algorithm == "RS256":
        for weaker in ("RS512", "PS256"):
            with pytest.raises(NotAuthenticated):
                await issuer.verify(token_of(key, weaker))


@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
async def test_keys_that_may_not_sign_are_left_out() -> None:
    """Shared secrets, keys for encryption, keys that are too short, and what is no key at all."""
    good, short = rsa.generate_private_key(65537, 2048), rsa.generate_private_key(65537, 1024)
    published = key_set(good, short)
    published["keys"][0]["use"] = "enc"
    secret = base64.urlsafe_b64encode(b"s" * 32).rstrip(b"=").decode()
    published["keys"] += [{"kty": "oct", "k": secret, "kid": "k2", "alg": "HS256"}, "k3", {"kid": "k4"}, None]
    issuer = issuer_answering({DISCOVERY: DOCUMENT, "/keys": published})
    for token in (token_of(good, "RS256"), token_of(short, "RS256", "k1"), token_of(b"s" * 32, "HS256", "k2")):
        with pytest.raises(NotAuthenticated):
            await issuer.verify(token)


@pytest.mark.parametrize(
    "answers",
    [
        {DISCOVERY: httpx.ConnectError("refused")},
        {DISCOVERY: httpx.ReadTimeout("slow")},
        {DISCOVERY: httpx.Response(302, headers={"Location": "https://evil.example/"})},
        {DISCOVERY: httpx.Response(500)},
        {DISCOVERY: b"<html>"},
        {DISCOVERY: b"[" * 100_000},
        {DISCOVERY: b"[]"},
        {DISCOVERY: b"{" + b" " * documents.LARGEST + b"}"},
        {DISCOVERY: {**DOCUMENT, "issuer": ISSUER.rstrip("/")}},
        {DISCOVERY: {**DOCUMENT, "issuer": "https://evil.example"}},
        {DISCOVERY: {**DOCUMENT, "jwks_uri": "http://id.example.org/keys"}},
        {DISCOVERY: {**DOCUMENT, "jwks_uri": "file:///etc/passwd"}},
        {DISCOVERY: {**DOCUMENT, "jwks_uri": "https://["}},
        {DISCOVERY: {**DOCUMENT, "jwks_uri": "http://127.0.0.1:8421/keys"}},
        {DISCOVERY: {**DOCUMENT, "token_endpoint": "https://localhost/token"}},
        {DISCOVERY: {**DOCUMENT, "token_endpoint": None}},
        {DISCOVERY: DOCUMENT, "/keys": httpx.Response(404)},
        {DISCOVERY: DOCUMENT, "/keys": b"no"},
    ],
)
async def test_r22_an_issuer_that_makes_no_sense_is_unavailable(answers: dict[str, Any]) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = issuer_answering({"/keys": key_set(key), **answers})
    for _ in range(2):
        with pytest.raises(IssuerUnavailable) as refused:
            await issuer.verify(token_of(key, "ES256"))
        assert "html" not in str(refused.value)


async def test_an_answer_that_trickles_in_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "SECONDS", 0.1)

    async def trickle() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.01)

    def answer(request: httpx.Request) -> httpx.Response:
        known = {DISCOVERY: DOCUMENT, "/keys": key_set()}.get(request.url.path)
        return httpx.Response(200, content=trickle()) if known is None else httpx.Response(200, json=known)

    issuer = Issuer(ISSUER, AUDIENCE, client_id="pages", transport=httpx.MockTransport(answer))
    with pytest.raises(IssuerUnavailable):
        async with asyncio.timeout(5):
            await issuer.redeem(
                "code", Attempt("state", "nonce", "verifier"), "https://caselore.example/sign-in/callback"
            )


async def test_while_the_issuer_is_away_its_keys_are_good_for_an_hour() -> None:
    key, clock = ec.generate_private_key(ec.SECP256R1()), Clock()
    answers: dict[str, Any] = {DISCOVERY: DOCUMENT, "/keys": key_set(key)}
    issuer = issuer_answering(answers, clock)
    token = token_of(key, "ES256")
    await issuer.verify(token)
    answers[DISCOVERY] = httpx.ConnectError("refused")
    clock.now += documents.STALE - 1
    await issuer.verify(token)
    clock.now += 2
    with pytest.raises(IssuerUnavailable):
        await issuer.verify(token)
    answers[DISCOVERY] = DOCUMENT
    clock.now += documents.COOL_DOWN + 1
    await issuer.verify(token)
