"""`caselore demo`: the shipped cases through the whole loop, then ten questions and their cited candidates."""

from __future__ import annotations

import uuid
from contextlib import AsyncExitStack
from importlib import resources
from pathlib import Path
from typing import Any

from api.client import CaseloreClient
from contracts.casefile import QuestionRecord
from contracts.identity import Tenant
from contracts.retrieval import Answer, OriginRef, RetrievalRequest
from deploy.cast import engage_agent
from deploy.commands.answers import answer_panel
from deploy.commands.attach import Attached, attached
from deploy.commands.imports import engage_for, import_and_wait
from deploy.commands.progress import console, say
from deploy.commands.results import write_json
from deploy.importing import CaseFile, delivery_of, read_case_file
from deploy.settings import Settings

_SHOWN = 3
"""Candidates printed for each question; the JSON has them all."""


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
            console.print(
                answer_panel(
                    answer,
                    title=f"{question.external_id} · {question.subject}",
                    objective=question.objective,
                    profile_id=question.profile,
                    most=_SHOWN,
                )
            )
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


def _print_where_to_look(target: Attached) -> None:
    console.print()
    if target.is_ours:
        console.print("The data stays. To look around, run [bold]make up[/] and open:")
    else:
        console.print("To look around, open:")
    console.print(f"  {target.http}/docs   the API, to try calls")
    if target.temporal_ui is not None:
        console.print(f"  {target.temporal_ui}/namespaces/default/workflows   every lifecycle, by stage and domain")
