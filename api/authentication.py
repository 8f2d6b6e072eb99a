"""Sign-in of a request: `Authorization: Bearer <API key>` to the principal behind it (R13)."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, cast

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from activities.records.identities import Identities, key_hash
from contracts.errors import NotAuthenticated, NotPermitted
from contracts.identity import SignedIn

REMEMBERED = 1_000
"""Sign-ins remembered at most."""
REMEMBERED_SECONDS = 5.0
"""How long a sign-in is taken as still valid: an expired or withdrawn key may work this much longer."""

_DOCUMENTED = HTTPBearer(auto_error=False, scheme_name="API key", description="An API key: `Bearer clk_...`")


class Authentication:
    """Finds the principal of a key, remembering for some seconds the keys that were good.

    Args:
        identities: The record's sign-in.
        clock: Seconds that only grow.
    """

    def __init__(self, identities: Identities, clock: Callable[[], float] = time.monotonic) -> None:
        self._identities = identities
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, SignedIn]] = OrderedDict()

    async def sign_in(self, header: str | None) -> SignedIn:
        """Return the principal that an `Authorization` header names.

        Raises:
            NotAuthenticated: There is no header, no bearer key in it, or the key is no good.
        """
        scheme, _, key = (header or "").strip().partition(" ")
        key = key.strip()
        if scheme.lower() != "bearer" or not key:
            raise NotAuthenticated("The request carries no API key.", field="Authorization", accepted="Bearer <key>")
        hashed = key_hash(key)  # the key itself is not kept in memory
        known = self._known.get(hashed)
        if known is not None and known[0] > self._clock():
            return known[1]
        self._known.pop(hashed, None)
        caller = await self._identities.sign_in(key)
        self._known[hashed] = (self._clock() + REMEMBERED_SECONDS, caller)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return caller


def require_administrator(caller: SignedIn) -> None:
    """Refuse a caller who is not an administrator.

    Raises:
        NotPermitted: It is not.
    """
    if not caller.administrator:
        raise NotPermitted("This is for administrators.", accepted="the key of an administrator")


async def caller_of(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_DOCUMENTED)]
) -> SignedIn:
    """Return whom `api.checked_route` signed in, before it read the body."""
    return cast(SignedIn, request.state.caller)


Caller = Annotated[SignedIn, Depends(caller_of)]
"""A route's parameter for the principal that calls."""
