"""Headers that every response carries, also those that no route made."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""What a page may load and who may frame it: only what this site serves, and nobody."""
OTHER_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""For everything that isn't a page: opened by itself in a browser, it may do nothing."""

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With `no-referrer`, browsers would send `Origin: null` along with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_ONE_YEAR = 31_536_000


class SecureHeaders:
    """Adds the headers to an application's responses; a route's own `Cache-Control` stays.

    Args:
        app: The application.
        is_https: Whether it is reached by https; browsers are then told to come back only so.
    """

    def __init__(self, app: ASGIApp, *, is_https: bool) -> None:
        self._app = app
        self._is_https = is_https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add(MutableHeaders(scope=message))
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _add(self, headers: MutableHeaders) -> None:
        for name, value in _ALWAYS.items():
            headers[name] = value
        is_page = headers.get("content-type", "").partition(";")[0].strip().lower() == "text/html"
        headers["Content-Security-Policy"] = PAGE_POLICY if is_page else OTHER_POLICY
        headers.setdefault("Cache-Control", "no-store")
        if self._is_https:
            headers["Strict-Transport-Security"] = f"max-age={_ONE_YEAR}"
