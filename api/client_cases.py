"""The client's calls on the case registry and for administrators."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import TypeAdapter

from api.bodies import FiledPapers, IssuedKey, PapersToFile, PrincipalToAdd, ResultToRecord, StateChange
from api.client_transport import ClientTransport
from contracts.access import AccessView, Revocation, RevocationOutcome
from contracts.arrival_views import ArrivalHistory
from contracts.cases import Case, CaseResult, Content, Delivery, Paper, Receipt
from contracts.identity import Domain, Grant, Principal, Profile, RoleInDomain, Tenant
from contracts.labels import CaseState

_CASES = TypeAdapter(list[Case])


class CaseCalls(ClientTransport):
    """Arrivals, cases, papers and results (R1, R3, R5)."""

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Deliver a source request; a redelivery gets the first answer."""
        return await self.call("POST", "/v1/arrivals", Receipt, body=delivery)

    async def list_cases(self, tenant_id: str, *, state: CaseState | None = None, limit: int = 50) -> list[Case]:
        """Return a tenant's newest cases that the caller may see."""
        return await self.call(
            "GET", "/v1/cases", _CASES, query={"tenant_id": tenant_id, "state": state, "limit": limit}
        )

    async def get_case(self, case_id: str) -> Case:
        """Return a case as it stands now."""
        return await self.call("GET", f"/v1/cases/{case_id}", Case)

    async def find_case(self, tenant_id: str, source: str, external_id: str) -> Case | None:
        """Return the case of a source request, by its exact origin; None when nothing of it came."""
        query = {"tenant_id": tenant_id, "source": source, "external_id": external_id}
        found = await self.call("GET", "/v1/cases", _CASES, query=query)
        return found[0] if found else None

    async def arrivals(self, case_id: str, *, limit: int = 50, skip: int = 0) -> ArrivalHistory:
        """Return what was delivered for a case: conflicts, missing revisions and hours included."""
        query = {"limit": limit, "skip": skip}
        return await self.call("GET", f"/v1/cases/{case_id}/arrivals", ArrivalHistory, query=query)

    async def content(self, content_id: str) -> Content:
        """Return a text that is kept by reference."""
        return await self.call("GET", f"/v1/contents/{content_id}", Content)

    async def change_state(
        self, case_id: str, state: CaseState, *, expected_revision: int, at: datetime, waiting_on: str = ""
    ) -> Case:
        """Move a case to a state, if it still is at the revision that the caller read."""
        change = StateChange(state=state, expected_revision=expected_revision, at=at, waiting_on=waiting_on)
        return await self.call("POST", f"/v1/cases/{case_id}/state", Case, body=change)

    async def file_papers(self, case_id: str, papers: Sequence[Paper]) -> FiledPapers:
        """File papers in a case, all of them or none."""
        return await self.call(
            "POST", f"/v1/cases/{case_id}/papers", FiledPapers, body=PapersToFile(papers=tuple(papers))
        )

    async def record_result(
        self, result: CaseResult, papers: Sequence[Paper] = (), *, complete_at: datetime | None = None
    ) -> CaseResult:
        """Record what a case ended with, and complete it when a time is given."""
        record = ResultToRecord(result=result, papers=tuple(papers), complete_at=complete_at)
        return await self.call("POST", f"/v1/cases/{result.case_id}/result", CaseResult, body=record)


class AdministrationCalls(ClientTransport):
    """What only administrators may call."""

    async def put_tenant(self, tenant: Tenant) -> Tenant:
        """Add a tenant, or rename it."""
        return await self.call("PUT", "/v1/tenants", Tenant, body=tenant)

    async def put_domain(self, domain: Domain) -> Domain:
        """Add a domain, or change it."""
        return await self.call("PUT", "/v1/domains", Domain, body=domain)

    async def put_principal(
        self, principal: Principal, *, issue_key: bool = False, key_expires_at: datetime | None = None
    ) -> str | None:
        """Add a principal; return its new API key when one was asked for.

        With a key it is sent once only, for each sending would issue another.
        """
        addition = PrincipalToAdd(principal=principal, issue_key=issue_key, key_expires_at=key_expires_at)
        issued = await self.call("PUT", "/v1/principals", IssuedKey, body=addition, repeatable=not issue_key)
        return issued.api_key

    async def set_active(self, principal: Principal, *, active: bool) -> None:
        """Let a principal sign in, or not any more."""
        addition = PrincipalToAdd(principal=principal, active=active)
        await self.call("PUT", "/v1/principals", IssuedKey, body=addition)

    async def revoke(self, revocation: Revocation) -> RevocationOutcome:
        """Take a grant, role, membership or keys away."""
        return await self.call("POST", "/v1/revocations", RevocationOutcome, body=revocation)

    async def access(self, principal_id: str) -> AccessView:
        """Return what a principal may see and do."""
        return await self.call("GET", "/v1/access", AccessView, query={"principal_id": principal_id})

    async def put_grant(self, grant: Grant) -> Grant:
        """Let a principal see a tenant or one case of it."""
        return await self.call("PUT", "/v1/grants", Grant, body=grant)

    async def put_role(self, role: RoleInDomain) -> RoleInDomain:
        """Make a principal curator or owner of a domain."""
        return await self.call("PUT", "/v1/roles", RoleInDomain, body=role)

    async def put_profile(self, profile: Profile) -> Profile:
        """Add or change a requesting profile."""
        return await self.call("PUT", "/v1/profiles", Profile, body=profile)
