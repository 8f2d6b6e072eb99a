"""Forms that this site made for this browser: where a post comes from, and the token that only the site can know."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlsplit

from fastapi import Request

from contracts.errors import CrossSite


def derived(secret: str, purpose: str) -> str:
    """Return a token that tells nothing of the secret that it is made from."""
    return hmac.new(secret.encode(), f"caselore.{purpose}".encode(), hashlib.sha256).hexdigest()


def same_token(sent: object, expected: str) -> bool:
    """Compare two tokens in a time that doesn't tell where they differ."""
    return isinstance(sent, str) and hmac.compare_digest(sent.encode(errors="replace"), expected.encode())


def require_same_origin(request: Request, origin: str) -> None:
    """Refuse a post that another site's page set off.

    Args:
        request: With the headers that browsers set and pages can't: `Origin`, `Sec-Fetch-Site`, `Referer`.
        origin: The pages' own origin. The request's host counts as well: cookies belong to the host that was asked.

    Raises:
        CrossSite: It comes from elsewhere, or tells nothing of where it comes from.
    """
    own = {origin, f"{request.url.scheme}://{request.headers.get('host', '')}".lower()}
    fetched = request.headers.get("sec-fetch-site")
    sent = request.headers.get("origin")
    if sent is None and (referer := request.headers.get("referer")):
        parts = urlsplit(referer)
        sent = f"{parts.scheme}://{parts.netloc}"
    silent = fetched is None and sent is None
    if silent or fetched not in (None, "same-origin") or (sent is not None and sent.lower() not in own):
        raise CrossSite("The form does not come from this site.", field="Origin", accepted=origin)


def local_path(wanted: str) -> str:
    """Return a path of this site to go on to: what was asked for, or `/` when that leads elsewhere."""
    path = wanted.partition("#")[0]
    safe = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isascii()
    return path if safe and path.isprintable() and len(path) <= 2_000 else "/"
