"""Erasure in the record: every column of every table, nothing of another tenant, and nothing but an erasure (R11)."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from activities.records.audit_verification import AuditVerifier
from activities.records.erasure_columns import TextTable, text_tables
from activities.records.erasure_work import ErasuresTable
from activities.records.erasures import ErasureOrders
from contracts.erased_text import ERASED
from contracts.erasure import ErasureReceipt, ErasureRequest, ErasureState, ErasureTarget
from contracts.errors import IdempotencyConflict, InvalidField, LifecycleClosed, UnknownCase, UnknownErasure
from contracts.lifecycle import Stage
from contracts.retrieval import Nearest
from contracts.review import ChangeKind, CommandMessage
from tests.records.asking import NO_RANKINGS, answer, answered, ask, candidate, citing
from tests.records.test_row_security import fill
from tests.records.world import World, draft, new_id

CANARY = "Canary Bird-7f3a"


class Office:
    """The administrators' side and the workflow's, on one record."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.orders = ErasureOrders(world.database)
        self.table = ErasuresTable(world.database)

    async def order(self, **fields: Any) -> str:
        values = {"erasure_id": new_id(), "tenant_id": "acme", "reason": "Request 7", **fields}
        request = ErasureRequest.model_validate(values)
        await self.orders.order("ann", request)
        return request.erasure_id

    async def erase(self, **fields: Any) -> ErasureReceipt:
        """Do in the record what the workflow does, and return the receipt."""
        erasure_id = await self.order(**fields)
        return await self.carry_out(erasure_id)

    async def carry_out(self, erasure_id: str) -> ErasureReceipt:
        await self.table.remove(erasure_id)
        left = await self.table.left(erasure_id)
        assert left.left == 0, left.note
        await self.table.report(erasure_id, left, await self.table.vacuum(erasure_id))
        await self.table.finish(erasure_id, "")
        return await self.orders.receipt(erasure_id)

    async def preview(self, **fields: Any) -> Any:
        return await self.orders.preview(ErasureTarget.model_validate({"tenant_id": "acme", **fields}))

    async def tables(self) -> list[TextTable]:
        async with self.world.database.as_system() as connection:
            return await text_tables(connection)

    def holding(self, word: str = CANARY) -> list[str]:
        """Return each table with a row that holds a word, once for each row."""
        return [
            table
            for table, rows in self.world.everything().items()
            for row in rows
            if word in row and table not in ("erasures",)
        ]

    async def write_everywhere(self, where: str, **values: str) -> None:
        """Put the canary into every text column of the rows that `where` (`tenant` or `case`) says."""
        async with self.world.database.as_system() as connection:
            tables = await text_tables(connection)
        self.world.owner.execute("SET session_replication_role = replica")
        for table in tables:
            rows = table.tenant if where == "tenant" else table.case
            for column in table.columns if rows else ():
                if column.is_opaque:
                    continue
                value = f"t.{column.name} || ' {CANARY}'"
                if column.is_json:
                    value = f"CASE jsonb_typeof(t.{column.name}) WHEN 'array' THEN '[\"{CANARY}\"]'::jsonb"
                    value += f' ELSE t.{column.name} || \'{{"further": "{CANARY}"}}\'::jsonb END'
                elif column.is_list:
                    value = f"t.{column.name} || ARRAY['{CANARY}']"
                if column.name == "declined_units":  # only an acceptance may hold any
                    rows = f"({rows}) AND t.verdict = 'accept'"
                condition = rows.replace(":tenant", "%(tenant)s").replace(":case_id", "%(case_id)s")
                sql = f"UPDATE {table.name} t SET {column.name} = {value} WHERE {condition}"
                self.world.owner.execute(sql.encode(), {"tenant": "acme", "case_id": "", **values})
        self.world.owner.execute("SET session_replication_role = DEFAULT")


@pytest.fixture(name="office")
def fixture_office(world: World) -> Office:
    return Office(world)


async def _filled(world: World) -> None:
    await world.tenant("other")
    await world.principal("bob", "other")
    await world.profile("data-agent", "ann", "bob")
    await fill(world, "acme", "ann")
    await fill(world, "other", "bob")


