"""Four traps of a memory: what was rejected, narrowed, widened or swapped must not come back (R5, R7, R10)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from contracts.errors import CaseloreError, ScopeNotAcknowledged, StaleDigest, StaleStage, UnknownExperience
from contracts.experience import Draft, Limits
from contracts.lifecycle import Event, Stage
from contracts.retrieval import ValidityState
from contracts.review import ChangeCommand, ChangeKind
from contracts.views import CommandView
from deploy.importing import experience_id
from tests.acceptance.crew import hired
from tests.acceptance.office import by_ref, fresh, ref_of, running_office, settings_in
from tests.acceptance.samples import case
from tests.acceptance.searches import Standing, full_of

SHOWN = "larkspur"
"""A published word: whoever doesn't find it finds nothing."""
HIDDEN = {
    "rejected by the curator": "brindlewick",
    "rejected by the owner": "torvalex",
    "returned": "quillfern",
    "under review": "mossgander",
    "declined unit": "pellucine",
    "rejected correction": "dravenholt",
}
pytestmark = pytest.mark.timeout(240)


@pytest_asyncio.fixture(scope="module")
async def standing(folder: Path) -> AsyncIterator[Standing]:
    with hired() as crew:
        async with running_office(settings_in(folder)) as (runtime, office):
            yield Standing(runtime, office, crew)


async def test_r5_what_was_not_accepted_leaks_nowhere(standing: Standing) -> None:
    """Not by a route, a profile, an index, full text, a synopsis or a count; with and without a projector."""
    words = [SHOWN, *HIDDEN.values()]
    async with standing.crew.without("projection"):
        names = await _everything_unaccepted(standing)
        for record in (None, case("TRAP-1", "Ground", "Ground")):
            assert await standing.said(words, record=record) == {SHOWN}
        assert await standing.indexed(words) == set()
    await standing.office.searchable()
    assert await standing.said(words) == {SHOWN}
    assert await standing.indexed(words) == {SHOWN}, "the index holds what was accepted, and its full text is searched"
    for answer in await standing.ask_all(" ".join(HIDDEN.values()), tenants=("south",)):
        assert (answer.withdrawn, answer.omitted_by_permission) == (0, 0), "a count would tell that there is something"
    for name in names:
        with pytest.raises(UnknownExperience):
            await standing.office.agents["south"].get_experience(name)


async def _everything_unaccepted(standing: Standing) -> list[str]:
    """Bring a draft to each end that is no acceptance, and one to publication without one of its units."""
    office = standing.office
    samples = [case(f"TRAP-{number}", f"Ground {number}", "Ground") for number in range(1, 7)]
    drafts = [full_of(sample, word) for sample, word in zip(samples, HIDDEN.values(), strict=True)]
    names = [await standing.propose(sample, draft) for sample, draft in zip(samples[:4], drafts[:4], strict=True)]
    curator, owner = Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW
    await standing.decide(names[0], curator, drafts[0].digest(), Event.REJECT)
    await standing.decide(names[1], curator, drafts[1].digest())
    await standing.decide(names[1], owner, drafts[1].digest(), Event.REJECT)
    await standing.decide(names[2], curator, drafts[2].digest(), Event.RETURN)
    await standing.decide(names[3], curator, drafts[3].digest())

    whole = full_of(samples[4], SHOWN, units=2)
    declined = full_of(samples[4], HIDDEN["declined unit"], units=2).units[1]
    offered = whole.model_copy(update={"units": (whole.units[0], declined)})
    name = await standing.propose(samples[4], offered)
    await standing.decide(name, curator, offered.digest(), declined_units=("u2",))
    rest = (await office.cast.owner.get_experience(name)).revisions[-1]
    assert [unit.id for unit in rest.draft.units] == ["u1"]
    await standing.decide(name, owner, rest.digest)

    kept = full_of(samples[5], SHOWN)
    name = await standing.propose(samples[5], kept)
    await standing.accept(name, kept)
    await _change(standing, name, ChangeKind.CORRECT, drafts[5])
    await standing.decide(name, curator, drafts[5].digest(), Event.REJECT)
    assert (await office.cast.owner.get_experience(name)).stage is Stage.PUBLISHED
    return names


