"""An issuer that a test makes up: documents that make sense or don't, keys, and tokens signed with them."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from activities.issuer.issuer import Issuer
from tests.api.issuer_world import Clock

ISSUER = "https://id.example.org/tenant/"
AUDIENCE = "caselore"


def key_set(*keys: Any) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for number, key in enumerate(keys):
        algorithm = {ec.EllipticCurvePrivateKey: "ES256", rsa.RSAPrivateKey: "RS256"}
        name = next((value for cls, value in algorithm.items() if isinstance(key, cls)), "EdDSA")
        made = jwt.get_algorithm_by_name(name).to_jwk(key.public_key(), as_dict=True)
        found.append({**made, "kid": f"k{number}"})
    return {"keys": found}


def issuer_answering(answers: dict[str, Any], clock: Clock | None = None) -> Issuer:
    """Return an issuer whose documents a test makes up; an exception is raised, bytes are sent as they are."""

    def answer(request: httpx.Request) -> httpx.Response:
        found = answers[request.url.path]
        if isinstance(found, Exception):
            raise found
        if isinstance(found, httpx.Response):
            return found
        return httpx.Response(200, content=found if isinstance(found, bytes) else json.dumps(found).encode())

    return Issuer(ISSUER, AUDIENCE, clock=clock or Clock(), transport=httpx.MockTransport(answer))


DISCOVERY = "/tenant/.well-known/openid-configuration"
DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": "https://id.example.org/authorize",
    "token_endpoint": "https://id.example.org/token",
    "jwks_uri": "https://id.example.org/keys",
}


def token_of(key: Any, algorithm: str, key_id: str | None = "k0") -> str:
    now = int(time.time())
    claims = {"iss": ISSUER, "sub": "00u", "aud": [AUDIENCE, "other"], "exp": now + 60}
    return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": key_id} if key_id else None)
