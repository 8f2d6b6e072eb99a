"""Findings of admission in the record: written with the draft, resolved before an acceptance (R5, R6)."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import pytest
from sqlalchemy import text

from activities.records.admissions import examine
from activities.records.experiences import Experiences
from activities.records.lifecycle import LifecycleTable
from contracts.admission import Check, Severity
from contracts.errors import InvalidField, UnresolvedFindings
from contracts.experience import Draft, Proposal
from contracts.labels import Outcome, UnitKind
from contracts.lifecycle import Event, Stage
from contracts.masking import placeholder
from contracts.personal_data import Certainty, PersonalData, PersonalDataKind
from contracts.review import ChangeKind, Dismissal
from contracts.review_sheet import ListedFinding
from tests.records.world import World, draft, new_id


class Spotter:
    """A finder for tests: `Mx Name` is a name, `pw=...` a credential."""

    def find(self, text: str) -> tuple[PersonalData, ...]:
        kinds = {"M": PersonalDataKind.NAME, "p": PersonalDataKind.CREDENTIAL}
        return tuple(
            PersonalData(kind=kinds[match.group()[0]], certainty=Certainty.LIKELY, start=match.start(), end=match.end())
            for match in re.finditer(r"Mx \w+|pw=\w+", text)
        )


@pytest.fixture(name="world")
def fixture_world(shared: World) -> World:
    """The module's world, in which drafts are examined for personal data."""
    shared.experiences = Experiences(shared.database, finder=Spotter())
    shared.lifecycle = LifecycleTable(shared.database, finder=Spotter())
    return shared


async def listed(world: World, experience_id: str, who: str = "cora") -> list[ListedFinding]:
    view = await world.experiences.view(who, experience_id)
    assert view.admission is not None
    assert view.admission.revision == view.revision
    assert view.admission.examined_at is not None
    return list(view.admission.findings)


async def open_ids(world: World, experience_id: str, severity: Severity = Severity.MUST_RESOLVE) -> list[str]:
    found = await listed(world, experience_id)
    return [each.finding.id for each in found if each.is_open and each.finding.severity is severity]


def dismissed(*finding_ids: str, reason: str = "The name of a product.") -> tuple[Dismissal, ...]:
    return tuple(Dismissal(finding_id=each, reason=reason) for each in finding_ids)


def with_unit(content: Draft, **changes: Any) -> Draft:
    unit = content.units[0].model_copy(update=changes)
    return Draft.model_validate(content.model_copy(update={"units": (unit,)}).model_dump())


async def test_a_proposal_is_examined_with_it_and_places_are_kept_without_their_text(world: World) -> None:
    """R6, R11."""
    content = draft(title="Mx Kanarienvogel rang")
    experience_id = await world.propose(content)
    (finding, notice) = [each.finding for each in await listed(world, experience_id, "ann")]
    assert (finding.check, finding.field, finding.start, finding.end) == (Check.PERSONAL_DATA, "title", 0, 16)
    assert notice.check is Check.UNIT_SOURCE
    for table in ("admissions", "admission_findings"):
        assert "Kanarienvogel" not in "".join(row for (row,) in world.rows(f"SELECT t::text FROM {table} t"))
    (task,) = [each for each in await world.experiences.tasks("cora") if each.experience_id == experience_id]
    assert task.findings == {Severity.MUST_RESOLVE: 1, Severity.NOTICE: 1}


async def test_examining_again_changes_nothing(world: World) -> None:
    content = draft(title="Mx Twice")
    experience_id = await world.propose(content)
    before = world.everything()
    async with world.database.as_system() as connection:
        await examine(connection, experience_id, 1, content, Spotter())
    assert world.everything() == before


async def test_an_accept_is_refused_while_a_finding_is_open_and_names_it(world: World) -> None:
    """R6: a return or rejection needs nothing resolved."""
    experience_id = await world.propose(draft(title="Mx Open asked"))
    with pytest.raises(UnresolvedFindings) as refused:
        await world.decide(experience_id, "cora")
    assert refused.value.field == "title"
    assert "dismissal" in refused.value.accepted
    assert await world.experiences.tasks("otto") == []
    assert (await world.decide(experience_id, "carl", Event.RETURN)).stage is Stage.RETURNED