async def test_r10_a_narrowing_hides_the_wide_text_from_its_commit_on(standing: Standing) -> None:
    """R17: and whoever asks from outside the new scope is told so; between commit and projection, and after it."""
    wide, narrow = "widewater", "narrowgate"
    record = case("TRAP-20", "Ground", "Ground")
    old = full_of(record, wide, limits=Limits(products=("atlas", "borealis"), version_from="1", version_to="9"))
    new = full_of(record, narrow, limits=Limits(products=("atlas",), version_from="1", version_to="5"))
    name = await standing.propose(record, old)
    await standing.accept(name, old)
    await standing.office.searchable()
    assert await standing.said([wide]) == {wide}
    async with standing.crew.without("projection"):
        await _change(standing, name, ChangeKind.CORRECT, new)
        assert await standing.said([wide, narrow]) == {wide}, "current until it is replaced"
        await standing.accept(name, new)
        assert await standing.indexed([wide, narrow]) == {wide}
        assert await standing.said([wide, narrow]) == {narrow}
        await _is_out_of_scope(standing, ref_of(record))
    await standing.office.searchable()
    assert await standing.said([wide, narrow]) == {narrow}
    assert await standing.indexed([wide, narrow]) == {narrow}
    await _is_out_of_scope(standing, ref_of(record))


async def _is_out_of_scope(standing: Standing, ref: str) -> None:
    for product, version, state in (
        ("atlas", "4", ValidityState.OK),
        ("atlas", "7", ValidityState.REVALIDATE),
        ("borealis", "4", ValidityState.OUT_OF_RANGE),
    ):
        for words in ("widewater", "narrowgate"):
            answer = await standing.office.ask(words, product=product, version=version)
            if (found := by_ref(answer).get(ref)) is None:
                assert words == "widewater", "the old words need not find the new text"
                continue
            assert found.validity.state is state, (product, version, found.validity)
            assert state is ValidityState.OK or found.validity.reasons


async def test_r10_a_wider_restatement_names_the_exception_that_it_drops(standing: Standing) -> None:
    """The owner has to acknowledge exactly this difference; until then the narrower text stays."""
    exception = "When the sluice is locked."
    record = case("TRAP-30", "Ground", "Ground")
    old = full_of(record, "halyard", limits=Limits(products=("atlas",)), avoid_when=exception)
    new = full_of(record, "halyard", text="Unit 1 says halyard, everywhere.")
    name = await standing.propose(record, old)
    await standing.accept(name, old)
    async with standing.crew.without("projection"):
        await _change(standing, name, ChangeKind.CORRECT, new)
        await standing.decide(name, Stage.CURATOR_REVIEW, new.digest())
        sheet = await standing.office.cast.owner.review_sheet(name)
        assert exception in sheet.model_dump_json(), "the owner is shown what isn't said any more"
        with pytest.raises(ScopeNotAcknowledged):
            await standing.attempt(name, Stage.OWNER_REVIEW, new.digest())
        shown = await standing.office.cast.owner.scope_difference(name)
        assert exception in [dropped.text for dropped in shown.dropped]
        with pytest.raises(ScopeNotAcknowledged):
            await standing.attempt(name, Stage.OWNER_REVIEW, new.digest(), acknowledged_scope="0" * 64)
        view = await standing.office.cast.owner.get_experience(name)
        assert (view.stage, view.current_revision) == (Stage.OWNER_REVIEW, 1)
        await standing.attempt(name, Stage.OWNER_REVIEW, new.digest(), acknowledged_scope=shown.digest)
        assert (await standing.office.cast.owner.get_experience(name)).current_revision == 2


