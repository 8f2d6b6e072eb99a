"""One voice counts once, feedback outside one's scope is left out, and a check says who settled it (R4, R20, R21)."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import pytest_asyncio
from alembic import command
from sqlalchemy import create_engine, text
from sqlalchemy.exc import ProgrammingError

from activities.records.audit import AuditTable
from activities.records.database import narrowed_to
from activities.records.migrate import configuration, migrate
from activities.records.retrieval_history import RetrievalHistoryTable
from contracts.candidates import RetrievalTask
from contracts.errors import IdempotencyConflict, StaleRevision, UnknownCase
from contracts.feedback import CandidateFeedback, FeedbackView, Usefulness, UsefulnessCounts
from contracts.retrieval import MemoryUse
from deploy.commands.retrieval import lines_of
from tests.records.asking import answered, ask, candidate, check_result, citing
from tests.records.broadening import feedback
from tests.records.world import World, changed, new_id

HELPED, MISLED = Usefulness.HELPED, Usefulness.MISLED


@pytest_asyncio.fixture(scope="module", name="many")
async def fixture_many(shared: World) -> World:
    """`amy` works for acme beside `ann`, one person for each of b, c and d, `kim` for acme and b, `all` for b to d."""
    await shared.principal("amy", "acme")
    for name in ("b", "c", "d"):
        await shared.tenant(name)
        await shared.principal(f"{name}-agent", name)
    await shared.principal("kim", "acme", "b")
    await shared.principal("all", "b", "c", "d")
    await shared.profile("data-agent", "amy", "b-agent", "c-agent", "d-agent", "kim", "all")
    return shared


async def asked(world: World, who: str, ref: str, **fields: Any) -> RetrievalTask:
    return await answered(world, await ask(world, who, **fields), candidate(1, ref))


async def said(
    world: World, task: RetrievalTask, ref: str, usefulness: Usefulness = HELPED, *, by: str = ""
) -> tuple[MemoryUse, FeedbackView]:
    """Let somebody, else the asker, decide once more on a retrieval and say how it turned out."""
    use = citing(task, ref)
    await world.memory.decide(by or task.principal_id, use)
    return use, await world.feedbacks.give(by or task.principal_id, feedback(use, usefulness))


async def counted(world: World, who: str, ref: str, **fields: Any) -> CandidateFeedback:
    """Return what is counted beside a candidate in somebody's next retrieval."""
    return (await world.retrievals.resolve(await ask(world, who, **fields), [ref])).records[ref].feedback


async def case_of(world: World, tenant: str) -> str:
    return await world.open_case(by="ann" if tenant == "acme" else f"{tenant}-agent", tenant=tenant)


async def test_r20_who_may_not_see_the_case_any_more_reads_the_record_without_its_feedback(many: World) -> None:
    """What was said stays for the others, and the next feedback takes its place after it."""
    ref = f"experience/{await many.published()}"
    await many.principal("eva", "acme")
    await many.profile("data-agent", "eva")
    task = await asked(many, "eva", ref, case_id=await many.open_case())
    use, given = await said(many, task, ref)
    many.owner.execute("UPDATE grants SET expires_at = now() - interval '1 minute' WHERE principal_id = 'eva'")

    history = RetrievalHistoryTable(many.database)
    (done,) = (await history.record("eva", task.request.request_id)).uses
    assert (done.use.decision_id, done.feedback) == (use.decision_id, ())
    assert await many.feedbacks.given("eva", use.decision_id) == []
    before = many.everything()
    first = feedback(use).model_copy(update={"feedback_id": given.feedback_id})
    assert await many.feedbacks.give("eva", first) == given, "a repeat says what it said"
    with pytest.raises(IdempotencyConflict):
        await many.feedbacks.give("eva", first.model_copy(update={"replaces": new_id()}))
    for replaces in (None, given.feedback_id):
        with pytest.raises(UnknownCase):
            await many.feedbacks.give("eva", feedback(use, MISLED, replaces=replaces))
    assert changed(many.everything(), before) == []

    with pytest.raises(StaleRevision, match=given.feedback_id):
        await many.feedbacks.give("amy", feedback(use, MISLED))
    second = await many.feedbacks.give("amy", feedback(use, MISLED, replaces=given.feedback_id))
    assert await many.feedbacks.given("ann", use.decision_id) == [given, second]
    (done,) = (await history.record("ann", task.request.request_id)).uses
    assert done.feedback == (given, second)


