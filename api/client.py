"""The typed client: one method for each route, records in and out, refusals as their own classes.

async with CaseloreClient("http://127.0.0.1:8080", key) as client:
    answer = await client.retrieve(request)
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from api.bodies import Liveness, Read, Readiness, ReadText
from api.client_articles import ArticleCalls
from api.client_audit import AuditCalls
from api.client_broadening import BroadeningCalls
from api.client_case_text import CaseTextCalls
from api.client_cases import AdministrationCalls, CaseCalls
from api.client_delegations import DelegationCalls
from api.client_erasures import ErasureCalls
from api.client_experiences import ExperienceCalls
from api.client_keys import KeyCalls
from api.client_operations import OperationCalls
from api.client_related import RelatedCalls
from api.client_reviews import ReviewCalls
from api.client_strategies import StrategyCalls
from api.client_transport import ClientTransport, refusal_of
from contracts.outbox import Watermark
from contracts.prepared import PreparedRetrieval
from contracts.retrieval import Answer, CheckResult, MemoryUse, RetrievalRequest

_WATERMARKS = TypeAdapter(list[Watermark])


class RetrievalCalls(ClientTransport):
    """What an agent does with the memory (R13 to R20)."""

    async def retrieve(self, request: RetrievalRequest) -> Answer:
        """Ask the memory; the same request again gets its first answer."""
        return await self.call("POST", "/v1/retrievals", Answer, body=request)

    async def prepare_retrieval(self, request: RetrievalRequest) -> PreparedRetrieval:
        """Store a request without running it; `api.direct` starts it."""
        return await self.call("POST", "/v1/retrievals/prepared", PreparedRetrieval, body=request)

    async def get_retrieval(self, request_id: str) -> Answer:
        """Return a stored answer."""
        return await self.call("GET", f"/v1/retrievals/{request_id}", Answer)

    async def read(self, request_id: str, ref: str, revision: int) -> ReadText:
        """Return a candidate's full text, and have it recorded that it was read."""
        wanted = Read(ref=ref, revision=revision)
        return await self.call("POST", f"/v1/retrievals/{request_id}/reads", ReadText, body=wanted)

    async def record_use(self, use: MemoryUse) -> MemoryUse:
        """Record the cited decision on an answer."""
        return await self.call("POST", f"/v1/retrievals/{use.request_id}/decisions", MemoryUse, body=use)

    async def settle_check(self, result: CheckResult) -> CheckResult:
        """Report how a fresh check came out."""
        return await self.call("POST", "/v1/checks", CheckResult, body=result)

    async def watermarks(self) -> list[Watermark]:
        """Return how far each index has followed the record."""
        return await self.call("GET", "/v1/watermarks", _WATERMARKS)


class HealthCalls(ClientTransport):
    """Whether the API and what it needs answer; no key is needed."""

    async def live(self) -> Liveness:
        """Return when the process answers."""
        return await self.call("GET", "/health/live", Liveness)

    async def ready(self) -> Readiness:
        """Return whether everything answers, and what doesn't."""
        response = await self.send("GET", "/health/ready")
        if response.status_code not in (200, 503):
            raise refusal_of(response)
        return Readiness.model_validate_json(response.content)

    async def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        return await self.call("GET", "/openapi.json", TypeAdapter(dict[str, Any]))


class CaseloreClient(
    CaseCalls,
    CaseTextCalls,
    RelatedCalls,
    ExperienceCalls,
    ArticleCalls,
    DelegationCalls,
    ReviewCalls,
    RetrievalCalls,
    StrategyCalls,
    BroadeningCalls,
    AdministrationCalls,
    KeyCalls,
    OperationCalls,
    AuditCalls,
    ErasureCalls,
    HealthCalls,
):
    """Everything that the API offers."""
