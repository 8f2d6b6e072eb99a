"""`caselore retrieval ...`: past retrievals, for the operator.

Each command imports what it runs when it runs, so that help and refusals come at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from deploy.command_run import JsonOption, run

app = typer.Typer(help="Past retrievals: what was asked, found, decided and checked.", no_args_is_help=True)


@app.callback()
def about() -> None:
    """Past retrievals: what was asked, found, decided and checked."""


@app.command()
def show(
    request_id: Annotated[str, typer.Argument(help="The retrieval, by its request id.")],
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Compose the answer again, with the record as it was; exit 1 if it differs.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Show a retrieval: strategy and digest, request, candidates, reads, decisions and checks with their results."""
    from deploy.commands.retrieval import show_retrieval
    from deploy.settings import load_settings

    run(show_retrieval(load_settings(), request_id, again=rerun, json_file=json))
