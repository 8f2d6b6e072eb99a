"""An answer that is lost after the work was done: the client asks again, and it was one act (R23, R24)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import httpx
import pytest
import pytest_asyncio

from api.client import CaseloreClient
from contracts.experience import Proposal
from contracts.retrieval import CheckOutcome, CheckResult, Citation, CitationVerdict, FreshCheck, MemoryUse
from tests.api.mcp_world import answering
from tests.api.test_retrievals import asking
from tests.api.world import World, delivery, draft, fresh, key_of

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Losing:
    """An app in front of another that does the work and loses the first answer to each request."""

    def __init__(self, app: Any, how: str) -> None:
        self._app, self._how = app, how
        self.lost: list[bytes] = []
        self._seen: set[tuple[str, str]] = set()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Send) -> None:
        key = (scope["method"], scope["path"])
        if key in self._seen:
            await self._app(scope, receive, send)
            return
        self._seen.add(key)
        answer: list[MutableMapping[str, Any]] = []

        async def keep(message: MutableMapping[str, Any]) -> None:
            answer.append(message)

        await self._app(scope, receive, keep)
        assert answer[0]["status"] < 300, "the work was done"
        self.lost.append(answer[1].get("body", b""))
        if self._how == "gone":
            raise ConnectionResetError
        await send({"type": "http.response.start", "status": 502, "headers": []})
        await send({"type": "http.response.body", "body": b"bad gateway"})


class Transport(httpx.ASGITransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await super().handle_async_request(request)
        except ConnectionResetError:
            raise httpx.RemoteProtocolError("connection closed", request=request) from None


@pytest_asyncio.fixture(scope="module")
async def busy(world: World) -> AsyncIterator[World]:
    async with answering(world):
        yield world


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: float) -> float:
        return 0.0

    monkeypatch.setattr("api.client_transport._spread", none)


@pytest.mark.parametrize("how", ["gone", "gateway"])
async def test_r24_a_lost_answer_costs_nothing(busy: World, how: str) -> None:
    result_id = await busy.new_result()
    app = Losing(busy.app, how)
    before = await busy.counts()
    async with CaseloreClient("http://caselore", key_of("agent"), transport=Transport(app=app)) as agent:
        receipt = await agent.deliver(delivery())
        request = asking(case_id=receipt.case_id)
        answer = await agent.retrieve(request)
        candidate = answer.candidates[0]
        await agent.read(request.request_id, candidate.ref, candidate.revision)
        use = MemoryUse(
            decision_id=fresh(),
            request_id=request.request_id,
            summary="Look at the register first.",
            citations=(
                Citation(
                    ref=candidate.ref, revision=candidate.revision, verdict=CitationVerdict.REJECTED, why="Another one."
                ),
            ),
            checks=(FreshCheck(check_id="letters", text="The letters exist."),),
        )
        await agent.record_use(use)
        await agent.settle_check(
            CheckResult(decision_id=use.decision_id, check_id="letters", outcome=CheckOutcome.HELD)
        )
        proposed = Proposal(experience_id=fresh(), result_id=result_id, draft=draft())
        await agent.propose(proposed)
    assert len(app.lost) == 6, "each call lost its first answer"
    after = await busy.counts()
    added = {table: after[table] - count for table, count in before.items()}
    assert (added["arrivals"], added["cases"], added["retrieval_requests"], added["memory_uses"]) == (1, 1, 1, 1)
    assert (added["experiences"], added["revisions"]) == (1, 1)
    assert await busy.count("retrieval_reads", f"request_id = '{request.request_id}'") == 1