async def test_r7_no_way_through_the_api_publishes_a_text_that_was_swapped_after_its_review(standing: Standing) -> None:
    reviewed, swapped = "goodtext", "swappedtext"
    record = case("TRAP-40", "Ground", "Ground")
    good, bad = full_of(record, reviewed), full_of(record, swapped)
    owner = Stage.OWNER_REVIEW
    async with standing.crew.without("projection"):
        name = await standing.propose(record, good)
        await standing.decide(name, Stage.CURATOR_REVIEW, good.digest())
        for kind, more in ((ChangeKind.RESUBMIT, {}), (ChangeKind.CORRECT, {}), (ChangeKind.REINSTATE, {})):
            with pytest.raises(CaseloreError):
                await _change(standing, name, kind, bad, **more)
        with pytest.raises(CaseloreError):
            await _change(standing, name, ChangeKind.REVISE, bad, digest=good.digest())  # no reviewer's right
        with pytest.raises(StaleDigest):
            await standing.attempt(name, owner, bad.digest())
        # Returned and resubmitted with another text: what was accepted before counts for nothing.
        await standing.decide(name, owner, good.digest(), Event.RETURN)
        await _change(standing, name, ChangeKind.RESUBMIT, bad)
        for digest in (good.digest(), bad.digest()):
            with pytest.raises(StaleStage):
                await standing.attempt(name, owner, digest)
        await standing.decide(name, Stage.CURATOR_REVIEW, bad.digest())
        with pytest.raises(StaleDigest):
            await standing.attempt(name, owner, good.digest())
        await standing.decide(name, owner, bad.digest(), Event.REJECT)
        assert await standing.said([reviewed, swapped]) == set()
    await standing.office.searchable()
    assert await standing.said([reviewed, swapped]) == set()
    assert await standing.indexed([reviewed, swapped]) == set()


_INSERT = """
INSERT INTO revisions (experience_id, number, outcome, proof_level, domain_id, title, content, digest, author_id,
                       searchable, state)
SELECT experience_id, {number}, outcome, proof_level, domain_id, title, %(content)s, {digest}, author_id, searchable,
       'draft' FROM revisions WHERE experience_id = %(id)s AND number = 1
"""
_CONTENT = "UPDATE revisions SET content = %(content)s WHERE experience_id = %(id)s"
_BOTH = "UPDATE revisions SET content = %(content)s, digest = %(digest)s WHERE experience_id = %(id)s"
_SECOND = _INSERT.format(number=2, digest="%(digest)s")
_NEXT = "UPDATE experiences SET revision = 2 WHERE id = %(id)s"
_PUBLISH = (
    "UPDATE revisions SET state = 'current', published_at = now() WHERE experience_id = %(id)s AND number = {number}"
)
_UNGUARDED = "SET session_replication_role = replica"
"""Neither triggers nor foreign keys, as in a restored or hand-mended database."""
SWAPS: dict[str, tuple[str, list[str]]] = {
    "app changes the text": ("app", [_CONTENT]),
    "app changes text and digest": ("app", [_BOTH]),
    "app adds a revision": ("app", [_SECOND, _NEXT]),
    "app publishes": ("app", [_PUBLISH.format(number=1)]),
    "system changes the text": ("system", [_CONTENT]),
    "system changes text and digest": ("system", [_BOTH]),
    "system adds a revision": ("system", [_SECOND, _NEXT]),
    "system replaces the revision": (
        "system",
        ["DELETE FROM revisions WHERE experience_id = %(id)s", _INSERT.format(number=1, digest="%(reviewed)s")],
    ),
    "owner changes the text": ("owner", [_UNGUARDED, _CONTENT]),
    "owner changes text and digest": ("owner", [_UNGUARDED, _BOTH]),
    "owner adds a revision": ("owner", [_UNGUARDED, _SECOND, _NEXT]),
}


async def test_r7_no_sql_gets_an_unreviewed_text_published(standing: Standing) -> None:
    """Whatever each role of the database may do to a draft between the two reviews, the owner's consent is bound."""
    word, published = "smuggled", list[str]()
    async with standing.crew.without("projection"):
        for number, (what, (role, statements)) in enumerate(SWAPS.items()):
            record = case(f"TRAP-5{number}", "Ground", "Ground")
            good, bad = full_of(record, f"honest{number}"), full_of(record, word)
            name = await standing.propose(record, good)
            await standing.decide(name, Stage.CURATOR_REVIEW, good.digest())
            values = {"id": name, "content": bad.model_dump_json(), "digest": bad.digest(), "reviewed": good.digest()}
            with suppress(psycopg.Error):
                _run(standing, role, statements, values)
            for digest in (good.digest(), bad.digest()):
                with suppress(CaseloreError):
                    await standing.attempt(name, Stage.OWNER_REVIEW, digest)
            view = await standing.office.cast.owner.get_experience(name)
            if any(each.state == "current" and each.draft != good for each in view.revisions):
                published.append(what)
        assert published == []
        assert await standing.said([word]) == set()
    await standing.office.searchable()
    assert await standing.said([word, "honest0"]) == {"honest0"}, "an attempt that failed stops nobody"
    assert await standing.indexed([word]) == set()


