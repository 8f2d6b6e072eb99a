"""Acceptance unit by unit: what is declined goes nowhere, what is accepted is a whole revision (R7, R8, R10)."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from contracts.errors import InvalidField, NotReviewer, SamePerson
from contracts.experience import Draft, KnowledgeUnit
from contracts.identity import RoleInDomain
from contracts.labels import DomainRole, Outcome, ProofLevel, UnitKind
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind
from tests.records.test_decisions import history, refused
from tests.records.world import World, draft


def unit(id_: str, words: str) -> KnowledgeUnit:
    return KnowledgeUnit(
        id=id_,
        kind=UnitKind.PROPOSITION,
        text=words,
        concepts=("register",),
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
    )


WHOLE = draft(units=(unit("u1", "The register row was missing."), unit("u2", "Zebra hearsay."), unit("u3", "Third.")))


def texts(world: World, experience_id: str) -> list[tuple[int, str, int | None, str, list[str]]]:
    """Return number, state, origin, author and unit ids of each revision."""
    return [
        (number, state, trimmed_from, author, [each.id for each in Draft.model_validate(content).units])
        for number, state, trimmed_from, author, content in world.rows(
            "SELECT number, state, trimmed_from, author_id, content FROM revisions WHERE experience_id = %s"
            " ORDER BY number",
            experience_id,
        )
    ]


async def test_the_curator_declines_a_unit_and_the_owner_reads_the_rest(shared: World) -> None:
    experience_id = await shared.propose(WHOLE)
    after = await shared.decide(experience_id, "cora", declined_units=("u2",))
    assert (after.stage, after.revision) == (Stage.OWNER_REVIEW, 2)
    assert after.digest == WHOLE.without_units(("u2",)).digest()
    assert texts(shared, experience_id) == [
        (1, "trimmed", None, "ann", ["u1", "u2", "u3"]), (2, "draft", 1, "ann", ["u1", "u3"]),
    ]  # fmt: skip
    after = await shared.decide(experience_id, "otto")
    assert (after.stage, after.current_revision) == (Stage.PUBLISHED, 2)
    assert shared.rows(
        "SELECT revision, stage, digest, declined_units FROM review_decisions WHERE experience_id = %s"
        " ORDER BY decided_at",
        experience_id,
    ) == [
        (1, "curator_review", WHOLE.digest(), ["u2"]),
        (2, "owner_review", WHOLE.without_units(("u2",)).digest(), []),
    ]
    assert history(shared, experience_id) == [
        ("propose", "curator_review", "ann"), ("trim", "curator_review", "cora"), ("accept", "owner_review", "cora"),
        ("accept", "published", "otto"),
    ]  # fmt: skip


async def test_the_owner_declines_a_unit_and_the_rest_is_published_at_once(shared: World) -> None:
    """R8: one transaction; the published revision is the one that the last transition names."""
    experience_id = await shared.propose(WHOLE)
    await shared.decide(experience_id, "cora", declined_units=("u3",))
    after = await shared.decide(experience_id, "otto", declined_units=("u2",))
    assert (after.stage, after.revision, after.current_revision) == (Stage.PUBLISHED, 3, 3)
    assert texts(shared, experience_id) == [
        (1, "trimmed", None, "ann", ["u1", "u2", "u3"]),
        (2, "trimmed", 1, "ann", ["u1", "u2"]),
        (3, "current", 2, "ann", ["u1"]),
    ]
    last = "SELECT event, revision FROM transitions WHERE experience_id = %s ORDER BY seq DESC LIMIT 2"
    assert shared.rows(last, experience_id) == [("accept", 3), ("trim", 3)]
    assert shared.index_events(f"experience/{experience_id}") == 1


async def test_a_declined_unit_is_found_nowhere(shared: World) -> None:
    """R10: rejected items leak. Not in the published text, its search words or projection, nor to those outside."""
    experience_id = await shared.propose(WHOLE)
    await shared.decide(experience_id, "cora")
    await shared.decide(experience_id, "otto", declined_units=("u2",))
    (source,) = await shared.projections.desired([f"experience/{experience_id}"])
    assert "Zebra" not in repr(source)
    assert "register" in repr(source)
    await shared.principal("passer-by")
    async with shared.database.as_principal("passer-by") as connection:
        seen = await connection.execute(
            text("SELECT content::text || searchable || search::text FROM revisions WHERE experience_id = :id"),
            {"id": experience_id},
        )
        (shown,) = seen.scalars()
    assert "register" in shown
    assert "ebra" not in shown


async def test_one_person_accepts_one_text_once_however_it_is_trimmed(shared: World) -> None:
    """R7: curator and owner are two people of the whole chain, also when one person holds both roles."""
    for name in ("mia", "max"):
        await shared.principal(name)
        for role in DomainRole:
            await shared.identities.give_role(RoleInDomain(principal_id=name, domain_id="data", role=role))
    experience_id = await shared.propose(WHOLE)
    await shared.decide(experience_id, "max", declined_units=("u2",))
    await refused(shared, experience_id, await shared.store_decision(experience_id, "max"), SamePerson)
    trimming = await shared.store_decision(experience_id, "max", declined_units=("u1",))
    await refused(shared, experience_id, trimming, SamePerson)
    await refused(shared, experience_id, await shared.store_decision(experience_id, "ann"), SamePerson)
    await shared.decide(experience_id, "mia")


async def test_an_edit_after_a_trim_takes_both_reviews_again(shared: World) -> None:
    """R7: the curator's acceptance carried over to the rest, not to another text."""
    experience_id = await shared.propose(WHOLE)
    now = await shared.decide(experience_id, "cora", declined_units=("u2",))
    await shared.change(experience_id, ChangeKind.REVISE, by="otto", draft=draft(title="Mine"), digest=now.digest)
    assert [row[:3] for row in texts(shared, experience_id)] == [
        (1, "trimmed", None), (2, "returned", 1), (3, "draft", None),
    ]  # fmt: skip
    await refused(shared, experience_id, await shared.store_decision(experience_id, "olga"), NotReviewer)
    await shared.decide(experience_id, "cora")
    await refused(shared, experience_id, await shared.store_decision(experience_id, "otto"), SamePerson)
    await shared.decide(experience_id, "olga")


