"""Isolation in Postgres, looked up in its catalogue and tried on every table (R4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from sqlalchemy import text

from activities.records.placeholders import PlaceholdersTable
from activities.records.row_security import APP, SYSTEM
from contracts.lifecycle import Event
from contracts.masking import Value
from contracts.personal_data import PersonalDataKind
from tests.records.asking import answered, ask, candidate, check_result, citing
from tests.records.broadening import broadening, consultation, feedback
from tests.records.world import World, draft, libpq, new_id

HIDDEN = {
    "api_keys", "principal_identities", "sessions", "outbox", "reconcile_reports", "erasures", "tombstones",
}  # fmt: skip
"""What the application role may not read at all."""
AWKWARD = [
    "a", "A", "a:b", "acme1", "a b", "%", "_", "'", '"', "a,b", "{a}", "a\\", "null", "NULL", "*",
    "\u00e9", "e\u0301", "日本語", "🦊", "a'; DROP TABLE cases; --", "caselore.principal",
]  # fmt: skip
"""Tenants (and their people) that a careless comparison, quotation or pattern would take for each other."""
OWNING_TENANT = {
    "tenants": "SELECT id FROM tenants",
    **{
        table: f"SELECT tenant_id FROM {table}"
        for table in (
            "origins", "arrivals", "contents", "cases", "case_states", "case_links", "case_papers", "case_results",
            "case_keys", "case_placeholders",
            "experiences",
        )
    },
    **{
        table: f"SELECT e.tenant_id FROM {table} t JOIN experiences e ON e.id = t.experience_id"
        for table in (
            "revisions", "commands", "review_decisions", "transitions", "admissions", "admission_findings",
            "finding_dismissals", "review_claims",
        )
    },
    "projections": "SELECT e.tenant_id FROM projections t JOIN experiences e ON e.id = t.target_id",
    "audit": "SELECT coalesce(e.tenant_id, c.tenant_id, t.actor_id) FROM audit t"
    " LEFT JOIN experiences e ON e.id = t.subject_id LEFT JOIN cases c ON c.id = t.subject_id",
    "retrieval_requests": "SELECT principal_id FROM retrieval_requests",
    **{
        table: f"SELECT q.principal_id FROM {table} t JOIN retrieval_requests q ON q.id = t.request_id"
        for table in ("retrieval_candidates", "retrieval_reads", "memory_uses", "retrieval_verdicts")
    },
    "fresh_checks": "SELECT u.decided_by FROM fresh_checks t JOIN memory_uses u USING (decision_id)",
    **{
        table: f"SELECT q.principal_id FROM {table} t JOIN retrieval_requests q ON q.id = t.request_id"
        for table in ("broadenings", "consulted_retrievals", "consultations")
    },
    **{
        table: f"SELECT c.asked_by FROM {table} t JOIN consultations c ON c.id = t.consultation_id"
        for table in (
            "consultation_briefs", "consultation_replies", "consultation_citations", "consultation_withdrawals",
        )
    },
    **{
        table: f"SELECT u.decided_by FROM {table} t JOIN memory_uses u USING (decision_id)"
        for table in ("feedbacks", "feedback_outcomes")
    },
}  # fmt: skip
"""For each table with rows of one tenant: the tenant of each of its rows (people are named after theirs)."""


async def fill(world: World, tenant: str, person: str) -> None:
    """Give a tenant a row in every table that can hold one of it."""
    first, second = [await world.open_case(by=person, tenant=tenant) for _ in range(2)]
    world.owner.execute(
        "INSERT INTO case_links (id, tenant_id, case_id, other_case_id, kind, decided_by)"
        " VALUES (%s, %s, %s, %s, 'related', %s)",
        (new_id(), tenant, first, second, person),
    )
    world.owner.execute(
        "INSERT INTO contents (id, tenant_id, case_id, kind, text, bytes, sha256)"
        " VALUES (%s, %s, %s, 'body', 'b', 1, 's')",
        (new_id(), tenant, first),
    )
    await PlaceholdersTable(world.database).numbers(
        person, first, [Value(kind=PersonalDataKind.MAIL, normal="a@example.org")]
    )
    experience_id = await world.published(by=person, tenant=tenant)
    await world.projections.record(await world.projections.desired([f"experience/{experience_id}"]))
    waiting = await world.propose(by=person, tenant=tenant)
    world.owner.execute(
        "INSERT INTO finding_dismissals (experience_id, revision, finding_id, reason, dismissed_by, decision_id)"
        " SELECT experience_id, revision, finding_id, 'why', 'cora', gen_random_uuid() FROM admission_findings"
        " WHERE experience_id = %s",
        (waiting,),
    )
    world.owner.execute(
        "INSERT INTO review_claims (experience_id, revision, stage, claimed_by, claimed_until)"
        " VALUES (%s, 1, 'curator_review', 'cora', now() + interval '1 hour')",
        (waiting,),
    )
    returned = await world.propose(by=person, tenant=tenant)
    await world.decide(returned, "cora", Event.RETURN)
    ref = f"experience/{experience_id}"
    task = await ask(world, person, case_id=first)
    await answered(world, task, candidate(1, ref), candidate(2, f"case/{second}", source_case=second))
    await world.memory.read(person, task.request.request_id, ref, 1)
    use = citing(task, ref)
    await world.memory.decide(person, use)
    await world.memory.settle_check(person, check_result(use))
    await world.feedbacks.give(person, feedback(use))
    await world.broadenings.open(person, task.request.request_id, broadening())
    asked = consultation()
    await world.consultations.ask(person, task.request.request_id, asked)
    other = consultation()
    await world.consultations.ask(person, task.request.request_id, other)
    await world.consultations.withdraw(person, other.consultation_id)
    # Nobody of the crowd works for the consulted domain; its rows are put there by hand.
    world.owner.execute(
        "INSERT INTO consulted_retrievals (request_id, consultation_id) VALUES (%s, %s)",
        (task.request.request_id, asked.consultation_id),
    )
    world.owner.execute(
        "INSERT INTO consultation_replies (consultation_id, reply_id, text, digest, paper_id, replied_by, replied_as)"
        " VALUES (%s, %s, 't', 'd', %s, 'cora', 'curator')",
        (asked.consultation_id, new_id(), new_id()),
    )
    world.owner.execute(
        "INSERT INTO consultation_citations (consultation_id, request_id, ref, revision) VALUES (%s, %s, %s, 1)",
        (asked.consultation_id, task.request.request_id, ref),
    )


async def seen(world: World, person: str, table: str) -> list[str]:
    async with world.database.as_principal(person) as connection:
        return sorted((await connection.execute(text(f"SELECT t::text FROM {table} t"))).scalars())


@pytest_asyncio.fixture(scope="module", name="crowd")
async def fixture_crowd(shared: World) -> World:
    """A database in which each awkward tenant has one person and a row in every table."""
    for name in AWKWARD:
        await shared.tenant(name)
        await shared.principal(name, name)
    await shared.profile("data-agent", *AWKWARD)
    for name in AWKWARD:
        await fill(shared, name, name)
    shared.owner.execute(
        "INSERT INTO delegations (id, delegator_id, delegate_id, domain_id, role, reason, expires_at)"
        " VALUES (gen_random_uuid(), 'cora', 'carl', 'data', 'curator', 'Leave.', now() + interval '1 day')"
    )
    shared.owner.execute(
        "INSERT INTO strategy_adoptions (id, profile_id, strategy_id, version, digest, expected_strategy_id,"
        " expected_version, reason, proposed_by)"
        " VALUES (gen_random_uuid(), 'data-agent', 'data-investigation', 2, 'd', 'data-investigation', 1, 'r', 'cora')"
    )
    return shared


def test_every_table_is_under_forced_policies_for_both_roles(shared: World) -> None:
    """R4: by introspection, so that a table added later can't be forgotten."""
    flags = dict[str, Any](
        shared.rows(
            "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class"
            " WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'"
        )
    )
    assert len(flags) >= 33
    assert [table for table, on in flags.items() if not on] == []
    policies = {
        (table, role)
        for table, roles in shared.rows("SELECT tablename, roles::text[] FROM pg_policies")
        for role in roles
    }
    assert {table for table, role in policies if role == SYSTEM} == set(flags)
    assert {table for table in flags if (table, APP) not in policies} == {
        "api_keys",
        "principal_identities",
        "sessions",
        "reconcile_reports",
        "erasures",
        "tombstones",
    }
    assert [role for _, role in policies if role not in (APP, SYSTEM)] == []


