"""No row is written for another tenant or in another's name, whatever SQL the application role sends (R4, R7)."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, ProgrammingError

from contracts.experience import Draft
from contracts.labels import CandidateKind
from contracts.retrieval import RetrievalRequest
from tests.records.asking import answered, ask, candidate, citing, request
from tests.records.world import World, changed, new_id


@pytest_asyncio.fixture(scope="module", name="two")
async def fixture_two(shared: World) -> World:
    """`ann` works for acme, `bob` for other; both hold the profile, `kim` works for both."""
    await shared.tenant("other")
    await shared.principal("bob", "other")
    await shared.principal("kim", "acme", "other")
    await shared.profile("data-agent", "bob", "kim")
    return shared


async def write(world: World, person: str, sql: str, **values: Any) -> int:
    async with world.database.as_principal(person) as connection:
        return (await connection.execute(text(sql), values)).rowcount


async def refused(world: World, person: str, sql: str, **values: Any) -> None:
    """Assert that the statement is refused or changes nothing, and that nothing was written."""
    before = world.everything()
    try:
        assert await write(world, person, sql, **values) == 0
    except (ProgrammingError, IntegrityError) as error:
        assert "row-level security" in str(error) or "permission denied" in str(error) or "constraint" in str(error)
    assert changed(world.everything(), before) == []


async def test_no_case_or_arrival_for_another_tenant(two: World) -> None:
    """R4: neither under the other's tenant nor with another tenant's origin under one's own."""
    theirs = await two.open_case(by="bob", tenant="other")
    origin = two.one("SELECT origin_id::text FROM cases WHERE id = %s", theirs)
    open_case = (
        "INSERT INTO cases (id, tenant_id, origin_id, state, opened_at, state_since)"
        " VALUES (gen_random_uuid(), :tenant, CAST(:origin AS uuid), 'open', now(), now())"
    )
    for tenant in ("other", "acme"):
        await refused(two, "ann", open_case, tenant=tenant, origin=origin)
    origin_of_theirs = (
        "INSERT INTO origins (id, tenant_id, source, external_id, key)"
        " VALUES (gen_random_uuid(), 'other', 's', 'x', 'k')"
    )
    await refused(two, "ann", origin_of_theirs)
    arrival = (
        "INSERT INTO arrivals (id, tenant_id, origin_id, case_id, source_revision, digest, delivery_id, disposition,"
        " body_format, occurred_at, received_at) VALUES (gen_random_uuid(), :tenant, CAST(:origin AS uuid),"
        " CAST(:case AS uuid), 9, 'd', 'd', 'late', 'text', now(), now())"
    )
    content = (
        "INSERT INTO contents (id, tenant_id, case_id, kind, text, bytes, sha256)"
        " VALUES (gen_random_uuid(), :tenant, CAST(:case AS uuid), 'body', 't', 1, 's')"
    )
    for tenant in ("other", "acme"):
        await refused(two, "ann", arrival, tenant=tenant, origin=origin, case=theirs)
        await refused(two, "ann", content, tenant=tenant, case=theirs)


