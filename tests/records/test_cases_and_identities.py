"""Case state, papers, results and sign-in; bad input is refused by name and never half-writes (R5, R22, R24)."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts import limits
from contracts.cases import CaseFacts, CaseResult, Effort, Paper
from contracts.errors import (
    CaseloreError,
    IdempotencyConflict,
    InvalidField,
    InvalidInput,
    NotAuthenticated,
    StaleRevision,
    TextTooLong,
    UnknownCase,
    UnknownDomain,
    UnknownPrincipal,
    UnknownStrategy,
    UnknownTenant,
    UnstorableText,
    UnverifiedResult,
)
from contracts.experience import KnowledgeUnit
from contracts.identity import Grant, Principal, Profile, RoleInDomain
from contracts.labels import CaseState, DomainRole, Outcome, PaperKind, PrincipalKind, ProofLevel
from contracts.strategies import DATA_INVESTIGATION
from tests.records.world import NOON, World, changed, draft, new_id


def paper(kind: PaperKind = PaperKind.EVIDENCE, **changes: Any) -> Paper:
    values: dict[str, Any] = {"id": new_id(), "kind": kind, "title": "Seen", "text": "The page is blank.", **changes}
    return Paper(**values)


async def test_a_case_changes_state_at_its_expected_revision(shared: World) -> None:
    """R3, R24: kept as history, announced, and the loser is told what the case is now."""
    case_id = await shared.open_case()
    waiting = await shared.cases.change_state(
        "ann", case_id, CaseState.WAITING, expected_revision=1, at=NOON, waiting_on="customer"
    )
    assert (waiting.state, waiting.waiting_on, waiting.revision) == (CaseState.WAITING, "customer", 2)
    with pytest.raises(StaleRevision, match="revision 2, waiting"):
        await shared.cases.change_state("ann", case_id, CaseState.COMPLETED, expected_revision=1, at=NOON)
    sql = "SELECT seq, state, waiting_on FROM case_states WHERE case_id = %s ORDER BY seq"
    assert shared.rows(sql, case_id) == [(1, "open", ""), (2, "waiting", "customer")]
    assert shared.index_events(f"case/{case_id}") == 2


async def test_of_changes_at_once_one_wins(shared: World) -> None:
    """R24: and the others are told the revision that won."""
    case_id = await shared.open_case()
    results = await asyncio.gather(
        *(
            shared.cases.change_state(
                "ann", case_id, CaseState.WAITING, expected_revision=1, at=NOON, waiting_on=f"desk {number}"
            )
            for number in range(5)
        ),
        return_exceptions=True,
    )
    lost = [result for result in results if isinstance(result, StaleRevision)]
    assert len(lost) == 4
    assert all(error.accepted == "2" for error in lost)
    assert shared.one("SELECT count(*) FROM case_states WHERE case_id = %s", case_id) == 2


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"waiting_on": "  "}, InvalidField),
        ({"waiting_on": ""}, InvalidField),
        ({"waiting_on": "x" * (limits.LINE + 1)}, TextTooLong),
        ({"waiting_on": "a\x00b"}, UnstorableText),
        ({"waiting_on": "\ud800"}, UnstorableText),
        ({"state": CaseState.OPEN, "waiting_on": "somebody"}, InvalidField),
        ({"expected_revision": 2**40}, StaleRevision),
        ({"expected_revision": -(2**70)}, StaleRevision),
        ({"at": datetime(2026, 1, 1)}, InvalidField),
        ({"case_id": "no id"}, UnknownCase),
        ({"case_id": "\x00"}, UnknownCase),
        ({"case_id": ""}, UnknownCase),
    ],
)
async def test_a_state_change_that_cannot_be_leaves_the_case_alone(
    shared: World, fields: dict[str, Any], error: type[CaseloreError]
) -> None:
    """R22."""
    case_id = await shared.open_case()
    before = shared.everything()
    values: dict[str, Any] = {
        "case_id": case_id, "state": CaseState.WAITING, "expected_revision": 1, "at": NOON, "waiting_on": "desk",
    }  # fmt: skip
    with pytest.raises(error):
        await shared.cases.change_state("ann", **{**values, **fields})
    assert changed(shared.everything(), before) == []


async def test_cases_are_listed_newest_first_within_limits(world: World) -> None:
    ids = [(await world.deliver(new_id(), at=NOON + timedelta(days=day))).case_id for day in range(3)]
    await world.cases.change_state("ann", ids[1], CaseState.COMPLETED, expected_revision=1, at=NOON)
    assert [case.id for case in await world.cases.listed("ann", tenant_id="acme")] == ids[::-1]
    assert [case.id for case in await world.cases.listed("ann", tenant_id="acme", state=CaseState.COMPLETED)] == [
        ids[1]
    ]
    assert await world.cases.listed("ann", tenant_id="acme", limit=-5) == []
    assert len(await world.cases.listed("ann", tenant_id="acme", limit=10**12)) == 3
    assert await world.cases.listed("ann", tenant_id="no such") == []
    assert await world.cases.listed("cora", tenant_id="acme") == []
    with pytest.raises(InvalidInput):
        await world.cases.listed("ann", tenant_id="\x00")


async def test_papers_are_filed_once_and_never_changed(shared: World) -> None:
    """R22, R24: all or none."""
    case_id, other_case = [await shared.open_case() for _ in range(2)]
    papers = [paper(), paper(PaperKind.PROOF)]
    await shared.cases.add_papers("ann", case_id, papers)
    before = shared.everything()
    await shared.cases.add_papers("ann", case_id, papers)
    for at, filed, error in (
        (case_id, [paper(), papers[0].model_copy(update={"text": "Other."})], IdempotencyConflict),
        (other_case, [paper(), papers[0]], IdempotencyConflict),
        (case_id, [paper(), paper(PaperKind.MEMORY_USE)], InvalidField),
        (new_id(), [paper()], UnknownCase),
        ("no id", [paper()], UnknownCase),
    ):
        with pytest.raises(error):
            await shared.cases.add_papers("ann", at, filed)
    assert changed(shared.everything(), before) == []


async def test_a_result_is_recorded_once_with_its_papers(shared: World) -> None:
    """R5, R19: outcome, proof and effort as recorded; the case completes with it."""
    case_id = await shared.open_case()
    execution = paper(PaperKind.EXECUTION)
    result = CaseResult(
        id=new_id(),
        case_id=case_id,
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.EXECUTED,
        summary="Done.",
        execution_paper_id=execution.id,
        effort=Effort(estimate_hours=2.5, active_hours=0.1, waiting_hours=1e6, changed_scope="One more form."),
    )
    for _ in range(2):
        await shared.cases.record_result("ann", result, [execution], complete_at=NOON)
    assert (await shared.cases.get("ann", case_id)).state is CaseState.COMPLETED
    assert shared.one("SELECT count(*) FROM case_states WHERE case_id = %s", case_id) == 2
    before = shared.everything()
    with pytest.raises(IdempotencyConflict):
        await shared.cases.record_result("ann", result.model_copy(update={"summary": "Other."}), [execution])
    with pytest.raises(IdempotencyConflict):
        await shared.cases.record_result("ann", result.model_copy(update={"effort": None}), [execution])
    assert changed(shared.everything(), before) == []


async def test_a_refused_result_files_none_of_its_papers(shared: World) -> None:
    """R5, R22: the papers come and go with the result."""
    case_id, other_case = [await shared.open_case() for _ in range(2)]
    elsewhere = paper(PaperKind.EXECUTION)
    await shared.cases.add_papers("ann", other_case, [elsewhere])
    before = shared.everything()
    for named in (elsewhere.id, new_id()):
        result = CaseResult(
            id=new_id(),
            case_id=case_id,
            outcome=Outcome.FAILED,
            proof_level=ProofLevel.EXECUTED,
            summary="Tried.",
            execution_paper_id=named,
        )
        with pytest.raises(UnverifiedResult, match="execution"):
            await shared.cases.record_result("ann", result, [paper(PaperKind.EXECUTION)])
    assert changed(shared.everything(), before) == []


async def test_the_longest_texts_are_stored_whole(shared: World) -> None:
    """R22: every field at its limit, in characters that take four bytes each, in keys and in full text."""
    wide = "\U0001f98a"
    name = wide * limits.IDENTIFIER
    await shared.tenant(name)
    await shared.principal(name, name)
    words = " ".join(f"{number:x}é" for number in range(40_000))[: limits.BODY]
    facts = CaseFacts(object_refs=tuple(f"{number:02}" + wide * (limits.LINE - 2) for number in range(30)))
    receipt = await shared.deliver(name, by=name, tenant=name, body=words, subject=wide * limits.LINE, facts=facts)
    case = await shared.cases.get(name, receipt.case_id)
    assert (case.body, case.origin.external_id, case.facts) == (words, name, facts)

    letters = "".join(map(chr, range(0x10D0, 0x10F0)))  # Georgian: three bytes each
    different = map("".join, itertools.product(letters, repeat=4))

    def fill(limit: int) -> str:
        return " ".join(itertools.islice(different, limit // 5))

    units = tuple(
        KnowledgeUnit.model_validate(
            {
                **draft().units[0].model_dump(),
                "id": str(number),
                **{field: fill(limits.PARAGRAPH) for field in ("text", "use_when", "avoid_when")},
                "concepts": tuple(fill(limits.LINE) for _ in range(limits.LABELS_PER_FIELD)),
            }
        )
        for number in range(limits.UNITS_PER_REVISION)
    )
    content = draft(title=wide * limits.LINE, units=units)
    experience_id = await shared.published(content, by=name, tenant=name)
    view = await shared.experiences.view(name, experience_id)
    assert view.revisions[0].draft == content


async def test_a_key_signs_in_until_it_expires(shared: World) -> None:
    await shared.principal("keyed")
    key = await shared.identities.issue_key("keyed")
    assert (await shared.identities.sign_in(key)).id == "keyed"
    assert shared.rows("SELECT 1 FROM api_keys WHERE hash = %s", key) == []
    old = await shared.identities.issue_key("keyed", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    for wrong in (old, key + "x", "", "\x00", "'"):
        with pytest.raises(NotAuthenticated):
            await shared.identities.sign_in(wrong)
    await shared.principal("second")
    await shared.identities.accept_key("keyed", key)
    with pytest.raises(IdempotencyConflict):
        await shared.identities.accept_key("second", key)
    with pytest.raises(UnknownPrincipal):
        await shared.identities.accept_key("no such", "k")
    shared.owner.execute("UPDATE principals SET active = false WHERE id = 'keyed'")
    with pytest.raises(NotAuthenticated):
        await shared.identities.sign_in(key)


async def test_what_access_derives_from_is_checked(shared: World) -> None:
    """R4, R13, R22: each unknown thing under its own name."""
    await shared.tenant("beta")
    await shared.principal("bea", "beta")
    case_id = await shared.open_case(by="bea", tenant="beta")
    identities = shared.identities
    grant = Grant(principal_id="ann", tenant_id="acme", purpose="work")
    profile = Profile(id="p", domain_id="data", strategy_id="data-investigation", strategy_version=1)
    before = shared.everything()
    for doing, error in (
        (identities.grant(grant.model_copy(update={"principal_id": "no such"})), UnknownPrincipal),
        (identities.grant(grant.model_copy(update={"tenant_id": "no such"})), UnknownTenant),
        (identities.grant(grant.model_copy(update={"case_id": case_id})), UnknownCase),
        (identities.grant(grant.model_copy(update={"case_id": new_id()})), UnknownCase),
        (identities.grant(grant.model_copy(update={"case_id": "no id"})), UnknownCase),
        (
            identities.give_role(RoleInDomain(principal_id="no", domain_id="data", role=DomainRole.OWNER)),
            UnknownPrincipal,
        ),
        (identities.give_role(RoleInDomain(principal_id="ann", domain_id="no", role=DomainRole.OWNER)), UnknownDomain),
        (identities.add_profile(profile.model_copy(update={"domain_id": "no"})), UnknownDomain),
        (identities.add_profile(profile.model_copy(update={"strategy_id": "no"})), UnknownStrategy),
        (identities.add_profile(profile.model_copy(update={"strategy_version": 7})), UnknownStrategy),
        (identities.add_profile(profile.model_copy(update={"principals": ("ann", "no")})), UnknownPrincipal),
        (identities.add_principal(Principal(id="ann", kind=PrincipalKind.AGENT, name="Ann")), IdempotencyConflict),
    ):
        with pytest.raises(error):
            await doing
    assert changed(shared.everything(), before) == []


async def test_a_strategy_version_is_one_definition(shared: World) -> None:
    """R14: the same again is harmless, another under its number a conflict."""
    await shared.identities.add_strategy(DATA_INVESTIGATION)
    with pytest.raises(IdempotencyConflict):
        await shared.identities.add_strategy(DATA_INVESTIGATION.model_copy(update={"results": 3}))
    await shared.identities.add_strategy(DATA_INVESTIGATION.model_copy(update={"results": 3, "version": 9}))


async def test_granting_twice_renews_one_grant(shared: World) -> None:
    await shared.principal("twice")
    for _ in range(2):
        await shared.grant("twice", "acme")
    assert shared.one("SELECT count(*) FROM grants WHERE principal_id = 'twice'") == 1
