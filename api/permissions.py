"""Who may call each route: the one table, enforced by `api.checked_route`.

It says who may knock. What a signed-in caller may see and change derives from its grants and roles in the
record, by row-level security and the rules of the lifecycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from contracts.sign_in import Ability


class Permission(StrEnum):
    """What a route asks of its caller and of the credential that the caller shows.

    A page takes the session of a browser only; everything else takes a bearer key or token only.
    """

    PUBLIC = "public"
    SIGNED_IN = "signed-in"
    """Any credential that isn't narrowed in what it may do."""
    READ = "read"
    RETRIEVE = "retrieve"
    RECORD = "record"
    PROPOSE = "propose"
    REVIEW = "review"
    ADMINISTRATOR = "administrator"
    PAGE = "page"
    PAGE_RETRIEVE = "page-retrieve"
    PAGE_REVIEW = "page-review"
    PAGE_ADMINISTRATOR = "page-administrator"

    @property
    def ability(self) -> Ability | None:
        """What the credential must be good for; None: nothing, or everything."""
        return _ABILITIES.get(self)

    @property
    def is_page(self) -> bool:
        """Whether a session is asked for."""
        return self.value.startswith("page")

    @property
    def is_for_administrators(self) -> bool:
        """Whether the caller must be an administrator."""
        return self in (Permission.ADMINISTRATOR, Permission.PAGE_ADMINISTRATOR)


_ABILITIES: Mapping[Permission, Ability] = {
    Permission.READ: Ability.READ,
    Permission.RETRIEVE: Ability.RETRIEVE,
    Permission.RECORD: Ability.RECORD,
    Permission.PROPOSE: Ability.PROPOSE,
    Permission.REVIEW: Ability.REVIEW,
    Permission.ADMINISTRATOR: Ability.ADMINISTER,
    Permission.PAGE: Ability.READ,
    Permission.PAGE_RETRIEVE: Ability.RETRIEVE,
    Permission.PAGE_REVIEW: Ability.REVIEW,
    Permission.PAGE_ADMINISTRATOR: Ability.ADMINISTER,
}


