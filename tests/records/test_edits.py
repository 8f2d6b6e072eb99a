"""A reviewer's own draft, suspension by those who may, and texts that change between the two reviews (R7, R10, R24)."""

from __future__ import annotations

import asyncio

import pytest
from psycopg import errors

from contracts.errors import NotReviewer, SamePerson, StaleDigest, StaleStage
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeCommand, ChangeKind, CommandMessage
from tests.records.test_changes import refused as command_refused
from tests.records.test_decisions import history, refused
from tests.records.world import World, changed, draft, new_id

EDITED = draft(title="In the reviewer's words")


async def edit(world: World, experience_id: str, who: str, **fields: object) -> str:
    """Edit the draft under review and return what the lifecycle refused it with."""
    now = await world.lifecycle.load(experience_id)
    fields = {"draft": EDITED, "digest": now.digest, **fields}
    return (await world.change(experience_id, ChangeKind.REVISE, by=who, **fields)).refused


@pytest.mark.parametrize("at", [Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW])
async def test_an_edit_is_a_draft_of_its_own_that_two_others_review(shared: World, at: Stage) -> None:
    experience_id = await shared.propose()
    if at is Stage.OWNER_REVIEW:
        await shared.decide(experience_id, "carl")
    who = "cora" if at is Stage.CURATOR_REVIEW else "otto"
    assert await edit(shared, experience_id, who) == ""
    now = await shared.lifecycle.load(experience_id)
    assert (now.stage, now.revision, now.digest) == (Stage.CURATOR_REVIEW, 2, EDITED.digest())
    assert shared.revision_states(experience_id) == ["returned", "draft"]
    assert history(shared, experience_id)[-1] == ("revise", "curator_review", who)
    assert shared.index_events(f"experience/{experience_id}") == 0
    for author in ("ann", who):
        await refused(shared, experience_id, await shared.store_decision(experience_id, author), SamePerson)
    await shared.decide(experience_id, "carl")
    await shared.decide(experience_id, "olga")
    assert shared.revision_states(experience_id) == ["returned", "current"]


async def test_an_edit_voids_what_was_decided_before(shared: World) -> None:
    """R7: the owner's stored acceptance of the text before the edit is of a stage and a text that are gone."""
    experience_id = await shared.propose()
    await shared.decide(experience_id, "cora")
    early = await shared.store_decision(experience_id, "otto")
    await edit(shared, experience_id, "olga")
    await refused(shared, experience_id, early, StaleStage)
    await shared.decide(experience_id, "carl")
    await refused(shared, experience_id, early, StaleDigest)


async def test_who_wrote_a_draft_that_this_one_goes_back_to_reviews_neither(shared: World) -> None:
    """R7: a correction that bea asked for and cora edited is bea's text too; a later correction is not."""
    await shared.principal("bea", "acme")
    shared.owner.execute("INSERT INTO domain_roles VALUES ('bea', 'data', 'curator'), ('bea', 'data', 'owner')")
    experience_id = await shared.published()
    await shared.change(experience_id, ChangeKind.CORRECT, by="bea", draft=draft(title="Bea's"))
    await edit(shared, experience_id, "cora")
    await refused(shared, experience_id, await shared.store_decision(experience_id, "bea"), SamePerson)
    await shared.decide(experience_id, "carl", Event.REJECT)
    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Another"))
    await shared.decide(experience_id, "bea")


async def test_only_reviewers_edit_and_only_the_draft_that_they_read(shared: World) -> None:
    """R7, R24."""
    experience_id = await shared.propose()
    first = await shared.lifecycle.load(experience_id)
    with pytest.raises(NotReviewer):
        await edit(shared, experience_id, "ann")
    await edit(shared, experience_id, "cora")
    await command_refused(
        shared, experience_id, ChangeKind.REVISE, "StaleDigest", by="carl", draft=draft(title="Lost"),
        digest=first.digest,
    )  # fmt: skip
    await shared.decide(experience_id, "carl", Event.RETURN)
    assert await edit(shared, experience_id, "olga") == "StaleStage"
    published = await shared.published()
    assert await edit(shared, published, "olga") == "StaleStage"


