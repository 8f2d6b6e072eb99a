"""An owner acknowledges what a correction or successor changes about where knowledge applies (R10)."""

from __future__ import annotations

from typing import Any

import pytest

from activities.records.scope import ScopeTable, scope_difference_of
from contracts.errors import InvalidField, NotPublished, NotReviewer, ScopeNotAcknowledged, UnknownExperience
from contracts.experience import Draft, Limits
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind
from contracts.scope_difference import ScopeDifference, ScopeRelation
from tests.records.asking import ask
from tests.records.test_changes import refused as command_refused
from tests.records.test_decisions import refused
from tests.records.test_partial_acceptance import unit
from tests.records.world import World, draft, new_id

RULE, EXCEPTION = unit("u1", "Insert the row."), unit("u2", "Not for renewals that were never created.")


def limited(*units: Any, **limits: Any) -> Draft:
    return draft(units=units or (RULE,), limits=Limits(**limits))


async def difference(world: World, experience_id: str, **given: Any) -> ScopeDifference:
    return await ScopeTable(world.database).difference("otto", experience_id, **given)


async def in_owner_review(world: World, before: Draft, after: Draft) -> str:
    """Return a published experience whose correction waits for its owner."""
    experience_id = await world.published(before)
    await world.change(experience_id, ChangeKind.CORRECT, by="ann", draft=after)
    await world.decide(experience_id, "cora")
    return experience_id


@pytest.mark.parametrize(
    ("after", "relation"),
    [
        ({"products": ("A", "B")}, "widened"),
        ({"products": ("B",)}, "replaced"),
        ({"products": ("A",), "note": "n"}, "narrowed"),
    ],
)
async def test_a_correction_takes_the_digest_of_its_difference(
    shared: World, after: dict[str, Any], relation: str
) -> None:
    experience_id = await in_owner_review(shared, limited(products=("A",)), limited(**after))
    found = await difference(shared, experience_id)
    assert found.relation == relation
    for wrong in ("", "0" * 64):
        message = await shared.store_decision(experience_id, "otto", acknowledged_scope=wrong)
        await refused(shared, experience_id, message, ScopeNotAcknowledged)
        with pytest.raises(ScopeNotAcknowledged) as refusal:
            await shared.lifecycle.record_decision(experience_id, message)
        assert (refusal.value.field, refusal.value.accepted) == ("acknowledged_scope", found.digest)
    published = await shared.decide(experience_id, "otto", acknowledged_scope=found.digest)
    assert published.current_revision == 2
    kept = "SELECT acknowledged_scope FROM review_decisions WHERE experience_id = %s AND revision = 2 ORDER BY stage"
    assert shared.rows(kept, experience_id) == [("",), (found.digest,)]


async def test_what_changes_no_scope_and_a_first_text_need_no_acknowledgement(shared: World) -> None:
    experience_id = await in_owner_review(
        shared, limited(products=("A",)), limited(unit("u1", "In better words."), products=("A",))
    )
    assert (await difference(shared, experience_id)).relation is ScopeRelation.SAME
    assert (await shared.decide(experience_id, "otto")).current_revision == 2


async def test_returning_or_rejecting_needs_no_acknowledgement(shared: World) -> None:
    for verdict in (Event.RETURN, Event.REJECT):
        experience_id = await in_owner_review(shared, limited(products=("A",)), limited())
        await shared.decide(experience_id, "otto", verdict)


async def test_a_wider_restatement_that_drops_an_exception_is_not_published_unseen(shared: World) -> None:
    """R10, the trap: the exception is named in what the owner has to acknowledge."""
    experience_id = await in_owner_review(
        shared, limited(RULE, EXCEPTION, products=("A",)), limited(RULE, products=("A", "B"))
    )
    await refused(shared, experience_id, await shared.store_decision(experience_id, "otto"), ScopeNotAcknowledged)
    found = await difference(shared, experience_id)
    assert [each.text for each in found.dropped] == [EXCEPTION.text]
    assert (await shared.decide(experience_id, "otto", acknowledged_scope=found.digest)).stage is Stage.PUBLISHED