async def test_r11_a_subject_is_erased_from_every_column_and_only_of_its_tenant(world: World, office: Office) -> None:
    await _filled(world)
    await office.write_everywhere("tenant", tenant="acme")
    ours = office.holding()
    await office.write_everywhere("tenant", tenant="other")
    tables = {table.name for table in await office.tables() if table.columns and table.name != "case_keys"}
    assert set(ours) == tables, "the canary has to be everywhere, or the test shows nothing"
    theirs_before = len(office.holding()) - len(ours)

    found = await office.preview(subject=[CANARY.upper()])
    receipt = await office.erase(subject=[CANARY.upper()], at_most=found.fields)

    assert len(office.holding()) == theirs_before
    assert office.holding(CANARY.upper()) == []
    assert receipt.state is ErasureState.DONE
    records = next(store for store in receipt.stores if store.store == "records")
    assert {place.place for place in records.places} == {place.place for place in found.places}
    assert sum(place.fields for place in records.places) == found.fields
    assert CANARY.casefold() not in receipt.model_dump_json().casefold()
    assert (await AuditVerifier(world.database).verify()).broken is None
    assert (await office.preview(subject=[CANARY], tenant_id="other")).fields > 0


async def test_r11_a_case_is_erased_from_every_column_and_nothing_of_the_next_case(
    world: World, office: Office
) -> None:
    await _filled(world)
    case_id = world.one("SELECT case_id::text FROM experiences WHERE tenant_id = 'acme' AND stage = 'published'")
    await office.write_everywhere("case", case_id=case_id)
    ours = set(office.holding())
    assert {"cases", "origins", "arrivals", "case_papers", "case_results", "revisions", "commands"} <= ours
    await world.open_case(body=f"Another case of {CANARY}.")
    rest = {table: set(rows) for table, rows in world.everything().items()}

    receipt = await office.erase(case_id=case_id)

    assert sorted(office.holding()) == ["arrivals", "cases"], "only the other case's own text is left"
    assert receipt.state is ErasureState.DONE
    after = {table: set(rows) for table, rows in world.everything().items()}
    ids = {case_id, *(id_ for (id_,) in world.rows("SELECT id::text FROM experiences WHERE case_id = %s", case_id))}
    for table in ("cases", "arrivals", "case_states", "experiences", "grants"):
        changed = rest[table] - after[table]
        assert all(any(id_ in row for id_ in ids) for row in changed), table
    assert (await AuditVerifier(world.database).verify()).broken is None


async def test_r11_a_table_or_column_that_was_added_later_is_found(world: World, office: Office) -> None:
    """A made-up table is searched and emptied by its foreign key alone, whatever its columns are called."""
    world.owner.execute(
        "CREATE TABLE remarks (id int PRIMARY KEY, case_ref uuid REFERENCES cases (id), words text, more jsonb,"
        " list text[], secret bytea)"
    )
    world.owner.execute("GRANT SELECT, UPDATE ON remarks TO caselore_system")
    cases = [await world.open_case() for _ in range(2)]
    for number, case_id in enumerate(cases):
        world.owner.execute(
            "INSERT INTO remarks VALUES (%s, %s, %s, jsonb_build_object(%s::text, 1), ARRAY[%s], 'x')",
            (number, case_id, CANARY, CANARY, CANARY),
        )
    await office.erase(case_id=cases[0])
    assert world.rows("SELECT words, more, list, secret FROM remarks WHERE id = 0") == [(ERASED, {}, [], b"")]
    await office.erase(subject=[CANARY])
    assert world.rows("SELECT words, more, list FROM remarks WHERE id = 1") == [(ERASED, {ERASED: 1}, [ERASED])]


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE stray (words text)", "ALTER TABLE cases ADD shape point", "ALTER TABLE cases ADD more xml"],
)
async def test_a_table_of_nobody_or_an_unknown_type_stops_erasure(world: World, office: Office, statement: str) -> None:
    """R11: better no erasure than one that leaves something out in silence."""
    world.owner.execute(statement.encode())
    with pytest.raises(RuntimeError, match=r"stray|cases\.shape|cases\.more"):
        await office.preview(subject=[CANARY])


