"""Sign-in of a request: `Authorization: Bearer <API key or token>` to the principal behind it (R13)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, cast

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from activities.issuer.issuer import Issuer
from activities.issuer.tokens import looks_like_token
from activities.records.database import acting_for, narrowed_to
from activities.records.identities import Identities, key_hash
from activities.records.person_identities import PersonIdentities
from api.permissions import Permission
from contracts.errors import NotAuthenticated, NotPermitted, OutsideKey
from contracts.identity import SignedIn
from contracts.sign_in import Ability

REMEMBERED = 1_000
"""Sign-ins remembered at most."""
REMEMBERED_SECONDS = 5.0
"""How long a sign-in is taken as still valid: an expired or withdrawn credential may work this much longer."""

_DOCUMENTED = HTTPBearer(
    auto_error=False,
    scheme_name="Bearer",
    description="An API key, `Bearer clk_...`, or a token of the configured issuer.",
)


class Authentication:
    """Finds the principal of a credential, remembering for some seconds the ones that were good.

    Args:
        identities: The record's sign-in by key.
        clock: Seconds that only grow.
        people: The record's sign-in of people whom the issuer vouches for.
        issuer: Who signs people's tokens; None: there are keys only.
    """

    def __init__(
        self,
        identities: Identities,
        clock: Callable[[], float] = time.monotonic,
        *,
        people: PersonIdentities | None = None,
        issuer: Issuer | None = None,
    ) -> None:
        self._identities = identities
        self._clock = clock
        self._people = people
        self._issuer = issuer
        self._known: OrderedDict[str, tuple[float, SignedIn]] = OrderedDict()

    async def sign_in(self, header: str | None) -> SignedIn:
        """Return the principal that an `Authorization` header names.

        Raises:
            NotAuthenticated: There is no header, no bearer credential in it, or that is no good.
            UnknownIdentity: The token is good, and its person is nobody here.
            IssuerUnavailable: The token can't be checked now.
        """
        scheme, _, credential = (header or "").strip().partition(" ")
        credential = credential.strip()
        if scheme.lower() != "bearer" or not credential:
            raise NotAuthenticated(
                "The request carries no API key or token.", field="Authorization", accepted="Bearer <key or token>"
            )
        hashed = key_hash(credential)  # the credential itself is not kept in memory
        known = self._known.get(hashed)
        if known is not None and known[0] > self._clock():
            return known[1]
        self._known.pop(hashed, None)
        caller = await self._sign_in(credential)
        self._known[hashed] = (self._clock() + REMEMBERED_SECONDS, caller)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return caller

    async def _sign_in(self, credential: str) -> SignedIn:
        if not looks_like_token(credential):
            return await self._identities.sign_in(credential)
        if self._issuer is None or self._people is None:
            raise NotAuthenticated(
                "Tokens are not taken here: no issuer is configured.", field="Authorization", accepted="an API key"
            )
        return await self._people.sign_in(await self._issuer.verify(credential))


def admit(caller: SignedIn, permission: Permission) -> None:
    """Refuse a caller whose role or credential is not what a route asks for.

    Raises:
        NotPermitted: The route is for administrators, and the caller is none.
        OutsideKey: The credential is narrowed, and leaves this out.
    """
    if permission.is_for_administrators:
        require_administrator(caller)
    ability = permission.ability
    if ability is not None and not caller.allows(ability):
        without = ability is Ability.ADMINISTER and caller.tenants is not None
        raise OutsideKey(
            f"This credential is not good for {ability.value!r}.",
            field="Authorization",
            accepted="a credential that is not narrowed to tenants" if without else f"one that allows {ability.value}",
        )
    if ability is None and permission is not Permission.PUBLIC and caller.abilities is not None:
        raise OutsideKey(
            "This credential is narrowed in what it may do.",
            field="Authorization",
            accepted="one that isn't",
        )


@contextmanager
def working_as(caller: SignedIn | None, permission: Permission) -> Generator[None]:
    """Let the record's transactions in the block see what the caller's credential leaves, and name an administrator."""
    with (
        narrowed_to(None if caller is None else caller.tenants),
        acting_for(caller.id if caller is not None and permission.is_for_administrators else ""),
    ):
        yield


@contextmanager
def narrowing(caller: SignedIn) -> Generator[None]:
    """Let the record's transactions in the block see what the caller's credential leaves of its tenants (R13)."""
    with narrowed_to(caller.tenants):
        yield


def require_administrator(caller: SignedIn) -> None:
    """Refuse a caller who is not an administrator.

    Raises:
        NotPermitted: It is not.
    """
    if not caller.administrator:
        raise NotPermitted("This is for administrators.", accepted="the key of an administrator")


def require_every_tenant(caller: SignedIn) -> None:
    """Refuse a credential that is narrowed to tenants something that would hold in all of them (R13).

    Raises:
        OutsideKey: It is narrowed.
    """
    if caller.tenants is not None:
        raise OutsideKey(
            "This goes across tenants, and the credential doesn't.",
            field="Authorization",
            accepted="a credential that is not narrowed to tenants",
        )


async def caller_of(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_DOCUMENTED)]
) -> SignedIn:
    """Return whom `api.checked_route` signed in, before it read the body."""
    return cast(SignedIn, request.state.caller)


Caller = Annotated[SignedIn, Depends(caller_of)]
"""A route's parameter for the principal that calls."""
