"""Who may call each route: the one table, enforced by `api.checked_route`.

It says who may knock. What a signed-in caller may see and change derives from its grants and roles in the
record, by row-level security and the rules of the lifecycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Permission(StrEnum):
    """What a route asks of its caller."""

    PUBLIC = "public"
    SIGNED_IN = "signed-in"
    ADMINISTRATOR = "administrator"


PERMISSIONS: Mapping[tuple[str, str], Permission] = {
    ("GET", "/health/live"): Permission.PUBLIC,
    ("GET", "/health/ready"): Permission.PUBLIC,
    ("POST", "/v1/arrivals"): Permission.SIGNED_IN,
    ("GET", "/v1/cases"): Permission.SIGNED_IN,
    ("GET", "/v1/cases/{case_id}"): Permission.SIGNED_IN,
    ("GET", "/v1/cases/{case_id}/arrivals"): Permission.SIGNED_IN,
    ("GET", "/v1/contents/{content_id}"): Permission.SIGNED_IN,
    ("POST", "/v1/cases/{case_id}/state"): Permission.SIGNED_IN,
    ("POST", "/v1/cases/{case_id}/papers"): Permission.SIGNED_IN,
    ("POST", "/v1/cases/{case_id}/result"): Permission.SIGNED_IN,
    ("GET", "/v1/cases/{case_id}/sanitised"): Permission.SIGNED_IN,
    ("GET", "/v1/cases/{case_id}/related"): Permission.SIGNED_IN,
    ("GET", "/v1/cases/{case_id}/links"): Permission.SIGNED_IN,
    ("POST", "/v1/cases/links"): Permission.SIGNED_IN,
    ("POST", "/v1/cases/links/{link_id}/removal"): Permission.SIGNED_IN,
    ("POST", "/v1/experiences"): Permission.SIGNED_IN,
    ("GET", "/v1/experiences/{experience_id}"): Permission.SIGNED_IN,
    ("POST", "/v1/articles"): Permission.SIGNED_IN,
    ("GET", "/v1/articles"): Permission.SIGNED_IN,
    ("GET", "/v1/articles/{article_id}"): Permission.SIGNED_IN,
    ("GET", "/v1/reviews"): Permission.SIGNED_IN,
    ("POST", "/v1/reviews"): Permission.SIGNED_IN,
    ("GET", "/v1/reviews/{experience_id}"): Permission.SIGNED_IN,
    ("POST", "/v1/reviews/{experience_id}/claim"): Permission.SIGNED_IN,
    ("POST", "/v1/reviews/{experience_id}/release"): Permission.SIGNED_IN,
    ("GET", "/v1/experiences/{experience_id}/difference"): Permission.SIGNED_IN,
    ("POST", "/v1/changes"): Permission.SIGNED_IN,
    ("GET", "/v1/experiences/{experience_id}/scope"): Permission.SIGNED_IN,
    ("POST", "/v1/delegations"): Permission.SIGNED_IN,
    ("GET", "/v1/delegations"): Permission.SIGNED_IN,
    ("POST", "/v1/delegations/{delegation_id}/revocation"): Permission.SIGNED_IN,
    ("GET", "/v1/commands/{command_id}"): Permission.SIGNED_IN,
    ("POST", "/v1/retrievals"): Permission.SIGNED_IN,
    ("GET", "/v1/retrievals/{request_id}"): Permission.SIGNED_IN,
    ("POST", "/v1/retrievals/{request_id}/reads"): Permission.SIGNED_IN,
    ("POST", "/v1/retrievals/{request_id}/decisions"): Permission.SIGNED_IN,
    ("POST", "/v1/checks"): Permission.SIGNED_IN,
    ("GET", "/v1/watermarks"): Permission.SIGNED_IN,
    ("GET", "/v1/figures"): Permission.ADMINISTRATOR,
    ("POST", "/v1/reindex"): Permission.ADMINISTRATOR,
    ("POST", "/v1/erasures/preview"): Permission.ADMINISTRATOR,
    ("POST", "/v1/erasures"): Permission.ADMINISTRATOR,
    ("GET", "/v1/erasures/{erasure_id}"): Permission.ADMINISTRATOR,
    ("POST", "/v1/reconcile"): Permission.ADMINISTRATOR,
    ("GET", "/v1/reconcile"): Permission.ADMINISTRATOR,
    ("GET", "/v1/dead-letters"): Permission.ADMINISTRATOR,
    ("POST", "/v1/dead-letters/retry"): Permission.ADMINISTRATOR,
    ("POST", "/v1/dead-letters/{event_id}/retry"): Permission.ADMINISTRATOR,
    ("POST", "/v1/dead-letters/{event_id}/give-up"): Permission.ADMINISTRATOR,
    ("GET", "/v1/audit"): Permission.SIGNED_IN,
    ("GET", "/v1/audit/head"): Permission.ADMINISTRATOR,
    ("GET", "/v1/experiences/{experience_id}/as-of"): Permission.SIGNED_IN,
    ("GET", "/v1/as-of"): Permission.SIGNED_IN,
    ("PUT", "/v1/tenants"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/domains"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/principals"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/grants"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/roles"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/profiles"): Permission.ADMINISTRATOR,
    ("POST", "/v1/revocations"): Permission.ADMINISTRATOR,
    ("GET", "/v1/access"): Permission.ADMINISTRATOR,
}
"""By method and path template."""


def permission_of(methods: set[str], path: str) -> Permission:
    """Return what the route asks of its caller; a route that the table leaves out can't be made.

    Raises:
        LookupError: The table doesn't name the route.
    """
    found = {PERMISSIONS[method, path] for method in methods}
    if len(found) != 1:
        raise LookupError(f"{sorted(methods)} {path} needs exactly one permission")
    return found.pop()