async def test_a_published_revision_is_redacted_in_place_and_stays_current(world: World, office: Office) -> None:
    experience_id = await world.published(draft(text=f"The row of {CANARY} was missing."))
    before = world.one("SELECT digest FROM revisions WHERE experience_id = %s", experience_id)
    events = world.index_events(f"experience/{experience_id}")

    await office.erase(subject=[CANARY])

    assert world.revision_states(experience_id) == ["current"]
    content, digest = world.rows("SELECT content, digest FROM revisions WHERE experience_id = %s", experience_id)[0]
    assert content["units"][0]["text"] == f"The row of {ERASED} was missing."
    assert digest == before, "what was decided on keeps its name"
    assert world.index_events(f"experience/{experience_id}") == events + 1
    assert world.one("SELECT digest FROM tombstones WHERE ref = %s", f"experience/{experience_id}/1") == before
    source = (await world.projections.desired([f"experience/{experience_id}"]))[0]
    assert source.entries
    assert CANARY not in repr(source.entries)
    assert (await AuditVerifier(world.database).verify()).broken is None


async def test_a_draft_whose_text_changed_goes_back_and_can_be_reviewed_anew(world: World, office: Office) -> None:
    """R7: the curator accepted another text than the owner would."""
    experience_id = await world.propose(draft(text=f"The row of {CANARY} was missing."))
    await world.decide(experience_id, "cora")
    await office.erase(subject=[CANARY])
    assert (await world.lifecycle.load(experience_id)).stage is Stage.RETURNED
    told = "SELECT payload FROM outbox WHERE kind = 'signal' AND key = %s"
    (command,) = [payload["command_id"] for (payload,) in world.rows(told, f"experience/{experience_id}")]
    outcome = await world.lifecycle.apply_command(experience_id, CommandMessage(command_id=command))
    assert outcome.snapshot is not None
    assert outcome.snapshot.stage is Stage.RETURNED
    await world.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=draft(text="The row was missing."))
    await world.decide(experience_id, "cora")
    assert (await world.decide(experience_id, "otto")).stage is Stage.PUBLISHED


async def test_a_redaction_that_leaves_no_valid_draft_goes_through(world: World, office: Office) -> None:
    """Two units may come to have one id: then nothing of the text is kept."""
    content = draft(text="About Ann Bird and ANN BIRD.")
    units = tuple(content.units[0].model_copy(update={"id": name}) for name in ("Ann Bird", "ANN BIRD"))
    experience_id = await world.published(content.model_copy(update={"units": units}))
    await office.erase(subject=["ann bird"])
    view = await world.experiences.view("ann", experience_id)
    assert view.revisions[0].draft.title == ERASED


async def test_the_experience_of_an_erased_case_leaves_retrieval_with_the_commit(world: World, office: Office) -> None:
    """R10, R11: whether or not the projector has run; its lifecycle is told and ends."""
    experience_id = await world.published()
    open_one = await world.propose()
    case_id = world.one("SELECT case_id::text FROM experiences WHERE id = %s", experience_id)
    task = await ask(world)
    assert await world.retrievals.resolve(task, [f"experience/{experience_id}", f"case/{case_id}"])

    await office.erase(case_id=case_id)

    resolution = await world.retrievals.resolve(task, [f"experience/{experience_id}", f"case/{case_id}"])
    assert resolution.records == {}
    assert (await world.lifecycle.load(experience_id)).stage is Stage.RETIRED
    assert (await world.lifecycle.load(open_one)).stage is Stage.CURATOR_REVIEW
    (source,) = await world.projections.desired([f"case/{case_id}"])
    assert source.entries == ()
    with pytest.raises(LifecycleClosed):
        await world.decide(experience_id, "cora")
    view = await world.experiences.view("ann", experience_id)
    assert [revision.draft.title for revision in view.revisions] == [ERASED]


async def test_an_unpublished_experience_of_an_erased_case_is_rejected(world: World, office: Office) -> None:
    experience_id = await world.propose(draft(title=CANARY))
    await world.store_decision(experience_id, "cora", comment=CANARY)
    await office.erase(case_id=world.one("SELECT case_id::text FROM experiences WHERE id = %s", experience_id))
    assert (await world.lifecycle.load(experience_id)).stage is Stage.REJECTED
    assert world.rows("SELECT kind, state, outcome FROM commands ORDER BY kind") == [
        ("decide", "refused", "LifecycleClosed"),
        ("erase", "applied", "rejected"),
    ]
    assert office.holding() == []