async def test_of_two_edits_at_once_one_counts(shared: World) -> None:
    """R24: the other is told that another draft has taken its place."""
    for _ in range(3):
        experience_id = await shared.propose()
        digest = (await shared.lifecycle.load(experience_id)).digest
        messages = [
            await shared.store_command(
                experience_id, ChangeKind.REVISE, by=who, draft=draft(title=f"{who}'s"), digest=digest
            )
            for who in ("cora", "otto")
        ]
        outcomes = await asyncio.gather(*(shared.lifecycle.apply_command(experience_id, each) for each in messages))
        assert sorted(outcome.refused for outcome in outcomes) == ["", "StaleDigest"]
        assert shared.revision_states(experience_id) == ["returned", "draft"]


async def test_a_right_that_is_gone_when_a_change_takes_effect_is_gone(world: World) -> None:
    """R7: stored by a curator whose role was taken before the lifecycle got to it."""
    experience_id, published = await world.propose(), await world.published()
    digest = (await world.lifecycle.load(experience_id)).digest
    waiting = [
        (experience_id, await world.store_command(
            experience_id, ChangeKind.REVISE, by="cora", draft=EDITED, digest=digest)),
        (published, await world.store_command(published, ChangeKind.RETIRE, by="cora")),
    ]  # fmt: skip
    world.owner.execute("DELETE FROM domain_roles WHERE principal_id = 'cora'")
    for at, message in waiting:
        assert (await world.lifecycle.apply_command(at, message)).refused == "NotReviewer"


class TestSuspension:
    async def test_who_merely_sees_published_knowledge_cannot_hide_it(self, shared: World) -> None:
        """R10: neither when it is asked for nor when it is applied; a correction without it goes on."""
        experience_id = await shared.published()
        await shared.principal("ben", "acme")
        before = shared.everything()
        with pytest.raises(NotReviewer) as refusal:
            await shared.store_command(
                experience_id, ChangeKind.CORRECT, by="ben", draft=draft(title="Ben's"), suspend=True
            )
        assert refusal.value.field == "suspend"
        assert changed(shared.everything(), before) == []
        command = ChangeCommand(
            command_id=new_id(), experience_id=experience_id, kind=ChangeKind.CORRECT, reason="r", draft=EDITED,
            suspend=True,
        )  # fmt: skip
        shared.owner.execute(
            "INSERT INTO commands (id, experience_id, kind, content, digest, issued_by)"
            " VALUES (%s, %s, 'correct', %s, 'd', 'ben')",
            (command.command_id, experience_id, command.model_dump_json()),
        )
        outcome = await shared.lifecycle.apply_command(experience_id, CommandMessage(command_id=command.command_id))
        assert outcome.refused == "NotReviewer"
        assert shared.revision_states(experience_id) == ["current"]
        assert (await shared.change(experience_id, ChangeKind.CORRECT, by="ben", draft=EDITED)).refused == ""

    @pytest.mark.parametrize("who", ["ann", "cora", "otto"])
    async def test_its_proposer_and_the_domains_reviewers_can(self, shared: World, who: str) -> None:
        experience_id = await shared.published()
        await shared.change(experience_id, ChangeKind.CORRECT, by=who, draft=EDITED, suspend=True)
        assert shared.revision_states(experience_id) == ["suspended", "draft"]

    async def test_a_draft_under_another_domain_gives_its_reviewers_no_say(self, shared: World) -> None:
        """R4, R10: the published revision's domain counts, not the one that somebody wants to move it to."""
        shared.owner.execute("INSERT INTO principals (id, kind, name) VALUES ('dev', 'person', 'dev')")
        shared.owner.execute("INSERT INTO domain_roles VALUES ('dev', 'development', 'owner')")
        experience_id, successor = await shared.published(), await shared.published(draft(domain_id="development"))
        await shared.change(
            experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Moved", domain_id="development")
        )
        for kind, fields in ((ChangeKind.RETIRE, {}), (ChangeKind.SUPERSEDE, {"superseded_by": successor})):
            with pytest.raises(NotReviewer):
                await shared.store_command(experience_id, kind, by="dev", **fields)

    async def test_the_history_says_what_was_hidden_when(self, shared: World) -> None:
        """R10: after each event, so that a read as of a time can be answered."""
        experience_id = await shared.published()
        await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=EDITED, suspend=True)
        await shared.decide(experience_id, "cora", Event.REJECT)
        await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=EDITED, suspend=True)
        await shared.decide(experience_id, "cora")
        await shared.decide(experience_id, "otto")
        told = shared.rows(
            "SELECT event, suspended FROM transitions WHERE experience_id = %s ORDER BY seq", experience_id
        )
        assert told == [
            ("propose", False), ("accept", False), ("accept", False), ("correct", True), ("reject", False),
            ("correct", True), ("accept", True), ("accept", False),
        ]  # fmt: skip


