"""What operators see of a whole runtime: connected traces, true metrics, links both ways, no case text (R12)."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
import structlog
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import format_trace_id
from prometheus_client.parser import text_string_to_metric_families
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowHandle

from activities.telemetry.tracing import GuardedExit
from api.operator_links import TemporalLinks
from contracts.errors import CaseloreError, IndexUnavailable
from contracts.lifecycle import Stage
from contracts.retrieval import RouteState
from deploy.importing import experience_id
from deploy.logs import with_trace
from deploy.runtime import Runtime
from deploy.settings import Settings
from deploy.telemetry import REMEMBERED_SECONDS, observability
from deploy.wiring import connect_temporal
from tests.acceptance.canaried import Words, through_everything
from tests.acceptance.house import accepting
from tests.acceptance.office import Office, fresh, running_office, settings_in
from tests.acceptance.samples import case
from tests.canaries import texts_with
from tests.ports import free_ports

KNOWN = case("OBS-1", "Blank page after printing", "The printer driver drops the last page.")
WAITING = case("OBS-2", "Waits for its curator", "The reading is off by one after midnight.")
STRATEGY = "data-investigation"
CALLER = "0af7651916cd43dd8448eb211c80319c"
"""The trace of a caller."""


@dataclass
class Observed:
    """A running Caselore, and what its operators get."""

    runtime: Runtime
    office: Office
    settings: Settings
    exporter: InMemorySpanExporter

    async def ended(self, wanted: Callable[[ReadableSpan], bool]) -> ReadableSpan:
        """Return the first span of a kind, when it has ended."""
        for _ in range(100):
            for span in self.exporter.get_finished_spans():
                if wanted(span):
                    return span
            await asyncio.sleep(0.05)
        names = Counter(span.name for span in self.exporter.get_finished_spans())
        pytest.fail(f"there is no such span, only {names}")

    def trace_of(self, span: ReadableSpan) -> list[ReadableSpan]:
        return [each for each in self.exporter.get_finished_spans() if trace_id(each) == trace_id(span)]

    async def scrape(self, port: int | None) -> dict[str, float]:
        """Return the samples of a listener by name and labels, as Prometheus writes them."""
        async with httpx.AsyncClient() as http:
            answer = await http.get(f"http://127.0.0.1:{port}/metrics")
        assert answer.status_code == 200
        return {
            sample.name + str(dict(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }


@pytest_asyncio.fixture(scope="module")
async def observed(folder: Path) -> AsyncIterator[Observed]:
    metrics, temporal = free_ports(2)
    settings = settings_in(folder, metrics_port=metrics, temporal_metrics_port=temporal)
    exporter = InMemorySpanExporter()
    watched = observability(settings, spans=SimpleSpanProcessor(GuardedExit(exporter)))
    async with running_office(settings, observed=watched) as (runtime, office):
        await office.publish(KNOWN)
        await office.bring(WAITING, is_reviewed=False)
        yield Observed(runtime, office, settings, exporter)


def trace_id(span: ReadableSpan) -> str:
    context = span.get_span_context()
    assert context is not None
    return format_trace_id(context.trace_id)


def said(span: ReadableSpan, label: str) -> Any:
    return (span.attributes or {}).get(label)


async def current_details(handle: WorkflowHandle[Any, Any]) -> str:
    """Return what the Temporal UI shows of a workflow now."""
    metadata: WorkflowMetadata = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    return metadata.current_details


def place(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None
    return context.span_id


def is_connected(spans: Sequence[ReadableSpan]) -> bool:
    """Return whether every span but the first one's is a part of another one of them."""
    ids = {place(span) for span in spans}
    return sum(span.parent is None or span.parent.span_id not in ids for span in spans) == 1