PERMISSIONS: Mapping[tuple[str, str], Permission] = {
    ("GET", "/health/live"): Permission.PUBLIC,
    ("GET", "/health/ready"): Permission.PUBLIC,
    ("POST", "/v1/arrivals"): Permission.RECORD,
    ("GET", "/v1/cases"): Permission.READ,
    ("GET", "/v1/cases/{case_id}"): Permission.READ,
    ("GET", "/v1/cases/{case_id}/arrivals"): Permission.READ,
    ("GET", "/v1/contents/{content_id}"): Permission.READ,
    ("POST", "/v1/cases/{case_id}/state"): Permission.RECORD,
    ("POST", "/v1/cases/{case_id}/papers"): Permission.RECORD,
    ("POST", "/v1/cases/{case_id}/result"): Permission.RECORD,
    ("GET", "/v1/cases/{case_id}/sanitised"): Permission.READ,
    ("GET", "/v1/cases/{case_id}/related"): Permission.READ,
    ("GET", "/v1/cases/{case_id}/links"): Permission.READ,
    ("POST", "/v1/cases/links"): Permission.RECORD,
    ("POST", "/v1/cases/links/{link_id}/removal"): Permission.RECORD,
    ("POST", "/v1/experiences"): Permission.PROPOSE,
    ("GET", "/v1/experiences/{experience_id}"): Permission.READ,
    ("POST", "/v1/articles"): Permission.PROPOSE,
    ("GET", "/v1/articles"): Permission.READ,
    ("GET", "/v1/articles/{article_id}"): Permission.READ,
    ("GET", "/v1/reviews"): Permission.READ,
    ("POST", "/v1/reviews"): Permission.REVIEW,
    ("GET", "/v1/reviews/{experience_id}"): Permission.READ,
    ("POST", "/v1/reviews/{experience_id}/claim"): Permission.REVIEW,
    ("POST", "/v1/reviews/{experience_id}/release"): Permission.REVIEW,
    ("GET", "/v1/experiences/{experience_id}/difference"): Permission.READ,
    ("POST", "/v1/changes"): Permission.REVIEW,
    ("GET", "/v1/experiences/{experience_id}/scope"): Permission.READ,
    ("POST", "/v1/delegations"): Permission.REVIEW,
    ("GET", "/v1/delegations"): Permission.READ,
    ("POST", "/v1/delegations/{delegation_id}/revocation"): Permission.REVIEW,
    ("GET", "/v1/commands/{command_id}"): Permission.READ,
    ("POST", "/v1/retrievals"): Permission.RETRIEVE,
    ("POST", "/v1/retrievals/prepared"): Permission.RETRIEVE,
    ("GET", "/v1/retrievals/{request_id}"): Permission.READ,
    ("POST", "/v1/retrievals/{request_id}/reads"): Permission.RETRIEVE,
    ("POST", "/v1/retrievals/{request_id}/decisions"): Permission.RETRIEVE,
    ("GET", "/v1/retrievals/{request_id}/record"): Permission.READ,
    ("GET", "/v1/retrievals/{request_id}/rerun"): Permission.READ,
    ("GET", "/v1/strategies"): Permission.READ,
    ("GET", "/v1/strategies/adoptions"): Permission.READ,
    ("POST", "/v1/strategies/adoptions"): Permission.REVIEW,
    ("POST", "/v1/strategies/adoptions/{adoption_id}/decision"): Permission.REVIEW,
    ("POST", "/v1/checks"): Permission.RETRIEVE,
    ("POST", "/v1/retrievals/{request_id}/broadenings"): Permission.RETRIEVE,
    ("POST", "/v1/retrievals/{request_id}/consultations"): Permission.RETRIEVE,
    ("GET", "/v1/consultations"): Permission.READ,
    ("GET", "/v1/consultations/{consultation_id}"): Permission.READ,
    ("POST", "/v1/consultations/{consultation_id}/reply"): Permission.RETRIEVE,
    ("POST", "/v1/consultations/{consultation_id}/withdraw"): Permission.RETRIEVE,
    ("POST", "/v1/decisions/{decision_id}/feedback"): Permission.RETRIEVE,
    ("GET", "/v1/decisions/{decision_id}/feedback"): Permission.READ,
    ("GET", "/v1/watermarks"): Permission.READ,
    ("POST", "/mcp"): Permission.RETRIEVE,
    ("GET", "/metrics"): Permission.ADMINISTRATOR,
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
    ("GET", "/v1/audit"): Permission.READ,
    ("GET", "/v1/audit/head"): Permission.ADMINISTRATOR,
    ("GET", "/v1/experiences/{experience_id}/as-of"): Permission.READ,
    ("GET", "/v1/as-of"): Permission.READ,
    ("PUT", "/v1/tenants"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/domains"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/principals"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/grants"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/roles"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/profiles"): Permission.ADMINISTRATOR,
    ("POST", "/v1/revocations"): Permission.ADMINISTRATOR,
    ("GET", "/v1/access"): Permission.ADMINISTRATOR,
    ("POST", "/v1/keys"): Permission.ADMINISTRATOR,
    ("GET", "/v1/keys"): Permission.ADMINISTRATOR,
    ("POST", "/v1/keys/{key_id}/revocation"): Permission.ADMINISTRATOR,
    ("PUT", "/v1/identities"): Permission.ADMINISTRATOR,
    ("GET", "/v1/identities"): Permission.ADMINISTRATOR,
    ("POST", "/v1/identities/removal"): Permission.ADMINISTRATOR,
    ("POST", "/sign-in"): Permission.PUBLIC,
    ("GET", "/sign-in/oidc"): Permission.PUBLIC,
    ("GET", "/sign-in/callback"): Permission.PUBLIC,
    ("POST", "/sign-out"): Permission.PUBLIC,
    ("GET", "/sign-in"): Permission.PUBLIC,
    ("GET", "/docs"): Permission.PUBLIC,
    ("GET", "/static/{name}"): Permission.PUBLIC,
    ("GET", "/"): Permission.PAGE,
    ("GET", "/reviews/{experience_id}"): Permission.PAGE,
    ("POST", "/reviews/{experience_id}/decision"): Permission.PAGE_REVIEW,
    ("POST", "/reviews/{experience_id}/claim"): Permission.PAGE_REVIEW,
    ("POST", "/reviews/{experience_id}/release"): Permission.PAGE_REVIEW,
    ("GET", "/experiences"): Permission.PAGE,
    ("GET", "/experiences/{experience_id}"): Permission.PAGE,
    ("GET", "/experiences/{experience_id}/changes/{kind}"): Permission.PAGE,
    ("POST", "/experiences/{experience_id}/changes/{kind}"): Permission.PAGE_REVIEW,
    ("GET", "/articles"): Permission.PAGE,
    ("GET", "/articles/{article_id}"): Permission.PAGE,
    ("GET", "/cases"): Permission.PAGE,
    ("GET", "/cases/{case_id}"): Permission.PAGE,
    ("GET", "/retrievals"): Permission.PAGE,
    ("GET", "/retrievals/new"): Permission.PAGE,
    ("POST", "/retrievals/new"): Permission.PAGE_RETRIEVE,
    ("GET", "/retrievals/{request_id}"): Permission.PAGE,
    ("POST", "/retrievals/{request_id}/again"): Permission.PAGE_RETRIEVE,
    ("POST", "/retrievals/{request_id}/read"): Permission.PAGE_RETRIEVE,
    ("GET", "/retrievals/{request_id}/broaden"): Permission.PAGE,
    ("POST", "/retrievals/{request_id}/broaden"): Permission.PAGE_RETRIEVE,
    ("GET", "/retrievals/{request_id}/decide"): Permission.PAGE,
    ("POST", "/retrievals/{request_id}/decide"): Permission.PAGE_RETRIEVE,
    ("GET", "/retrievals/{request_id}/decisions/{decision_id}"): Permission.PAGE,
    ("POST", "/retrievals/{request_id}/decisions/{decision_id}/check"): Permission.PAGE_RETRIEVE,
    ("POST", "/retrievals/{request_id}/decisions/{decision_id}/feedback"): Permission.PAGE_RETRIEVE,
    ("GET", "/retrievals/{request_id}/consult"): Permission.PAGE,
    ("POST", "/retrievals/{request_id}/consult"): Permission.PAGE_RETRIEVE,
    ("GET", "/consultations"): Permission.PAGE,
    ("GET", "/consultations/{consultation_id}"): Permission.PAGE,
    ("POST", "/consultations/{consultation_id}/reply"): Permission.PAGE_RETRIEVE,
    ("POST", "/consultations/{consultation_id}/withdraw"): Permission.PAGE_RETRIEVE,
    ("GET", "/commands/{command_id}"): Permission.PAGE,
    ("GET", "/status"): Permission.PAGE,
    ("GET", "/erasures"): Permission.PAGE_ADMINISTRATOR,
    ("GET", "/erasures/{erasure_id}"): Permission.PAGE_ADMINISTRATOR,
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