async def test_a_dismissal_with_a_reason_lets_it_go_on_through_both_stages(world: World) -> None:
    """R6: the curator's word holds for the owner, who is shown it."""
    experience_id = await world.propose(draft(title="Mx Printer jams"))
    (finding_id,) = await open_ids(world, experience_id)
    after = await world.decide(experience_id, "cora", dismissed=dismissed(finding_id))
    assert after.stage is Stage.OWNER_REVIEW
    (shown, _) = await listed(world, experience_id, "otto")
    assert shown.dismissal is not None
    assert (shown.dismissal.dismissed_by, shown.dismissal.reason) == ("cora", "The name of a product.")
    assert not shown.is_open
    assert (await world.decide(experience_id, "otto")).stage is Stage.PUBLISHED


async def test_a_refused_decision_dismisses_nothing(world: World) -> None:
    """R22: one of two is dismissed, so the acceptance is refused and leaves no trace of its dismissal."""
    experience_id = await world.propose(draft(title="Mx One and Mx Two"))
    first, _ = await open_ids(world, experience_id)
    with pytest.raises(UnresolvedFindings):
        await world.decide(experience_id, "cora", dismissed=dismissed(first))
    assert len(await open_ids(world, experience_id)) == 2


@pytest.mark.parametrize("which", ["credential", "notice", "unknown"])
async def test_only_what_can_be_dismissed_is_dismissed(world: World, which: str) -> None:
    """R6: a credential has to go, whatever anybody says."""
    experience_id = await world.propose(draft(title="log in with pw=hunter2"))
    found = {
        "credential": (await open_ids(world, experience_id, Severity.MUST_FIX))[0],
        "notice": next(
            each.finding.id for each in await listed(world, experience_id) if each.finding.severity is Severity.NOTICE
        ),
        "unknown": "personal_data-nothing",
    }
    with pytest.raises(InvalidField) as refused:
        await world.decide(experience_id, "cora", dismissed=dismissed(found[which]))
    assert refused.value.field == "dismissed[0].finding_id"
    with pytest.raises(UnresolvedFindings):
        await world.decide(experience_id, "cora")


async def test_spans_and_prescriptions_are_held_against_the_case(world: World) -> None:
    """R5: a paper of another case, a place after the paper's end, a prescription without its proof paper."""
    other = await world.result(await world.open_case())
    result = await world.result(await world.open_case())
    for span_paper, end, check in (
        (other.proof_paper_id, 5, Check.SPAN_PAPER),
        (result.proof_paper_id, 500, Check.SPAN_PLACE),
        (result.proof_paper_id, 5, None),
    ):
        content = draft(span_paper=span_paper)
        content = with_unit(content, spans=(content.units[0].spans[0].model_copy(update={"end": end}),))
        proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=content)
        await world.experiences.propose("ann", proposal)
        found = await listed(world, proposal.experience_id)
        assert [each.finding.check for each in found] == ([check] if check else [])
    world.owner.execute(
        "UPDATE case_results SET proof_paper_id = NULL, proof_level = 'executed' WHERE id = %s", (result.id,)
    )
    advice = with_unit(draft(proof_level="executed"), kind=UnitKind.PRESCRIPTION, intent="print")
    proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=advice)
    await world.experiences.propose("ann", proposal)
    assert Check.PRESCRIPTION_PROOF in [each.finding.check for each in await listed(world, proposal.experience_id)]
    with pytest.raises(UnresolvedFindings):
        await world.decide(proposal.experience_id, "cora")


async def test_a_name_in_the_case_is_found_where_the_draft_repeats_it_bare(world: World) -> None:
    """R6: nothing in the draft tells that it is a name; the case's own text does."""
    case_id = await world.open_case(body="Dear desk, it fails. Mx Ludmilla")
    result = await world.result(case_id)
    content = draft(title="What Ludmilla saw")
    await world.experiences.propose(
        "ann", proposal := Proposal(experience_id=new_id(), result_id=result.id, draft=content)
    )
    (finding, _) = [each.finding for each in await listed(world, proposal.experience_id)]
    assert content.title[finding.start : finding.end] == "Ludmilla"


