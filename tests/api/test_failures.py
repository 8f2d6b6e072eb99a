"""What nobody foresaw leaks nothing, and sign-in remembers little (R4, R11, R22)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError
from structlog.testing import capture_logs

from activities.records.cases import Cases
from activities.records.identities import Identities
from api.app import create_app
from api.authentication import REMEMBERED, REMEMBERED_SECONDS, Authentication
from contracts.errors import CaseloreError, NotAuthenticated
from contracts.identity import SignedIn
from contracts.labels import PrincipalKind
from tests.api.world import World, fresh

SECRET = "Anna Weber, 12 Mill Lane"


class BrokenCases(Cases):
    def __init__(self, error: Exception) -> None:
        self.error = error

    async def get(self, principal_id: str, case_id: str) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "type_"),
    [
        (IntegrityError("INSERT", {"body": SECRET}, Exception(SECRET)), 500, "about:blank"),
        (ValueError(SECRET), 500, "about:blank"),
        (CaseloreError(SECRET), 500, "urn:caselore:error:CaseloreError"),
        (OperationalError("SELECT", {"body": SECRET}, Exception(SECRET)), 503, "urn:caselore:error:RuntimeUnavailable"),
    ],
)
async def test_r22_an_unforeseen_error_says_nothing_of_the_case(
    world: World, error: Exception, status: int, type_: str
) -> None:
    app = create_app(replace(world.services, cases=BrokenCases(error)))
    with capture_logs() as logs:
        response = await world.send("GET", f"/v1/cases/{fresh()}", app=app)
    assert (response.status_code, response.json()["type"]) == (status, type_)
    assert SECRET not in response.text
    assert SECRET not in str(logs)
    assert (response.headers.get("retry-after") == "1") == (status == 503)
    if type_ == "about:blank":
        [entry] = [line for line in logs if line["event"] != "request"]
        assert (entry["error"], entry["route"]) == (type(error).__name__, "/v1/cases/{case_id}")
        assert "test_failures.py" in entry["at"]


async def test_r11_a_refused_request_leaves_no_text_in_the_log(world: World) -> None:
    with capture_logs() as logs:
        response = await world.send("POST", "/v1/arrivals", body={"subject": SECRET, "body": ["x", SECRET]})
    assert response.status_code == 422
    assert SECRET not in str(logs)
    assert SECRET not in response.text


class CountedIdentities(Identities):
    def __init__(self) -> None:
        self.asked = 0

    async def sign_in(self, key: str) -> SignedIn:
        self.asked += 1
        if key.startswith("bad"):
            raise NotAuthenticated("No.")
        return SignedIn(id=key, kind=PrincipalKind.AGENT, name=key)


async def test_r13_a_sign_in_is_remembered_for_seconds_only() -> None:
    now = 0.0
    identities = CountedIdentities()
    authentication = Authentication(identities, clock=lambda: now)
    for _ in range(3):
        assert (await authentication.sign_in("Bearer a")).id == "a"
        assert (await authentication.sign_in("bearer  a ")).id == "a"
    assert identities.asked == 1
    now += REMEMBERED_SECONDS + 0.1
    await authentication.sign_in("Bearer a")
    assert identities.asked == 2
    assert REMEMBERED_SECONDS <= 10


async def test_r13_only_good_keys_are_remembered_and_not_too_many() -> None:
    identities = CountedIdentities()
    authentication = Authentication(identities)
    for _ in range(2):
        with pytest.raises(NotAuthenticated):
            await authentication.sign_in("Bearer bad")
    assert identities.asked == 2
    for number in range(REMEMBERED + 1):
        await authentication.sign_in(f"Bearer k{number}")
    asked = identities.asked
    await authentication.sign_in(f"Bearer k{REMEMBERED}")
    assert identities.asked == asked
    await authentication.sign_in("Bearer k0")
    assert identities.asked == asked + 1, "the oldest was forgotten"
