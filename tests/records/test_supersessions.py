"""What took over tells of what it took over from, to everyone and without its text (R10, R21)."""

from __future__ import annotations

from contracts.experience import Limits
from contracts.review import ChangeKind
from tests.records.asking import ask
from tests.records.world import World, draft


async def _supersede(world: World, old: str, new: str) -> None:
    outcome = await world.change(old, ChangeKind.SUPERSEDE, superseded_by=new)
    assert outcome.refused == ""


async def test_a_successor_names_every_one_before_it_also_through_others(shared: World) -> None:
    """R10: with the revision and the limits that it had; only the end of the chain is current."""
    limits = Limits(products=("atlas",))
    first, second, third = [await shared.published(draft(limits=limits)) for _ in range(3)]
    await _supersede(shared, first, second)
    await _supersede(shared, second, third)
    targets = [f"experience/{name}" for name in (first, second, third)]
    found = await shared.retrievals.resolve(await ask(shared), targets)
    assert set(found.records) == {targets[2]}
    assert found.withdrawn == set(targets[:2])
    assert [(each.ref, each.revision, each.limits) for each in found.records[targets[2]].supersedes] == [
        (targets[0], 1, limits),
        (targets[1], 1, limits),
    ]


async def test_it_is_told_across_tenants_too(shared: World) -> None:
    """R21: a reference and limits, which were published; neither case nor origin."""
    old, new = await shared.published(), await shared.published()
    await _supersede(shared, old, new)
    await shared.tenant("far")
    await shared.principal("flo", "far")
    await shared.profile("far-agent", "flo")
    found = await shared.retrievals.resolve(await ask(shared, "flo", "far-agent"), [f"experience/{new}"])
    (record,) = found.records.values()
    assert (record.source_case, record.source_origin) == (None, None)
    assert [each.ref for each in record.supersedes] == [f"experience/{old}"]


async def test_a_view_links_both_ways(shared: World) -> None:
    old, new = await shared.published(), await shared.published()
    await _supersede(shared, old, new)
    assert (await shared.experiences.view("ann", old)).superseded_by == new
    assert (await shared.experiences.view("ann", new)).supersedes == (old,)
    assert (await shared.experiences.view("ann", old)).supersedes == ()


async def test_a_running_correction_of_the_superseded_one_tells_of_what_was_current(shared: World) -> None:
    old, new = await shared.published(), await shared.published()
    await shared.change(old, ChangeKind.CORRECT, by="ann", draft=draft(title="Never published"))
    await _supersede(shared, old, new)
    found = await shared.retrievals.resolve(await ask(shared), [f"experience/{new}"])
    assert [each.revision for each in found.records[f"experience/{new}"].supersedes] == [1]
