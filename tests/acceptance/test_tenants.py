"""Twelve tenants with awkward names: nothing of one can be had, counted or told apart by another (R4, R21)."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from api.client import CaseloreClient
from api.permissions import PERMISSIONS, Permission
from contracts.identity import Grant, Principal
from contracts.index import Filter, LexicalQuery, Scope
from contracts.labels import CandidateKind, Collection, PrincipalKind
from contracts.retrieval import OriginRef
from deploy.importing import bounded
from tests.acceptance.estate import NAMES, ORIGINS, WORDS, Estate, Member, ask, running_estate
from tests.acceptance.foreign_requests import FOREIGN, OWN_ONLY, Asked, fresh, taken_keys, unknown

SIDE_BY_SIDE = 6
NAMING = ("/v1/arrivals", "/v1/cases", "/v1/retrievals")
"""Routes that are told a tenant's name: each pair both ways. The others are told ids, where one way is enough."""
pytestmark = pytest.mark.timeout(240)


@pytest_asyncio.fixture(scope="module")
async def estate(folder: Path) -> AsyncIterator[Estate]:
    async with running_estate(folder) as found:
        yield found


BY_CALLER = {
    permission
    for permission in Permission
    if not (permission is Permission.PUBLIC or permission.is_page or permission.is_for_administrators)
}
"""What an API route asks for whose answer depends on who calls."""


def test_every_route_is_tried() -> None:
    """R4: a route that takes a signed-in caller and is not in this test's tables fails it."""
    tools = {("POST", "/mcp")}  # tried by tests/api/test_mcp_permissions.py, tool by tool
    routes = {route for route, permission in PERMISSIONS.items() if permission in BY_CALLER} - tools
    assert routes == FOREIGN.keys() | OWN_ONLY.keys()


@pytest.mark.parametrize("route", FOREIGN, ids=" ".join)
async def test_r4_what_is_another_tenants_looks_like_nothing_at_all(estate: Estate, route: tuple[str, str]) -> None:
    """All pairs: the answer is to the byte that for a name or id which nobody has, and nothing is written.

    The first form of request for all pairs; its variants from each tenant to the next.
    """
    before = await estate.rows()

    async def about_nothing(caller: Member) -> list[bytes]:
        answers = await _answers(estate, caller, FOREIGN[route](unknown(), caller.holdings))
        for response in answers:
            assert response.is_client_error or response.json() == [], response.text
        return [_as_sent(response) for response in answers]

    async def about(other: Member, caller: Member) -> None:
        asked = FOREIGN[route](other.holdings, caller.holdings)
        if not estate.is_next(caller, other):
            asked = asked[:1]
        answers = await _answers(estate, caller, asked)
        assert [_as_sent(response) for response in answers] == nothing[caller.key][: len(asked)], _pair(caller, other)
        for response in answers:
            _keeps_quiet(response.text, other)

    found = await bounded([lambda caller=caller: about_nothing(caller) for caller in estate.members], SIDE_BY_SIDE)
    nothing = {caller.key: answers for caller, answers in zip(estate.members, found, strict=True)}
    pairs = list(itertools.permutations(estate.members, 2))
    if route[1] not in NAMING:
        pairs = [(caller, other) for caller, other in pairs if estate.is_before(caller, other)]
    await bounded([lambda caller=caller, other=other: about(other, caller) for caller, other in pairs], SIDE_BY_SIDE)
    assert await estate.rows() == before


@pytest.mark.parametrize("route", OWN_ONLY, ids=" ".join)
async def test_r4_an_answer_about_nothing_in_particular_holds_nothing_of_others(
    estate: Estate, route: tuple[str, str]
) -> None:
    for caller in estate.members:
        (response,) = await _answers(estate, caller, [OWN_ONLY[route]()])
        assert response.status_code == 200
        _keeps_quiet(response.text, *_others(estate, caller))


async def test_r4_each_tenant_has_its_own_cases_for_the_same_origins(estate: Estate) -> None:
    """R1: neither names nor joined parts of an identity can meet; each case holds its own tenant's words."""
    assert len({case for member in estate.members for case in member.cases}) == len(NAMES) * len(ORIGINS)
    for member in estate.members:
        listed = await member.client.list_cases(member.holdings.tenant, limit=200)
        assert {case.id for case in listed} == set(member.cases)
        for case_id, (source, external_id) in zip(member.cases, ORIGINS, strict=True):
            case = await member.client.get_case(case_id)
            assert (case.origin.tenant_id, case.origin.source, case.origin.external_id) == (
                member.holdings.tenant,
                source,
                external_id,
            )
            assert member.word in case.body


