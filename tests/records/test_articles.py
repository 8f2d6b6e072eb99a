"""Articles in the record: one lifecycle, three people, one canonical revision, references (R7 to R10; section 4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors
from sqlalchemy import text

from activities.personal_data.finder import RuleFinder
from activities.records.articles import Articles
from activities.records.as_of import AsOfReads
from activities.records.audit_verification import AuditVerifier
from activities.records.delegations import DelegationsTable
from activities.records.review_queue import QueueFilter
from activities.records.review_sheets import ReviewSheetsTable
from activities.records.scope import ScopeTable
from contracts.articles import ArticleProposal
from contracts.delegation import Delegation
from contracts.errors import (
    IdempotencyConflict,
    InvalidField,
    NotPublished,
    NotReviewer,
    SamePerson,
    ScopeNotAcknowledged,
    UnknownArticle,
    UnknownDomain,
    UnknownExperience,
    UnresolvedFindings,
)
from contracts.experience import Limits
from contracts.labels import CandidateKind, Collection, DomainRole
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind
from tests.records.articles import article, propose_article, published_article
from tests.records.test_constraints import system
from tests.records.test_erasures import Office
from tests.records.world import World, draft, new_id

WIDER = article(limits=Limits(products=("Policy", "Claims"), version_from="7.2", version_to="7.4"))


async def shown(world: World, who: str, article_id: str) -> list[str]:
    """Return the states of the revisions that somebody sees; [] for none."""
    try:
        return [each.state for each in (await Articles(world.database).view(who, article_id)).revisions]
    except UnknownArticle:
        return []


async def test_r7_an_article_is_published_by_three_people_and_read_by_everybody(shared: World) -> None:
    """R7, R8: the reviews, the one current revision and its event are those of experience."""
    article_id = await propose_article(shared)
    assert [await shown(shared, who, article_id) for who in ("carl", "cora", "ann")] == [["draft"], ["draft"], []]
    with pytest.raises(SamePerson):
        await shared.decide(article_id, "carl")
    await shared.decide(article_id, "cora")
    assert shared.index_events(f"article/{article_id}") == 0
    after = await shared.decide(article_id, "otto")
    assert (after.stage, after.current_revision, after.tenant_id) == (Stage.PUBLISHED, 1, "")
    assert (shared.index_events(f"article/{article_id}"), shared.index_events(f"experience/{article_id}")) == (1, 0)
    assert await shown(shared, "ann", article_id) == ["current"]
    ours = await Articles(shared.database).view("otto", article_id)
    theirs = await Articles(shared.database).view("ann", article_id)
    assert (ours.stage, ours.proposer_id, ours.revisions[0].author_id) == (Stage.PUBLISHED, "carl", "carl")
    assert [entry.event for entry in ours.history] == ["propose", "accept", "accept"]
    assert (theirs.stage, theirs.proposer_id, theirs.history, theirs.revisions[0].author_id) == (None, None, (), None)
    assert (theirs.current_revision, theirs.domain_id, theirs.searchable) == (1, "data", False)
    await shared.projections.record(await shared.projections.desired([f"article/{article_id}"]))
    assert (await Articles(shared.database).view("ann", article_id)).searchable


async def test_r8_the_same_proposal_again_changes_nothing_and_another_is_refused(shared: World) -> None:
    articles = Articles(shared.database)
    proposal = ArticleProposal(article_id=new_id(), article=article())
    assert (await articles.propose("carl", proposal)).state == "pending"
    assert (await articles.propose("carl", proposal)).state == "applied"
    with pytest.raises(IdempotencyConflict):
        await articles.propose("carl", proposal.model_copy(update={"article": article(title="Another")}))
    with pytest.raises(IdempotencyConflict):
        await articles.propose("otto", proposal)


@pytest.mark.parametrize(
    ("who", "given", "refusal", "field"),
    [
        ("ann", {}, NotReviewer, "domain_id"),
        ("carl", {"domain_id": "nowhere"}, UnknownDomain, "domain_id"),
        ("carl", {"references": (f"experience/{new_id()}",)}, NotPublished, "references[0]"),
    ],
)
async def test_r22_a_refused_proposal_leaves_nothing(
    shared: World, who: str, given: dict[str, Any], refusal: type[Exception], field: str
) -> None:
    before = shared.everything()
    with pytest.raises(refusal) as refused:
        await propose_article(shared, article(**given), by=who)
    assert getattr(refused.value, "field", None) == field
    assert shared.everything() == before


async def test_r10_a_corrected_and_a_retired_article_leave_at_once(shared: World) -> None:
    """R10: narrowed, widened or replaced limits are acknowledged; what was current is gone with the commit."""
    article_id = await published_article(shared)
    key = f"article/{article_id}"
    started = await shared.change(article_id, ChangeKind.CORRECT, by="carl", article=WIDER)
    assert (started.refused, started.snapshot and started.snapshot.stage) == ("", Stage.CURATOR_REVIEW)
    assert await shown(shared, "ann", article_id) == ["current"]
    await shared.decide(article_id, "cora")
    with pytest.raises(ScopeNotAcknowledged) as refusal:
        await shared.decide(article_id, "otto")
    difference = await ScopeTable(shared.database).difference("otto", article_id)
    assert difference.digest == refusal.value.accepted
    after = await shared.decide(article_id, "otto", acknowledged_scope=difference.digest)
    assert (after.stage, shared.revision_states(article_id)) == (Stage.PUBLISHED, ["corrected", "current"])
    changes = await shared.experiences.difference("otto", article_id, from_revision=1, to_revision=2)
    assert [change.field for change in changes.changes] == ["limits.products[1]"]
    await shared.change(article_id, ChangeKind.RETIRE)
    assert await shown(shared, "ann", article_id) == []
    assert (await shared.projections.desired([key]))[0].entries == ()
    assert shared.index_events(key) == 4
    again = await shared.change(article_id, ChangeKind.REINSTATE, by="carl", article=article(title="Again"))
    assert again.snapshot is not None
    await shared.decide(article_id, "cora")
    assert (await shared.decide(article_id, "otto")).current_revision == 3


async def test_r10_a_suspended_article_is_hidden_until_its_correction_comes_to_an_end(shared: World) -> None:
    article_id = await published_article(shared)
    await shared.change(article_id, ChangeKind.CORRECT, by="otto", article=WIDER, suspend=True)
    assert await shown(shared, "ann", article_id) == []
    assert (await shared.projections.desired([f"article/{article_id}"]))[0].entries == ()
    await shared.decide(article_id, "cora", Event.REJECT)
    assert await shown(shared, "ann", article_id) == ["current"]


async def test_r7_who_acts_for_a_curator_proposes_and_reviews_no_more(shared: World) -> None:
    """A lent role is a part in the domain; whoever proposed with it is out of both reviews."""
    delegation = Delegation(
        id=new_id(),
        delegate_id="ann",
        domain_id="data",
        role=DomainRole.CURATOR,
        reason="On leave.",
        expires_at=datetime.now(UTC) + timedelta(days=1),
    )
    delegations = DelegationsTable(shared.database)
    await delegations.delegate("cora", delegation)
    article_id = await propose_article(shared, by="ann")
    with pytest.raises(SamePerson):
        await shared.decide(article_id, "ann")
    await delegations.revoke("cora", delegation.id)
    assert await shown(shared, "ann", article_id) == ["draft"]
    with pytest.raises(NotReviewer):
        await propose_article(shared, by="ann")


async def test_r10_one_article_supersedes_another_and_no_experience(shared: World) -> None:
    old, new = await published_article(shared), await published_article(shared, article(title="Another method"))
    with pytest.raises(InvalidField) as refusal:
        await shared.change(old, ChangeKind.SUPERSEDE, superseded_by=await shared.published())
    assert refusal.value.field == "superseded_by"
    outcome = await shared.change(old, ChangeKind.SUPERSEDE, superseded_by=new)
    assert (outcome.refused, await shown(shared, "ann", old)) == ("", [])
    view = await Articles(shared.database).view("cora", new)
    assert view.supersedes == (old,)


async def test_a_text_of_the_other_kind_is_refused(shared: World) -> None:
    article_id, experience_id = await published_article(shared), await shared.published()
    wrongs: list[tuple[str, dict[str, Any], str]] = [
        (article_id, {"draft": draft()}, "draft"),
        (experience_id, {"article": WIDER}, "article"),
    ]
    for id_, given, field in wrongs:
        with pytest.raises(InvalidField) as refusal:
            await shared.change(id_, ChangeKind.CORRECT, **given)
        assert refusal.value.field == field
    with pytest.raises(InvalidField) as refusal:
        await shared.change(article_id, ChangeKind.CORRECT, article=article(domain_id="development"))
    assert refusal.value.field == "domain_id"
    with pytest.raises(UnknownExperience):
        await shared.experiences.view("carl", article_id)
    with pytest.raises(UnknownArticle):
        await Articles(shared.database).view("ann", experience_id)


async def test_what_an_article_builds_on_is_published_with_it_and_shown_both_ways(shared: World) -> None:
    """Spec section 4: one canonical text, everywhere else references to it."""
    base, experience = await published_article(shared), await shared.published()
    refs = (f"article/{base}", f"experience/{experience}")
    building = await published_article(shared, article(title="Built on it", references=refs))
    view = await Articles(shared.database).view("ann", building)
    assert [(each.ref, each.revision) for each in view.references] == [(refs[0], 1), (refs[1], 1)]
    assert [each.ref for each in (await Articles(shared.database).view("ann", base)).referenced_by] == [
        f"article/{building}"
    ]
    late = await propose_article(shared, article(title="Too late", references=refs))
    await shared.decide(late, "cora")
    await shared.change(base, ChangeKind.RETIRE)
    with pytest.raises(NotPublished) as refusal:
        await shared.decide(late, "otto")
    assert refusal.value.field == "references[0]"
    assert (await shared.lifecycle.load(late)).stage is Stage.OWNER_REVIEW
    view = await Articles(shared.database).view("ann", building)
    assert [each.revision for each in view.references] == [None, 1]
    with pytest.raises(InvalidField):
        own = article(references=(f"article/{building}",))
        await shared.change(building, ChangeKind.CORRECT, article=own)


async def test_r6_personal_data_in_an_article_holds_up_its_acceptance(shared: World) -> None:
    proposal = ArticleProposal(article_id=new_id(), article=article(body="Write to jane.doe@example.org about it."))
    await Articles(shared.database, finder=RuleFinder()).propose("carl", proposal)
    with pytest.raises(UnresolvedFindings) as refusal:
        await shared.decide(proposal.article_id, "cora")
    assert refusal.value.field == "body"
    placeholder = await propose_article(shared, article(body="[MAIL 1] knows."))
    sheet = await ReviewSheetsTable(shared.database).sheet("cora", placeholder)
    assert (sheet.kind, sheet.draft, sheet.outcome, sheet.tenant_id) == (CandidateKind.ARTICLE, None, None, "")
    assert sheet.text == article(body="[MAIL 1] knows.")
    assert not sheet.proof.is_visible


async def test_r7_a_reviewer_finds_articles_in_the_queue_and_declines_no_part(shared: World) -> None:
    article_id = await propose_article(shared)
    tasks = await shared.experiences.tasks("cora", limit=500, wanted=QueueFilter(domain_id="data"))
    (task,) = [task for task in tasks if task.experience_id == article_id]
    assert (task.kind, task.outcome, task.tenant_id) == (CandidateKind.ARTICLE, None, "")
    waiting = await shared.experiences.tasks("carl", limit=500)
    assert article_id not in {task.experience_id for task in waiting}
    with pytest.raises(InvalidField) as refusal:
        await shared.decide(article_id, "cora", declined_units=("u1",))
    assert refusal.value.field == "declined_units"
    after = await shared.decide(article_id, "cora", Event.RETURN, comments=({"field": "body", "text": "Which run?"},))
    assert after.stage is Stage.RETURNED
    outcome = await shared.change(article_id, ChangeKind.RESUBMIT, by="carl", article=article(title="Once more"))
    assert outcome.snapshot and outcome.snapshot.revision == 2


async def test_r9_an_article_is_projected_in_sections_and_read_as_of_a_moment(shared: World) -> None:
    body = "\n\n".join(f"# Part {n}\n\n{'Words of this part. ' * 50}" for n in range(5))
    article_id = await published_article(shared, article(body=body))
    (source,) = await shared.projections.desired([f"article/{article_id}"])
    assert len(source.entries) == len({entry.id for entry in source.entries}) == 5
    assert {entry.collection for entry in source.entries} == {Collection.DETAIL}
    assert {(entry.payload.domain, entry.payload.products) for entry in source.entries} == {("data", ("Policy",))}
    assert f"article/{article_id}" in await shared.projections.every_key()
    assert await shared.projections.known([f"article/{article_id}", f"experience/{article_id}"]) == {
        f"article/{article_id}"
    }
    at = shared.one("SELECT clock_timestamp()")
    page = await AsOfReads(shared.database).current("otto", at, domain="data", limit=1_000)
    assert {each.kind for each in page.entries if each.experience_id == article_id} == {CandidateKind.ARTICLE}
    await shared.change(article_id, ChangeKind.RETIRE)
    stood = await AsOfReads(shared.database).experience("otto", article_id, at)
    assert (stood.stage, stood.draft, stood.article) == (Stage.PUBLISHED, None, article(body=body))


async def test_current_articles_are_listed_page_by_page(world: World) -> None:
    made = sorted([await published_article(world, article(title=f"Method {n}")) for n in range(3)])
    await propose_article(world)
    await published_article(world, article(domain_id="development"))
    articles = Articles(world.database)
    first = await articles.current("ann", domain="data", limit=2)
    rest = await articles.current("ann", domain="data", limit=2, after=first.after)
    assert [each.article_id for each in (*first.articles, *rest.articles)] == made
    assert rest.after is None
    everything = await articles.current("ann")
    assert {each.domain_id for each in everything.articles} == {"data", "development"}
    async with world.database.as_nobody() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM revisions"))).scalar_one() == 0
    assert (await AuditVerifier(world.database).verify()).holds


async def test_a_row_is_of_a_case_or_an_article_and_never_both(shared: World) -> None:
    """R5: what comes from a case keeps its outcome; what doesn't can't claim one."""
    article_id, experience_id = await propose_article(shared), await shared.propose()
    for sql, id_ in (
        ("UPDATE experiences SET tenant_id = 'acme' WHERE id = %s", article_id),
        ("UPDATE experiences SET outcome = NULL WHERE id = %s", experience_id),
        ("UPDATE experiences SET kind = 'article' WHERE id = %s", experience_id),
    ):
        with pytest.raises((errors.CheckViolation, errors.ForeignKeyViolation)):
            system(shared, sql, id_)
    with pytest.raises(errors.CheckViolation):
        system(shared, "UPDATE revisions SET kind = 'experience' WHERE experience_id = %s", article_id)
    async with shared.database.as_principal("ann") as connection:
        with pytest.raises(Exception, match="row-level security"):
            await connection.execute(
                text(
                    "INSERT INTO experiences (id, kind, domain_id, proposer_id, stage, revision, stage_since)"
                    " VALUES (gen_random_uuid(), 'article', 'data', 'ann', 'curator_review', 1, now())"
                )
            )


async def test_r11_a_subject_that_an_article_names_is_erased_from_it(world: World) -> None:
    """An article is of no tenant: whichever tenant's subject it names, no copy of that is left."""
    named = article(body="Ask Canary Bird first.", concepts=("Canary Bird",))
    published = await published_article(world, named)
    waiting = await propose_article(world, named.model_copy(update={"title": "Of Canary Bird"}))
    await world.change(published, ChangeKind.CORRECT, by="carl", article=named.model_copy(update={"title": "Again"}))
    receipt = await Office(world).erase(subject=["Canary Bird"])
    assert {place.place for store in receipt.stores for place in store.places} == {"revisions", "commands"}
    assert Office(world).holding("Canary Bird") == []
    view = await Articles(world.database).view("ann", published)
    assert (view.current_revision, "Canary" in view.model_dump_json()) == (1, False)
    assert (await world.lifecycle.load(waiting)).stage is Stage.RETURNED
    assert world.index_events(f"article/{published}") == 3
    (source,) = await world.projections.desired([f"article/{published}"])
    assert all("Canary" not in entry.body for entry in source.entries)
    assert (await AuditVerifier(world.database).verify()).holds
