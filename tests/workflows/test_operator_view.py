"""Operators find and read every lifecycle in Temporal, and find no case text there (R11, R12)."""

import asyncio
import json
import subprocess
from datetime import timedelta

from temporalio.api.enums.v1 import EventType
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from contracts.lifecycle import Event
from deploy.embedded.temporal_server import temporal_binary
from tests.workflows.driver import Lifecycle, Lifecycles, eventually

DAY = timedelta(days=1)


async def found(client: Client, query: str) -> set[str]:
    return {each.id async for each in client.list_workflows(query)}


async def is_found(lifecycle: Lifecycle, query: str) -> None:
    async def listed() -> bool:
        return lifecycle.handle.id in await found(lifecycle.client, query)

    await eventually(f"listed by {query}", listed)


async def metadata(lifecycle: Lifecycle) -> WorkflowMetadata:
    return await lifecycle.handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)


async def test_r12_a_lifecycle_is_found_by_stage_domain_tenant_and_due_date(lifecycles: Lifecycles) -> None:
    lifecycle = await lifecycles.started(domain="archive")
    due = lifecycle.at.due_at
    assert due is not None
    before, after = (due - DAY).isoformat(), (due + DAY).isoformat()
    await is_found(lifecycle, 'ExperienceStage = "curator_review" AND ExperienceDomain = "archive"')
    await is_found(lifecycle, f'TenantId = "acme" AND ReviewDueAt > "{before}" AND ReviewDueAt < "{after}"')
    assert lifecycle.handle.id not in await found(lifecycle.client, f'ReviewDueAt < "{before}"')
    await lifecycle.accept_twice()
    await is_found(lifecycle, 'ExperienceStage = "published" AND ReviewDueAt IS NULL AND ExecutionStatus = "Running"')
    await lifecycle.send(Event.RETIRE)
    await is_found(lifecycle, 'ExperienceStage = "retired" AND ExecutionStatus = "Completed"')


async def test_r12_the_command_line_lists_what_waits(temporal_env: WorkflowEnvironment, lifecycles: Lifecycles) -> None:
    lifecycle = await lifecycles.started(domain="assessment")
    query = 'ExperienceDomain = "assessment" AND ExperienceStage = "curator_review"'
    await is_found(lifecycle, query)
    address = temporal_env.client.service_client.config.target_host
    command = [temporal_binary(), "workflow", "list", "--address", address, "--query", query, "--output", "json"]
    listed = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    (row,) = json.loads(listed.stdout)
    assert row["execution"]["workflowId"] == lifecycle.handle.id


async def test_r12_the_summary_and_the_details_tell_where_it_stands(lifecycle: Lifecycle) -> None:
    assert await (await lifecycle.handle.describe()).static_summary() == "experience in data, from tenant acme"
    await lifecycle.decide(Event.ACCEPT, "cora")
    told = await metadata(lifecycle)
    for words in ("owner_review", "draft revision **1**", "published: **nothing**", "`data`", "`acme`", "due 20"):
        assert words in told.current_details
    assert {signal.name for signal in told.definition.signal_definitions} == {
        "resubmit", "correct", "retire", "supersede", "revise", "reinstate", "roll_over",
    }  # fmt: skip
    assert all(each.description for each in told.definition.signal_definitions)
    assert [each.name for each in told.definition.update_definitions] == ["decide"]


async def test_r12_the_details_tell_a_suspension_and_a_reinstatement(lifecycle: Lifecycle) -> None:
    await lifecycle.accept_twice()
    await lifecycle.send(Event.CORRECT, suspend=True)
    await eventually("the details follow", lambda: _details_hold(lifecycle, "revision 1, suspended"))
    await lifecycle.send(Event.RETIRE)
    await lifecycle.handle.result()
    await lifecycle.send(Event.REINSTATE)
    await eventually("the details follow", lambda: _details_hold(lifecycle, "a reinstatement"))


async def test_r12_an_applied_command_does_not_wait_any_more(lifecycle: Lifecycle) -> None:
    await lifecycle.accept_twice()
    await lifecycle.send(Event.CORRECT)
    await eventually("the details follow", lambda: _details_hold(lifecycle, "curator_review"))
    assert "waiting" not in (await metadata(lifecycle)).current_details


async def _details_hold(lifecycle: Lifecycle, words: str) -> bool:
    return words in (await metadata(lifecycle)).current_details


async def test_r12_activities_and_timers_are_named(lifecycle: Lifecycle) -> None:
    await lifecycle.decide(Event.ACCEPT, "cora")
    events = await lifecycle.history()
    named = [
        json.loads(event.user_metadata.summary.data)
        for event in events
        if event.event_type in (EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, EventType.EVENT_TYPE_TIMER_STARTED)
    ]
    assert named == ["load the experience", "review deadline", "accept at curator_review", "review deadline"]


async def test_r12_long_names_do_not_keep_a_lifecycle_from_starting(lifecycles: Lifecycles) -> None:
    lifecycle = await lifecycles.started(domain="ä" * 200)
    summary = await (await lifecycle.handle.describe()).static_summary()
    assert summary is not None and summary.startswith("experience in ääää")
    await lifecycle.accept_twice()
