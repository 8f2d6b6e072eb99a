"""The `caselore` command.

Each command imports what it runs when it runs, so that help and refusals come at once.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from contracts.errors import RuntimeUnavailable
from deploy.cli_consultations import app as consultations_app
from deploy.cli_retrieval import app as retrieval_app
from deploy.cli_work import app as work_app
from deploy.command_run import EPILOG, JsonOption, finish, run

app = typer.Typer(
    help="Caselore: what earlier cases taught, reviewed, limited and cited.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
audit_app = typer.Typer(help="Who decided what, hash-chained.", no_args_is_help=True)
app.add_typer(audit_app, name="audit")
letters_app = typer.Typer(help="Events that could not be delivered.", no_args_is_help=True)
app.add_typer(letters_app, name="deadletters")
app.add_typer(retrieval_app, name="retrieval")
app.add_typer(consultations_app, name="consultations")
app.add_typer(work_app)


@app.command()
def up() -> None:
    """Run everything on this machine until Ctrl-C."""
    from deploy.commands.up import up as run_up
    from deploy.settings import load_settings

    run(run_up(load_settings()))


@app.command()
def demo(json: JsonOption = None) -> None:
    """Show the whole loop on the shipped cases: import, reviews, publication, ten questions."""
    from deploy.commands.demo import demo as run_demo
    from deploy.settings import load_settings

    run(run_demo(load_settings(), json))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A case file: one JSON record a line.", exists=True, dir_okay=False)],
    unattended: Annotated[
        bool, typer.Option("--unattended", help="Let two stand-in reviewers decide, instead of the review queue.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Bring a case file in: arrivals, results, proposals and, unattended, both reviews."""
    from deploy.commands.imports import import_file
    from deploy.settings import load_settings

    run(import_file(load_settings(), file, is_reviewed=unattended, json_file=json))


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="One delivery a line, as JSON.", exists=True, dir_okay=False)],
    add_tenants: Annotated[
        bool, typer.Option("--add-tenants", help="Add the file's tenants that don't exist yet.")
    ] = False,
    side_by_side: Annotated[int, typer.Option(min=1, max=64, help="Deliveries under way at once.")] = 8,
    json: JsonOption = None,
) -> None:
    """Feed a file of deliveries through the intake; run again, it goes on where it ended."""
    from deploy.commands.replay import replay_file
    from deploy.settings import load_settings

    run(replay_file(load_settings(), file, add_tenants=add_tenants, side_by_side=side_by_side, json_file=json))


@app.command()
def mcp() -> None:
    """Serve agents by the Model Context Protocol on standard input and output; CASELORE_API_KEY holds their key."""
    import asyncio

    from deploy import logs
    from deploy.commands.mcp import serve_mcp
    from deploy.settings import load_settings

    logs.configure()
    asyncio.run(serve_mcp(load_settings()))


@app.command()
def doctor(json: JsonOption = None) -> None:
    """Say what is wrong with settings, machine, data folder or the running Caselore, and how to mend it."""
    from deploy.commands.doctor import doctor as run_doctor

    run(run_doctor(json))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(context: typer.Context) -> None:
    """Measure speed beside its floors, and quality; takes the benchmarks' own options. Needs a checkout."""
    checkout = Path(__file__).parents[1]
    if not (checkout / "tests" / "benchmarks").is_dir():
        raise RuntimeUnavailable(
            "The benchmarks are not installed with the package.", field="bench", accepted="`make bench` in a checkout"
        )
    sys.path.insert(0, str(checkout))  # an installed command finds only what is installed
    benchmarks = importlib.import_module("tests.benchmarks.__main__")
    raise typer.Exit(benchmarks.main(context.args))


@app.command()
def reindex(json: JsonOption = None) -> None:
    """Drop the search index and build it anew from the record."""
    from deploy.commands.reindex import reindex as run_reindex
    from deploy.settings import load_settings

    run(run_reindex(load_settings(), json_file=json))