def test_the_roles_own_nothing_and_bypass_nothing(shared: World) -> None:
    roles = shared.rows(
        "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = ANY(%s)",
        [APP, SYSTEM],
    )
    assert sorted(roles) == [(APP, False, False, False, False), (SYSTEM, False, False, False, False)]
    assert shared.rows("SELECT relname FROM pg_class WHERE relowner::regrole::text = ANY(%s)", [APP, SYSTEM]) == []
    assert shared.rows("SELECT * FROM pg_auth_members WHERE member::regrole::text = ANY(%s)", [APP, SYSTEM]) == []


@pytest.mark.parametrize("table", sorted(HIDDEN | {"alembic_version"}))
async def test_the_application_role_cannot_read_keys_or_events(shared: World, table: str) -> None:
    with psycopg.connect(libpq(shared.urls.app)) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(f"SELECT count(*) FROM {table}".encode())


@pytest.mark.parametrize("principal", ["", "nobody", "ANN", " ann", "off"])
async def test_an_unset_or_unknown_principal_sees_no_row_of_any_table(crowd: World, principal: str) -> None:
    """R4: unset means nothing, in every table."""
    readable = [table for table in crowd.tables() if table not in HIDDEN]
    assert len(readable) > 30
    for table in readable:
        assert crowd.one(f"SELECT count(*) > 0 FROM {table}") or table == "watermarks"
        assert await seen(crowd, principal, table) == [], table
    async with crowd.database.as_nobody() as connection:
        for table in readable:
            assert (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one() == 0, table


async def test_a_principal_does_not_outlive_its_transaction(crowd: World) -> None:
    """R4: connections are pooled; the next borrower starts with no principal."""
    for _ in range(12):
        async with crowd.database.as_principal("a") as connection:
            assert (await connection.execute(text("SELECT count(*) FROM cases"))).scalar_one() > 0
        async with crowd.database.as_nobody() as connection:
            assert (await connection.execute(text("SELECT count(*) FROM cases"))).scalar_one() == 0


async def test_an_inactive_principal_sees_nothing(crowd: World) -> None:
    await crowd.tenant("quiet")
    await crowd.principal("quiet", "quiet")
    await crowd.open_case(by="quiet", tenant="quiet")
    assert await seen(crowd, "quiet", "cases")
    crowd.owner.execute("UPDATE principals SET active = false WHERE id = 'quiet'")
    for table in crowd.tables():
        if table not in HIDDEN:
            assert await seen(crowd, "quiet", table) == [], table


@pytest.mark.parametrize("table", sorted(OWNING_TENANT))
async def test_no_tenant_sees_a_row_of_another(crowd: World, table: str) -> None:
    """R4, R21: every ordered pair of awkward tenants; each sees exactly its own, and all published revisions."""
    tenants = [tenant for (tenant,) in crowd.rows(OWNING_TENANT[table])]
    rows = [row for (row,) in crowd.rows(_texts(table))]
    assert len(tenants) == len(rows)
    public = {row for (row,) in crowd.rows("SELECT t::text FROM revisions t WHERE state = 'current'")}
    for name in AWKWARD:
        own = {row for row, tenant in zip(rows, tenants, strict=True) if tenant == name}
        assert own, (table, name)
        expected = own | public if table == "revisions" else own
        assert await seen(crowd, name, table) == sorted(expected), (table, name)


def _texts(table: str) -> str:
    """Return the query for each row's text, in the order of its `OWNING_TENANT`."""
    _, _, rest = OWNING_TENANT[table].partition(" FROM ")
    alias = "t" if " t " in f"{rest} " else table
    return f"SELECT {alias}::text FROM {rest}"


async def test_across_tenants_a_published_revision_is_read_and_its_source_is_not(crowd: World) -> None:
    """R21: the approved general pattern, never the case, origin or proposer's experience row."""
    (experience_id,) = crowd.rows("SELECT id::text FROM experiences WHERE tenant_id = 'A' AND stage = 'published'")[0]
    sql = text(
        "SELECT r.number, e.id AS experience, c.id AS case_id, o.external_id FROM revisions r"
        " LEFT JOIN experiences e ON e.id = r.experience_id LEFT JOIN cases c ON c.id = e.case_id"
        " LEFT JOIN origins o ON o.id = c.origin_id WHERE r.experience_id = CAST(:id AS uuid)"
    )
    async with crowd.database.as_principal("a") as connection:
        assert (await connection.execute(sql, {"id": experience_id})).all() == [(1, None, None, None)]
    async with crowd.database.as_principal("A") as connection:
        assert None not in (await connection.execute(sql, {"id": experience_id})).one()


async def test_an_expired_grant_shows_nothing(shared: World) -> None:
    """R4: expiry counts at the moment of the read; the tenant's name goes with it."""
    await shared.tenant("shut")
    await shared.principal("eve", "shut")
    await shared.open_case(by="eve", tenant="shut")
    assert await seen(shared, "eve", "tenants")
    await shared.grant("eve", "shut", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    for table in ("tenants", "grants", "origins", "arrivals", "cases", "case_states"):
        assert await seen(shared, "eve", table) == [], table
    await shared.grant("eve", "shut", expires_at=datetime.now(UTC) + timedelta(hours=1))
    assert len(await seen(shared, "eve", "cases")) == 1


async def test_a_single_case_grant_shows_exactly_that_case(shared: World) -> None:
    """R4: with its origin, papers, results and experiences, and nothing of the case beside it."""
    await shared.tenant("clinic")
    await shared.principal("nora", "clinic")
    shown_case, hidden_case = [await shared.open_case(by="nora", tenant="clinic") for _ in range(2)]
    for case_id in (shown_case, hidden_case):
        await shared.result(case_id, by="nora")
    await shared.principal("gus")
    await shared.grant("gus", "clinic", case_id=shown_case)
    for table, count in {
        "tenants": 1, "cases": 1, "origins": 1, "arrivals": 1, "case_states": 1, "case_papers": 2, "case_results": 1,
    }.items():  # fmt: skip
        shown = await seen(shared, "gus", table)
        assert len(shown) == count, table
        assert not any(hidden_case in row for row in shown), table


async def test_reviewers_see_what_their_domains_review_and_no_case(shared: World) -> None:
    """R4, R7: a curator without grants reads the draft, not the case it came from."""
    experience_id = await shared.propose(draft(title="To review"))
    assert any(experience_id in row for row in await seen(shared, "cora", "experiences"))
    assert any(experience_id in row for row in await seen(shared, "cora", "revisions"))
    for table in ("cases", "origins", "arrivals", "case_papers", "case_results"):
        assert await seen(shared, "cora", table) == [], table
