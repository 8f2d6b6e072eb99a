"""Retrievals that an agent runtime starts itself, with its own Temporal client and the same models.

    direct = DirectRetrieval(api, temporal)
    answer = await direct.retrieve(request)

Identity stays with the API: it stores the request under the caller's key, where grants and scope are derived, and it
gives the answer to that key only. Through Temporal pass an id and, back, counts. What the runtime gains is the
workflow: no HTTP request is held open while a retrieval waits for a watermark, and a workflow of its own can run the
retrieval as a child.

Temporal itself has no notion of our grants. Whoever may start workflows in the namespace may send anything to any
lifecycle, so only runtimes inside the trust boundary get an address and a certificate; all others use HTTP or MCP.
"""

from __future__ import annotations

from temporalio.client import Client

from api.client import CaseloreClient
from contracts.prepared import PreparedRetrieval
from contracts.retrieval import Answer, RetrievalReceipt, RetrievalRequest
from workflows.gateway import TemporalGateway


class DirectRetrieval:
    """Stores by the API, starts in Temporal, reads the answer by the API.

    Args:
        api: With the key of the agent that asks.
        temporal: Of the namespace that the retrieval workers serve, with `pydantic_data_converter`. With a retrieval
            worker on the same client the start is eager.
    """

    def __init__(self, api: CaseloreClient, temporal: Client) -> None:
        self._api = api
        self._temporal = temporal

    async def retrieve(self, request: RetrievalRequest) -> Answer:
        """Ask the memory; the same request again gets its first answer.

        Raises:
            CaseloreError: The refusal: of the API, or of the retrieval under its own type.
            DeliveryPending: No worker answered in time; the request is stored and can be asked for again.
        """
        prepared = await self._api.prepare_retrieval(request)
        await self.run(prepared)
        return await self._api.get_retrieval(prepared.request_id)

    async def run(self, prepared: PreparedRetrieval) -> RetrievalReceipt:
        """Run the workflow of a stored request.

        Raises:
            CaseloreError: As `retrieve`.
        """
        queue = prepared.task_queue
        return await TemporalGateway(self._temporal, lifecycle_queue=queue, retrieval_queue=queue).retrieve(
            prepared.request_id
        )