async def test_r4_r21_a_retrieval_finds_the_callers_cases_and_no_others(estate: Estate) -> None:
    """By the words and by an identity that all tenants share; not even a count tells of the others."""
    source, external_id = ORIGINS[0]
    for member in estate.members:
        for given in (
            {},
            {"tenant_id": member.holdings.tenant, "origin": OriginRef(source=source, external_id=external_id)},
        ):
            answer = await ask(member.client, **given)
            cases = {each.ref.removeprefix("case/") for each in answer.candidates if each.kind is CandidateKind.CASE}
            assert cases == set(member.cases), member.holdings.tenant
            assert (answer.omitted_by_permission, answer.withdrawn) == (0, 0)
            assert {each.found for each in answer.routes if each.found} <= {0, 1, len(ORIGINS)}
            _keeps_quiet(answer.model_dump_json(), *_others(estate, member))


async def test_r4_the_index_itself_gives_a_scope_its_own_cases_and_no_others(estate: Estate) -> None:
    """Before the record checks anything: others' entries would push a tenant's own out of its answers."""
    asked = LexicalQuery(f"{WORDS} {' '.join(member.word for member in estate.members)}")
    for member in estate.members:
        scope = Scope(tenants=frozenset({member.holdings.tenant}))
        hits = await estate.runtime.parts.index.search(
            Collection.CASES, asked, scope=scope, where=Filter(), limit=10 * len(NAMES)
        )
        assert {hit.target for hit in hits} == {f"case/{case}" for case in member.cases}, member.holdings.tenant


async def test_r4_related_work_stays_inside(estate: Estate) -> None:
    """R2: all tenants name one object in the same words; each sees its own two other cases."""
    for member in estate.members:
        (response,) = await _answers(
            estate,
            member,
            [Asked("GET", f"/v1/cases/{member.cases[0]}/related", query={"include_later": "true"})],
        )
        assert response.status_code == 200, response.text
        assert {each["case_id"] for each in response.json()["cases"]} == set(member.cases[1:])
        _keeps_quiet(response.text, *_others(estate, member))


async def test_r4_a_grant_of_one_case_shows_that_case(estate: Estate) -> None:
    for number, member in enumerate(estate.members):
        guest = Principal(id=f"guest-{number}", kind=PrincipalKind.PERSON, name="Guest")
        key = await estate.admin.put_principal(guest, issue_key=True)
        tenant, shown = member.holdings.tenant, member.cases[2]
        await estate.admin.put_grant(Grant(principal_id=guest.id, tenant_id=tenant, case_id=shown, purpose="advice"))
        async with CaseloreClient(str(estate.http.base_url), key or "") as client:
            assert [case.id for case in await client.list_cases(tenant)] == [shown]
            assert (await client.get_case(shown)).id == shown
        asked = [Asked("GET", f"/v1/cases/{case}") for case in (*member.cases[:2], fresh())]
        headers = {"Authorization": f"Bearer {key}", "X-Request-ID": "one-and-the-same"}
        hidden = [await estate.http.request(each.method, each.path, headers=headers) for each in asked]
        assert {response.status_code for response in hidden} == {404}
        assert len({response.content for response in hidden}) == 1


async def test_r4_a_key_that_another_tenant_has_used_tells_nothing_of_its_use(estate: Estate) -> None:
    """R1: it is refused, names nothing of the other, and changes nothing for either."""
    before = await estate.rows()
    for caller, other in itertools.pairwise((*estate.members, estate.members[0])):
        held = await other.client.get_case(other.cases[0])
        for response in await _answers(estate, caller, taken_keys(other.holdings, caller.holdings)):
            assert response.is_client_error, f"{response.request.url}: {response.text}"
            sent = json.loads(response.request.content)
            own = [value for value in sent.values() if isinstance(value, str)]
            _keeps_quiet(response.text, other, but=own)
        assert await other.client.get_case(other.cases[0]) == held
    assert await estate.rows() == before


async def _answers(estate: Estate, caller: Member, asked: Sequence[Asked]) -> list[httpx.Response]:
    return [await estate.send(caller, each) for each in asked]


def _as_sent(response: httpx.Response) -> bytes:
    return b"%d %s" % (response.status_code, response.content)


def _others(estate: Estate, caller: Member) -> list[Member]:
    return [member for member in estate.members if member is not caller]


def _pair(caller: Member, other: Member) -> str:
    return f"{caller.holdings.tenant!r} asks about {other.holdings.tenant!r}"


def _keeps_quiet(said: str, *others: Member, but: Sequence[str] = ()) -> None:
    told = [secret for other in others for secret in other.secrets() if secret in said and secret not in but]
    assert told == []
