"""Related work as callers see it: scope, reasons, what was not read, and decisions on it (R2, R4, R16)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from activities.records.identities import Identities
from contracts.cases import CaseFacts, CaseLink, CaseLinkKind, Origin
from contracts.errors import EmbeddingUnavailable, SameCase, UnknownCase, UnknownLink
from contracts.identity import Domain, Grant, Principal
from contracts.labels import PrincipalKind
from contracts.related import Asked, Relation
from contracts.retrieval import RouteState
from contracts.strategy import Route
from tests.api.opened_world import opened_world
from tests.api.related_world import AWAY, Office, open_office
from tests.api.world import NOW, Letters, fresh, key_of
from tests.services import PostgresServer

AWKWARD = ["a", "A", "a:b", "a b", "%", "_", "'", "a,b", "null", "\u00e9", "e\u0301", "a'; DROP TABLE cases; --"]
"""Tenants that a careless comparison, quotation or joined key would take for each other."""


@pytest_asyncio.fixture(scope="module", name="office")
async def fixture_office(
    postgres_server: PostgresServer,
    migrated: str,
    temporal_env: WorkflowEnvironment,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Office]:
    async with (
        opened_world(postgres_server, migrated, temporal_env.client) as world,  # nobody works on its queues
        open_office(world, tmp_path_factory.mktemp("index")) as office,
    ):
        yield office


@pytest_asyncio.fixture(name="tenant")
async def fixture_tenant(office: Office) -> str:
    """A tenant of the test's own; its one person has the same name."""
    name = fresh()
    await office.new_tenant(name, name)
    return name


class NoModel(Letters):
    def embed(self, texts: Any) -> Any:
        raise EmbeddingUnavailable("The model file is gone.")


def merge(case_id: str, other: str, **given: Any) -> CaseLink:
    values: dict[str, Any] = {"id": fresh(), "kind": CaseLinkKind.MERGED_INTO, "reason": "One fault."}
    values |= {"case_id": case_id, "other_case_id": other, **given}
    return CaseLink.model_validate(values)


async def test_r2_alike_cases_are_listed_with_their_ranks_and_nothing_is_merged(office: Office, tenant: str) -> None:
    for words in ("login", "letters", "register"):
        await office.open(words, tenant=tenant, as_=tenant)
    asked = await office.open("letters again", tenant=tenant, as_=tenant)
    await office.project()
    answer = await office.related(asked, as_=tenant)
    assert office.listed(answer)[0] == "letters"
    best = answer.cases[0]
    assert (best.rank, best.relation, best.continues_in) == (1, Relation.SIMILAR, None)
    [reason] = best.reasons
    assert {(place.route, place.asked) for place in reason.ranks} >= {
        (Route.LEXICAL, Asked.WHOLE),
        (Route.DENSE_BODY, Asked.WHOLE),
    }
    assert all(read.state is RouteState.OK for read in answer.reads)
    assert (answer.not_read, answer.watermark.pending) == ((), 0)
    assert await office.world.count("case_links") == 0
    async with office.caller(tenant) as client:
        assert len(await client.list_cases(tenant)) == 4


async def test_r2_only_cases_opened_before_unless_later_ones_are_asked_for(office: Office, tenant: str) -> None:
    earlier = await office.open(tenant=tenant, as_=tenant, name="earlier")
    asked = await office.open(tenant=tenant, as_=tenant, name="asked", refs=["doc/7"])
    same_moment = NOW + timedelta(days=office.day)
    await office.open(tenant=tenant, as_=tenant, name="same moment", at=same_moment, refs=["doc/7"])
    later = await office.open(tenant=tenant, as_=tenant, name="later", refs=["doc/7"])
    for _ in ("pending", "projected"):
        for away in ({}, AWAY):
            assert office.listed(await office.related(asked, as_=tenant, away=away)) == ["earlier"]
            wide = await office.related(asked, as_=tenant, away=away, include_later=True)
            assert sorted(office.listed(wide)) == ["earlier", "later", "same moment"]
            assert wide.includes_later
        await office.project()
    async with office.caller(tenant) as client:
        await client.link_cases(merge(asked, later))
        assert office.listed(await client.related(earlier)) == []
        answer = await client.related(asked)
    assert office.listed(answer) == ["later", "earlier"], "a decision is shown whenever the other case was opened"
    assert answer.continues_in == later


