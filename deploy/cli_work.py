"""The `caselore` commands of people and agents at work: propose, review, ask, look.

Each command imports what it runs when it runs, so that help and refusals come at once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from contracts import limits
from contracts.labels import ProofLevel
from contracts.lifecycle import Event
from deploy.command_run import AsOption, JsonOption, run
from deploy.commands.example_case import print_example

app = typer.Typer()


@app.command()
def team(
    tenant: Annotated[str, typer.Option(help="The organisation whose cases these are.")] = "acme",
    domain: Annotated[str, typer.Option(help="The domain that reviews and owns what is learned.")] = "data",
    json: JsonOption = None,
) -> None:
    """Add a trial team: proposer, curator, owner and agent, each with a key in the data folder."""
    from deploy.commands.team import make_team
    from deploy.settings import load_settings

    run(make_team(load_settings(), tenant=tenant, domain=domain, json_file=json))


@app.command()
def propose(
    file: Annotated[Path | None, typer.Argument(help="A closed case with its experience.", dir_okay=False)] = None,
    example: Annotated[bool, typer.Option("--example", help="Print a case to write over.")] = False,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Deliver a closed case, record its result and propose what it taught."""
    if example:
        print_example()
        return
    if file is None or not file.exists():
        raise typer.BadParameter("name a file that exists, or give --example")

    from deploy.commands.propose import propose_file
    from deploy.settings import load_settings

    run(propose_file(load_settings(), file, caller=caller, json_file=json))


@app.command()
def tasks(
    domain: Annotated[str | None, typer.Option(help="Of this domain only.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """List the reviews that wait for you, most urgent first."""
    from deploy.commands.tasks import list_tasks
    from deploy.settings import load_settings

    run(list_tasks(load_settings(), caller=caller, domain=domain, limit=limit, json_file=json))


@app.command()
def review(
    experience_id: Annotated[str, typer.Argument(help="From `caselore tasks`.")],
    accept: Annotated[bool, typer.Option("--accept", help="Accept this text.")] = False,
    give_back: Annotated[str, typer.Option("--return", help="Return it; says what to change.")] = "",
    reject: Annotated[str, typer.Option("--reject", help="Reject it; says why.")] = "",
    digest: Annotated[
        str, typer.Option(help="Of the text that you read: what the review shows, or its first 12 characters.")
    ] = "",
    acknowledge_scope: Annotated[
        bool, typer.Option("--acknowledge-scope", help="Owner: the shown change of scope is meant.")
    ] = False,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Show a review with all that it needs, or decide it."""
    verdicts = [
        (verdict, comment)
        for verdict, comment, given in (
            (Event.ACCEPT, "", accept),
            (Event.RETURN, give_back, bool(give_back)),
            (Event.REJECT, reject, bool(reject)),
        )
        if given
    ]
    if len(verdicts) > 1:
        raise typer.BadParameter("give one of --accept, --return and --reject")

    from deploy.commands.review import DIGEST_SHOWN, decide_review, show_review
    from deploy.settings import load_settings

    settings = load_settings()
    if not verdicts:
        run(show_review(settings, experience_id, caller=caller, json_file=json))
        return
    if len(digest) < DIGEST_SHOWN:
        raise typer.BadParameter("a decision is on a text that was read: give the --digest that the review shows")
    verdict, comment = verdicts[0]
    run(
        decide_review(
            settings,
            experience_id,
            verdict=verdict,
            comment=comment,
            digest=digest,
            acknowledge_scope=acknowledge_scope,
            caller=caller,
            json_file=json,
        )
    )


@app.command()
def retrieve(
    objective: Annotated[str, typer.Argument(help="The objective or symptom, in words.")],
    profile: Annotated[str, typer.Option(help="The requesting profile; it pins the strategy.")] = "data-specialist",
    purpose: Annotated[str, typer.Option(help="What the answer is for.")] = "look into a case",
    case: Annotated[str | None, typer.Option(help="The case that the work is for.")] = None,
    origin: Annotated[str | None, typer.Option(help="The request at its source.", metavar="SOURCE/EXTERNAL_ID")] = None,
    tenant: Annotated[str | None, typer.Option(help="Narrows your grants to one tenant.")] = None,
    product: Annotated[str, typer.Option(help="The product at hand.")] = "",
    system: Annotated[str, typer.Option(help="The system at hand.")] = "",
    environment: Annotated[str, typer.Option(help="Its environment.")] = "",
    version: Annotated[str, typer.Option(help="The product's version.")] = "",
    schema_version: Annotated[str, typer.Option(help="The version of its schema.")] = "",
    object_ref: Annotated[
        list[str] | None, typer.Option("--object", help="An object at hand, by its id; repeatable.", metavar="ID")
    ] = None,
    proof: Annotated[ProofLevel, typer.Option(help="The weakest proof level wanted.")] = ProofLevel.NONE,
    not_older_than: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M%z", "%Y-%m-%dT%H:%M:%S%z"],
            metavar="TIME",
            help="Nothing published before it: a day (UTC), or a time with its zone.",
        ),
    ] = None,
    consultation: Annotated[str | None, typer.Option(help="The consultation that you answer with it.")] = None,
    results: Annotated[int | None, typer.Option(min=1, max=limits.RESULTS, help="Candidates at most.")] = None,
    tokens: Annotated[int, typer.Option(min=200, max=limits.TOKENS, help="Room for texts.")] = limits.TOKENS_DEFAULT,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Ask the memory; the answer lists candidates to weigh, and chooses none."""
    from deploy.commands.retrieve import ask, request_of
    from deploy.commands.typed import origin_of
    from deploy.settings import load_settings

    if not_older_than is not None and not_older_than.tzinfo is None:
        not_older_than = not_older_than.replace(tzinfo=UTC)
    request = request_of(
        {
            "objective": objective,
            "profile_id": profile,
            "purpose": purpose,
            "case_id": case,
            "origin": origin_of(origin),
            "tenant_id": tenant,
            "product": product,
            "system": system,
            "environment": environment,
            "version": version,
            "schema_version": schema_version,
            "object_refs": object_ref or [],
            "required_proof": proof,
            "not_older_than": not_older_than,
            "consultation_id": consultation,
            "results": results,
            "tokens": tokens,
        }
    )
    run(ask(load_settings(), request, caller=caller, json_file=json))


@app.command()
def show(
    ref: Annotated[str, typer.Argument(help="experience/ID, article/ID or case/ID, as an answer cites it.")],
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Show an experience, an article or a case, as you may see it."""
    from deploy.commands.show import show as show_ref
    from deploy.settings import load_settings

    run(show_ref(load_settings(), ref, caller=caller, json_file=json))
