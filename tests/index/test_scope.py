"""No filter, name or count carries a case over a tenant's border (R4, R21)."""

from __future__ import annotations

import unicodedata
import uuid

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.index import Filter, Hit, IndexChange, Scope
from contracts.labels import CandidateKind, Collection
from contracts.ports import SearchIndex
from tests.index.samples import change, dense, lexical, removal, targets

CASES = Collection.CASES
AWKWARD = [
    "a",
    "A",
    "a:b",
    "b",
    "a b",
    "a ",
    "acme",
    "acme1",
    "acme*",
    "ac",
    "*",
    "%",
    "tenant",
    "null",
    "None",
    "0",
    '"acme"',
    "acme,acme1",
    "ACME",
    "ünï",
    unicodedata.normalize("NFD", "ünï"),
    "ß",
    "ss",
    "日本",
    "🦀",
    "",
]


def _id(tenant: str, number: int = 0) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{len(tenant)}:{tenant}:{number}"))


def _case(tenant: str, number: int = 0, text: str = "printer jam") -> IndexChange:
    case = _id(tenant, number)
    return change(CASES, f"case/{case}", text, tenant=tenant, case_id=case, state="open")


async def _filled(index: SearchIndex) -> dict[str, str]:
    await index.apply([_case(tenant) for tenant in AWKWARD])
    return {f"case/{_id(tenant)}": tenant for tenant in AWKWARD}


async def test_r4_an_empty_scope_finds_nothing(index: SearchIndex) -> None:
    await _filled(index)
    for scope in (Scope(), Scope(tenants=frozenset({""})), Scope(cases=frozenset({""}))):
        assert await dense(index, CASES, "any", scope=scope) == []
        assert await lexical(index, CASES, "printer", scope=scope) == []


async def test_r4_an_empty_scope_does_not_ask_the_engine(index: SearchIndex) -> None:
    await index.close()  # a closed engine would refuse
    assert await dense(index, CASES, "any") == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tenants=st.sets(st.sampled_from(AWKWARD) | st.text(max_size=6).filter(lambda text: text.isprintable()), max_size=3),
    others=st.sets(st.sampled_from(AWKWARD), max_size=2),
    kinds=st.sampled_from([(), (CandidateKind.CASE,)]),
    states=st.sampled_from([(), ("open",), ("open", "waiting")]),
)
async def test_r4_only_the_scope_is_found_whatever_the_names_and_filters(
    index: SearchIndex,
    tenants: set[str],
    others: set[str],
    kinds: tuple[CandidateKind, ...],
    states: tuple[str, ...],
) -> None:
    owners = await _filled(index)
    scope = Scope(tenants=frozenset(tenants), cases=frozenset(_id(tenant) for tenant in others))
    where = Filter(kinds=kinds, states=states)
    expected = {target for target, tenant in owners.items() if tenant and tenant in tenants}
    expected |= {f"case/{_id(tenant)}" for tenant in others}
    assert set(targets(await dense(index, CASES, "any", scope=scope, where=where))) == expected
    assert set(targets(await lexical(index, CASES, "printer", scope=scope, where=where))) == expected


async def test_r4_a_single_case_grant_shows_that_case_only(index: SearchIndex) -> None:
    await index.apply([_case("acme", 1), _case("acme", 2), _case("other", 3)])
    scope = Scope(tenants=frozenset({"other"}), cases=frozenset({_id("acme", 2)}))
    found = set(targets(await lexical(index, CASES, "printer", scope=scope)))
    assert found == {f"case/{_id('acme', 2)}", f"case/{_id('other', 3)}"}


async def test_r21_another_tenants_cases_change_neither_scores_nor_order(index: SearchIndex) -> None:
    mine = [_case("acme", 1, "printer jam"), _case("acme", 2, "network outage"), _case("acme", 3, "printer outage")]
    theirs = [_case("other", number, "outage outage outage") for number in range(20)]

    async def seen() -> list[list[Hit]]:
        scope = Scope(tenants=frozenset({"acme"}))
        filters = (Filter(), Filter(states=("open",)), Filter(not_targets=("case/none",)))
        return [await lexical(index, CASES, "printer outage", scope=scope, where=where) for where in filters]

    await index.apply(mine)
    before = await seen()
    await index.apply(theirs)
    assert await seen() == before
    await index.apply([removal(CASES, each.target) for each in theirs])
    assert await seen() == before