async def test_no_paper_or_result_in_another_tenants_case(two: World) -> None:
    theirs = await two.open_case(by="bob", tenant="other")
    paper = (
        "INSERT INTO case_papers (id, tenant_id, case_id, kind, digest, author_id)"
        " VALUES (gen_random_uuid(), :tenant, CAST(:case AS uuid), 'evidence', 'd', 'ann')"
    )
    result = (
        "INSERT INTO case_results (id, tenant_id, case_id, outcome, proof_level, recorded_by)"
        " VALUES (gen_random_uuid(), :tenant, CAST(:case AS uuid), 'failed', 'none', 'ann')"
    )
    for tenant in ("other", "acme"):
        await refused(two, "ann", paper, tenant=tenant, case=theirs)
        await refused(two, "ann", result, tenant=tenant, case=theirs)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO case_papers (id, tenant_id, case_id, kind, digest, author_id)"
        " VALUES (gen_random_uuid(), 'acme', CAST(:case AS uuid), 'evidence', 'd', 'bob')",
        "INSERT INTO case_results (id, tenant_id, case_id, outcome, proof_level, recorded_by)"
        " VALUES (gen_random_uuid(), 'acme', CAST(:case AS uuid), 'failed', 'none', 'bob')",
        "INSERT INTO case_states (case_id, seq, tenant_id, state, changed_by, at)"
        " VALUES (CAST(:case AS uuid), 2, 'acme', 'open', 'bob', now())",
        "INSERT INTO case_links (id, tenant_id, case_id, other_case_id, kind, decided_by)"
        " VALUES (gen_random_uuid(), 'acme', CAST(:case AS uuid), CAST(:second AS uuid), 'related', 'bob')",
        "UPDATE case_links SET removed_by = 'bob', removed_at = now()",
        "UPDATE cases SET tenant_id = 'other'",
        "UPDATE cases SET id = gen_random_uuid()",
        "DELETE FROM cases",
        "DELETE FROM case_papers",
        "UPDATE case_papers SET text = 'other'",
        "UPDATE case_results SET outcome = 'succeeded'",
        "UPDATE arrivals SET body = 'other'",
        "UPDATE grants SET expires_at = NULL",
        "INSERT INTO grants (principal_id, tenant_id) VALUES ('ann', 'other')",
        "INSERT INTO domain_roles VALUES ('ann', 'data', 'owner')",
        "UPDATE principals SET administrator = true",
        "INSERT INTO tenants (id) VALUES ('mine')",
        "INSERT INTO profile_members VALUES ('data-agent', 'ann') ON CONFLICT DO NOTHING",
        "UPDATE profiles SET strategy_version = 2",
        "UPDATE strategy_versions SET digest = ''",
        "UPDATE watermarks SET position = 0",
        "DELETE FROM outbox",
        "UPDATE outbox SET delivered_at = now()",
        "UPDATE experiences SET stage = 'published'",
        "UPDATE revisions SET state = 'current', published_at = now()",
        "UPDATE commands SET state = 'applied', settled_at = now()",
    ],
)  # fmt: skip
async def test_no_statement_writes_in_anothers_name_or_changes_what_is_settled(two: World, sql: str) -> None:
    """R4, R7, R8: what the application role holds no right for, on rows that it can read."""
    case_id, second = [await two.open_case() for _ in range(2)]
    await two.propose()
    two.owner.execute(
        "INSERT INTO case_links (id, tenant_id, case_id, other_case_id, kind, decided_by)"
        " VALUES (%s, 'acme', %s, %s, 'related', 'ann')",
        (new_id(), case_id, second),
    )
    await refused(
        two,
        "ann",
        sql,
        **{name: value for name, value in (("case", case_id), ("second", second)) if f":{name} " in sql},
    )


async def test_a_link_is_removed_in_ones_own_name(two: World) -> None:
    """R2: links are reversible, by a named principal."""
    case_id, second = [await two.open_case() for _ in range(2)]
    await write(
        two,
        "ann",
        "INSERT INTO case_links (id, tenant_id, case_id, other_case_id, kind, decided_by)"
        " VALUES (gen_random_uuid(), 'acme', CAST(:case AS uuid), CAST(:second AS uuid), 'related', 'ann')",
        case=case_id,
        second=second,
    )
    removed = "UPDATE case_links SET removed_by = 'ann', removed_at = now() WHERE case_id = CAST(:case AS uuid)"
    assert await write(two, "bob", removed, case=case_id) == 0
    assert await write(two, "ann", removed, case=case_id) == 1


async def test_no_experience_revision_or_command_for_what_one_cannot_see(two: World) -> None:
    """R4, R8: a draft, a command or a first transition slipped under another's experience."""
    experience_id = await two.published(by="bob", tenant="other")
    revision = (
        "INSERT INTO revisions (experience_id, number, outcome, proof_level, domain_id, title, content, digest,"
        " author_id) VALUES (CAST(:id AS uuid), :number, 'succeeded', 'verified', 'data', 't', '{}', 'd', 'ann')"
    )
    for number in (1, 2):
        await refused(two, "ann", revision, id=experience_id, number=number)
    await refused(
        two,
        "ann",
        "INSERT INTO commands (id, experience_id, kind, content, digest, issued_by)"
        " VALUES (gen_random_uuid(), CAST(:id AS uuid), 'retire', '{}', 'd', 'ann')",
        id=experience_id,
    )
    await refused(
        two,
        "ann",
        "INSERT INTO transitions (experience_id, seq, to_stage, event, revision, actor_id)"
        " VALUES (CAST(:id AS uuid), 7, 'curator_review', 'propose', 1, 'ann')",
        id=experience_id,
    )
    result = two.one("SELECT result_id::text FROM experiences WHERE id = %s", experience_id)
    await refused(
        two,
        "ann",
        "INSERT INTO experiences (id, tenant_id, case_id, result_id, outcome, domain_id, proposer_id, stage, revision,"
        " stage_since) SELECT gen_random_uuid(), 'acme', (SELECT id FROM cases LIMIT 1), CAST(:result AS uuid),"
        " 'succeeded', 'data', 'ann', 'curator_review', 1, now()",
        result=result,
    )


async def test_an_experience_cannot_be_added_as_published(two: World) -> None:
    """R7: the application role adds drafts only; publication is the lifecycle's."""
    result = await two.result(await two.open_case())
    add = (
        "INSERT INTO experiences (id, tenant_id, case_id, result_id, outcome, domain_id, proposer_id, stage, revision,"
        " stage_since) VALUES (gen_random_uuid(), 'acme', CAST(:case AS uuid), CAST(:result AS uuid), 'succeeded',"
        " 'data', :who, :stage, 1, now())"
    )
    values = {"case": result.case_id, "result": result.id}
    await refused(two, "ann", add, **values, who="ann", stage="published")
    await refused(two, "ann", add, **values, who="bob", stage="curator_review")


