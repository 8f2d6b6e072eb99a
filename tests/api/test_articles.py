"""Articles through the API, with a running lifecycle: one path for both kinds of text (R7 to R10; spec section 4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from api.article_examples import ARTICLE, ARTICLE_CHANGE, ARTICLE_PROPOSAL
from contracts.articles import ArticleDraft, ArticleKind, ArticleProposal
from contracts.errors import (
    InvalidField,
    NotPublished,
    NotReviewer,
    SamePerson,
    ScopeNotAcknowledged,
    UnknownArticle,
    UnknownExperience,
)
from contracts.labels import CandidateKind
from contracts.lifecycle import Event, Stage
from contracts.resemblance import ResemblanceKind
from contracts.review import ChangeCommand, ChangeKind, ReviewDecision
from tests.api.world import World, draft, fresh


def article(**given: Any) -> ArticleDraft:
    return ArticleDraft.model_validate({**ARTICLE, **given})


def accepting(article_id: str, stage: Stage, content: ArticleDraft, **given: Any) -> ReviewDecision:
    values: dict[str, Any] = {
        "decision_id": fresh(),
        "experience_id": article_id,
        "stage": stage,
        "digest": content.digest(),
        "verdict": Event.ACCEPT,
    }
    return ReviewDecision(**{**values, **given})


def change(article_id: str, kind: ChangeKind, **given: Any) -> ChangeCommand:
    return ChangeCommand(command_id=fresh(), experience_id=article_id, kind=kind, reason="So it is.", **given)


async def proposed(world: World, content: ArticleDraft) -> str:
    async with world.caller("berta") as berta:
        view = await berta.propose_article(ArticleProposal(article_id=fresh(), article=content))
        assert (view.state, view.outcome) == ("applied", Stage.CURATOR_REVIEW)
        return view.command_id


async def accept(world: World, article_id: str, content: ArticleDraft, **given: Any) -> None:
    async with world.caller("cora") as cora, world.caller("otto") as otto:
        await cora.decide(accepting(article_id, Stage.CURATOR_REVIEW, content))
        view = await otto.decide(accepting(article_id, Stage.OWNER_REVIEW, content, **given))
        assert (view.state, view.outcome) == ("applied", Stage.PUBLISHED)


def test_each_example_is_a_good_body() -> None:
    ArticleProposal.model_validate(ARTICLE_PROPOSAL["example"].get("value"), extra="forbid")
    ChangeCommand.model_validate(ARTICLE_CHANGE["article"].get("value"), extra="forbid")


async def test_an_article_goes_from_proposal_to_retirement_by_the_routes_of_experience(world: World) -> None:
    first = article(title="How a letter type goes into the register")
    wider = article(title=first.title, limits={"products": ["Policy", "Claims"], "version_from": "7.2"})
    article_id = await proposed(world, first)
    async with world.caller("cora") as cora, world.caller("otto") as otto, world.caller("agent") as agent:
        with pytest.raises(UnknownArticle):
            await agent.get_article(article_id)
        (task,) = [task for task in await cora.reviews(limit=500) if task.experience_id == article_id]
        assert (task.kind, task.title, task.outcome) == (CandidateKind.ARTICLE, first.title, None)
        sheet = await cora.review_sheet(article_id)
        assert (sheet.kind, sheet.article, sheet.draft, sheet.digest) == ("article", first, None, first.digest())
        await cora.claim_review(article_id)
        running = await world.client.get_workflow_handle(f"experience/{article_id}").describe()
        assert await running.static_summary() == "article of data"
        assert {pair.key.name for pair in running.typed_search_attributes} >= {"ExperienceStage", "ExperienceDomain"}
        assert "TenantId" not in {pair.key.name for pair in running.typed_search_attributes}
        await accept(world, article_id, first)
        published = datetime.now(UTC)
        shown = await agent.get_article(article_id)
        assert (shown.current_revision, shown.stage, shown.revisions[0].article) == (1, None, first)
        listed = await agent.articles(domain="data", kind=ArticleKind.METHOD, limit=200)
        assert (article_id, first.title) in {(each.article_id, each.title) for each in listed.articles}
        assert (await agent.articles(domain="data", kind=ArticleKind.SKILL)).articles == ()

        assert (await otto.change(change(article_id, ChangeKind.CORRECT, article=wider), wait=10)).state == "applied"
        with pytest.raises(SamePerson):
            await otto.decide(accepting(article_id, Stage.CURATOR_REVIEW, wider))
    async with world.caller("berta") as berta, world.caller("cora") as cora, world.caller("otto") as otto:
        await cora.decide(accepting(article_id, Stage.CURATOR_REVIEW, wider))
        scope = await cora.scope_difference(article_id)
        assert any(line.startswith("limits.version widened") for line in scope.lines())
        difference = await cora.difference(article_id, 1, 2)
        assert {each.field for each in difference.changes} == {"limits.products[1]", "limits.version_to"}
        # otto wrote it and berta proposed it: nobody is left to own the acceptance, so it goes back.
        for who in (berta, otto):
            with pytest.raises(SamePerson):
                await who.decide(accepting(article_id, Stage.OWNER_REVIEW, wider, acknowledged_scope=scope.digest))
        view = await cora.change(change(article_id, ChangeKind.RETIRE), wait=10)
        assert view.outcome == Stage.RETIRED
        stood = await cora.experience_as_of(article_id, published)
        assert (stood.stage, stood.article, stood.draft) == (Stage.PUBLISHED, first, None)
        with pytest.raises(UnknownArticle):
            await world.caller("agent").get_article(article_id)
        assert [each.state for each in (await cora.get_article(article_id)).revisions] == ["retired", "rejected"]
        told = await cora.audit(subject=f"article/{article_id}")
        assert [row.actor_id for row in told if row.action == "transition"][-1] == "cora"
        assert told == await cora.audit(subject=f"experience/{article_id}")


async def test_r10_a_corrected_article_is_acknowledged_and_what_has_its_title_is_listed(world: World) -> None:
    first, second = article(title="The one method"), article(title="the  ONE method", body="In other words.")
    wider = article(title=first.title, limits={"products": ["Policy", "Claims"]})
    article_id, twin = await proposed(world, first), await proposed(world, second)
    await accept(world, article_id, first)
    async with world.caller("berta") as berta, world.caller("cora") as cora, world.caller("otto") as otto:
        (listed,) = (await cora.review_sheet(twin)).resemblances.listed
        assert (listed.kind, listed.ref) == (ResemblanceKind.NEAR_DUPLICATE, f"article/{article_id}")
        assert (listed.reasons, listed.outcome) == (("the same title",), None)
        await berta.change(change(article_id, ChangeKind.CORRECT, article=wider), wait=10)
        await cora.decide(accepting(article_id, Stage.CURATOR_REVIEW, wider))
        with pytest.raises(ScopeNotAcknowledged):
            await otto.decide(accepting(article_id, Stage.OWNER_REVIEW, wider))
        scope = (await otto.review_sheet(article_id)).scope
        assert scope is not None
        accepted = accepting(article_id, Stage.OWNER_REVIEW, wider, acknowledged_scope=scope.digest)
        assert (await otto.decide(accepted)).outcome == Stage.PUBLISHED
        assert (await otto.get_article(article_id)).current_revision == 2


async def test_a_text_of_the_other_kind_and_a_foreign_hand_are_refused(world: World) -> None:
    content = article(title="Not to be mixed up")
    article_id, experience = await proposed(world, content), await world.published()
    await accept(world, article_id, content)
    async with world.caller("agent") as agent, world.caller("berta") as berta:
        with pytest.raises(NotReviewer) as refusal:
            await agent.propose_article(ArticleProposal(article_id=fresh(), article=content))
        assert refusal.value.field == "domain_id"
        with pytest.raises(NotPublished) as refusal:
            missing = article(references=[f"article/{fresh()}"])
            await berta.propose_article(ArticleProposal(article_id=fresh(), article=missing))
        assert refusal.value.field == "references[0]"
        with pytest.raises(InvalidField) as refusal:
            await berta.change(change(article_id, ChangeKind.CORRECT, draft=draft()))
        assert (refusal.value.field, "article" in refusal.value.accepted) == ("draft", True)
        with pytest.raises(InvalidField) as refusal:
            await berta.change(change(experience.experience_id, ChangeKind.CORRECT, article=content))
        assert (refusal.value.field, "draft" in refusal.value.accepted) == ("article", True)
        with pytest.raises(UnknownExperience):
            await berta.get_experience(article_id)
        with pytest.raises(UnknownExperience):
            await agent.change(change(article_id, ChangeKind.CORRECT, article=content))
    response = await world.send("POST", "/v1/articles", as_="berta", body={"article_id": fresh(), "article": {
        **ARTICLE, "sources": [], "references": ["SD-1"]}})  # fmt: skip
    assert response.status_code == 422
    assert response.json()["field"] == "references"