async def test_a_placeholder_of_the_case_is_taken_and_any_other_must_go(world: World) -> None:
    case_id = await world.open_case()
    result = await world.result(case_id)
    world.owner.execute(
        "INSERT INTO case_placeholders (case_id, tenant_id, kind, fingerprint, number)"
        " VALUES (%s, 'acme', 'name', 'f', 2)",
        (case_id,),
    )
    known = placeholder(PersonalDataKind.NAME, 2)
    for title, count in ((f"{known} asked", 0), (f"{known} and [person 3] asked", 1), ("[mail 2] came", 1)):
        proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=draft(title=title))
        await world.experiences.propose("ann", proposal)
        assert len(await open_ids(world, proposal.experience_id, Severity.MUST_FIX)) == count


async def test_a_dismissal_carries_over_to_the_same_text_and_not_to_another(world: World) -> None:
    """R6: after a return, the finding in an unchanged field stays dismissed; in a changed one it is open anew."""
    content = draft(title="Mx Printer jams", text="Mx Toner is empty.")
    experience_id = await world.propose(content)
    everything = await open_ids(world, experience_id)
    await world.decide(experience_id, "cora", Event.RETURN, dismissed=dismissed(*everything))
    rewritten = content.model_copy(update={"title": "Mx Printer jams again"})
    await world.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=rewritten)
    found = [each for each in await listed(world, experience_id) if each.finding.severity is Severity.MUST_RESOLVE]
    assert [each.finding.field for each in found if each.is_open] == ["title"]
    carried = [each.dismissal for each in found if each.dismissal is not None]
    assert [each.carried_from for each in carried] == [1, 1]
    with pytest.raises(UnresolvedFindings):
        await world.decide(experience_id, "carl")


async def test_a_draft_that_nobody_examined_is_not_accepted(world: World) -> None:
    """R6: whatever way a draft comes in."""
    experience_id = await world.propose()
    world.owner.execute("DELETE FROM admission_findings WHERE experience_id = %s", (experience_id,))
    world.owner.execute("DELETE FROM admissions WHERE experience_id = %s", (experience_id,))
    with pytest.raises(UnresolvedFindings, match="never examined"):
        await world.decide(experience_id, "cora")
    shown = (await world.experiences.view("cora", experience_id)).admission
    assert shown is not None
    assert shown.examined_at is None


async def test_without_a_finder_the_structure_is_examined_and_the_admission_says_so(world: World) -> None:
    plain = Experiences(world.database)
    result = await world.result(await world.open_case(), outcome=Outcome.FAILED)
    content = draft(title="Mx Unseen", outcome=Outcome.FAILED, text="It was fixed by luck.")
    await plain.propose("ann", proposal := Proposal(experience_id=new_id(), result_id=result.id, draft=content))
    view = await plain.view("ann", proposal.experience_id)
    assert view.admission is not None
    assert not view.admission.personal_data_examined
    assert {each.check for each in view.admission.open_findings()} == {Check.SUCCESS_WORDING}


async def test_declined_units_need_not_be_resolved(world: World) -> None:
    """R7: what is left out is not accepted; what goes on is."""
    content = draft(text="Clean.")
    extra = content.units[0].model_copy(update={"id": "u2", "text": "Mx Extra said so."})
    both = content.model_copy(update={"units": (content.units[0], extra)})
    experience_id = await world.propose(both)
    with pytest.raises(UnresolvedFindings):
        await world.decide(experience_id, "cora")
    after = await world.decide(experience_id, "cora", declined_units=("u2",))
    assert after.stage is Stage.OWNER_REVIEW


async def test_a_slow_finder_holds_nothing_else_up(world: World) -> None:
    """The finder runs in a thread: the loop goes on meanwhile."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    class Slow(Spotter):
        def find(self, text: str) -> tuple[PersonalData, ...]:
            time.sleep(0.01)
            return super().find(text)

    world.experiences = Experiences(world.database, finder=Slow())
    ticking = asyncio.create_task(tick())
    await world.propose()
    ticking.cancel()
    assert ticks > 20


async def test_only_the_proposer_writes_findings_and_only_with_the_first_draft(world: World) -> None:
    """R4: by the policies, past every check of our own."""
    experience_id = await world.propose()
    for who, revision in (("cora", 1), ("ann", 2), ("nobody", 1)):
        async with world.database.as_principal(who) as connection:
            with pytest.raises(Exception, match="row-level security"):
                await connection.execute(
                    text(
                        "INSERT INTO admissions (experience_id, revision, personal_data)"
                        " VALUES (CAST(:id AS uuid), :revision, true)"
                    ),
                    {"id": experience_id, "revision": revision},
                )
