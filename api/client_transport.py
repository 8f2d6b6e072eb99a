"""How the client sends: authorised, retried when nobody could answer, refusals under their own class."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self, TypeVar, cast

import httpx
from pydantic import BaseModel, TypeAdapter

from api.problems import URN
from contracts.errors import (
    CaseloreError,
    Conflict,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    RuntimeUnavailable,
    TextTooLong,
    every_error,
)

T = TypeVar("T")

TokenProvider = Callable[[bool], Awaitable[str]]
"""Returns a bearer token; when called with True, one that it didn't return before."""

_RETRIED = frozenset({502, 503, 504})
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
"""Seconds, before they are spread by up to a half."""
_BY_STATUS: Mapping[int, type[CaseloreError]] = {
    400: InvalidInput,
    401: NotAuthenticated,
    403: NotPermitted,
    404: NotFound,
    409: Conflict,
    413: TextTooLong,
    422: InvalidInput,
    502: RuntimeUnavailable,
    503: RuntimeUnavailable,
    504: RuntimeUnavailable,
}


class ClientTransport:
    """Sends requests and decodes answers.

    Args:
        base_url: Where the API is, without `/v1`.
        api_key: Sent as a bearer key; "" for the health routes only. Or a provider of bearer tokens: it is asked before
            each request, keeps a token for as long as it is good, and is asked for another one after a 401.
        timeout: Seconds for one attempt; the API may hold a retrieval for 40.
        retries: Further attempts after a connection error or a 502, 503 or 504. The body is sent as it was, so that
            its ids make the attempts one act; a call that would do something twice is sent once.
        transport: Another way to send, for instance `httpx.ASGITransport` in tests.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | TokenProvider = "",
        *,
        timeout: float = 45.0,
        retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._credential = api_key
        self._retries = retries
        self._http = httpx.AsyncClient(base_url=base_url, timeout=timeout, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def call(
        self,
        method: str,
        path: str,
        returns: type[T] | TypeAdapter[T],
        *,
        body: BaseModel | None = None,
        query: Mapping[str, Any] | None = None,
        repeatable: bool = True,
    ) -> T:
        """Send a request and return its decoded answer.

        Args:
            method: The HTTP method.
            path: Below `base_url`.
            returns: What the answer is decoded to.
            body: Sent as JSON.
            query: Query parameters; those that are None are left out.
            repeatable: Whether a second sending does no harm.

        Raises:
            CaseloreError: The refusal, under the class that its problem names.
            RuntimeUnavailable: The API can't be reached.
        """
        response = await self.send(method, path, body=body, query=query, retries=self._retries if repeatable else 0)
        if response.is_error:
            raise refusal_of(response)
        adapter = returns if isinstance(returns, TypeAdapter) else TypeAdapter(returns)
        return cast("T", adapter.validate_json(response.content))

    async def send(
        self,
        method: str,
        path: str,
        *,
        body: BaseModel | None = None,
        query: Mapping[str, Any] | None = None,
        retries: int = 0,
    ) -> httpx.Response:
        """Return the last attempt's response.

        Raises:
            RuntimeUnavailable: No attempt got one.
        """
        content = None if body is None else _encoded(body)
        headers = {} if content is None else {"Content-Type": "application/json"}
        params = {name: value for name, value in (query or {}).items() if value is not None}
        pause = _FIRST_PAUSE
        for left in range(retries, -1, -1):
            try:
                response = await self._authorised(method, path, content=content, headers=headers, params=params)
            except httpx.TransportError as error:
                if left == 0:
                    raise RuntimeUnavailable(
                        f"The API can't be reached ({type(error).__name__}).", field="base_url"
                    ) from error
            else:
                if response.status_code not in _RETRIED or left == 0:
                    return response
                pause = max(pause, _asked_pause(response))
            await asyncio.sleep(_spread(min(pause, _LONGEST_PAUSE)))
            pause *= 2
        raise AssertionError("unreachable")

    async def _authorised(self, method: str, path: str, *, headers: Mapping[str, str], **sent: Any) -> httpx.Response:
        """Return the response to one attempt; a provider's token that isn't taken any more is replaced once."""
        credential = self._credential
        if not callable(credential):
            authorization = {"Authorization": f"Bearer {credential}"} if credential else {}
            return await self._http.request(method, path, headers={**headers, **authorization}, **sent)
        authorization = {"Authorization": f"Bearer {await credential(False)}"}
        response = await self._http.request(method, path, headers={**headers, **authorization}, **sent)
        if response.status_code == 401:  # nothing was done: the same request goes out again
            authorization = {"Authorization": f"Bearer {await credential(True)}"}
            response = await self._http.request(method, path, headers={**headers, **authorization}, **sent)
        return response


def refusal_of(response: httpx.Response) -> CaseloreError:
    """Return the refusal that a response carries; by its status when its type isn't ours."""
    by_status = _BY_STATUS.get(response.status_code, CaseloreError)
    try:
        parsed = json.loads(response.content)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        return by_status(f"The API answered {response.status_code}.")
    problem = cast("dict[str, object]", parsed)
    error = every_error().get(str(problem.get("type", "")).removeprefix(URN), by_status)
    return error(
        str(problem.get("detail", "")),
        field=str(problem.get("field", "")),
        accepted=str(problem.get("accepted", "")),
    )


def _encoded(body: BaseModel) -> bytes:
    # Through a dict: a surrogate in a text is then the server's to refuse by name, not the encoder's to choke on.
    return json.dumps(body.model_dump(mode="json")).encode()


def _spread(pause: float) -> float:
    """Return a pause that callers who failed together don't share; never longer than asked for by more than a half."""
    return pause * random.uniform(1.0, 1.5)  # noqa: S311 - nothing is secret about it


def _asked_pause(response: httpx.Response) -> float:
    asked = response.headers.get("Retry-After", "")
    return float(asked) if asked.isdecimal() else 0.0