async def test_r12_a_retrieval_is_one_trace_from_http_through_workflow_and_routes_to_index_and_record(
    observed: Observed, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed.exporter.clear()
    sent = observed.office.agents["north"]._http.headers
    monkeypatch.setitem(sent, "traceparent", f"00-{CALLER}-b7ad6b7169203331-01")
    monkeypatch.setitem(sent, "X-Request-ID", "the-agent-s-own-id")
    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars, with_trace]) as logged:
        answer = await observed.office.ask("blank page after printing")
    http_span = await observed.ended(lambda span: span.name == "POST /v1/retrievals")
    spans = observed.trace_of(http_span)
    assert trace_id(http_span) == CALLER, "the caller's own trace goes on"
    assert is_connected(spans)
    names = Counter(span.name for span in spans)
    chain = (
        *("POST /v1/retrievals", "StartWorkflow:Retrieval", "RunWorkflow:Retrieval"),
        *("StartActivity:answer_retrieval", "RunActivity:answer_retrieval", "answer retrieval"),
    )
    assert [names[name] for name in chain] == [1] * len(chain)
    by_id = {place(span): span for span in spans}
    search = next(span for span in spans if span.name == "search index")
    above = [search.name]
    while search.parent is not None and search.parent.span_id in by_id:
        search = by_id[search.parent.span_id]
        above.append(search.name)
    assert above[:4] == ["search index", "read route", "answer retrieval", "RunActivity:answer_retrieval"]
    assert above[-1] == "POST /v1/retrievals"
    told = Counter((said(span, "caselore.route"), said(span, "caselore.collection")) for span in spans)
    for report in answer.routes:
        if report.state is not RouteState.SKIPPED:
            assert told[report.route, report.collection] >= 1
    assert names["record transaction"] > 3
    engine = next(span for span in spans if span.name == "answer retrieval")
    assert said(engine, "caselore.retrieval_id") == answer.request_id
    assert said(engine, "caselore.strategy") == STRATEGY
    (line,) = [line for line in logged if line["event"] == "request" and line["route"] == "/v1/retrievals"]
    assert (line["request_id"], line["trace_id"]) == ("the-agent-s-own-id", CALLER)


async def test_r12_a_decision_s_trace_leads_to_the_lifecycle_s(observed: Observed) -> None:
    observed.exporter.clear()
    await observed.office.cast.curator.decide(accepting(WAITING, Stage.CURATOR_REVIEW), wait=20)
    sent = await observed.ended(lambda span: span.name == "StartWorkflowUpdate:decide")
    handled = await observed.ended(lambda span: span.name == "HandleUpdate:decide")
    recorded = await observed.ended(lambda span: span.name == "RunActivity:record_decision")
    root = await observed.ended(lambda span: span.parent is None and trace_id(span) == trace_id(sent))
    assert root.name in {"POST /v1/reviews", "deliver event"}, "at once, or by the projector when it comes first"
    assert [link.context.span_id for link in handled.links] == [place(sent)]
    assert trace_id(recorded) == trace_id(handled), "a lifecycle has one trace, for all its life"
    assert said(recorded, "temporalWorkflowID") == f"experience/{experience_id(WAITING)}"


async def test_the_projector_s_batches_have_traces_and_its_endless_workflow_has_none(observed: Observed) -> None:
    observed.exporter.clear()
    await observed.office.publish(case("OBS-3", "Wrong total", "The total leaves the last line out."))
    batch = await observed.ended(lambda span: span.name == "project batch")
    assert batch.parent is None
    assert "record transaction" in {span.name for span in observed.trace_of(batch)}
    names = {span.name for span in observed.exporter.get_finished_spans()}
    assert not {name for name in names if "project_changes" in name or "OutboxProjector" in name}