async def test_r2_decisions_then_facts_then_likeness(office: Office, tenant: str) -> None:
    request = Origin(tenant_id=tenant, source="desk", external_id="SD-42")
    await office.open("register", tenant=tenant, as_=tenant, name="request", origin=request)
    await office.open("login", tenant=tenant, as_=tenant, name="object", refs=["doc/7", "doc/8"])
    linked = await office.open("login", tenant=tenant, as_=tenant, name="linked")
    await office.open("letters", tenant=tenant, as_=tenant, name="alike")
    asked = await office.open("letters", tenant=tenant, as_=tenant, refs=["SD-42", "doc/8", "doc/7"])
    await office.project()
    async with office.caller(tenant) as client:
        made = await client.link_cases(merge(linked, asked, kind=CaseLinkKind.RELATED, reason="Same letter template."))
        answer = await client.related(asked)
        assert office.listed(answer)[:4] == ["linked", "request", "object", "alike"]
        by_name = {office.names[each.case_id]: each for each in answer.cases}
        assert (by_name["linked"].reasons[0].link_id, by_name["linked"].reasons[0].why) == (made.id, made.reason)
        assert by_name["request"].reasons[0].shared == ("SD-42",)
        assert by_name["object"].reasons[0].shared == ("doc/8", "doc/7")
        assert [each.relation for each in by_name["object"].reasons] == [Relation.SAME_OBJECT, Relation.SIMILAR]

        await client.remove_link(made.id, "Another template.")
        assert office.listed(await client.related(asked))[:2] == ["request", "object"]
        backwards = await client.related((by_name["request"]).case_id, include_later=True)
    assert (backwards.cases[0].case_id, backwards.cases[0].relation) == (asked, Relation.SAME_REQUEST)


async def test_r2_of_cases_as_much_alike_the_nearer_in_time_comes_first(office: Office, tenant: str) -> None:
    """Neither order of delivery nor of ids decides: the one in the middle of a year was delivered first."""
    asked_at = NOW + timedelta(days=2_000)
    for name, days in (("half a year", 180), ("two years", 730), ("a day", 1)):
        await office.open("letters", tenant=tenant, as_=tenant, name=name, at=asked_at - timedelta(days=days))
    asked = await office.open("letters", tenant=tenant, as_=tenant, at=asked_at)
    await office.project()
    answer = await office.related(asked, as_=tenant)
    assert office.listed(answer) == ["a day", "half a year", "two years"]
    assert [each.reasons[0].days_apart for each in answer.cases] == [1.0, 180.0, 730.0]


async def test_r15_the_domains_of_the_nearest_are_counted_and_route_nothing(office: Office, tenant: str) -> None:
    """Cases without a domain aren't counted, nor are those that the caller may not see."""
    elsewhere = fresh()
    await Identities(office.world.database).add_domain(Domain(id=elsewhere, name="Elsewhere"))
    for number in range(3):
        facts = CaseFacts(domain_id="data")
        await office.open("letters", tenant=tenant, as_=tenant, name=f"data {number}", facts=facts)
    await office.open("login", tenant=tenant, as_=tenant, facts=CaseFacts(domain_id=elsewhere))
    await office.open("letters", tenant=tenant, as_=tenant, name="nobody's")
    asked = await office.open("letters", tenant=tenant, as_=tenant)
    await office.project()
    answer = await office.related(asked, as_=tenant)
    first, *others = answer.went_to
    assert (first.domain_id, first.cases) == ("data", 3)
    assert {office.names[case] for case in first.case_ids} == {"data 0", "data 1", "data 2"}
    assert first.share > sum(each.share for each in others)
    assert sum(each.share for each in answer.went_to) == pytest.approx(1.0, abs=0.01)
    async with office.caller(tenant) as client:
        assert (await client.get_case(asked)).facts.domain_id is None


async def test_an_object_of_many_cases_leaves_room_for_the_others(office: Office, tenant: str) -> None:
    for _ in range(6):
        await office.open("login", tenant=tenant, as_=tenant, name="object", refs=["customer/1"])
    for _ in range(3):
        await office.open("letters", tenant=tenant, as_=tenant, name="alike")
    asked = await office.open("letters", tenant=tenant, as_=tenant, refs=["customer/1"])
    await office.project()
    answer = await office.related(asked, as_=tenant, limit=4)
    assert office.listed(answer) == ["object", "object", "alike", "alike"]
    assert answer.left_off == 4