async def test_published_text_stays_on_request_if_it_holds_no_handle_of_the_case(world: World, office: Office) -> None:
    clean, dirty = await world.published(), await world.published(draft(text="It was mail from b@example.org."))
    cases = {id_: world.one("SELECT case_id::text FROM experiences WHERE id = %s", id_) for id_ in (clean, dirty)}
    world.owner.execute("UPDATE cases SET body = 'From: b@example.org' WHERE id = %s", (cases[dirty],))
    for case_id in cases.values():
        await office.erase(case_id=case_id, keep_published=True)
    assert world.revision_states(clean) == ["current"]
    assert world.one("SELECT title FROM revisions WHERE experience_id = %s", clean) == "Missing register row"
    assert world.revision_states(dirty) == ["retired"]


async def test_what_others_were_shown_goes_and_their_papers_say_so(world: World, office: Office) -> None:
    """A citing record keeps a tombstone, of its own tenant and of another; another tenant's own words stay."""
    await world.tenant("other")
    await world.principal("bob", "other")
    await world.profile("data-agent", "ann", "bob")
    experience_id = await world.published()
    ref = f"experience/{experience_id}"
    for person, tenant in (("ann", "acme"), ("bob", "other")):
        task = await ask(world, person, case_id=await world.open_case(by=person, tenant=tenant))
        shown = candidate(1, ref).model_copy(update={"extract": f"About {CANARY}."})
        await answered(world, task, shown)
        await world.memory.decide(person, citing(task, ref))
        abstaining = await ask(world, person)
        near = tuple(Nearest(ref=each, revision=1, why=(f"Not {CANARY}.",)) for each in (ref, "experience/other"))
        abstained = answer(abstaining, abstained=True, nearest=near)
        await world.retrievals.save(abstaining, abstained, NO_RANKINGS)
    case_id = world.one("SELECT case_id::text FROM experiences WHERE id = %s", experience_id)

    await office.erase(case_id=case_id)

    assert world.rows("SELECT DISTINCT candidate ->> 'extract' FROM retrieval_candidates") == [(ERASED,)]
    nearest = world.rows("SELECT DISTINCT n ->> 'ref', n -> 'why' ->> 0 FROM retrieval_requests,"
                         " jsonb_array_elements(answer -> 'nearest') n")  # fmt: skip
    assert sorted(nearest) == sorted([(ref, ERASED), ("experience/other", f"Not {CANARY}.")])
    whys = dict(
        world.rows("SELECT u.decided_by, v.why FROM retrieval_verdicts v JOIN memory_uses u USING (decision_id)")
    )
    assert whys == {"ann": ERASED, "bob": "It fits."}
    papers = world.rows("SELECT text::jsonb -> 'citations' -> 0 FROM case_papers WHERE kind = 'memory_use'")
    assert [(paper["ref"], paper["erased"]) for (paper,) in papers] == [(ref, True), (ref, True)]


async def test_a_request_without_its_case_loses_the_erased_origin(world: World, office: Office) -> None:
    case_id = await world.open_case()
    external_id = world.one("SELECT external_id FROM origins")
    task = await ask(world, origin={"source": "desk", "external_id": external_id})
    await answered(world, task, candidate(1, f"case/{case_id}", source_case=case_id))
    await office.erase(case_id=case_id)
    assert office.holding(external_id) == []
    assert (await world.retrievals.load(task.request.request_id)).request.origin is None


async def test_a_redelivery_of_an_erased_case_brings_nothing_back(world: World, office: Office) -> None:
    receipt = await world.deliver("T-1", body=CANARY)
    await office.erase(case_id=receipt.case_id)
    again = await world.deliver("T-1", body=CANARY)
    assert again.redelivered
    assert again.case_id == receipt.case_id
    assert office.holding() == []


async def test_r22_values_that_would_shred_everything_are_refused_with_a_count(world: World, office: Office) -> None:
    for _ in range(3):
        await world.open_case(body="It fails: blank page.")
    found = await office.preview(subject=["blank"])
    with pytest.raises(InvalidField, match=f"in {found.fields} fields: .*cases"):
        await office.order(subject=["blank"], at_most=found.fields - 1)
    assert office.holding("[erased]") == []
    await office.erase(subject=["blank"], at_most=found.fields)
    assert office.holding("blank") == []
    with pytest.raises(InvalidField):
        ErasureTarget(tenant_id="acme", subject=("ab",))


