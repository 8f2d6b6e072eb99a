"""`caselore demo`: the shipped cases through the whole loop, then ten questions and their cited candidates."""

from __future__ import annotations

import uuid
from contextlib import AsyncExitStack
from importlib import resources
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from api.client import CaseloreClient
from contracts.casefile import QuestionRecord
from contracts.identity import Tenant
from contracts.labels import CandidateKind
from contracts.retrieval import Answer, Candidate, OriginRef, RetrievalRequest, ValidityState
from deploy.cast import engage_agent
from deploy.commands.attach import Attached, attached
from deploy.commands.imports import engage_for, import_and_wait, write_json
from deploy.commands.progress import console, say
from deploy.importing import CaseFile, delivery_of, read_case_file
from deploy.settings import Settings

_SHOWN = 3
"""Candidates printed for each question; the JSON has them all."""
_STYLES = {"succeeded": "green", "failed": "red", "rejected_route": "yellow", "unverified": "yellow"}
_VALIDITY = {
    ValidityState.OK: ("within its limits", "green"),
    ValidityState.REVALIDATE: ("revalidate", "yellow"),
    ValidityState.OUT_OF_RANGE: ("out of range", "red"),
}


async def demo(settings: Settings, json_file: Path | None) -> None:
    """Run the demo on the Caselore of the data folder and print every answer."""
    with resources.as_file(resources.files("deploy") / "demo" / "cases.jsonl") as path:
        file = read_case_file(path)
    console.print("[bold]Caselore demo[/]: an insurance-software support desk, three tenants, five domains")
    async with attached(settings, progress=say) as target, AsyncExitStack() as stack:
        cast = await engage_for(stack, target, file, is_reviewed=True)
        figures = await import_and_wait(target, cast, file, is_reviewed=True)
        _print_loop(figures)
        agents = await _agents(stack, target, file)
        answers = [await _ask(agents[question.tenant], question) for question in file.questions]
        for question, answer in zip(file.questions, answers, strict=True):
            console.print(_panel(question, answer))
        _print_where_to_look(target)
    write_json(
        json_file,
        {
            "loop": figures,
            "answers": [
                {"question": question.model_dump(mode="json"), "answer": answer.model_dump(mode="json")}
                for question, answer in zip(file.questions, answers, strict=True)
            ],
        },
    )


async def _agents(stack: AsyncExitStack, target: Attached, file: CaseFile) -> dict[str, CaseloreClient]:
    domains = [domain.id for domain in file.domains]
    return {
        tenant.id: await engage_agent(stack, target.admin, target.http, Tenant(id=tenant.id, name=tenant.name), domains)
        for tenant in file.tenants
    }


async def _ask(agent: CaseloreClient, question: QuestionRecord) -> Answer:
    """Register the question's case, as an agent does, and retrieve for it."""
    receipt = await agent.deliver(delivery_of(question))
    facts = question.facts
    return await agent.retrieve(
        RetrievalRequest(
            request_id=str(uuid.uuid4()),
            profile_id=question.profile,
            purpose=question.purpose,
            objective=question.objective,
            tenant_id=question.tenant,
            case_id=receipt.case_id,
            origin=OriginRef(source=question.source, external_id=question.external_id),
            product=facts.product,
            system=facts.system,
            environment=facts.environment,
            version=facts.version,
            object_refs=facts.object_refs,
            results=5,
        )
    )


def _print_loop(figures: dict[str, Any]) -> None:
    console.print(
        f"  {sum(figures['arrivals'].values())} cases, {figures['proposed']} proposals: [green]{figures['published']}"
        f" published[/], [red]{figures['rejected']} rejected[/]"
    )
    if figures["arrivals"].keys() == {"redelivered"}:
        console.print("  all of it was there from an earlier run; nothing was done twice")
    else:
        console.print(
            f"  {figures['lifecycles_per_minute']:.0f} lifecycles a minute; searchable"
            f" {figures['lag_p50_seconds']:.1f} s after publication (p95 {figures['lag_p95_seconds']:.1f} s)"
        )


def _panel(question: QuestionRecord, answer: Answer) -> Panel:
    parts: list[Text] = [Text(question.objective, style="italic"), Text()]
    for candidate in answer.candidates[:_SHOWN]:
        parts += _candidate(candidate)
    if len(answer.candidates) > _SHOWN:
        parts.append(Text(f"and {len(answer.candidates) - _SHOWN} more to weigh", style="dim"))
    if answer.abstained:
        parts.append(Text("abstained: nothing here can be used as it is", style="yellow"))
    marks = ", ".join(
        f"{mark.collection} {mark.position}" + (f" ({mark.pending} pending)" if mark.pending else "")
        for mark in answer.watermarks
    )
    parts.append(Text(f"watermarks: {marks}", style="dim"))
    parts += [Text(f"not read: {source}", style="yellow") for source in answer.not_read]
    title = f"{question.external_id} · {question.subject}"
    subtitle = f"{question.profile} · {answer.strategy_id} v{answer.strategy_version}"
    return Panel(Group(*parts), title=title, title_align="left", subtitle=subtitle, subtitle_align="left")


def _candidate(candidate: Candidate) -> list[Text]:
    head = Text(f"{candidate.rank}. ", style="bold")
    head.append(candidate.title, style="bold")
    labels = Text("   ")
    if candidate.kind is CandidateKind.CASE:
        labels.append(f"live case, {candidate.state}", style="cyan")
    elif candidate.outcome is not None:
        labels.append(candidate.outcome.replace("_", " "), style=_STYLES[candidate.outcome])
        labels.append(f", proof {candidate.proof_level}")
    labels.append(f" · {candidate.owner or 'no domain yet'} · ")
    words, style = _VALIDITY[candidate.validity.state]
    labels.append(words, style=style)
    if candidate.validity.reasons:
        labels.append(f"\n   {_short('; '.join(candidate.validity.reasons), 150)}", style="dim")
    limits = ", ".join(_limits(candidate))
    why = ", ".join(f"{match.route} #{match.rank}" for match in candidate.reason)
    lines = [head, labels, Text(f"   found by {why}", style="dim")]
    if limits:
        lines.append(Text(f"   limits: {limits}", style="dim"))
    lines.append(Text(f"   cite as {candidate.ref} revision {candidate.revision}", style="dim"))
    return [*lines, Text()]


def _limits(candidate: Candidate) -> list[str]:
    limits = candidate.limits
    found = [
        f"{name} {'/'.join(values)}"
        for name, values in (
            ("product", limits.products),
            ("system", limits.systems),
            ("environment", limits.environments),
        )
        if values
    ]
    if limits.version_from or limits.version_to:
        found.append(f"version {limits.version_from or '…'} to {limits.version_to or '…'}")
    if limits.schema_version:
        found.append(f"schema {limits.schema_version}")
    return found


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _print_where_to_look(target: Attached) -> None:
    console.print()
    if target.is_ours:
        console.print("The data stays. To look around, run [bold]make up[/] and open:")
    else:
        console.print("To look around, open:")
    console.print(f"  {target.http}/docs   the API, to try calls")
    if target.temporal_ui is not None:
        console.print(f"  {target.temporal_ui}/namespaces/default/workflows   every lifecycle, by stage and domain")