async def test_r2_a_merged_case_is_listed_with_where_its_work_goes_on(office: Office, tenant: str) -> None:
    first, second, asked = [await office.open(tenant=tenant, as_=tenant) for _ in range(3)]
    await office.project()
    async with office.caller(tenant) as client:
        await client.link_cases(merge(first, second))
        ends = {each.case_id: each.continues_in for each in (await client.related(asked)).cases}
        assert ends == {first: second, second: None}
        assert (await client.case_links(first)).continues_in == second


async def test_r2_a_merged_case_says_so_until_it_is_split(office: Office, tenant: str) -> None:
    """Read alone and in the list; a reader who may not see the other case learns only that there is one (R4)."""
    first, second = [await office.open(tenant=tenant, as_=tenant) for _ in range(2)]
    guest = f"guest-{tenant}"
    identities = Identities(office.world.database)
    await identities.add_principal(Principal(id=guest, kind=PrincipalKind.PERSON, name="Guest"))
    await identities.accept_key(guest, key_of(guest))
    await identities.grant(Grant(principal_id=guest, tenant_id=tenant, case_id=first, purpose="advice"))

    async def shown(who: str) -> list[tuple[str | None, bool]]:
        async with office.caller(who) as client:
            found = [await client.get_case(first), *await client.list_cases(tenant)]
        return [(each.merged_into, each.merged_elsewhere) for each in found if each.id == first]

    async with office.caller(tenant) as client:
        made = await client.link_cases(merge(first, second))
        assert await shown(tenant) == [(second, False)] * 2
        assert await shown(guest) == [(None, True)] * 2
        await client.remove_link(made.id, "Two faults after all.")
    assert await shown(tenant) == await shown(guest) == [(None, False)] * 2


async def test_r16_pending_cases_are_read_from_the_record_and_the_answer_says_so(office: Office, tenant: str) -> None:
    await office.open("letters", tenant=tenant, as_=tenant, name="indexed")
    await office.project()
    await office.open("letters again", tenant=tenant, as_=tenant, name="pending")
    asked = await office.open("letters", tenant=tenant, as_=tenant)
    answer = await office.related(asked, as_=tenant)
    assert sorted(office.listed(answer)) == ["indexed", "pending"]
    assert (answer.watermark.pending, answer.watermark.is_current) == (2, False)
    assert answer.watermark.lag_seconds > 0
    assert [line for line in answer.not_read if "pending events not in the index yet: 2" in line]
    [instead] = [read for read in answer.reads if read.route is Route.CANONICAL]
    assert (instead.state, instead.found, instead.why) == (RouteState.OK, 1, "for pending changes")
    await office.project()
    assert (await office.related(asked, as_=tenant)).not_read == ()


@pytest.mark.parametrize("away", [AWAY, {"embedder": NoModel()}], ids=["index", "model"])
async def test_r16_what_is_away_is_named_and_full_text_stands_in(
    office: Office, tenant: str, away: dict[str, Any]
) -> None:
    for words in ("login", "letters"):
        await office.open(words, tenant=tenant, as_=tenant)
    asked = await office.open("letters again", tenant=tenant, as_=tenant)
    await office.project()
    answer = await office.related(asked, as_=tenant, away=away)
    assert office.listed(answer)[0] == "letters"
    failed = [read for read in answer.reads if read.state is RouteState.FAILED]
    assert len(failed) == len(answer.not_read) >= 2
    assert {read.why for read in failed} <= {"IndexUnavailable", "EmbeddingUnavailable"}
    assert [read.why for read in answer.reads if read.route is Route.CANONICAL] == ["instead of the routes that failed"]


async def test_a_case_without_words_says_which_routes_it_has_none_for(office: Office, tenant: str) -> None:
    await office.open(tenant=tenant, as_=tenant)
    asked = await office.open(tenant=tenant, as_=tenant, subject=" ", body="")
    await office.project()
    answer = await office.related(asked, as_=tenant)
    assert answer.cases == ()
    assert {read.state for read in answer.reads} == {RouteState.SKIPPED}
    assert any("the case has no title" in line for line in answer.not_read)


