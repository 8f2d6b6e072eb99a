"""The tool that goes further than a retrieval did, for a reason that is recorded (R18)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.client import CaseloreClient
from api.made_ids import made_id
from api.mcp.answers import AnswerView, told, view_of
from api.mcp.guide import strategy_guide
from api.mcp.tool import FROM_TEXT, Asked, Told, Tool
from contracts import limits
from contracts.broadening import Broadening
from contracts.errors import DeliveryPending
from contracts.text import Id, Identifier, Paragraph
from contracts.widening import RequestFact


class BroadenRetrieval(Asked):
    """What is widened, and why."""

    request_id: Annotated[Id, Field(description="Of the retrieval that is too narrow.")]
    reason: Annotated[Paragraph, Field(description="Which evidence asks for it; it is recorded.")]
    strategy_id: Annotated[Identifier | None, Field(description="Another strategy, from caselore://strategies.")] = None
    domains: Annotated[
        tuple[Identifier, ...],
        FROM_TEXT,
        Field(max_length=limits.BROADENED_DOMAINS, description="Domains to read beside your own."),
    ] = ()
    every_domain: Annotated[bool, Field(description="Read every domain instead.")] = False
    dropped: Annotated[
        tuple[RequestFact, ...],
        FROM_TEXT,
        Field(
            max_length=len(RequestFact),
            description="Facts not to hold against candidates any more; what is limited by one has to be revalidated.",
        ),
    ] = ()
    results: Annotated[int | None, Field(ge=1, le=limits.RESULTS, description="More candidates than before.")] = None
    tokens: Annotated[int | None, Field(ge=200, le=limits.TOKENS, description="More room for texts than before.")] = (
        None
    )


async def _broaden(client: CaseloreClient, asked: BroadenRetrieval) -> Told:
    content = asked.model_dump(mode="json")
    given = asked.model_dump(exclude={"request_id"})
    wider = Broadening(request_id=made_id("broadening", content), **given)
    try:
        answer = await client.broaden(asked.request_id, wider)
    except DeliveryPending as pending:
        raise DeliveryPending(
            pending.message, field="request_id", accepted="the same call again: it is answered once"
        ) from None
    view = view_of(answer, await strategy_guide(client, answer.strategy_id, answer.strategy_version))
    return Told(told(view), view)


BROADEN_RETRIEVAL = Tool(
    name="broaden_retrieval",
    title="Broaden a retrieval",
    description=(
        "Read further than a retrieval did: another strategy, more domains, or fewer facts held against candidates. "
        "Use it only when what you found out asks for it, and say what that is: the reason is kept. The result is a "
        "new retrieval with an id of its own, to read and decide on like the first. It never reaches beyond your "
        "grants; what is found by dropping a fact has to be checked against that fact."
    ),
    asks=BroadenRetrieval,
    gives=AnswerView,
    run=_broaden,
)
