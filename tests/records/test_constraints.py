"""Rules that the tables keep by themselves, whoever writes: here the system role and the owner (R5, R7, R8, R20)."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from contracts.labels import Outcome, PaperKind, ProofLevel
from contracts.lifecycle import Event
from contracts.review import ChangeKind
from tests.records.articles import article, published_article
from tests.records.asking import answered, ask, candidate, citing
from tests.records.world import World, draft, libpq, new_id


def system(world: World, sql: str, *values: object) -> None:
    """Run a statement as the system role: row-level security lets it, so only constraints can refuse."""
    with psycopg.connect(libpq(world.urls.system)) as connection:
        connection.execute(sql.encode(), values)


async def test_one_current_revision_per_experience(shared: World) -> None:
    """R8: current and suspended together count as one."""
    experience_id = await shared.published()
    await shared.change(experience_id, ChangeKind.CORRECT, draft=draft(text="Other."), by="ann")
    for state in ("current", "suspended"):
        with pytest.raises(errors.UniqueViolation, match="uq_revisions_current"):
            system(
                shared,
                "UPDATE revisions SET state = %s, published_at = now() WHERE experience_id = %s AND number = 2",
                state,
                experience_id,
            )


async def test_one_open_draft_per_experience(shared: World) -> None:
    experience_id = await shared.propose()
    with pytest.raises(errors.UniqueViolation, match="uq_revisions_draft"):
        system(
            shared,
            "INSERT INTO revisions (experience_id, number, outcome, proof_level, domain_id, title, content, digest,"
            " author_id) SELECT experience_id, 2, outcome, proof_level, domain_id, title, content, digest, author_id"
            " FROM revisions WHERE experience_id = %s",
            experience_id,
        )


def _decision(
    world: World, experience_id: str, reviewer: str, stage: str, *, decision_id: str, author: str = "ann"
) -> None:
    system(
        world,
        "INSERT INTO review_decisions (decision_id, experience_id, revision, stage, verdict, reviewer_id, author_id,"
        " digest) VALUES (%s, %s, 1, %s, 'accept', %s, %s, 'd')",
        decision_id,
        experience_id,
        stage,
        reviewer,
        author,
    )


async def test_proposer_curator_and_owner_are_three_people(shared: World) -> None:
    """R7: also when the code above forgets it."""
    experience_id = await shared.propose()
    with pytest.raises(errors.CheckViolation, match="not_the_author"):
        _decision(shared, experience_id, "ann", "curator_review", decision_id=new_id())
    with pytest.raises(errors.ForeignKeyViolation):
        _decision(shared, experience_id, "cora", "curator_review", decision_id=new_id(), author="otto")
    _decision(shared, experience_id, "cora", "curator_review", decision_id=new_id())
    with pytest.raises(errors.UniqueViolation, match="reviewer_id"):
        _decision(shared, experience_id, "cora", "owner_review", decision_id=new_id())


async def test_a_decision_id_and_a_stage_count_once(shared: World) -> None:
    """R7, R8: one decision for each stage of a revision, one row for each id, over all experiences."""
    first, second = await shared.propose(), await shared.propose()
    decision_id = new_id()
    _decision(shared, first, "cora", "curator_review", decision_id=decision_id)
    with pytest.raises(errors.UniqueViolation, match="pk_review_decisions"):
        _decision(shared, second, "cora", "curator_review", decision_id=decision_id)
    with pytest.raises(errors.UniqueViolation, match="revision_stage"):
        _decision(shared, first, "carl", "curator_review", decision_id=new_id())


@pytest.mark.parametrize("table", ["review_decisions", "transitions"])
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET revision = revision"])
async def test_decisions_and_transitions_are_never_changed(shared: World, table: str, statement: str) -> None:
    """R7: by nobody, the owner of the tables included."""
    await shared.decide(await shared.propose(), "cora")
    with pytest.raises(errors.RestrictViolation, match="append-only"):
        system(shared, statement.format(table))
    with pytest.raises(errors.RestrictViolation, match="append-only"):
        shared.owner.execute(statement.format(table).encode())


@pytest.mark.parametrize(
    "column", ["content", "digest", "title", "searchable", "outcome", "proof_level", "author_id", "domain_id"]
)
async def test_the_text_of_a_revision_is_never_changed(shared: World, column: str) -> None:
    """R7: not even to itself; a change of text is a new revision."""
    await shared.propose()
    with pytest.raises(errors.RestrictViolation, match="append-only"):
        system(shared, f"UPDATE revisions SET {column} = {column}")


async def test_a_used_strategy_version_is_never_changed(shared: World) -> None:
    """R14: free until first used, then fixed, and its first use can't be forgotten to free it again."""
    change = "UPDATE strategy_versions SET digest = digest WHERE strategy_id = 'data-investigation'"
    system(shared, change)
    await answered(shared, await ask(shared))
    for sql in (change, "UPDATE strategy_versions SET first_used_at = NULL WHERE strategy_id = 'data-investigation'"):
        with pytest.raises(errors.RestrictViolation, match="append-only"):
            system(shared, sql)
    with pytest.raises(errors.ForeignKeyViolation):
        system(shared, "DELETE FROM strategy_versions WHERE strategy_id = 'data-investigation'")


async def test_an_experience_cannot_restate_the_outcome_of_its_result(shared: World) -> None:
    """R5: the label of the experience and of every revision is the case result's own."""
    failed = await shared.propose(draft(outcome=Outcome.FAILED))
    with pytest.raises(errors.ForeignKeyViolation):
        system(shared, "UPDATE experiences SET outcome = 'succeeded' WHERE id = %s", failed)
    with pytest.raises(errors.ForeignKeyViolation):
        system(
            shared,
            "INSERT INTO revisions (experience_id, number, state, outcome, proof_level, domain_id, title, content,"
            " digest, author_id) SELECT experience_id, 2, 'rejected', 'succeeded', proof_level, domain_id, title,"
            " content, digest, author_id FROM revisions WHERE experience_id = %s",
            failed,
        )