async def test_r4_no_tenant_sees_another_in_its_related_work(office: Office) -> None:
    """Twelve tenants hold the same words, objects and external ids; each finds its own two cases, by every way."""
    person = {name: fresh() for name in AWKWARD}
    opened: dict[str, list[str]] = {}
    for name in AWKWARD:
        await office.new_tenant(name, person[name])
        opened[name] = [
            await office.open(
                tenant=name, as_=person[name], refs=["doc/same", "SD-1"],
                origin=Origin(tenant_id=name, source="desk", external_id=f"SD-{number}"),
            )
            for number in (1, 2)
        ]  # fmt: skip
    everybody = {case_id for cases in opened.values() for case_id in cases}
    for _ in ("pending", "projected"):
        for name, (earlier, asked) in opened.items():
            for away in ({}, AWAY):
                answer = await office.related(asked, as_=person[name], away=away, include_later=True, limit=50)
                assert [each.case_id for each in answer.cases] == [earlier], name
                assert answer.left_off == 0
                assert not (everybody - {earlier, asked}) & set(answer.model_dump_json().split('"'))
                assert max(read.found for read in answer.reads) == 1, "not even a count crosses over"
        await office.project()
    same = {"X-Request-ID": "one-and-the-same"}  # a refusal carries it
    for name, cases in opened.items():

        async def refusal(path: str, as_: str = person[name]) -> tuple[int, bytes]:
            found = await office.world.send("GET", path, as_=as_, app=office.app(), headers=same)
            return found.status_code, found.content

        nothing = await refusal(f"/v1/cases/{fresh()}/related")
        assert nothing[0] == 404
        for other in {theirs[0] for theirs in opened.values()} - set(cases):
            for path in ("related", "links"):
                assert await refusal(f"/v1/cases/{other}/{path}") == nothing


async def test_r4_a_grant_to_single_cases_lists_those_alone(office: Office, tenant: str) -> None:
    cases = [await office.open(tenant=tenant, as_=tenant, refs=["doc/7"]) for _ in range(4)]
    guest = fresh()
    await office.new_person(guest)
    for case_id in (cases[0], cases[3]):
        await office.world.services.identities.grant(
            Grant(principal_id=guest, tenant_id=tenant, case_id=case_id, purpose="second opinion")
        )
    for _ in ("pending", "projected"):
        for away in ({}, AWAY):
            answer = await office.related(cases[3], as_=guest, away=away)
            assert [each.case_id for each in answer.cases] == [cases[0]]
            assert answer.left_off == 0
        await office.project()
    with pytest.raises(UnknownCase):
        await office.related(cases[1], as_=guest)


async def test_r4_grants_to_two_tenants_are_not_mixed(office: Office, tenant: str) -> None:
    other = fresh()
    await office.new_tenant(other, fresh())
    await office.world.services.identities.grant(Grant(principal_id=tenant, tenant_id=other, purpose="work"))
    await office.open(tenant=other, as_=tenant, name="theirs", refs=["doc/7"])
    await office.open(tenant=tenant, as_=tenant, name="ours", refs=["doc/7"])
    asked = await office.open(tenant=tenant, as_=tenant, refs=["doc/7"])
    await office.project()
    for away in ({}, AWAY):
        assert office.listed(await office.related(asked, as_=tenant, away=away)) == ["ours"]


async def test_r2_decisions_over_http(office: Office, tenant: str) -> None:
    first, second = [await office.open(tenant=tenant, as_=tenant) for _ in range(2)]
    wanted = merge(first, second)
    async with office.caller(tenant) as client:
        made = await client.link_cases(wanted)
        assert (made, made.decided_by) == (await client.link_cases(wanted), tenant)
        split = await client.remove_link(made.id, "Two faults.")
        assert (split.removed_by, split.removal_reason) == (tenant, "Two faults.")
        assert (await client.case_links(second)).links == (split,)
        with pytest.raises(SameCase):
            await client.link_cases(merge(first, first))
    async with office.caller("stranger") as stranger:
        for asking in (stranger.case_links(first), stranger.link_cases(merge(first, second))):
            with pytest.raises(UnknownCase):
                await asking
        with pytest.raises(UnknownLink):
            await stranger.remove_link(made.id, "Not mine.")


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("GET", "/v1/cases/{case}/related?limit=0", None, "limit"),
        ("GET", "/v1/cases/{case}/related?limit=51", None, "limit"),
        ("GET", "/v1/cases/42/related", None, "case_id"),
        ("POST", "/v1/cases/links", {"id": "x"}, "id"),
        ("POST", "/v1/cases/links/{case}/removal", {"reason": " "}, "reason"),
        ("POST", "/v1/cases/links/{case}/removal", {}, "reason"),
    ],
)
async def test_r22_bad_requests_name_their_field(
    office: Office, tenant: str, method: str, path: str, body: Any, field: str
) -> None:
    case_id = await office.open(tenant=tenant, as_=tenant)
    response = await office.world.send(method, path.format(case=case_id), as_=tenant, body=body, app=office.app())
    assert (response.status_code, response.json()["field"]) == (422, field), response.text
