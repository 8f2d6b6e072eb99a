"""`caselore retrieval ...`: going on from a retrieval, and looking back at it.

Each command imports what it runs when it runs, so that help and refusals come at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from contracts import limits
from deploy.command_run import AsOption, JsonOption, run

app = typer.Typer(help="A retrieval: go further, decide with citations, report, look back.", no_args_is_help=True)

RequestId = Annotated[str, typer.Argument(help="The retrieval, by its request id.")]
DecisionId = Annotated[str, typer.Argument(help="The decision, as `retrieval decide` gave it.")]


@app.command()
def show(
    request_id: RequestId,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Compose the answer again, with the record as it was; exit 1 if it differs.")
    ] = False,
    json: JsonOption = None,
) -> None:
    """Show a retrieval: strategy and digest, request, candidates, reads, decisions and checks with their results."""
    from deploy.commands.retrieval import show_retrieval
    from deploy.settings import load_settings

    run(show_retrieval(load_settings(), request_id, again=rerun, json_file=json))


@app.command()
def broaden(
    request_id: RequestId,
    reason: Annotated[str, typer.Option(help="Which evidence asks for it; it is kept.")],
    strategy: Annotated[str | None, typer.Option(help="Another strategy, by its id.")] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="A domain to read beside your own; repeatable.", metavar="DOMAIN")
    ] = None,
    every_domain: Annotated[bool, typer.Option("--every-domain", help="Read every domain.")] = False,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A fact not to hold against candidates: product, system, environment, version, schema_version, "
                "required_proof, not_older_than; repeatable."
            ),
            metavar="FACT",
        ),
    ] = None,
    results: Annotated[int | None, typer.Option(min=1, max=limits.RESULTS, help="More candidates.")] = None,
    tokens: Annotated[int | None, typer.Option(min=200, max=limits.TOKENS, help="More room for texts.")] = None,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Read further than a retrieval did, for a reason; your grants stay as they are."""
    from deploy.commands.broaden import broaden as run_broaden
    from deploy.settings import load_settings

    widened = {
        "reason": reason,
        "strategy_id": strategy,
        "domains": domain or [],
        "every_domain": every_domain,
        "dropped": drop or [],
        "results": results,
        "tokens": tokens,
    }
    run(run_broaden(load_settings(), request_id, widened, caller=caller, json_file=json))


@app.command()
def consult(
    request_id: RequestId,
    domain: Annotated[str, typer.Option(help="The domain that owns the answer.")],
    brief: Annotated[str, typer.Option(help="The question by itself: no names, no ids; it is all they are told.")],
    reason: Annotated[str, typer.Option(help="Why the work needs it; they don't see it.")],
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Ask another domain; its reply is evidence, no grant and no conclusion."""
    from deploy.commands.consultations import consult as run_consult
    from deploy.settings import load_settings

    settings = load_settings()
    run(run_consult(settings, request_id, domain=domain, brief=brief, reason=reason, caller=caller, json_file=json))


@app.command()
def decide(
    request_id: RequestId,
    summary: Annotated[str, typer.Option(help="What you will do, and what that rests on.")],
    choose: Annotated[
        list[str] | None, typer.Option(help="What you rely on; repeatable.", metavar="REF@REV=WHY")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option(help="What speaks against it; repeatable.", metavar="REF@REV=WHY")
    ] = None,
    not_applicable: Annotated[
        list[str] | None, typer.Option(help="What doesn't apply here; repeatable.", metavar="REF@REV=WHY")
    ] = None,
    check: Annotated[
        list[str] | None,
        typer.Option(
            help="A fresh check that you need; repeatable: they are called check-1, check-2, ...", metavar="TEXT"
        ),
    ] = None,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Record what you made of a retrieval, also when nothing applied; it is no execution and no proof."""
    from deploy.commands.deciding import decide as run_decide
    from deploy.commands.typed import cited
    from deploy.settings import load_settings

    verdicts = {
        "chosen": cited(choose, "--choose", is_needed=True),
        "rejected": cited(reject, "--reject", is_needed=True),
        "not_applicable": cited(not_applicable, "--not-applicable", is_needed=True),
    }
    settings, checks = load_settings(), check or []
    run(
        run_decide(
            settings, request_id, summary=summary, verdicts=verdicts, checks=checks, caller=caller, json_file=json
        )
    )


@app.command()
def check(
    decision_id: DecisionId,
    check_id: Annotated[str, typer.Argument(help="The check, as `retrieval decide` gave it: check-1.")],
    held: Annotated[bool, typer.Option("--held", help="As what you chose predicts.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Otherwise: what you chose doesn't hold here.")] = False,
    note: Annotated[str, typer.Option(help="What you saw, without personal data.")] = "",
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Report how a fresh check came out; it is settled once."""
    if held == failed:
        raise typer.BadParameter("give one of --held and --failed")

    from contracts.retrieval import CheckOutcome
    from deploy.commands.deciding import check as run_check
    from deploy.settings import load_settings

    outcome = CheckOutcome.HELD if held else CheckOutcome.FAILED
    settings = load_settings()
    run(run_check(settings, decision_id, check_id, outcome=outcome, note=note, caller=caller, json_file=json))


@app.command()
def feedback(
    decision_id: DecisionId,
    helped: Annotated[
        list[str] | None, typer.Option(help="It led where it said; repeatable.", metavar="REF@REV[=NOTE]")
    ] = None,
    misled: Annotated[
        list[str] | None, typer.Option(help="It cost a wrong turn; repeatable.", metavar="REF@REV[=NOTE]")
    ] = None,
    not_applicable: Annotated[
        list[str] | None, typer.Option(help="It didn't apply after all; repeatable.", metavar="REF@REV[=NOTE]")
    ] = None,
    replaces: Annotated[str | None, typer.Option(help="The feedback that was given last on this decision.")] = None,
    caller: AsOption = None,
    json: JsonOption = None,
) -> None:
    """Say how cited candidates turned out; it is counted beside them and moves no rank."""
    if not (helped or misled or not_applicable):
        raise typer.BadParameter("give at least one of --helped, --misled and --not-applicable")

    from deploy.commands.deciding import feedback as run_feedback
    from deploy.commands.typed import cited
    from deploy.settings import load_settings

    outcomes = {
        "helped": cited(helped, "--helped", word="NOTE"),
        "misled": cited(misled, "--misled", word="NOTE"),
        "not_applicable": cited(not_applicable, "--not-applicable", word="NOTE"),
    }
    settings = load_settings()
    run(run_feedback(settings, decision_id, outcomes=outcomes, replaces=replaces, caller=caller, json_file=json))
