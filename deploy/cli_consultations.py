"""`caselore consultations ...`: questions between domains.

Each command imports what it runs when it runs, so that help and refusals come at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from deploy.command_run import AsOption, JsonOption, run

app = typer.Typer(help="Questions between domains: see, reply, withdraw.", no_args_is_help=True)

ConsultationId = Annotated[str, typer.Argument(help="From `caselore consultations list`.")]


@app.command("list")
def list_(
    state: Annotated[str | None, typer.Option(help="Only open, replied or withdrawn ones.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """List what you asked and what your domains are asked, the oldest first."""
    from deploy.commands.consultations import list_consultations
    from deploy.settings import load_settings

    run(list_consultations(load_settings(), state=state, limit=limit, caller=caller, json_file=json))


@app.command()
def show(consultation_id: ConsultationId, caller: AsOption = None, json: JsonOption = None) -> None:
    """Show a consultation, with its reply when there is one."""
    from deploy.commands.consultations import show_consultation
    from deploy.settings import load_settings

    run(show_consultation(load_settings(), consultation_id, caller=caller, json_file=json))


@app.command()
def reply(
    consultation_id: ConsultationId,
    text: Annotated[str, typer.Option(help="What your domain knows, and within which limits.")],
    retrieval: Annotated[
        str | None, typer.Option(help="Your own retrieval for it: `caselore retrieve --consultation ID`.")
    ] = None,
    cite: Annotated[
        list[str] | None,
        typer.Option(help="What the reply rests on, out of that retrieval; repeatable.", metavar="REF@REV[=WHY]"),
    ] = None,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Answer for your domain; the first reply closes the consultation."""
    if cite and retrieval is None:
        raise typer.BadParameter("what is cited is from an answer: give the --retrieval", param_hint="--cite")

    from deploy.commands.consultations import reply as run_reply
    from deploy.commands.typed import cited
    from deploy.settings import load_settings

    run(
        run_reply(
            load_settings(),
            consultation_id,
            text=text,
            request_id=retrieval,
            citations=cited(cite, "--cite"),
            caller=caller,
            json_file=json,
        )
    )


@app.command()
def withdraw(consultation_id: ConsultationId, caller: AsOption = None, json: JsonOption = None) -> None:
    """End an open question of yours: the other side doesn't see it any longer."""
    from deploy.commands.consultations import withdraw as run_withdraw
    from deploy.settings import load_settings

    run(run_withdraw(load_settings(), consultation_id, caller=caller, json_file=json))
