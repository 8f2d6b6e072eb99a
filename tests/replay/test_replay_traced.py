"""Tracing adds headers and nothing else: every recorded history replays with it too (R12)."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from deploy.worker import WORKFLOWS, workflow_runner
from tests.replay.histories import read
from tests.replay.test_replay import RECORDED


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
async def test_a_history_from_before_tracing_replays_with_it(path: Path) -> None:
    spans = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    await Replayer(
        workflows=WORKFLOWS,
        data_converter=pydantic_data_converter,
        workflow_runner=workflow_runner(),
        interceptors=[TracingInterceptor(provider.get_tracer("test"))],
    ).replay_workflow(read(path))
    assert spans.get_finished_spans() == (), "a replay is no new work"
