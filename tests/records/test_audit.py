"""The audit chain in the database: what is appended, that nothing can be changed, and that a change is found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import text

from activities.records.audit import AuditTable
from activities.records.audit_verification import AuditVerifier
from activities.records.case_links import CaseLinksTable
from activities.records.database import acting_for
from contracts.audit import AuditRow, AuditVerification, row_hash
from contracts.cases import CaseLink, CaseLinkKind
from contracts.errors import InvalidField
from contracts.lifecycle import Event
from contracts.review import ChangeKind
from tests.records.asking import answered, ask, candidate, citing
from tests.records.world import World, draft, libpq, new_id
from tests.unit.test_audit import ROWS

SECRET = "Canary Pfeffernuss"
_HASH = "SELECT audit_hash(%s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s)"


async def verified(world: World, expected: str | None = None) -> AuditVerification:
    return await AuditVerifier(world.database, page=7).verify(expected)


async def broken(world: World, expected: str | None = None) -> str:
    found = (await verified(world, expected)).broken
    assert found is not None
    return found.reason


async def of(world: World, subject: str) -> list[AuditRow]:
    return await AuditTable(world.database).rows(subject=subject)


@contextmanager
def past_every_rule(world: World) -> Generator[psycopg.Connection]:
    """Let the block write as a superuser does who has switched the triggers off."""
    world.owner.execute("SET session_replication_role = replica")
    try:
        yield world.owner
    finally:
        world.owner.execute("SET session_replication_role = origin")


@given(ROWS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_python_and_the_database_compute_one_hash(shared: World, row: AuditRow) -> None:
    """Whatever is in a row: blanks, umlauts, colons, digits that look like lengths."""
    values = (
        row.seq, row.at, row.actor_id, row.action, row.subject, row.revision, row.digest, row.cause_id,
        json.dumps(dict(row.details)), row.previous,
    )  # fmt: skip
    assert shared.one(_HASH, *values) == row_hash(row)


async def test_a_life_is_told_in_the_order_of_its_commits(world: World) -> None:
    """R7: who wrote, decided and moved which digest; the record agrees with every row."""
    experience_id = await world.published(draft(title=SECRET))
    rows = await of(world, f"experience/{experience_id}")
    assert [(row.action, row.actor_id) for row in rows] == [
        ("draft", "ann"),
        ("transition", "ann"),
        ("command", "cora"),
        ("decision", "cora"),
        ("transition", "cora"),
        ("command", "otto"),
        ("decision", "otto"),
        ("transition", "otto"),
        ("revision_state", None),
    ]
    said = world.one("SELECT digest FROM revisions WHERE experience_id = %s", experience_id)
    assert {row.digest for row in rows if row.action != "command"} == {said}
    assert dict(rows[6].details) == {"stage": "owner_review", "verdict": "accept"}
    assert rows[6].cause_id == rows[7].cause_id == rows[5].cause_id
    assert [row.at for row in rows] == sorted(row.at for row in rows)
    found = await verified(world)
    assert found.holds
    assert (found.transitions, found.decisions, found.revisions) == (3, 2, 1)
    assert found.rows == found.head.seq == world.one("SELECT count(*) FROM audit")
    assert SECRET not in str(world.rows("SELECT a::text FROM audit a"))


async def test_every_kind_of_act_is_appended(world: World) -> None:
    """Links, grants, roles, keys, profiles, retrieved decisions: with ids and labels only."""
    first, second = await world.open_case(), await world.open_case()
    link = CaseLink(
        id=new_id(), case_id=first, other_case_id=second, kind=CaseLinkKind.RELATED, reason=f"About {SECRET}"
    )
    links = CaseLinksTable(world.database)
    await links.link("ann", link)
    await links.remove("ann", link.id, f"Not about {SECRET}")
    with acting_for("cora"):
        key = await world.identities.issue_key("ann")
        await world.grant("ann", "acme", expires_at=datetime.now(UTC) + timedelta(days=1))
    experience_id = await world.published()
    task = await ask(world, "ann")
    await answered(world, task, candidate(1, f"experience/{experience_id}"))
    await world.memory.decide("ann", citing(task, f"experience/{experience_id}"))
    actions: dict[str, str] = dict(world.rows("SELECT action, actor_id FROM audit ORDER BY seq"))
    assert actions["case_link"] == actions["case_unlink"] == actions["memory_use"] == "ann"
    assert actions["api_key"] == actions["grant"] == "cora"
    assert {"role", "principal", "profile", "profile_member", "strategy_version"} <= set(actions)
    everything = str(world.rows("SELECT a::text FROM audit a"))
    assert key not in everything
    assert world.one("SELECT hash FROM api_keys WHERE principal_id = 'ann'") not in everything
    assert SECRET not in everything
    assert (await verified(world)).holds


async def test_what_is_rolled_back_leaves_no_row(world: World) -> None:
    """R8: the row commits with what it tells of, or not at all."""
    experience_id = await world.propose()
    before = world.one("SELECT count(*) FROM audit")
    async with world.database.as_system() as connection:
        await connection.execute(text("UPDATE revisions SET state = 'returned'"))
        await connection.rollback()
    with pytest.raises(InvalidField):
        await world.decide(experience_id, "cora", Event.REJECT, comment="")
    assert world.one("SELECT count(*) FROM audit") == before


_INSERT = "INSERT INTO audit (seq, at, action, subject, previous, hash) VALUES (99, now(), 'x', 'y', '', '')"


@pytest.mark.parametrize(
    ("role", "statement", "refusal"),
    [
        *(
            ("owner", statement, psycopg.errors.RestrictViolation)
            for statement in ("UPDATE audit SET action = 'x'", "DELETE FROM audit", "TRUNCATE audit")
        ),
        *(
            (role, statement, psycopg.errors.InsufficientPrivilege)
            for role in ("system", "app")
            for statement in ("UPDATE audit SET action = 'x'", "DELETE FROM audit", "TRUNCATE audit", _INSERT)
        ),
    ],
)
async def test_no_role_can_change_or_forge_a_row(
    shared: World, role: str, statement: str, refusal: type[psycopg.Error]
) -> None:
    """Nor the owner, but by switching the triggers off, which the chain shows."""
    with psycopg.connect(libpq(getattr(shared.urls, role))) as connection, pytest.raises(refusal):
        connection.execute("SELECT set_config('caselore.principal', 'ann', false)")
        connection.execute(statement.encode())


async def test_the_application_cannot_append_by_itself_nor_act_as_another(shared: World) -> None:
    append = "SELECT audit_append('otto', 'x', 'y', NULL, '', NULL, '{}')"
    with (
        psycopg.connect(libpq(shared.urls.app)) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(append.encode())
    async with shared.database.as_principal("ann") as connection:
        await connection.execute(text("SELECT set_config('caselore.actor', 'otto', true)"))
        assert (await connection.execute(text("SELECT audit_actor()"))).scalar_one() == "ann"


@pytest.mark.parametrize(
    ("tampering", "reason"),
    [
        ("UPDATE audit SET actor_id = 'mallory' WHERE seq = {n}", "content"),
        ('UPDATE audit SET details = details || \'{{"verdict": "reject"}}\' WHERE seq = {n}', "content"),
        ("UPDATE audit SET hash = repeat('a', 64) WHERE seq = {n}", "content"),
        ("DELETE FROM audit WHERE seq = {n}", "is missing"),
        ("DELETE FROM audit WHERE seq < {n}", "row 1 is missing"),
        (
            "UPDATE audit SET seq = CASE seq WHEN {n} THEN {n} - 1 ELSE {n} END + 100000 WHERE seq IN ({n} - 1, {n});"
            " UPDATE audit SET seq = seq - 100000 WHERE seq > 100000",
            "does not follow",
        ),
        (
            "INSERT INTO audit (seq, at, action, subject, previous, hash)"
            " SELECT 0, now(), 'x', 'y', repeat('0', 64), hash FROM audit WHERE seq = 1",
            "below",
        ),
    ],
)
async def test_an_altered_removed_moved_or_inserted_row_is_found(world: World, tampering: str, reason: str) -> None:
    await world.published()
    assert (await verified(world)).holds
    number = world.one("SELECT seq FROM audit WHERE action = 'decision' LIMIT 1")
    with past_every_rule(world) as owner:
        for statement in tampering.format(n=number).split("; "):
            owner.execute(statement.encode())
    assert reason in await broken(world)


async def test_a_cut_tail_is_found_by_a_head_that_was_kept(world: World) -> None:
    await world.published()
    kept = (await AuditTable(world.database).head()).hash
    await world.published()
    assert (await verified(world, kept)).holds, "the chain has grown since"
    assert "was cut" in await broken(world, "f" * 64)
    with past_every_rule(world) as owner:
        owner.execute("DELETE FROM audit WHERE hash = %s OR seq > (SELECT seq FROM audit WHERE hash = %s)", [kept] * 2)
        for table in ("review_decisions", "transitions", "commands"):
            owner.execute(f"DELETE FROM {table}".encode())
        owner.execute("UPDATE revisions SET state = 'draft', published_at = NULL")
    assert "was cut" in await broken(world, kept)


async def test_a_tail_cut_and_grown_again_is_found_by_a_kept_head(world: World) -> None:
    """Rehashing everything from the cut gives a chain that holds by itself: only the kept head tells."""
    experience_id = await world.propose()
    kept = (await AuditTable(world.database).head()).hash
    with past_every_rule(world) as owner:
        owner.execute("DELETE FROM audit WHERE hash = %s", (kept,))
        owner.execute("SELECT audit_append('mallory', 'transition', 'case/1', NULL, '', NULL, '{}')")
    assert "was cut" in await broken(world, kept)
    assert "has no row in the chain" in await broken(world), experience_id


@pytest.mark.parametrize(
    ("tampering", "reason"),
    [
        ("UPDATE revisions SET content = jsonb_set(content, '{title}', '\"Swapped\"')", "text of revision 1 is not"),
        ("UPDATE revisions SET content = '{}'", "text of revision 1 is not"),
        ("UPDATE revisions SET digest = repeat('a', 64)", "another digest"),
        ("UPDATE review_decisions SET digest = repeat('a', 64)", "another digest"),
        ("UPDATE review_decisions SET verdict = 'return' WHERE stage = 'owner_review'", "another verdict"),
        ("UPDATE review_decisions SET reviewer_id = 'olga' WHERE reviewer_id = 'otto'", "another actor"),
        ("UPDATE transitions SET to_stage = 'retired' WHERE seq = 3", "another to_stage"),
        ("DELETE FROM review_decisions WHERE stage = 'owner_review'", "the record has lost it"),
        ("DELETE FROM transitions WHERE seq = 2", "the record has lost it"),
        (
            "INSERT INTO transitions (experience_id, seq, to_stage, event, revision)"
            " SELECT experience_id, 4, 'retired', 'retire', 1 FROM transitions WHERE seq = 1",
            "transition 4 has no row in the chain",
        ),
        ("DELETE FROM experiences", "the record has lost it"),
    ],
)
async def test_a_record_that_says_something_else_than_the_chain_is_found(
    world: World, tampering: str, reason: str
) -> None:
    """R7, R8: content swapped after approval, decisions and transitions altered, removed or added."""
    await world.published()
    with past_every_rule(world) as owner:
        owner.execute(tampering.encode())
    assert reason in await broken(world)


async def test_an_erased_text_is_no_break_and_its_swapped_neighbour_is(world: World) -> None:
    """R11: the digest stays as a tombstone; an `erased` row says that the text is gone."""
    gone, stays = await world.published(), await world.published()
    with past_every_rule(world) as owner:
        owner.execute("UPDATE revisions SET content = '{}' WHERE experience_id = %s", (gone,))
    async with world.database.as_system() as connection:
        await connection.execute(
            text("SELECT audit_append('ann', 'erased', :subject, NULL, '', NULL, '{}')"),
            {"subject": f"experience/{gone}"},
        )
    found = await verified(world)
    assert (found.broken, found.erased, found.revisions) == (None, 1, 2)
    with past_every_rule(world) as owner:
        owner.execute("UPDATE revisions SET content = '{}' WHERE experience_id = %s", (stays,))
    assert "text of revision 1" in await broken(world)


async def test_writers_at_once_make_one_chain_without_a_deadlock(world: World) -> None:
    """The chain's lock is the outbox's and is taken last: many lives at once, verified while they go on."""

    async def life(number: int) -> None:
        experience_id = await world.published()
        if number % 2:
            await world.change(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title=f"T{number}"))
        else:
            await world.change(experience_id, ChangeKind.RETIRE)

    lives = asyncio.gather(*(life(number) for number in range(8)))
    while not lives.done():
        assert (await verified(world)).holds
    await lives
    found = await verified(world)
    assert found.holds
    assert found.decisions == 16


async def test_everybody_reads_the_rows_of_what_they_see_and_of_their_own_acts(world: World) -> None:
    """R4: a stranger sees nothing of a tenant's experiences; a reviewer sees what the domain reviews."""
    table = AuditTable(world.database)
    await world.tenant("other")
    await world.principal("eve", "other")
    experience_id = await world.published()
    subject = f"experience/{experience_id}"
    every = await table.rows(subject=subject)
    assert await table.rows_for("ann", subject=subject, actor=None) == every
    assert await table.rows_for("cora", subject=subject, actor=None) == every
    assert await table.rows_for("eve", subject=subject, actor=None) == []
    assert await table.rows_for("eve", subject=None, actor="otto") == []
    own = await table.rows_for("otto", subject=None, actor="otto")
    assert {row.action for row in own} == {"command", "decision", "transition"}
    with pytest.raises(InvalidField) as refused:
        await table.rows_for("ann", subject=None, actor=None)
    assert refused.value.field == "subject"


async def test_rows_come_page_by_page(world: World) -> None:
    table = AuditTable(world.database)
    await world.published()
    found: list[AuditRow] = []
    while page := await table.rows(after=found[-1].seq if found else 0, limit=4):
        assert len(page) <= 4
        found += page
    assert [row.seq for row in found] == list(range(1, (await table.head()).seq + 1))