async def test_an_order_is_repeated_without_effect_and_its_id_is_not_used_for_another(
    world: World, office: Office
) -> None:
    case_id = await world.open_case()
    erasure_id = await office.order(case_id=case_id)
    await office.order(case_id=case_id, erasure_id=erasure_id)
    assert world.one("SELECT count(*) FROM outbox WHERE kind = 'erase'") == 1
    first = await office.carry_out(erasure_id)
    before = world.everything()
    await office.order(case_id=case_id, erasure_id=erasure_id)
    assert await office.table.remove(erasure_id) == 0
    assert await office.orders.receipt(erasure_id) == first
    assert world.everything() == before
    with pytest.raises(IdempotencyConflict):
        await office.order(subject=[CANARY], erasure_id=erasure_id)
    with pytest.raises(UnknownCase):
        await office.order(case_id=new_id())
    with pytest.raises(UnknownErasure):
        await office.orders.receipt(new_id())


async def test_an_erasure_that_needed_a_person_keeps_its_values_and_is_tried_again(
    world: World, office: Office
) -> None:
    await world.open_case(body=CANARY)
    erasure_id = await office.order(subject=[CANARY])
    await office.table.finish(erasure_id, "the index is gone")
    receipt = await office.orders.receipt(erasure_id)
    assert (receipt.state, receipt.why) == (ErasureState.NEEDS_PERSON, "the index is gone")
    await office.order(subject=[CANARY], erasure_id=erasure_id)
    assert world.one("SELECT count(*) FROM outbox WHERE kind = 'erase'") == 2
    assert (await office.carry_out(erasure_id)).state is ErasureState.DONE
    assert world.one("SELECT subject FROM erasures") is None


async def test_a_removal_that_was_cut_short_is_ended_by_the_next(
    world: World, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.records.erasure_plans._KEYS_AT_ONCE", 1)
    for _ in range(4):
        await world.open_case(body=CANARY)
    erasure_id = await office.order(subject=[CANARY])
    world.owner.execute(
        "CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''stop''; END'"
    )
    world.owner.execute("CREATE TRIGGER stop BEFORE UPDATE ON cases FOR EACH ROW EXECUTE FUNCTION stop()")
    with pytest.raises(Exception, match="stop"):
        await office.table.remove(erasure_id)
    assert sorted(set(office.holding())) == ["cases"], "arrivals come first, and stay done"
    world.owner.execute("DROP TRIGGER stop ON cases")
    receipt = await office.carry_out(erasure_id)
    assert {place.place: place.rows for place in receipt.stores[0].places} == {"arrivals": 4, "cases": 4}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE revisions SET title = 'x'",
        "UPDATE review_decisions SET comment = 'x'",
        "UPDATE transitions SET event = 'retire'",
        "DELETE FROM review_decisions",
    ],
)
async def test_only_a_running_erasure_may_change_what_was_decided(world: World, office: Office, change: str) -> None:
    """R7, R11: and it too never deletes; a setting without a running erasure opens nothing, to nobody."""
    await world.published()
    erasure_id = await office.order(subject=[CANARY])
    is_delete = change.startswith("DELETE")

    async def attempt(setting: str, *, system: bool = True) -> None:
        opened = world.database.as_system() if system else world.database.as_principal("ann")
        async with opened as connection:
            await connection.execute(text("SELECT set_config('caselore.erasure', :id, true)"), {"id": setting})
            await connection.execute(text(change))

    for setting in ("", new_id(), "x"):
        with pytest.raises(Exception, match="append-only"):
            await attempt(setting)
    with pytest.raises(Exception, match="permission denied"):
        await attempt(erasure_id, system=False)
    if is_delete:
        with pytest.raises(Exception, match="append-only"):
            await attempt(erasure_id)
    else:
        await attempt(erasure_id)
    await office.table.finish(erasure_id, "")
    with pytest.raises(Exception, match="append-only"):
        await attempt(erasure_id)
    world.owner.execute("SELECT set_config('caselore.erasure', %s, false)", (erasure_id,))
    with pytest.raises(psycopg.errors.RestrictViolation):
        world.owner.execute(change.encode())


async def test_r11_the_order_carries_ids_only_on_its_way(world: World, office: Office) -> None:
    erasure_id = await office.order(subject=[CANARY])
    (payload,) = world.rows("SELECT payload FROM outbox WHERE kind = 'erase'")[0]
    assert payload == {"erasure_id": erasure_id, "tenant_id": "acme"}
