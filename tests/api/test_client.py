"""The typed client: retries, refusals and waiting, against answers made here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx
import pytest

from api.client import CaseloreClient
from contracts.errors import (
    CaseloreError,
    DeliveryPending,
    NotAuthenticated,
    NotFound,
    RuntimeUnavailable,
    StaleDigest,
    TextTooLong,
    UnknownCase,
)
from contracts.identity import Principal
from contracts.labels import PrincipalKind
from contracts.lifecycle import Event, Stage
from contracts.review import ReviewDecision
from tests.api.world import fresh

APPLIED = {"command_id": "c", "state": "applied", "outcome": "published"}
PENDING = {"command_id": "c", "state": "pending", "outcome": ""}


class Answers(httpx.AsyncBaseTransport):
    """Gives prepared answers, the last one again and again."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)


def problem(type_: str, status: int) -> httpx.Response:
    body = {"type": f"urn:caselore:error:{type_}", "detail": "No.", "field": "f", "accepted": "a"}
    return httpx.Response(status, json=body)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> Sequence[float]:
    taken: list[float] = []
    real = asyncio.sleep

    async def pause(seconds: float) -> None:
        taken.append(seconds)
        await real(0)

    monkeypatch.setattr("api.client_transport.asyncio.sleep", pause)
    return taken


def client_of(transport: Answers, retries: int = 3) -> CaseloreClient:
    return CaseloreClient("http://caselore", "key", retries=retries, transport=transport)


@pytest.mark.parametrize("failure", [httpx.ConnectError("refused"), *(httpx.Response(s) for s in (502, 503, 504))])
async def test_what_nobody_answered_is_sent_again(failure: httpx.Response | Exception, pauses: Sequence[float]) -> None:
    transport = Answers(failure, failure, httpx.Response(200, json=APPLIED))
    async with client_of(transport) as client:
        assert (await client.get_command(fresh())).state == "applied"
    assert len(transport.requests) == 3
    first, second = pauses
    assert (0.2 <= first <= 0.3, 0.4 <= second <= 0.6) == (True, True)
    assert pauses != [0.2, 0.4], "spread, so that those who failed together don't come back together"
    assert len({request.content for request in transport.requests}) == 1
    assert transport.requests[0].headers["authorization"] == "Bearer key"


async def test_the_servers_pause_is_kept_within_bounds(pauses: Sequence[float]) -> None:
    away = httpx.Response(503, headers={"Retry-After": "3600"})
    async with client_of(Answers(away, httpx.Response(200, json=APPLIED))) as client:
        await client.get_command(fresh())
    [pause] = pauses
    assert 5.0 <= pause <= 7.5


async def test_retries_end(pauses: Sequence[float]) -> None:
    transport = Answers(problem("DeliveryPending", 503))
    async with client_of(transport, retries=2) as client:
        with pytest.raises(DeliveryPending):
            await client.watermarks()
    assert len(transport.requests) == 3
    async with client_of(Answers(httpx.ReadTimeout("slow")), retries=1) as client:
        with pytest.raises(RuntimeUnavailable) as caught:
            await client.watermarks()
    assert "ReadTimeout" in caught.value.message
    assert len(pauses) == 3


async def test_a_refusal_is_not_retried_and_keeps_its_words() -> None:
    transport = Answers(problem("StaleDigest", 409))
    async with client_of(transport) as client:
        with pytest.raises(StaleDigest) as caught:
            await client.get_command(fresh())
    assert (caught.value.message, caught.value.field, caught.value.accepted) == ("No.", "f", "a")
    assert len(transport.requests) == 1


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (problem("UnknownCase", 404), UnknownCase),
        (problem("SomethingNewer", 404), NotFound),
        (httpx.Response(401, text="proxy says no"), NotAuthenticated),
        (httpx.Response(413, json=["odd"]), TextTooLong),
        (httpx.Response(418), CaseloreError),
    ],
)
async def test_an_answer_that_is_not_ours_is_judged_by_its_status(
    response: httpx.Response, expected: type[CaseloreError]
) -> None:
    async with client_of(Answers(response)) as client:
        with pytest.raises(CaseloreError) as caught:
            await client.get_case(fresh())
    assert type(caught.value) is expected


async def test_a_key_is_asked_for_once() -> None:
    principal = Principal(id="a", kind=PrincipalKind.AGENT, name="A")
    transport = Answers(httpx.Response(503))
    async with client_of(transport) as client:
        with pytest.raises(RuntimeUnavailable):
            await client.put_principal(principal, issue_key=True)
        assert len(transport.requests) == 1
        with pytest.raises(RuntimeUnavailable):
            await client.put_principal(principal)
        assert len(transport.requests) == 5


async def test_r23_a_pending_decision_is_followed_when_asked() -> None:
    decision = ReviewDecision(
        decision_id=fresh(), experience_id=fresh(), stage=Stage.OWNER_REVIEW, digest="d", verdict=Event.ACCEPT
    )
    pending = httpx.Response(202, json=PENDING)
    async with client_of(Answers(pending)) as client:
        assert (await client.decide(decision)).state == "pending"
    transport = Answers(pending, httpx.Response(200, json=PENDING), httpx.Response(200, json=APPLIED))
    async with client_of(transport) as client:
        assert (await client.decide(decision, wait=5)).outcome == "published"
    assert [request.method for request in transport.requests] == ["POST", "GET", "GET"]
    refused = httpx.Response(200, json={**APPLIED, "state": "refused", "outcome": "StaleDigest"})
    async with client_of(Answers(pending, refused)) as client:
        with pytest.raises(StaleDigest):
            await client.decide(decision, wait=5)