async def test_r20_an_agent_with_a_single_case_says_how_it_turned_out_outside_a_case(many: World) -> None:
    """R4: its words count for itself, as long as it may see anything of the tenant that it asked about."""
    ref = f"experience/{await many.published()}"
    await many.principal("tom")
    await many.grant("tom", "acme", case_id=await many.open_case())
    await many.profile("data-agent", "tom")
    task = await asked(many, "tom", ref, tenant_id="acme")
    use, given = await said(many, task, ref)
    assert await many.feedbacks.given("tom", use.decision_id) == [given]
    (done,) = (await RetrievalHistoryTable(many.database).record("tom", task.request.request_id)).uses
    assert done.feedback == (given,)
    assert (await counted(many, "tom", ref)).own == UsefulnessCounts(helped=1)
    assert (await counted(many, "ann", ref)).own == UsefulnessCounts(helped=1), "it is acme's"
    assert (await counted(many, "b-agent", ref)).own == UsefulnessCounts()
    second = await many.feedbacks.give("tom", feedback(use, MISLED, replaces=given.feedback_id))
    assert (await counted(many, "tom", ref)).own == UsefulnessCounts(misled=1)
    assert await many.feedbacks.given("tom", use.decision_id) == [given, second]


async def test_r4_outside_a_case_a_narrowed_key_or_request_sees_nothing_said_for_another_tenant(many: World) -> None:
    ref = f"experience/{await many.published()}"
    await said(many, await asked(many, "kim", ref, tenant_id="acme"), ref)
    rows = text("SELECT count(*) FROM feedback_outcomes WHERE ref = :ref")
    for tenants, shown in ((None, 1), (("acme",), 1), (("b",), 0)):
        with narrowed_to(tenants):
            async with many.database.as_principal("kim") as connection:
                assert (await connection.execute(rows, {"ref": ref})).scalar_one() == shown
            assert (await counted(many, "kim", ref)).own == UsefulnessCounts(helped=shown)
    assert (await counted(many, "kim", ref, tenant_id="b")).own == UsefulnessCounts()


async def test_r20_many_decisions_on_one_retrieval_are_one_voice(many: World) -> None:
    """The latest word counts, whichever decision it is on; another retrieval is another voice."""
    ref = f"experience/{await many.published()}"
    task = await asked(many, "ann", ref, case_id=await many.open_case())
    given = [await said(many, task, ref) for _ in range(5)]
    assert (await counted(many, "ann", ref)).own == UsefulnessCounts(helped=1)
    first, word = given[0]
    await many.feedbacks.give("amy", feedback(first, MISLED, replaces=word.feedback_id))
    assert (await counted(many, "amy", ref)).own == UsefulnessCounts(misled=1)
    await said(many, await asked(many, "ann", ref, case_id=await many.open_case()), ref)
    assert (await counted(many, "ann", ref)).own == UsefulnessCounts(helped=1, misled=1)
    sql = "SELECT helped, misled, not_applicable, tenants FROM feedback_totals WHERE ref = %s"
    assert many.rows(sql, ref) == [(1, 1, 0, 1)]


async def test_r21_nobody_alone_makes_a_count_over_all_tenants(many: World) -> None:
    """Neither by asking in every tenant nor by speaking on what the people of every tenant asked."""
    asking, speaking, fair = [f"experience/{await many.published()}" for _ in range(3)]
    for tenant in ("b", "c", "d"):
        case_id = await case_of(many, tenant)
        await said(many, await asked(many, "all", asking, case_id=case_id), asking)
        await said(many, await asked(many, f"{tenant}-agent", speaking, case_id=case_id), speaking, by="all")
        await said(many, await asked(many, f"{tenant}-agent", fair, case_id=case_id), fair)
    for ref, everywhere in ((asking, None), (speaking, None), (fair, UsefulnessCounts(helped=3))):
        assert await counted(many, "ann", ref) == CandidateFeedback(everywhere=everywhere)
        async with many.database.as_principal("ann") as connection:
            shown = await connection.execute(text("SELECT 1 FROM feedback_totals WHERE ref = :ref"), {"ref": ref})
            assert (shown.first() is None) == (everywhere is None)