async def test_an_exception_that_the_owner_declines_is_a_difference_too(shared: World) -> None:
    """R10: acknowledged is what will be published, not what was sent in."""
    wider = limited(RULE, EXCEPTION, products=("A", "B"))
    experience_id = await in_owner_review(shared, limited(RULE, EXCEPTION, products=("A",)), wider)
    whole = await difference(shared, experience_id)
    rest = await difference(shared, experience_id, declined_units=("u2",))
    assert (whole.dropped, [each.text for each in rest.dropped]) == ((), [EXCEPTION.text])
    message = await shared.store_decision(
        experience_id, "otto", declined_units=("u2",), acknowledged_scope=whole.digest
    )
    await refused(shared, experience_id, message, ScopeNotAcknowledged)
    after = await shared.decide(experience_id, "otto", declined_units=("u2",), acknowledged_scope=rest.digest)
    assert after.current_revision == 3


async def test_a_narrowing_correction_takes_the_old_wide_text_away(world: World) -> None:
    """R10, the trap: from the commit on, no read of the record returns the old text, projected or not."""
    wide = limited(unit("u1", "Quokka rule for every product."))
    narrow = limited(unit("u1", "Quokka rule for one product."), products=("A",))
    experience_id = await world.published(wide)
    key = f"experience/{experience_id}"
    await world.projections.record(await world.projections.desired([key]))
    task = await ask(world, "ann", objective="quokka rule")
    await world.change(experience_id, ChangeKind.CORRECT, by="ann", draft=narrow)
    await world.decide(experience_id, "cora")
    before = await world.retrievals.resolve(task, [key])
    assert "every product" in repr(before)
    seen = (await difference(world, experience_id)).digest
    await world.decide(experience_id, "otto", acknowledged_scope=seen)
    after = await world.retrievals.resolve(task, [key])
    assert "one product" in repr(after)
    (source,) = await world.projections.desired([key])
    for shown in (repr(after), repr(source)):
        assert "every product" not in shown
    found = world.rows(
        "SELECT number FROM revisions WHERE state = 'current' AND search @@ plainto_tsquery('simple', 'every product')"
    )
    assert found == []


class TestSupersession:
    async def test_only_an_owner_lets_another_experience_take_over(self, shared: World) -> None:
        old, new = await shared.published(), await shared.published()
        for who in ("ann", "cora"):
            with pytest.raises(NotReviewer):
                await shared.store_command(old, ChangeKind.SUPERSEDE, by=who, superseded_by=new)
        assert (await shared.change(old, ChangeKind.SUPERSEDE, superseded_by=new)).refused == ""

    async def test_the_difference_is_acknowledged_as_it_is_when_it_takes_effect(self, shared: World) -> None:
        """R10, R24: the successor was corrected meanwhile, so another difference would take effect than was read."""
        old, new = await shared.published(limited(products=("A",))), await shared.published(limited(products=("B",)))
        seen = (await difference(shared, old, superseded_by=new)).digest
        await command_refused(shared, old, ChangeKind.SUPERSEDE, "ScopeNotAcknowledged", superseded_by=new)
        waiting = await shared.store_command(old, ChangeKind.SUPERSEDE, superseded_by=new, acknowledged_scope=seen)
        await shared.change(new, ChangeKind.CORRECT, by="ann", draft=limited(products=("B", "C")))
        await shared.decide(new, "cora")
        corrected = await difference(shared, new)
        await shared.decide(new, "otto", acknowledged_scope=corrected.digest)
        outcome = await shared.lifecycle.apply_command(old, waiting)
        assert outcome.refused == "ScopeNotAcknowledged"
        assert shared.revision_states(old) == ["current"]
        now = (await difference(shared, old, superseded_by=new)).digest
        outcome = await shared.change(old, ChangeKind.SUPERSEDE, superseded_by=new, acknowledged_scope=now)
        assert outcome.refused == ""


async def test_a_difference_is_shown_to_those_who_see_both_texts(shared: World) -> None:
    """R4, R22."""
    experience_id, unpublished = await shared.published(), await shared.propose()
    await shared.principal("outsider")
    table = ScopeTable(shared.database)
    for who, at, other in (
        ("outsider", experience_id, None),
        ("otto", new_id(), None),
        ("otto", "no id", None),
        ("otto", experience_id, new_id()),
    ):
        with pytest.raises(UnknownExperience):
            await table.difference(who, at, superseded_by=other)
    for at, other in ((unpublished, None), (experience_id, unpublished)):
        with pytest.raises(NotPublished):
            await table.difference("otto", at, superseded_by=other)
    with pytest.raises(InvalidField):
        await table.difference("otto", experience_id, declined_units=("u9",))
    async with shared.database.as_system() as connection:
        assert await scope_difference_of(connection, unpublished) is None
