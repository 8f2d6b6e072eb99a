"""The client's calls that go further than one retrieval: broaden, consult, reply, and say how it turned out."""

from __future__ import annotations

from pydantic import TypeAdapter

from api.client_transport import ClientTransport
from contracts.broadening import Broadening
from contracts.consultation import Consultation, ConsultationState, ConsultationView, ConsultReply
from contracts.feedback import Feedback, FeedbackView
from contracts.retrieval import Answer

_CONSULTATIONS = TypeAdapter(list[ConsultationView])
_FEEDBACK = TypeAdapter(list[FeedbackView])


class BroadeningCalls(ClientTransport):
    """Broadened retrievals, consulted domains and feedback (R18, R20)."""

    async def broaden(self, request_id: str, broadening: Broadening) -> Answer:
        """Ask again, further than `request_id` did; the same broadening again gets its first answer."""
        return await self.call("POST", f"/v1/retrievals/{request_id}/broadenings", Answer, body=broadening)

    async def consult(self, request_id: str, consultation: Consultation) -> ConsultationView:
        """Ask another domain, for the work of a retrieval."""
        path = f"/v1/retrievals/{request_id}/consultations"
        return await self.call("POST", path, ConsultationView, body=consultation)

    async def consultations(
        self, *, state: ConsultationState | None = None, limit: int | None = None
    ) -> list[ConsultationView]:
        """Return what the caller has asked and what its domains are asked, the oldest first."""
        query = {"state": state, "limit": limit}
        return await self.call("GET", "/v1/consultations", _CONSULTATIONS, query=query)

    async def get_consultation(self, consultation_id: str) -> ConsultationView:
        """Return a consultation, with its reply when there is one."""
        return await self.call("GET", f"/v1/consultations/{consultation_id}", ConsultationView)

    async def reply(self, consultation_id: str, reply: ConsultReply) -> ConsultationView:
        """Answer a consultation for the caller's domain."""
        return await self.call("POST", f"/v1/consultations/{consultation_id}/reply", ConsultationView, body=reply)

    async def withdraw_consultation(self, consultation_id: str) -> ConsultationView:
        """End an open consultation that the caller asked for."""
        return await self.call("POST", f"/v1/consultations/{consultation_id}/withdraw", ConsultationView)

    async def give_feedback(self, feedback: Feedback) -> FeedbackView:
        """Say how candidates turned out that a decision cites."""
        path = f"/v1/decisions/{feedback.decision_id}/feedback"
        return await self.call("POST", path, FeedbackView, body=feedback)

    async def feedback(self, decision_id: str) -> list[FeedbackView]:
        """Return all feedback on a decision, the oldest first."""
        return await self.call("GET", f"/v1/decisions/{decision_id}/feedback", _FEEDBACK)
