"""`caselore review ID`: all that a review needs on a terminal, and the decision on exactly that text (R7)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from contracts.errors import StaleDigest
from contracts.experience import Draft
from contracts.lifecycle import REVIEWED, Event, Stage
from contracts.review import ReviewDecision
from contracts.review_sheet import ReviewSheet
from deploy.commands.calling import calling
from deploy.commands.drafts import draft_lines
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.settings import Settings

_PATIENCE = 30.0
"""Seconds to wait until a decision took effect."""
DIGEST_SHOWN = 12
"""Characters of a digest that a person copies: enough to tell texts apart."""


async def show_review(settings: Settings, experience_id: str, *, caller: str | None, json_file: Path | None) -> None:
    """Print the sheet of a review, and its digest to decide with."""
    async with calling(settings, caller) as client:
        sheet = await client.review_sheet(experience_id)
    for part in _sheet(sheet):
        console.print(part)
    write_json(json_file, {"sheet": sheet.model_dump(mode="json")})


async def decide_review(
    settings: Settings,
    experience_id: str,
    *,
    verdict: Event,
    comment: str,
    digest: str,
    acknowledge_scope: bool,
    caller: str | None,
    json_file: Path | None,
) -> None:
    """Decide on the text whose digest is given, or begins so: an edit since it was read voids the decision (R7).

    Raises:
        StaleDigest: The text is another one than the digest's.
        CaseloreError: The refusal, such as open findings or a second decision by one person.
    """
    async with calling(settings, caller) as client:
        sheet = await client.review_sheet(experience_id)
        if not sheet.digest.startswith(digest):
            raise StaleDigest(
                "The text under review is not the one that you read.",
                field="--digest",
                accepted="the digest of the text as the review shows it now, once that is read",
            )
        scope = sheet.scope.digest if acknowledge_scope and sheet.scope is not None else ""
        decision = ReviewDecision(
            decision_id=str(uuid.uuid4()),
            experience_id=experience_id,
            stage=sheet.stage,
            digest=sheet.digest,
            verdict=verdict,
            comment=comment,
            acknowledged_scope=scope,
        )
        view = await client.decide(decision, wait=_PATIENCE)
    write_json(json_file, {"decision_id": decision.decision_id, **view.model_dump(mode="json")})
    if view.state == "pending":
        console.print(f"[yellow]Stored.[/] No worker took it up yet; it takes effect once: {view.command_id}")
        return
    console.print(f"[bold]{verdict}[/] took effect: {view.outcome.replace('_', ' ')}.")
    if view.outcome == Stage.OWNER_REVIEW:
        console.print(f"Next, by somebody else: caselore review {experience_id} --as owner")


def _sheet(sheet: ReviewSheet) -> Iterator[RenderableType]:
    labels = [sheet.stage.replace("_", " "), f"domain {sheet.domain_id}", f"revision {sheet.revision}"]
    if sheet.outcome is not None:
        labels.insert(0, sheet.outcome.replace("_", " "))
    lines = draft_lines(sheet.text) if isinstance(sheet.text, Draft) else [Text(sheet.text.body)]
    yield Panel(
        Text("\n").join(lines),
        title=Text(sheet.text.title),
        title_align="left",
        subtitle=Text(", ".join(labels)),
        subtitle_align="left",
    )
    findings = sheet.admission.findings
    yield Text("Findings of admission", style="bold")
    for listed in findings:
        finding = listed.finding
        state = "dismissed" if listed.dismissal else finding.severity.replace("_", " ")
        yield Text(f"  {state}: {finding.field} {finding.start}-{finding.end}: {finding.message}")
    if not findings:
        yield Text("  none")
    if sheet.proof.is_visible:
        yield Text("Papers", style="bold")
        for paper in sheet.proof.papers:
            yield Text(f"  {paper.kind}: {paper.title}")
        for span in sheet.proof.spans:
            yield Text(f"  {span.field}: {span.text or 'there is no such place'}", style="dim")
    elif sheet.proof.note:
        yield Text(sheet.proof.note, style="yellow")
    if sheet.scope is not None and sheet.scope.lines():
        yield Text("Where it applies, against the published revision", style="bold")
        yield from (Text(f"  {line}") for line in sheet.scope.lines())
    if sheet.resemblances.listed:
        yield Text("Published experience that resembles it", style="bold")
        for each in sheet.resemblances.listed:
            yield Text(f"  {each.kind.replace('_', ' ')}: {each.title} ({each.ref} revision {each.revision})")
    yield from (Text(f"not read: {source}", style="yellow") for source in sheet.resemblances.not_read)
    if sheet.stage in REVIEWED:
        yield Text("To decide on this text: --accept, --return WHY or --reject WHY, with", style="dim")
    yield Text(f"  --digest {sheet.digest[:DIGEST_SHOWN]}", style="dim")
