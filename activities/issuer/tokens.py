"""A token of the issuer: looked through until only issuer and subject are left of it (R13)."""

from __future__ import annotations

from typing import Any, NoReturn

import jwt
from pydantic import ValidationError

from activities.issuer.documents import ALGORITHMS, IssuerDocuments
from contracts.errors import CaseloreError, NotAuthenticated
from contracts.sign_in import PersonIdentity

LARGEST = 16 * 1024
"""Characters of a token."""
LEEWAY = 30
"""Seconds that two machines' clocks may differ."""

_REQUIRED = ["exp", "iss", "sub", "aud"]


def looks_like_token(credential: str) -> bool:
    """Tell a signed token from an API key: three parts, the first of which is a JSON object in base64."""
    return credential.startswith("eyJ") and credential.count(".") == 2


class TokenVerifier:
    """Tells whom a token is about, once its signature and claims hold.

    Args:
        documents: The issuer.
    """

    def __init__(self, documents: IssuerDocuments) -> None:
        self._documents = documents
        self._jwt = jwt.PyJWT(options={"require": _REQUIRED, "enforce_minimum_key_length": True})

    async def verify(self, token: str, *, audience: str, nonce: str | None = None) -> PersonIdentity:
        """Return the person that a token is about. Every other word of it is ignored: roles, names and addresses.

        Args:
            token: As it came.
            audience: Whom it must be for.
            nonce: What it must carry, when it answers a sign-in that was begun with one.

        Raises:
            NotAuthenticated: It is no token of the issuer for this audience that is valid now.
            IssuerUnavailable: The issuer's keys can't be fetched.
        """
        if len(token) > LARGEST:
            _refuse("The token is too long.", f"at most {LARGEST:,} characters")
        claims = await self._claims(token, audience)
        if nonce is not None and claims.get("nonce") != nonce:
            _refuse("The token answers another sign-in.", "the sign-in that this browser began")
        try:
            return PersonIdentity(issuer=claims["iss"], subject=claims["sub"])
        except (ValidationError, CaseloreError):
            _refuse("The token's subject can't be stored.", "a text of at most 1,000 characters")

    async def _claims(self, token: str, audience: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            _refuse("The token can't be read.", "a signed JSON web token")
        if header.get("alg") not in ALGORITHMS:
            _refuse("The token is signed in a way that isn't taken.", " or ".join(ALGORITHMS))
        key_id = header.get("kid")
        key = await self._documents.key(None if key_id is None else str(key_id))
        if key is None:
            _refuse("The token is signed with a key that the issuer doesn't publish.", "a fresh token")
        try:
            return self._jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=audience,
                issuer=self._documents.issuer,
                leeway=LEEWAY,
            )
        except jwt.ExpiredSignatureError:
            _refuse("The token has expired.", "a fresh token")
        except jwt.ImmatureSignatureError:
            _refuse("The token isn't valid yet.", "a token that is; or a clock that is right")
        except jwt.InvalidAudienceError:
            _refuse("The token is for somebody else.", f"a token for the audience {audience!r}")
        except jwt.InvalidIssuerError:
            _refuse("The token is of another issuer.", f"a token of {self._documents.issuer}")
        except jwt.PyJWTError:
            _refuse("The token's signature or claims don't hold.", "a token of the issuer")


def _refuse(message: str, accepted: str) -> NoReturn:
    raise NotAuthenticated(message, field="Authorization", accepted=accepted) from None