async def test_r20_a_settled_check_says_who_reported_it(many: World) -> None:
    """The first report stays; it is in the record, in the operator's lines and, without words, in the chain (R11)."""
    ref = f"experience/{await many.published()}"
    task = await asked(many, "ann", ref, case_id=await many.open_case())
    use = citing(task, ref)
    await many.memory.decide("ann", use)
    result = check_result(use, "held", "The row is absent.")
    await many.memory.settle_check("amy", result)
    before = many.everything()
    await many.memory.settle_check("ann", result)
    assert changed(many.everything(), before) == []
    with pytest.raises(IdempotencyConflict):
        await many.memory.settle_check("ann", check_result(use, "failed", "The row is absent."))

    history = RetrievalHistoryTable(many.database)
    (done,) = (await history.record("ann", task.request.request_id)).uses
    assert [check.settled_by for check in done.checks] == ["amy"]
    told = lines_of(await history.record(None, task.request.request_id))
    assert any(line.endswith(": held, reported by amy (The row is absent.)") for line in told)
    (row,) = [
        row
        for row in await AuditTable(many.database).rows(subject=f"decision/{use.decision_id}")
        if row.action == "check_settled"
    ]
    check = hashlib.sha256(result.check_id.encode()).hexdigest()[:16]
    assert (row.actor_id, row.cause_id, row.details) == (
        "amy", use.decision_id, {"check": check, "outcome": "held"},
    )  # fmt: skip


async def test_r4_no_sql_of_the_application_settles_a_check_in_anothers_name(many: World) -> None:
    ref = f"experience/{await many.published()}"
    use = citing(await asked(many, "ann", ref), ref)
    await many.memory.decide("ann", use)
    sql = text(
        "UPDATE fresh_checks SET outcome = 'held', settled_at = now(), settled_by = :who"
        " WHERE decision_id = CAST(:id AS uuid)"
    )
    for who in ("amy", None):
        with pytest.raises(ProgrammingError, match="row-level security"):
            async with many.database.as_principal("ann") as connection:
                await connection.execute(sql, {"who": who, "id": use.decision_id})


async def test_r20_the_migration_counts_again_what_was_counted_before(world: World) -> None:
    """Down to one voice for each decision, and up again; a check from before has nobody who reported it."""
    for name in ("b", "c"):
        await world.tenant(name)
    await world.principal("all", "acme", "b", "c")
    await world.profile("data-agent", "all")
    ref, case = f"experience/{await world.published()}", f"case/{await world.open_case()}"
    for tenant in ("acme", "b", "c"):
        task = await ask(world, "all", tenant_id=tenant)
        await answered(world, task, candidate(1, ref), candidate(2, case))
        for usefulness in (MISLED, HELPED):
            use = citing(task, ref, case)
            await world.memory.decide("all", use)
            await world.memory.settle_check("all", check_result(use))
            await world.feedbacks.give("all", feedback(use, usefulness))
    await world.database.close()
    totals = "SELECT ref, helped, misled, not_applicable, tenants FROM feedback_totals"
    copied = "SELECT feedback_id, ref, of_tenant, asked_by, of_request, said_at FROM feedback_outcomes ORDER BY 1, 2"
    new, outcomes = world.rows(totals), world.rows(copied)
    assert new == [(ref, 3, 0, 0, 1)]

    engine = create_engine(world.urls.owner)
    with engine.begin() as connection:
        command.downgrade(configuration(connection), "0017")
    engine.dispose()
    assert world.rows(totals) == [(ref, 3, 3, 0, 3)]
    migrate(world.urls.owner)
    assert world.rows(totals) == new
    assert world.rows(copied) == outcomes
    assert world.rows("SELECT DISTINCT outcome, settled_by FROM fresh_checks") == [("held", None)]
