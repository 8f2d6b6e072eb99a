"""What sign-in is handed by the deployment."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from activities.issuer.issuer import Issuer
from activities.records.keys import Keys
from activities.records.person_identities import PersonIdentities
from activities.records.sessions import SessionsTable


@dataclass(frozen=True)
class SignInServices:
    """Keys, people and sessions, and how this deployment is reached."""

    keys: Keys
    people: PersonIdentities
    sessions: SessionsTable
    public_url: str = "http://127.0.0.1:8420"
    """What a browser has in its address bar, without a path."""
    issuer: Issuer | None = None

    @property
    def is_https(self) -> bool:
        """Whether browsers reach the pages by https."""
        return urlsplit(self.public_url).scheme == "https"

    @property
    def origin(self) -> str:
        """The origin of the pages, as browsers send it."""
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{parts.netloc}".lower()
