"""`caselore tasks`: the reviews that wait for the caller, most urgent first (R7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.text import Text

from contracts.views import ReviewTask
from deploy.commands.calling import calling
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.settings import Settings


async def list_tasks(
    settings: Settings, *, caller: str | None, domain: str | None, limit: int, json_file: Path | None
) -> None:
    """Print the caller's review tasks."""
    async with calling(settings, caller) as client:
        tasks = await client.reviews(domain=domain, limit=limit)
    write_json(json_file, {"tasks": [task.model_dump(mode="json") for task in tasks]})
    if not tasks:
        console.print("No review waits for you. A proposal comes here once its domain gives you a role in reviews.")
        return
    now = datetime.now(UTC)
    for task in tasks:
        labels = [task.domain_id, task.stage.replace("_", " "), (task.outcome or "article").replace("_", " ")]
        labels += [f"{count} {severity.replace('_', ' ')}" for severity, count in task.findings.items() if count]
        if task.claimed_by is not None:
            labels.append(f"claimed by {task.claimed_by}")
        console.print(Text.assemble(_due(task, now), "  ", (task.title, "bold")))
        console.print(Text(f"  {', '.join(labels)}", style="dim"))
        console.print(Text(f"  caselore review {task.experience_id}"), soft_wrap=True)


def _due(task: ReviewTask, now: datetime) -> Text:
    if task.escalated:
        return Text("escalated", style="bold red")
    if task.due_at is None:
        return Text("")
    left = task.due_at - now
    if task.reminded or left < timedelta(0):
        return Text("overdue", style="red")
    days, hours = left.days, left.seconds // 3600
    return Text(f"in {days} d {hours} h" if days else f"in {hours} h", style="yellow" if days < 1 else "")
