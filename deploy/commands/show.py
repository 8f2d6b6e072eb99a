"""`caselore show REF`: an experience, an article or a case, as the caller may see it."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table
from rich.text import Text

from api.client import CaseloreClient
from contracts.article_views import ArticleView
from contracts.cases import Case
from contracts.errors import InvalidField
from contracts.labels import CandidateKind
from contracts.views import ExperienceView
from deploy.commands.calling import calling
from deploy.commands.drafts import draft_lines
from deploy.commands.progress import console
from deploy.commands.results import write_json
from deploy.settings import Settings


async def show(settings: Settings, ref: str, *, caller: str | None, json_file: Path | None) -> None:
    """Print what a reference names.

    Raises:
        InvalidField: It is no reference.
    """
    kind, _, target_id = ref.partition("/")
    if kind not in set(CandidateKind) or not target_id:
        raise InvalidField(
            f"{ref!r} is no reference.", field="ref", accepted="experience/ID, article/ID or case/ID, as cited"
        )
    async with calling(settings, caller) as client:
        found = await _found(client, CandidateKind(kind), target_id)
    write_json(json_file, found.model_dump(mode="json"))
    if isinstance(found, ExperienceView):
        _experience(found)
    elif isinstance(found, Case):
        _case(found)
    else:
        _article(found)


async def _found(client: CaseloreClient, kind: CandidateKind, target_id: str) -> ExperienceView | ArticleView | Case:
    if kind is CandidateKind.EXPERIENCE:
        return await client.get_experience(target_id)
    if kind is CandidateKind.ARTICLE:
        return await client.get_article(target_id)
    return await client.get_case(target_id)


def _experience(view: ExperienceView) -> None:
    searchable = "searchable" if view.searchable else "not in the index"
    head = f"experience/{view.experience_id}: {view.stage.replace('_', ' ')}, domain {view.domain_id}, {searchable}"
    console.print(Text(head, style="bold"))
    shown = view.current_revision or view.revision
    for revision in view.revisions:
        console.print(Text(f"revision {revision.number}: {revision.state}, by {revision.author_id}", style="cyan"))
        if revision.number == shown:
            console.print(Text(revision.draft.title, style="bold"))
            for line in draft_lines(revision.draft):
                console.print(line)
    for entry in view.history:
        who = entry.actor_id or "the record"
        console.print(Text(f"  {entry.at:%Y-%m-%d %H:%M} {entry.event} by {who}: {entry.comment}".rstrip(": ")))


def _case(case: Case) -> None:
    origin = case.origin
    console.print(Text(f"case/{case.id}: {case.title}", style="bold"))
    table = Table(box=None, show_header=False)
    table.add_row("state", case.state)
    table.add_row("origin", Text(f"{origin.tenant_id} / {origin.source} / {origin.external_id}"))
    table.add_row("opened", f"{case.opened_at:%Y-%m-%d %H:%M}")
    table.add_row("domain", case.facts.domain_id or "")
    console.print(table)
    console.print(Text(case.body))


def _article(view: ArticleView) -> None:
    searchable = "searchable" if view.searchable else "not in the index"
    shown = next((each for each in view.revisions if each.number == view.current_revision), view.revisions[-1])
    console.print(Text(f"article/{view.article_id}: domain {view.domain_id}, {searchable}", style="bold"))
    console.print(Text(f"revision {shown.number}: {shown.state}, {shown.article.kind}", style="cyan"))
    console.print(Text(shown.article.title, style="bold"))
    console.print(Text(shown.article.body))
    for linked in view.references:
        console.print(Text(f"  builds on {linked.ref}: {linked.title}", style="dim"))