@pytest.mark.parametrize(
    ("outcome", "level", "papers"),
    [
        (Outcome.SUCCEEDED, ProofLevel.REPORTED, 0),
        (Outcome.SUCCEEDED, ProofLevel.EXECUTED, 0),
        (Outcome.FAILED, ProofLevel.EXECUTED, 0),
        (Outcome.SUCCEEDED, ProofLevel.VERIFIED, 1),
        ("solved", ProofLevel.NONE, 0),
        (Outcome.FAILED, "certain", 0),
    ],
)
async def test_a_result_claims_no_more_than_its_papers(shared: World, outcome: str, level: str, papers: int) -> None:
    """R5: outcome and proof level need their papers in the same case."""
    case_id = await shared.open_case()
    paper_id = new_id() if papers else None
    if paper_id:
        system(
            shared,
            "INSERT INTO case_papers (id, tenant_id, case_id, kind, digest, author_id)"
            " VALUES (%s, 'acme', %s, 'execution', 'd', 'ann')",
            paper_id,
            case_id,
        )
    with pytest.raises(errors.CheckViolation):
        system(
            shared,
            "INSERT INTO case_results (id, tenant_id, case_id, outcome, proof_level, execution_paper_id, recorded_by)"
            " VALUES (%s, 'acme', %s, %s, %s, %s, 'ann')",
            new_id(),
            case_id,
            outcome,
            level,
            paper_id,
        )


@pytest.mark.parametrize("kind", [PaperKind.MEMORY_USE, PaperKind.EVIDENCE, PaperKind.PROOF])
async def test_only_an_execution_paper_of_the_case_is_an_execution(shared: World, kind: PaperKind) -> None:
    """R5, R20: a retrieved text, any other paper or another case's paper can't stand in for an execution."""
    case_id, elsewhere = [await shared.open_case() for _ in range(2)]
    ids = {"other kind": new_id(), "other case": new_id()}
    for paper_id, case, paper_kind in ((ids["other kind"], case_id, kind), (ids["other case"], elsewhere, "execution")):
        system(
            shared,
            "INSERT INTO case_papers (id, tenant_id, case_id, kind, digest, author_id)"
            " VALUES (%s, 'acme', %s, %s, 'd', 'ann')",
            paper_id,
            case,
            paper_kind,
        )
    for paper_id in ids.values():
        with pytest.raises(errors.ForeignKeyViolation):
            system(
                shared,
                "INSERT INTO case_results (id, tenant_id, case_id, outcome, proof_level, execution_paper_id,"
                " recorded_by) VALUES (%s, 'acme', %s, 'failed', 'executed', %s, 'ann')",
                new_id(),
                case_id,
                paper_id,
            )


async def test_a_verdict_cites_only_what_the_answer_holds(shared: World) -> None:
    """R20: the citation is a foreign key to the answer's candidates, revision included."""
    ref = f"experience/{await shared.published()}"
    task = await answered(shared, await ask(shared), candidate(1, ref))
    use = citing(task, ref)
    await shared.memory.decide("ann", use)
    for cited, revision in ((ref, 2), (f"experience/{new_id()}", 1)):
        with pytest.raises(errors.ForeignKeyViolation):
            system(
                shared,
                "INSERT INTO retrieval_verdicts (decision_id, request_id, ref, revision, verdict)"
                " VALUES (%s, %s, %s, %s, 'chosen')",
                use.decision_id,
                task.request.request_id,
                cited,
                revision,
            )


async def test_superseded_names_its_successor_and_never_itself(shared: World) -> None:
    """R10: a supersession is linked, and only a supersession is."""
    first, second = await shared.published(), await shared.published()
    for sql in (
        "UPDATE experiences SET superseded_by = id, stage = 'superseded' WHERE id = %s",
        "UPDATE experiences SET stage = 'superseded' WHERE id = %s",
        f"UPDATE experiences SET superseded_by = '{second}' WHERE id = %s",
        "UPDATE experiences SET suspended = true, current_revision = NULL WHERE id = %s",
    ):
        with pytest.raises(errors.CheckViolation):
            system(shared, sql, first)


async def test_article_text_is_never_changed(shared: World) -> None:
    """Spec section 4: one canonical, owned, versioned article; one current revision."""
    article_id = await published_article(shared)
    await shared.change(article_id, ChangeKind.CORRECT, by="carl", article=article(title="Another"))
    with pytest.raises(errors.UniqueViolation, match="uq_revisions_current"):
        system(
            shared,
            "UPDATE revisions SET state = 'current', published_at = now() WHERE experience_id = %s AND number = 2",
            article_id,
        )
    with pytest.raises(errors.RestrictViolation, match="append-only"):
        system(shared, "UPDATE revisions SET searchable = 'Changed.' WHERE experience_id = %s", article_id)


async def test_a_returned_or_rejected_draft_can_never_have_been_published(shared: World) -> None:
    experience_id = await shared.propose()
    await shared.decide(experience_id, "cora", Event.RETURN)
    assert shared.revision_states(experience_id) == ["returned"]
    for sql in (
        "UPDATE revisions SET published_at = now() WHERE experience_id = %s",
        "UPDATE revisions SET state = 'current' WHERE experience_id = %s",
    ):
        with pytest.raises(errors.CheckViolation, match="published"):
            system(shared, sql, experience_id)