@pytest.mark.parametrize(
    ("declined", "accepted"), [(("u1", "u9"), "u1, u2, u3"), (("u1", "u2", "u3"), "return or reject")]
)
@pytest.mark.parametrize("at", [Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW])
async def test_what_cannot_be_declined_is_refused_whole(
    shared: World, declined: tuple[str, ...], accepted: str, at: Stage
) -> None:
    """R22: an unknown unit, and all of them; nothing is written."""
    experience_id = await shared.propose(WHOLE)
    if at is Stage.OWNER_REVIEW:
        await shared.decide(experience_id, "cora")
    who = "cora" if at is Stage.CURATOR_REVIEW else "otto"
    message = await shared.store_decision(experience_id, who, declined_units=declined)
    await refused(shared, experience_id, message, InvalidField)
    with pytest.raises(InvalidField) as refusal:
        await shared.lifecycle.record_decision(experience_id, message)
    assert refusal.value.field == "declined_units"
    assert accepted in refusal.value.accepted


async def test_a_returned_rest_may_be_read_by_its_curator_again(shared: World) -> None:
    """R7: a resubmission is a text of its own."""
    experience_id = await shared.propose(WHOLE)
    await shared.decide(experience_id, "cora", declined_units=("u2",))
    await shared.decide(experience_id, "otto", Event.RETURN)
    assert [row[1] for row in texts(shared, experience_id)] == ["trimmed", "returned"]
    await shared.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=WHOLE)
    await shared.decide(experience_id, "cora")
    assert (await shared.decide(experience_id, "otto")).current_revision == 3