@app.command()
def erase(
    tenant: Annotated[str, typer.Option(help="Whose data it is in.")],
    reason: Annotated[str, typer.Option(help="Why; it stays in the receipt.")],
    case: Annotated[str | None, typer.Option(help="The case, by its id.")] = None,
    subject: Annotated[
        Path | None,
        typer.Option(
            help="A file with what names the subject, one value a line; - reads standard input.", exists=False
        ),
    ] = None,
    keep_published: Annotated[
        bool, typer.Option("--keep-published", help="Of a case: leave its published experience.")
    ] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Count what would be found, and change nothing.")] = False,
    at_most: Annotated[int | None, typer.Option(min=0, help="Fields that may change, as a preview counted.")] = None,
    erasure_id: Annotated[str | None, typer.Option("--id", help="The order's id, to ask for it again.")] = None,
    json: JsonOption = None,
) -> None:
    """Erase a case or a subject from every store, and print the receipt; exit 1 when something is left."""
    from contracts.erasure import ErasureTarget
    from deploy.commands.erase import erase as run_erase
    from deploy.commands.erase import subject_values
    from deploy.settings import load_settings

    target = ErasureTarget(
        tenant_id=tenant, case_id=case, subject=subject_values(subject), keep_published=keep_published
    )
    settings = load_settings()
    run(run_erase(settings, target, reason, erasure_id=erasure_id, at_most=at_most, is_preview=preview, json_file=json))


@app.command()
def reconcile(
    repair: Annotated[bool, typer.Option("--repair", help="Ask for a fresh projection of what drifts.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the repair, and compare again.")] = False,
    json: JsonOption = None,
) -> None:
    """Compare record and indexes key by key; exit 1 when something drifts."""
    from deploy.commands.reconcile import reconcile as run_reconcile
    from deploy.settings import load_settings

    run(run_reconcile(load_settings(), repair=repair, wait=wait, json_file=json))


@audit_app.command()
def verify(
    expect_head: Annotated[
        str | None, typer.Option("--expect-head", help="A hash that was kept: shows a chain that was cut.")
    ] = None,
    json: JsonOption = None,
) -> None:
    """Verify the chain and the record against it; exit 1 with the first row that is broken."""
    from deploy.commands.audit import verify_audit
    from deploy.settings import load_settings

    run(verify_audit(load_settings(), expected=expect_head, json_file=json))


@audit_app.command()
def show(
    subject: Annotated[str | None, typer.Option(help="What it was done to: experience/<id>, case/<id>.")] = None,
    actor: Annotated[str | None, typer.Option(help="Who did it.")] = None,
    after: Annotated[int, typer.Option(min=0, help="Only rows after this one.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    json: JsonOption = None,
) -> None:
    """Show what was done, and by whom."""
    from deploy.commands.audit import show_audit
    from deploy.settings import load_settings

    run(show_audit(load_settings(), subject=subject, actor=actor, after=after, limit=limit, json_file=json))


@letters_app.command("list")
def list_letters(json: JsonOption = None) -> None:
    """Show what was set aside."""
    from deploy.commands.deadletters import list_dead_letters
    from deploy.settings import load_settings

    run(list_dead_letters(load_settings(), json_file=json))


@letters_app.command()
def retry(
    event_id: Annotated[str | None, typer.Argument(help="The event, from the list.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Everything that was set aside.")] = False,
    json: JsonOption = None,
) -> None:
    """Give an event, or all, back for delivery."""
    if (event_id is None) != every:
        raise typer.BadParameter("name one event, or give --all")

    from deploy.commands.deadletters import retry_dead_letters
    from deploy.settings import load_settings

    run(retry_dead_letters(load_settings(), event_id, json_file=json))


@letters_app.command("give-up")
def give_up(
    event_id: Annotated[str, typer.Argument(help="The event, from the list.")], json: JsonOption = None
) -> None:
    """Take a decision or command that can't be delivered out of the way; it is refused."""
    from deploy.commands.deadletters import give_up_dead_letter
    from deploy.settings import load_settings

    run(give_up_dead_letter(load_settings(), event_id, json_file=json))


def main() -> None:
    """Run the command line and end the process."""
    finish(app)
