"""Whatever is refused or makes no sense leaves the lifecycle ready for the next good decision (R7, R22, R24)."""

import asyncio
import uuid
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowUpdateFailedError

from contracts.errors import CaseloreError
from contracts.lifecycle import Event, Stage
from contracts.review import CommandMessage
from tests.workflows.driver import Lifecycle, Lifecycles, eventually
from workflows.experience_lifecycle import ExperienceLifecycle

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "another stage": ("StaleStage", {"stage": Stage.OWNER_REVIEW}),
    "a stage without review": ("StaleStage", {"stage": Stage.PUBLISHED}),
    "another text": ("StaleDigest", {"digest": "f" * 64}),
    "the author": ("SamePerson", {"reviewer_id": "ann"}),
    "no curator": ("NotReviewer", {"reviewer_id": "olga"}),
    "an unknown decision": ("UnknownCommand", {"decision_id": str(uuid.uuid4())}),
    "no id": ("UnknownCommand", {"decision_id": "no id"}),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_r7_a_refusal_keeps_its_type_and_changes_nothing(lifecycle: Lifecycle, case: str) -> None:
    refused, changes = REFUSED[case]
    before = lifecycle.at
    with pytest.raises(CaseloreError) as caught:
        await lifecycle.decide(Event.ACCEPT, "cora", **changes)
    assert caught.value.type == refused
    assert caught.value.field != ""
    assert lifecycle.at == before
    await lifecycle.accept_twice()


async def test_r7_curator_and_owner_are_two_people(lifecycle: Lifecycle) -> None:
    await lifecycle.decide(Event.ACCEPT, "carl")
    with pytest.raises(CaseloreError) as caught:
        await lifecycle.decide(Event.ACCEPT, "carl")
    assert caught.value.type == "SamePerson"
    assert (await lifecycle.decide(Event.ACCEPT, "olga")).stage is Stage.PUBLISHED


async def test_r24_a_refusal_says_what_would_be_accepted(lifecycle: Lifecycle) -> None:
    with pytest.raises(CaseloreError) as caught:
        await lifecycle.decide(Event.ACCEPT, "cora", digest="f" * 64)
    assert (caught.value.field, caught.value.accepted) == ("digest", lifecycle.at.digest)


async def test_r24_of_two_decisions_at_once_one_wins_and_the_other_is_told(lifecycle: Lifecycle) -> None:
    await lifecycle.decide(Event.ACCEPT, "cora")
    messages = [lifecycle.decision(Event.ACCEPT, "olga"), lifecycle.decision(Event.REJECT, "oleg")]
    lifecycle.records.hold()  # both pass the workflow's own check before either is recorded
    before = lifecycle.records.calls
    deciding = [asyncio.create_task(lifecycle.gateway.decide(lifecycle.id, message)) for message in messages]
    await eventually("the first is being recorded", lambda: lifecycle.records.calls > before)
    await asyncio.sleep(0.1)
    lifecycle.records.let_go()
    outcomes = await asyncio.gather(*deciding, return_exceptions=True)
    won = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, CaseloreError)]
    assert [outcome.stage for outcome in won] == [lifecycle.at.stage]
    assert [refusal.type for refusal in lost] in (["StaleStage"], ["LifecycleClosed"])


async def test_r7_a_closed_lifecycle_takes_no_decision(lifecycle: Lifecycle) -> None:
    late = lifecycle.decision(Event.ACCEPT, "carl")
    await lifecycle.decide(Event.REJECT, "cora")
    await lifecycle.handle.result()
    with pytest.raises(CaseloreError) as caught:
        await lifecycle.gateway.decide(lifecycle.id, late)
    assert caught.value.type == "LifecycleClosed"


GARBAGE_UPDATES: dict[str, list[Any]] = {
    "nothing": [],
    "a text": ["accept"],
    "null": [None],
    "no fields": [{}],
    "a wrong verdict": [{"decision_id": "x", "stage": "owner_review", "digest": "", "verdict": "maybe"}],
    "two": [{"decision_id": "x"}, {"decision_id": "y"}],
}


@pytest.mark.parametrize("case", GARBAGE_UPDATES)
async def test_r22_a_garbage_decision_is_refused(lifecycle: Lifecycle, case: str) -> None:
    with pytest.raises(WorkflowUpdateFailedError):
        await lifecycle.handle.execute_update("decide", args=GARBAGE_UPDATES[case])
    await lifecycle.accept_twice()


async def test_r22_an_unknown_update_is_refused(lifecycle: Lifecycle) -> None:
    with pytest.raises(WorkflowUpdateFailedError):
        await lifecycle.handle.execute_update("publish_now", "please")
    await lifecycle.accept_twice()


GARBAGE_SIGNALS: dict[str, list[Any]] = {
    "nothing": [],
    "a text": ["retire it"],
    "null": [None],
    "no fields": [{}],
    "a number": [{"command_id": 5}],
    "no id": [{"command_id": "no id"}],
    "an endless id": [{"command_id": "7" * 3000}],
    "two": [{"command_id": str(uuid.uuid4())}, {"command_id": str(uuid.uuid4())}],
}


@pytest.mark.parametrize("case", GARBAGE_SIGNALS)
async def test_r22_a_garbage_signal_harms_nothing(lifecycle: Lifecycle, case: str) -> None:
    for kind in ("retire", "roll_over", "correct"):
        await lifecycle.handle.signal(kind, args=GARBAGE_SIGNALS[case])
    await lifecycle.accept_twice()


async def test_r22_an_undecodable_payload_harms_nothing(lifecycle: Lifecycle) -> None:
    for signal in ("retire", "resubmit"):
        await lifecycle.handle.signal(signal, b"\x00\xff not ours")
    await lifecycle.handle.signal("no_such_signal", "x")
    await lifecycle.accept_twice()


async def test_r10_an_unknown_command_is_refused_and_shown(lifecycle: Lifecycle) -> None:
    unknown = str(uuid.uuid4())
    await lifecycle.gateway.signal(lifecycle.id, Event.RETIRE, CommandMessage(command_id=unknown))
    await lifecycle.handle.signal("retire")
    await lifecycle.accept_twice()
    metadata = await lifecycle.handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    assert f"refused {unknown}: UnknownCommand" in metadata.current_details
    assert "refused a retire signal without a command id" in metadata.current_details


async def test_r22_a_lifecycle_of_nothing_fails_and_says_so(lifecycles: Lifecycles) -> None:
    lifecycle = lifecycles.make()
    decision = lifecycle.decision(Event.ACCEPT, "cora")
    for unknown in (str(uuid.uuid4()), "no id"):
        with pytest.raises(CaseloreError) as caught:
            await lifecycle.gateway.decide(unknown, decision)
        assert caught.value.type == "UnknownExperience"
    lifecycles.made.remove(lifecycle)


async def test_r22_a_wrong_result_does_not_kill_a_lifecycle(lifecycle: Lifecycle) -> None:
    """The query is answered, whatever was sent before."""
    await lifecycle.handle.signal("correct", 5)
    standing = await lifecycle.handle.query(ExperienceLifecycle.standing)
    assert standing is None or standing.stage is Stage.CURATOR_REVIEW
