"""A running Caselore in three conditions: as it should be, with its projector stopped, with its index dropped."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from api.client import CaseloreClient
from contracts.articles import ArticleDraft, ArticleProposal
from contracts.identity import Principal, RoleInDomain
from contracts.labels import Collection, DomainRole, PrincipalKind
from contracts.lifecycle import Event, Stage
from contracts.outbox import Watermark
from contracts.retrieval import Answer, Candidate
from contracts.review import ReviewDecision
from contracts.strategy import Route
from tests.acceptance.case_family import Family, family, number_article
from tests.acceptance.family_records import Edition
from tests.acceptance.office import fresh
from tests.acceptance.searches import Standing

_INDEX_ROUTES = {Route.LEXICAL, Route.DENSE_TITLE, Route.DENSE_BODY}


class State(StrEnum):
    """What the index is like."""

    NORMAL = "normal"
    STOPPED = "projector stopped"
    """Whatever the edition's cases taught was published while nobody projected; other editions are in the index."""
    DROPPED = "index dropped"
    """Everything was in the index, which was dropped, and nobody builds it anew."""


EDITIONS = {
    State.NORMAL: Edition("Tern Policy", "TN"),
    State.STOPPED: Edition("Gannet Policy", "GT"),
    State.DROPPED: Edition("Petrel Policy", "PL"),
}


@dataclass
class Condition:
    """An edition of the case family, published in one of the states, and the people who work with it."""

    state: State
    standing: Standing
    edition: Edition
    family: Family
    article_id: str
    """A published article; while the projector is stopped, the index has it from before."""
    article: ArticleDraft

    @property
    def is_projecting(self) -> bool:
        return self.state is State.NORMAL

    async def settle(self) -> None:
        """Wait until what is saved can be found, where it ever will be."""
        if self.is_projecting:
            await self.standing.office.searchable()

    async def ask(self, objective: str, profile: str, **given: Any) -> Answer:
        """Ask about the edition's product, with room for everything that there is."""
        facts: dict[str, Any] = {"product": self.edition.product, "version": "7.3.1", "results": 40, "tokens": 16_000}
        return await self.standing.office.ask(objective, profile=profile, **{**facts, **given})

    def check_account(self, answer: Answer, *collections: Collection) -> None:
        """Check that the answer says truly how far each index is, and what was read in its place (R15, R16)."""
        for collection in collections:
            mark = mark_of(answer, collection)
            behind = [line for line in answer.not_read if line.startswith(f"{collection}: pending events")]
            instead = [line for line in answer.notes if line.startswith(f"{collection}: read from the record")]
            if self.is_projecting:
                assert (mark.pending, mark.lag_seconds, behind, instead) == (0, 0, [], [])
            else:
                assert mark.pending > 0
                assert mark.lag_seconds > 0
                assert mark.position < mark.head
                assert f"{mark.pending}" in behind[0]
                assert f"pending events ({mark.pending})" in instead[0]

    def check_way(self, candidate: Candidate) -> None:
        """Check that a candidate says truly whether an index or the record itself gave it (R15, R16)."""
        routes = {match.route for match in candidate.reason}
        if self.is_projecting:
            assert routes & _INDEX_ROUTES
            assert Route.CANONICAL not in routes
        else:
            assert not routes & _INDEX_ROUTES
            assert routes & {Route.CANONICAL, Route.REGISTRY}

    async def indexed(self) -> set[str]:
        """Return what any index holds."""
        index = self.standing.runtime.parts.index
        return {each.payload.target for collection in Collection for each in await index.stored(collection)}


def mark_of(answer: Answer, collection: Collection) -> Watermark:
    return next(mark for mark in answer.watermarks if mark.collection is collection)


@asynccontextmanager
async def in_condition(standing: Standing, state: State, edition: Edition) -> AsyncGenerator[Condition]:
    """Publish an edition of the family in a state; afterwards the projector works again."""
    office, content = standing.office, number_article(edition)
    condition = Condition(state, standing, edition, family(edition), fresh(), content)
    async with AsyncExitStack() as stack:
        await _publish_article(condition)
        if state is State.STOPPED:
            await office.searchable()
            await stack.enter_async_context(standing.crew.without("projection"))
        report = await office.bring(*condition.family.all())
        assert (report.published, report.unresolved, report.masked) == (len(condition.family.all()), 0, 0)
        if state is not State.STOPPED:
            await office.searchable()
        if state is State.DROPPED:
            await stack.enter_async_context(standing.crew.without("projection"))
            await office.admin.reindex()
            assert await condition.indexed() == set()
        yield condition


async def _publish_article(condition: Condition) -> None:
    cast, article_id = condition.standing.office.cast, condition.article_id
    # Who writes an article has a part in its domain and reviews it no more: somebody beside the two stand-ins.
    admin, writer = condition.standing.office.admin, Principal(id="writer", kind=PrincipalKind.PERSON, name="Writer")
    key = await admin.put_principal(writer, issue_key=True)
    await admin.put_role(RoleInDomain(principal_id=writer.id, domain_id="data", role=DomainRole.CURATOR))
    async with CaseloreClient(condition.standing.office.http, key or "") as client:
        await client.propose_article(ArticleProposal(article_id=article_id, article=condition.article))
    for client, stage in ((cast.curator, Stage.CURATOR_REVIEW), (cast.owner, Stage.OWNER_REVIEW)):
        decision = ReviewDecision(
            decision_id=fresh(),
            experience_id=article_id,
            stage=stage,
            digest=condition.article.digest(),
            verdict=Event.ACCEPT,
        )
        assert (await client.decide(decision, wait=20)).state == "applied"
