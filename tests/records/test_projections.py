"""What the indexes should hold: copied from the record as it stands, always the same (R9, R10)."""

from __future__ import annotations

from contracts.cases import CaseFacts
from contracts.experience import Limits
from contracts.labels import CaseState, Collection
from contracts.lifecycle import Event
from contracts.projection import ProjectionSource
from contracts.review import ChangeKind
from tests.records.articles import article, published_article
from tests.records.world import NOON, World, draft, new_id


async def desired(world: World, key: str) -> ProjectionSource:
    (source,) = await world.projections.desired([key])
    return source


async def test_a_published_revision_is_projected_from_its_approved_fields(shared: World) -> None:
    """R9: a synopsis in `routing`, its units in `detail`, both naming the revision and its digest."""
    content = draft(title="Absent row", limits=Limits(products=("Home",), environments=("test",)))
    experience_id = await shared.published(content)
    source = await desired(shared, f"experience/{experience_id}")
    assert (source.revision, source.content_hash) == (1, content.digest())
    assert [entry.collection for entry in source.entries] == [Collection.ROUTING, Collection.DETAIL]
    for entry in source.entries:
        payload = entry.payload
        assert (entry.title, payload.target, payload.tenant) == ("Absent row", source.key, "acme")
        assert (payload.products, payload.environments, payload.domain) == (("Home",), ("test",), "data")
        assert (payload.case_id, payload.state) == ("", "current")


async def test_what_is_not_current_is_projected_as_nothing(shared: World) -> None:
    """R10: before publication, while suspended, after retirement and supersession, and after rejection."""
    unpublished = await shared.propose()
    rejected = await shared.propose()
    await shared.decide(rejected, "cora", Event.REJECT)
    suspended, retired, superseded = [await shared.published() for _ in range(3)]
    await shared.change(suspended, ChangeKind.CORRECT, by="ann", draft=draft(title="Second"), suspend=True)
    await shared.change(retired, ChangeKind.RETIRE)
    await shared.change(superseded, ChangeKind.SUPERSEDE, superseded_by=await shared.published())
    unknown = new_id()
    keys = [f"experience/{name}" for name in (unpublished, rejected, suspended, retired, superseded, unknown)]
    sources = await shared.projections.desired(keys)
    assert [source.key for source in sources] == keys
    for source in sources:
        assert source.entries == ()
        assert set(source.collections) == {Collection.ROUTING, Collection.DETAIL}


async def test_a_correction_is_projected_when_it_is_published(shared: World) -> None:
    experience_id = await shared.published(draft(title="First"))
    key = f"experience/{experience_id}"
    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Second"))
    during = await desired(shared, key)
    assert (during.revision, during.entries[0].title) == (1, "First")
    await shared.decide(experience_id, "cora")
    await shared.decide(experience_id, "otto")
    after = await desired(shared, key)
    assert (after.revision, after.entries[0].title) == (2, "Second")
    assert {entry.id for entry in during.entries}.isdisjoint(entry.id for entry in after.entries)


async def test_a_case_is_projected_as_it_stands_now(shared: World) -> None:
    """R3, R4: in `cases` only, under its tenant and id, at its newest revision."""
    case_id = await shared.open_case(body="It stops.", facts=CaseFacts(domain_id="data", product="Home"))
    before = await desired(shared, f"case/{case_id}")
    await shared.cases.change_state("ann", case_id, CaseState.WAITING, expected_revision=1, at=NOON, waiting_on="desk")
    after = await desired(shared, f"case/{case_id}")
    (entry,) = after.entries
    assert (entry.collection, entry.body, entry.payload.tenant, entry.payload.case_id) == (
        Collection.CASES, "It stops.", "acme", case_id,
    )  # fmt: skip
    assert (entry.payload.state, entry.payload.domain, entry.payload.products) == ("waiting", "data", ("Home",))
    assert (before.revision, after.revision) == (1, 2)
    assert before.content_hash != after.content_hash


async def test_an_article_is_projected_for_its_owner(shared: World) -> None:
    """Spec section 4: detailed content stays in the owning domain's index."""
    content = article(title="Register")
    article_id = await published_article(shared, content)
    await shared.change(article_id, ChangeKind.CORRECT, by="carl", article=article(title="Register, new"))
    source = await desired(shared, f"article/{article_id}")
    (entry,) = source.entries
    assert (entry.collection, entry.title, entry.payload.domain) == (Collection.DETAIL, "Register", "data")
    assert (source.revision, source.content_hash) == (1, content.digest())
    await shared.change(article_id, ChangeKind.RETIRE)
    assert (await desired(shared, f"article/{article_id}")).entries == ()
    for key in (f"article/{new_id()}", f"experience/{article_id}"):
        assert (await desired(shared, key)).entries == ()


async def test_projection_is_the_same_whenever_it_is_asked_for(shared: World) -> None:
    """R9: deterministic, in the order asked, repeated keys included."""
    keys = [f"experience/{await shared.published()}", f"case/{await shared.open_case()}"]
    keys = [keys[1], keys[0], keys[1]]
    first = await shared.projections.desired(keys)
    assert [source.key for source in first] == keys
    assert await shared.projections.desired(keys) == first
    assert await shared.projections.desired(list(reversed(keys))) == list(reversed(first))
    assert await shared.projections.desired([]) == []


async def test_a_rebuild_knows_every_key_that_is_or_may_be_in_the_index(world: World) -> None:
    """R9: current records, and what was projected and has ended since."""
    retired = await world.published()
    current = await world.published()
    await world.propose()
    await world.projections.record(await world.projections.desired([f"experience/{retired}"]))
    await world.change(retired, ChangeKind.RETIRE)
    cases = {f"case/{case_id}" for (case_id,) in world.rows("SELECT id::text FROM cases")}
    keys = await world.projections.every_key()
    assert set(keys) == cases | {f"experience/{retired}", f"experience/{current}"}
    assert keys == sorted(set(keys))


async def test_what_the_index_holds_is_remembered_and_forgotten(shared: World) -> None:
    """R9, R23: revision, content hash and points; nothing once the key was removed."""
    experience_id = await shared.published()
    key = f"experience/{experience_id}"
    source = await desired(shared, key)
    for _ in range(2):
        await shared.projections.record([source])
    sql = "SELECT revision, content_hash, points, target_id::text FROM projections WHERE key = %s"
    assert shared.rows(sql, key) == [(1, source.content_hash, 2, experience_id)]
    await shared.change(experience_id, ChangeKind.RETIRE)
    await shared.projections.record([await desired(shared, key)])
    assert shared.rows(sql, key) == []
    await shared.projections.record([])


async def test_what_is_asked_for_anew_is_not_searchable_before_it_is_projected_again(shared: World) -> None:
    """R23: after a dropped index nothing may pass for searchable; held events and others alike."""
    experience_id = await shared.published()
    source = await desired(shared, f"experience/{experience_id}")
    for held in (False, True):
        await shared.projections.record([source])
        assert (await shared.experiences.view("ann", experience_id)).searchable
        await shared.projections.announce([source.key], held=held)
        assert not (await shared.experiences.view("ann", experience_id)).searchable
        assert source.key in await shared.projections.pending([source.key])