async def test_no_retrieval_in_anothers_name_or_with_an_answer_of_ones_own(two: World) -> None:
    """R20: an answer is the retrieval's record, never the caller's."""
    theirs = await two.open_case(by="bob", tenant="other")
    add = (
        "INSERT INTO retrieval_requests (id, principal_id, profile_id, strategy_id, strategy_version, tenant_id,"
        " case_id, request, digest, answer, answered_at) VALUES (gen_random_uuid(), :who, 'data-agent',"
        " 'data-investigation', 1, :tenant, CAST(:case AS uuid), '{}', 'd', CAST(:answer AS jsonb),"
        " CASE WHEN CAST(:answer AS text) IS NOT NULL THEN now() END)"
    )
    await refused(two, "ann", add, who="bob", tenant=None, case=None, answer=None)
    await refused(two, "ann", add, who="ann", tenant="other", case=theirs, answer=None)
    await refused(two, "ann", add, who="ann", tenant="other", case=None, answer=None)
    await refused(two, "ann", add, who="ann", tenant=None, case=None, answer="{}")
    task = await ask(two)
    await refused(two, "ann", "UPDATE retrieval_requests SET answer = '{}', answered_at = now()")
    await refused(
        two,
        "ann",
        "INSERT INTO retrieval_candidates (request_id, rank, ref, revision, candidate)"
        " VALUES (CAST(:id AS uuid), 1, 'case/x', 1, '{}')",
        id=task.request.request_id,
    )


async def test_no_decision_or_read_on_a_retrieval_of_another_tenant(two: World) -> None:
    experience_id = await two.published()
    ref = f"experience/{experience_id}"
    task = await answered(two, await ask(two), candidate(1, ref))
    use = citing(task, ref)
    await two.memory.decide("ann", use)
    for table, columns, values in (
        (
            "memory_uses",
            "decision_id, request_id, digest, decided_by",
            "gen_random_uuid(), CAST(:id AS uuid), 'd', 'bob'",
        ),
        ("retrieval_reads", "request_id, ref, revision", "CAST(:id AS uuid), :ref, 1"),
    ):
        sql = f"INSERT INTO {table} ({columns}) VALUES ({values})"
        bound = {"id": task.request.request_id} | ({"ref": ref} if ":ref" in sql else {})
        await refused(two, "bob", sql, **bound)
    await refused(two, "bob", "UPDATE fresh_checks SET outcome = 'held', settled_at = now()")


async def test_an_answer_shows_another_reader_of_its_case_no_other_tenants_case(two: World) -> None:
    """R4, R21: kim may see both tenants; ann, who reads kim's retrieval in acme's case, only her own."""
    case_id = await two.open_case()
    theirs = await two.open_case(by="bob", tenant="other")
    experience_id = await two.published(by="bob", tenant="other")
    task = await ask(two, "kim", case_id=case_id)
    await answered(
        two,
        task,
        candidate(1, f"case/{theirs}", source_case=theirs),
        candidate(2, f"experience/{experience_id}", source_case=theirs),
        candidate(3, f"case/{case_id}", source_case=case_id),
    )
    shown = {}
    for person in ("kim", "ann"):
        stored = await two.memory.answer(person, task.request.request_id)
        assert stored is not None
        shown[person] = [(found.rank, found.kind) for found in stored.candidates]
    assert shown["kim"] == [(1, CandidateKind.CASE), (2, CandidateKind.EXPERIENCE), (3, CandidateKind.CASE)]
    assert shown["ann"] == [(3, CandidateKind.CASE)]

    two.owner.execute("DELETE FROM grants WHERE principal_id = 'kim' AND tenant_id = 'other'")
    stored = await two.memory.answer("kim", task.request.request_id)
    assert stored is not None
    assert [found.rank for found in stored.candidates] == [3]


async def test_a_retrieval_for_a_case_of_another_tenant_is_refused_by_its_own_name(two: World) -> None:
    theirs = await two.open_case(by="bob", tenant="other")
    asked: RetrievalRequest = request(case_id=theirs)
    before = two.everything()
    with pytest.raises(Exception, match="no such case"):
        await two.memory.open("ann", asked)
    assert changed(two.everything(), before) == []


async def test_a_colleagues_look_is_not_the_askers_read(two: World) -> None:
    """R20: who may see the case may read along; the reads on record are the asker's own."""
    await two.principal("abe", "acme")
    ref = f"experience/{await two.published()}"
    task = await answered(two, await ask(two, case_id=await two.open_case()), candidate(1, ref))
    assert isinstance(await two.memory.read("abe", task.request.request_id, ref, 1), Draft)
    assert two.rows("SELECT 1 FROM retrieval_reads WHERE request_id = %s", task.request.request_id) == []
