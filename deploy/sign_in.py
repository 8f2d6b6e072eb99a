"""Who signs people in, by the settings: an organisation's issuer, the one for development, or keys alone."""

from __future__ import annotations

from activities.issuer.issuer import Issuer
from deploy.embedded.development_issuer import AUDIENCE, CLIENT, DevelopmentIssuer
from deploy.embedded.issuer_keys import IssuerKeys
from deploy.settings import Settings
from deploy.wiring import Parts


def development_issuer(settings: Settings, parts: Parts) -> DevelopmentIssuer:
    """Return the issuer for development with a new signing key; the key of the start before is still good."""
    keys = IssuerKeys(settings.data_dir / "development-issuer")
    keys.rotate()
    return DevelopmentIssuer(settings.browsed_url, parts.people, keys)


def configured_issuer(settings: Settings, development: DevelopmentIssuer | None) -> Issuer | None:
    """Return the issuer that the API trusts; None: there are API keys only."""
    if development is not None:
        return Issuer(development.url, AUDIENCE, client_id=CLIENT)
    if settings.oidc_issuer is None or settings.oidc_audience is None:
        return None
    return Issuer(
        settings.oidc_issuer,
        settings.oidc_audience,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
    )