async def test_r15_metrics_tell_of_a_retrieval_its_routes_and_a_route_that_failed(
    observed: Observed, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = observed.settings.metrics_port
    before = await observed.scrape(port)
    answer = await observed.office.ask("blank page after printing")
    after = await observed.scrape(port)

    def more(name: str, **labels: str) -> float:
        sample = name + str(dict(sorted(labels.items())))
        return after.get(sample, 0) - before.get(sample, 0)

    assert more("caselore_retrieval_seconds_count", strategy=STRATEGY) == 1
    assert more("caselore_retrieval_abstentions_total", strategy=STRATEGY) == int(answer.abstained)
    for report in answer.routes:
        where = {"strategy": STRATEGY, "collection": report.collection.value, "route": report.route.value}
        assert more("caselore_routes_total", **where, state=report.state.value) >= 1

    async def broken(*_: Any, **__: Any) -> Any:
        raise IndexUnavailable("The index can't be reached.")

    monkeypatch.setattr(observed.runtime.parts.index, "search", broken)
    before = after
    answer = await observed.office.ask("blank page after printing")
    after = await observed.scrape(port)
    failed = [report for report in answer.routes if report.state is RouteState.FAILED]
    assert failed
    for report in failed:
        where = {"strategy": STRATEGY, "collection": report.collection.value, "route": report.route.value}
        assert more("caselore_routes_total", **where, state="failed") >= 1


async def test_temporal_s_own_metrics_are_there_where_a_port_is_named(observed: Observed) -> None:
    values = await observed.scrape(observed.settings.temporal_metrics_port)
    assert any(name.startswith("temporal_workflow_completed_total") for name in values)


async def test_r12_pages_lead_to_the_temporal_ui_and_workflows_lead_back(observed: Observed) -> None:
    addresses, settings = observed.runtime.addresses, observed.settings
    id_ = experience_id(KNOWN)
    links = TemporalLinks(addresses.temporal_ui or "", settings.temporal_namespace)
    async with httpx.AsyncClient() as http:
        assert (await http.get(links.experience(id_))).status_code == 200
    client = await connect_temporal(settings, addresses)
    handle = client.get_workflow_handle(f"experience/{id_}")
    page = f"[Caselore: experiences]({settings.browsed_url}/experiences/{id_})"
    first = (await handle.describe()).run_id
    assert page in await current_details(handle)
    await handle.signal("roll_over")
    for _ in range(100):
        if (await handle.describe()).run_id != first:
            break
        await asyncio.sleep(0.05)
    assert (await handle.describe()).run_id != first
    assert page in await current_details(handle), "for all its runs"
    answer = await observed.office.ask("blank page")
    retrieval = await client.get_workflow_handle(f"retrieval/{answer.request_id}").describe()
    page = f"[Caselore: retrievals]({settings.browsed_url}/retrievals/{answer.request_id})"
    assert await retrieval.static_details() == page


async def test_r11_no_word_of_a_case_is_in_logs_traces_or_metrics(
    observed: Observed, caplog: pytest.LogCaptureFixture
) -> None:
    observed.exporter.clear()
    words = Words()
    other = await observed.office.case_id(KNOWN)
    with caplog.at_level(logging.WARNING), structlog.testing.capture_logs() as logged:
        await through_everything(observed.office, "north", words, other_case=other)
        for refused in ({"version": words("version")}, {"strategy_id": words("strategy")}):
            with pytest.raises(CaseloreError):
                await observed.office.ask(words("objective"), case_id=fresh(), **refused)
        async with httpx.AsyncClient(base_url=observed.runtime.addresses.http) as http:
            for path in (f"/v1/cases?object_ref={words('ref')}", f"/{words('path')}", f"/cases?words={words('words')}"):
                await http.get(path, headers={"traceparent": words("trace"), "X-Request-ID": words("id")})
        await observed.office.searchable()
        await asyncio.sleep(REMEMBERED_SECONDS)  # of the last reading
    metrics = repr(await observed.scrape(observed.settings.metrics_port))
    metrics += repr(await observed.scrape(observed.settings.temporal_metrics_port))
    spans = [span.to_json() for span in observed.exporter.get_finished_spans()]
    lines = [repr(line) for line in logged] + [record.getMessage() for record in caplog.records]
    assert len(words.given) > 50
    assert len(spans) > 50
    assert any("'request'" in line for line in lines)
    for kept in (spans, lines, [metrics]):
        assert texts_with(kept, words.beginning) == []
