"""The projector makes the index hold what the record says now, whatever the events and their order (R9, R10)."""

import asyncio
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.projection import Projector
from contracts.errors import EmbeddingUnavailable, IndexUnavailable
from contracts.labels import Collection
from contracts.outbox import EventKind, Topic
from tests.workflows.outbox_memory import IndexMemory, LengthEmbedder, OutboxMemory, ProjectionsMemory


class Projected:
    """A projector on memory."""

    def __init__(self) -> None:
        self.outbox = OutboxMemory()
        self.record = ProjectionsMemory()
        self.index = IndexMemory()
        self.embedder = LengthEmbedder()
        self.projector = Projector(self.outbox, self.record, self.index, self.embedder)

    def publish(self, experience_id: str, revision: int, title: str | None) -> None:
        """Change the record and announce it."""
        self.record.published[experience_id] = (revision, title)
        self.announce(experience_id)

    def announce(self, experience_id: str) -> str:
        """Add an event for an experience."""
        return self.outbox.add(Topic.INDEX, EventKind.PROJECT, f"experience/{experience_id}")

    async def project_all(self) -> None:
        """Project until nothing is pending."""
        while await self.projector.project_batch():
            pass

    async def expected(self) -> object:
        """Return the content of an index that is built from the record at once."""
        fresh = Projected()
        fresh.record = self.record
        fresh.projector = Projector(fresh.outbox, self.record, fresh.index, fresh.embedder)
        for experience_id in self.record.published:
            fresh.announce(experience_id)
        await fresh.project_all()
        return fresh.index.points


NAMES = [str(uuid.UUID(int=number)) for number in range(4)]
changes = st.tuples(st.sampled_from(NAMES), st.none() | st.sampled_from(["one", "two", "three"]))
steps = st.lists(
    st.one_of(
        changes,
        st.integers(min_value=1, max_value=3),  # project so many events
        st.sampled_from(NAMES),  # a late or repeated event
    ),
    max_size=25,
)


@given(steps=steps, shuffled=st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_r9_stale_repeated_and_reordered_events_lead_to_the_same_content(steps: list[object], shuffled: object) -> None:
    asyncio.run(_follow(steps, shuffled))


async def _follow(steps: list[object], shuffled: object) -> None:
    projected = Projected()
    for number, step in enumerate(steps):
        match step:
            case (str(experience_id), title):
                projected.publish(experience_id, number, title)
            case int(limit):
                getattr(shuffled, "shuffle")(projected.outbox.events)  # noqa: B009 - hypothesis' Random has no type
                await projected.projector.project_batch(limit)
            case _:
                projected.announce(str(step))
    await projected.project_all()
    assert projected.index.points == await projected.expected()


async def test_r10_what_is_withdrawn_leaves_the_index() -> None:
    projected = Projected()
    projected.publish(NAMES[0], 1, "one")
    await projected.project_all()
    assert {collection for collection, _ in projected.index.points} == {Collection.ROUTING, Collection.DETAIL}
    projected.publish(NAMES[0], 1, None)
    await projected.project_all()
    assert projected.index.points == {}


async def test_r9_one_poison_event_does_not_stop_the_others() -> None:
    projected = Projected()
    projected.record.poison = {f"experience/{NAMES[1]}"}
    for name in NAMES:
        projected.publish(name, 1, "one")
    await projected.project_all()
    assert {target for _, target in projected.index.points} == {
        f"experience/{name}" for name in NAMES if name != NAMES[1]
    }
    ((event_id, error, may_die),) = projected.outbox.postponements
    assert (projected.outbox.done[event_id], error.partition(" at ")[0], may_die) == ("dead", "ValueError", True)


@pytest.mark.parametrize("away", [IndexUnavailable("away"), EmbeddingUnavailable("away")])
async def test_r23_what_can_not_be_projected_now_is_given_back(away: Exception) -> None:
    projected = Projected()
    for name in NAMES:
        projected.publish(name, 1, "one")
    failures = projected.index.failures if isinstance(away, IndexUnavailable) else projected.embedder.failures
    failures.append(away)
    with pytest.raises(type(away)):
        await projected.projector.project_batch()
    assert projected.outbox.done == {}
    assert [(error, may_die) for _, error, may_die in projected.outbox.postponements] == [(away.type, False)] * 4  # pyright: ignore
    assert projected.record.held == {}
    await projected.project_all()
    assert projected.index.points == await projected.expected()


async def test_r23_an_index_that_goes_away_amid_a_poisoned_batch_gives_the_rest_back() -> None:
    projected = Projected()
    projected.record.poison = {f"experience/{NAMES[0]}"}
    for name in NAMES:
        projected.publish(name, 1, "one")
    projected.index.failures.append(IndexUnavailable("away"))
    with pytest.raises(IndexUnavailable):
        await projected.projector.project_batch()
    assert [may_die for _, _, may_die in projected.outbox.postponements] == [True, False, False, False]


async def test_r9_equal_texts_are_embedded_once() -> None:
    projected = Projected()
    for name in NAMES:
        projected.publish(name, 1, "one")
    await projected.project_all()
    assert len(projected.embedder.texts) == len(set(projected.embedder.texts)) == 3
