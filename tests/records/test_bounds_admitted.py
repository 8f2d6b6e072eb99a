"""Limits that nothing meets: listed with the draft's findings, and refused at its acceptance (R17, R22)."""

from __future__ import annotations

import pytest

from contracts.admission import Check, Severity, examine_bounds
from contracts.errors import InvalidField, UnresolvedFindings
from contracts.experience import Draft, Limits
from contracts.lifecycle import Event, Stage
from contracts.review import Dismissal
from tests.records.world import World, draft

INVERTED = Limits(version_from="8", version_to="7")


def in_second_unit(limits: Limits) -> Draft:
    content = draft()
    second = content.units[0].model_copy(update={"id": "u2", "limits": limits})
    return content.model_copy(update={"units": (*content.units, second)})


@pytest.mark.parametrize(
    ("content", "check", "field"),
    [
        (draft(limits=INVERTED), Check.BOUNDS_INVERTED, "limits.version_to"),
        (draft(limits=Limits(version_to="latest")), Check.BOUND_UNREADABLE, "limits.version_to"),
        (in_second_unit(Limits(schema_from="9", schema_to="8")), Check.BOUNDS_INVERTED, "units[1].limits.schema_to"),
    ],
    ids=["inverted", "unreadable", "in-a-unit"],
)
async def test_r22_what_no_request_can_meet_holds_an_acceptance_up(
    shared: World, content: Draft, check: Check, field: str
) -> None:
    experience_id = await shared.propose(content)
    view = await shared.experiences.view("cora", experience_id)
    assert view.admission is not None
    (finding,) = view.admission.open_findings()
    assert (finding.check, finding.field, finding.severity) == (check, field, Severity.MUST_FIX)
    with pytest.raises(UnresolvedFindings) as refused:
        await shared.decide(experience_id, "cora")
    assert (refused.value.field, refused.value.accepted) == (field, finding.accepted)
    with pytest.raises(InvalidField, match="can't be dismissed"):
        await shared.decide(experience_id, "cora", dismissed=(Dismissal(finding_id=finding.id, reason="It is known."),))
    assert (await shared.decide(experience_id, "cora", Event.RETURN)).stage is Stage.RETURNED


async def test_r22_a_declined_unit_holds_nothing_up(shared: World) -> None:
    experience_id = await shared.propose(in_second_unit(INVERTED))
    after = await shared.decide(experience_id, "cora", declined_units=("u2",))
    assert after.stage is Stage.OWNER_REVIEW


async def test_r22_limits_that_something_meets_are_accepted(shared: World) -> None:
    content = draft(limits=Limits(version_from="7.2", version_to="7.10", schema_from="9"))
    assert examine_bounds(content) == ()
    assert (await shared.decide(await shared.propose(content), "cora")).stage is Stage.OWNER_REVIEW