def _run(standing: Standing, role: str, statements: list[str], values: dict[str, Any]) -> None:
    addresses = standing.runtime.addresses
    url = {
        "app": addresses.database_url,
        "system": addresses.system_database_url,
        "owner": addresses.owner_database_url or "",
    }[role]
    with psycopg.connect(url.replace("postgresql+psycopg:", "postgresql:")) as connection:
        if role == "app":
            connection.execute("SELECT set_config('caselore.principal', 'stand-in-proposer', false)")
        for statement in statements:
            connection.execute(statement.encode(), values)


async def test_r10_where_a_successor_does_not_apply_the_answer_says_what_covered_it(standing: Standing) -> None:
    """The superseded text is hidden for everyone; that nothing current took its place is said to everyone."""
    words = "heathercroft"
    record, successor = case("TRAP-60", "Ground", "Ground"), case("TRAP-61", "Ground", "Ground")
    old = full_of(record, "oldcroft", limits=Limits(products=("atlas",), version_from="1", version_to="6"))
    new = full_of(successor, words, limits=Limits(products=("atlas",), version_from="7", version_to="9"))
    for each, content in ((record, old), (successor, new)):
        await standing.accept(await standing.propose(each, content), content)
    await standing.office.searchable()
    name, follower = experience_id(record), experience_id(successor)
    async with standing.crew.without("projection"):
        with pytest.raises(ScopeNotAcknowledged):
            await _supersede(standing, name, follower)
        shown = await standing.office.cast.owner.scope_difference(name, superseded_by=follower)
        await _supersede(standing, name, follower, acknowledged_scope=shown.digest)
        assert await standing.said(["oldcroft", words]) == {words}
        await _says_what_was_covered(standing, ref_of(record), ref_of(successor))
    await standing.office.searchable()
    assert await standing.said(["oldcroft", words]) == {words}
    assert await standing.indexed(["oldcroft"]) == set()
    await _says_what_was_covered(standing, ref_of(record), ref_of(successor))
    before, after = [await standing.office.cast.owner.get_experience(each) for each in (name, follower)]
    assert (before.superseded_by, before.supersedes) == (follower, ())
    assert (after.superseded_by, after.supersedes) == (None, (name,))


async def _says_what_was_covered(standing: Standing, old: str, new: str) -> None:
    for tenant in ("north", "south"):
        covered = await standing.office.ask("heathercroft", tenant=tenant, product="atlas", version="4")
        found = by_ref(covered)[new]
        assert [(each.ref, each.revision) for each in found.supersedes] == [(old, 1)]
        assert found.validity.state is ValidityState.REVALIDATE
        said = f"version 4: covered by {old} until {new} superseded it; nothing current took that over"
        assert said in found.validity.reasons
        assert f"Superseded: {said}." in covered.notes
        assert old not in by_ref(covered)
        for version in ("8", "12", ""):  # covered by the new one; by neither; not stated
            answer = await standing.office.ask("heathercroft", tenant=tenant, product="atlas", version=version)
            assert by_ref(answer)[new].supersedes
            assert not any("nothing current" in note for note in answer.notes)


async def _supersede(standing: Standing, name: str, follower: str, **more: Any) -> CommandView:
    command = ChangeCommand(
        command_id=fresh(),
        experience_id=name,
        kind=ChangeKind.SUPERSEDE,
        reason="The new one takes over.",
        superseded_by=follower,
        **more,
    )
    return await standing.office.cast.owner.change(command, wait=20)


async def _change(standing: Standing, name: str, kind: ChangeKind, content: Draft, **more: Any) -> CommandView:
    """Send a changed text as its proposer."""
    command = ChangeCommand(
        command_id=fresh(), experience_id=name, kind=kind, reason="Another text.", draft=content, **more
    )
    return await standing.office.cast.proposer.change(command, wait=20)