class TestSwappedText:
    """R7, R8: the trap that content is swapped between approval and publication, by whoever can write rows."""

    async def test_a_revision_cannot_be_rewritten_even_by_the_owner_of_the_schema(self, shared: World) -> None:
        experience_id = await shared.propose()
        await shared.decide(experience_id, "cora")
        for change in ("content = '{}'", "digest = 'd'", "title = 't'", "searchable = 's'", "trimmed_from = 0"):
            with pytest.raises(errors.RestrictViolation, match="append-only"):
                shared.owner.execute(f"UPDATE revisions SET {change} WHERE experience_id = %s", (experience_id,))  # type: ignore[arg-type]

    async def test_a_text_that_got_around_that_is_not_published(self, world: World) -> None:
        """With the trigger away: the digest still says what was accepted, the content doesn't."""
        experience_id = await world.propose()
        await world.decide(experience_id, "cora")
        world.owner.execute("ALTER TABLE revisions DISABLE TRIGGER revisions_immutable")
        world.owner.execute(
            "UPDATE revisions SET content = jsonb_set(content, '{title}', '\"Swapped\"') WHERE experience_id = %s",
            (experience_id,),
        )
        world.owner.execute("ALTER TABLE revisions ENABLE TRIGGER revisions_immutable")
        await refused(world, experience_id, await world.store_decision(experience_id, "otto"), StaleDigest)

    @pytest.mark.parametrize("trimmed_from", [None, 1])
    async def test_a_draft_that_is_slipped_in_between_the_reviews_is_not_published(
        self, shared: World, trimmed_from: int | None
    ) -> None:
        """The owner reads and accepts it; the curator's acceptance was of another text, or of no such rest."""
        experience_id = await shared.propose()
        await shared.decide(experience_id, "cora")
        shared.owner.execute("UPDATE revisions SET state = 'trimmed' WHERE experience_id = %s", (experience_id,))
        slipped = draft(title="Slipped in")
        shared.owner.execute(
            "INSERT INTO revisions (experience_id, number, outcome, proof_level, domain_id, title, content, digest,"
            " author_id, trimmed_from) SELECT experience_id, 2, outcome, proof_level, domain_id, %s, %s, %s,"
            " author_id, %s FROM revisions WHERE experience_id = %s",
            (slipped.title, slipped.model_dump_json(), slipped.digest(), trimmed_from, experience_id),
        )
        shared.owner.execute("INSERT INTO admissions VALUES (%s, 2, false)", (experience_id,))
        shared.owner.execute("UPDATE experiences SET revision = 2 WHERE id = %s", (experience_id,))
        await refused(shared, experience_id, await shared.store_decision(experience_id, "otto"), StaleDigest)
        assert shared.index_events(f"experience/{experience_id}") == 0

    async def test_a_stage_that_was_set_by_hand_publishes_nothing(self, shared: World) -> None:
        """R7: the record of two acceptances counts, not the word for the stage."""
        experience_id = await shared.propose()
        shared.owner.execute("UPDATE experiences SET stage = 'owner_review' WHERE id = %s", (experience_id,))
        await refused(shared, experience_id, await shared.store_decision(experience_id, "otto"), StaleDigest)
