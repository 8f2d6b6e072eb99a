"""Articles in answers: found by any of their parts, gone with the commit that ends them (R10, R16, R17; section 4)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio

from activities.index.edge import EdgeIndex
from activities.projection import Projector
from activities.reconciling import Reconciler
from activities.records.articles import Articles
from activities.records.scope import ScopeTable
from activities.retrieval.engine import RetrievalEngine, TimeLimits
from contracts.articles import sections
from contracts.experience import Limits
from contracts.labels import CandidateKind, Collection
from contracts.retrieval import Answer, Candidate, ValidityState
from contracts.review import ChangeKind
from deploy.wiring import SystemClock
from tests.api.world import Letters
from tests.records.articles import article, published_article
from tests.records.asking import ask
from tests.records.world import World, draft

BODY = "\n\n".join(
    f"# Part {name}\n\nThis part is about the {name}. {'It says more about it at length. ' * 30}"
    for name in ("turbine", "gearbox", "manifold", "compressor", "alternator", "carburettor", "flywheel", "crankshaft",
                 "camshaft", "radiator", "injector", "exhaust", "clutch", "differential", "suspension", "thermostat")
)  # fmt: skip


@dataclass
class Found:
    """A record with a real index."""

    world: World
    index: EdgeIndex
    projector: Projector
    engine: RetrievalEngine

    async def project(self) -> None:
        while await self.projector.project_batch():
            pass

    async def answer(self, objective: str, **given: str) -> Answer:
        task = await ask(self.world, objective=objective, **given)
        await self.engine.answer(task.request.request_id)
        found = await self.world.memory.answer("ann", task.request.request_id)
        assert found is not None
        return found

    async def of(self, ref: str, objective: str, **given: str) -> list[Candidate]:
        return [each for each in (await self.answer(objective, **given)).candidates if each.ref == ref]


@pytest_asyncio.fixture
async def found(world: World, tmp_path: Path) -> AsyncIterator[Found]:
    letters = Letters()
    index = EdgeIndex(tmp_path / "index", letters.model, letters.dimensions)
    await index.open()
    projector = Projector(world.outbox, world.projections, index, letters)
    engine = RetrievalEngine(world.retrievals, index, letters, SystemClock(), TimeLimits(route=10.0))
    yield Found(world, index, projector, engine)
    await index.close()


async def test_a_long_article_is_found_once_by_each_of_its_parts(found: Found) -> None:
    """Spec section 4: by its first words and by its last ones, and it doesn't push the others out."""
    assert len(sections(BODY)) == 16
    article_id = await published_article(found.world, article(body=BODY))
    experience_id = await found.world.published(draft(text="The crankshaft broke."))
    await found.project()
    ref = f"article/{article_id}"
    for objective in ("turbine", "crankshaft", "thermostat"):
        (candidate,) = await found.of(ref, objective)
        assert (candidate.kind, candidate.owner, candidate.outcome) == (CandidateKind.ARTICLE, "data", None)
        assert {match.route for match in candidate.reason} >= {"lexical", "dense_body"}
    assert [ref for ref in (f"experience/{experience_id}",) if await found.of(ref, "crankshaft")]
    view = await Articles(found.world.database).view("ann", article_id)
    assert view.searchable
    reconciler = Reconciler(found.world.projections, found.index, Letters.model, SystemClock())
    report = await reconciler.reconcile(repair=False)
    assert report.is_clean, report


async def test_r16_an_article_that_is_not_projected_yet_is_read_from_the_record(found: Found) -> None:
    article_id = await published_article(found.world, article(body=BODY))
    (candidate,) = await found.of(f"article/{article_id}", "thermostat", product="Policy", version="7.3")
    assert {match.route for match in candidate.reason} == {"canonical"}
    assert candidate.validity.state is ValidityState.OK
    (beyond,) = await found.of(f"article/{article_id}", "thermostat", product="Policy", version="8.0")
    assert beyond.validity.state is ValidityState.REVALIDATE
    text = await found.world.memory.read("ann", await _asked(found, f"article/{article_id}"), beyond.ref, 1)
    assert text == BODY


async def _asked(found: Found, ref: str) -> str:
    answer = await found.answer("thermostat")
    assert ref in {each.ref for each in answer.candidates}
    return answer.request_id


async def test_r10_what_was_retired_or_corrected_is_gone_though_the_projector_stands_still(found: Found) -> None:
    article_id = await published_article(found.world, article(body=BODY))
    ref = f"article/{article_id}"
    await found.project()
    assert await found.of(ref, "gearbox")
    await found.world.change(article_id, ChangeKind.CORRECT, by="carl", article=article(body="About the piston."))
    await found.world.decide(article_id, "cora")
    await found.world.decide(article_id, "otto")
    (candidate,) = await found.of(ref, "gearbox")
    assert (candidate.revision, candidate.extract) == (2, "About the piston.")
    await found.world.change(article_id, ChangeKind.RETIRE)
    assert await found.of(ref, "gearbox") == await found.of(ref, "piston") == []
    await found.project()
    assert await found.of(ref, "gearbox") == await found.of(ref, "piston") == []
    assert await found.index.points_of(Collection.DETAIL, [ref]) == []


async def test_r10_a_successor_says_what_it_leaves_uncovered(found: Found) -> None:
    old = await published_article(found.world, article(body=BODY))
    new = await published_article(found.world, article(body=BODY, limits=Limits(products=("Claims",))))
    assert (await found.world.change(old, ChangeKind.SUPERSEDE, superseded_by=new)).refused == "ScopeNotAcknowledged"
    shown = await ScopeTable(found.world.database).difference("otto", old, superseded_by=new)
    taken = await found.world.change(old, ChangeKind.SUPERSEDE, superseded_by=new, acknowledged_scope=shown.digest)
    assert taken.refused == ""
    (candidate,) = await found.of(f"article/{new}", "gearbox", product="Policy", version="7.3")
    assert [each.ref for each in candidate.supersedes] == [f"article/{old}"]
    assert any("product Policy: covered by" in reason for reason in candidate.validity.reasons)
    assert await found.of(f"article/{old}", "gearbox") == []


async def test_r17_an_article_of_another_product_is_out_of_range(found: Found) -> None:
    content = article(body=BODY, limits=Limits(products=("Claims",)))
    article_id = await published_article(found.world, content)
    await found.project()
    (candidate,) = await found.of(f"article/{article_id}", "gearbox", product="Policy")
    assert candidate.validity.state is ValidityState.OUT_OF_RANGE
