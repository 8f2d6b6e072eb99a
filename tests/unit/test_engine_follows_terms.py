"""A strategy with links and a contrast: what each adds to an answer, and how it says so (R5, R10, R15)."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.concept_links import links_of
from contracts.errors import IndexUnavailable
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, Scope
from contracts.labels import CandidateKind, Collection, Outcome
from contracts.retrieval import RouteState, ValidityState
from contracts.strategies import DATA_INVESTIGATION, newest
from contracts.strategy import Links, Route, Strategy
from tests.unit.test_retrieval_engine import NOT_SUCCEEDED, Memory, draft, ended, experience

LINKED: Strategy = DATA_INVESTIGATION.model_copy(
    update={"steps": (DATA_INVESTIGATION.steps[0].model_copy(update={"links": Links()}),)}
)
SHARING = "experience/b"
CONTRASTING = newest("data-investigation")


@dataclass
class Linked(Memory):
    """An index that knows one more record, by a concept alone, and what didn't succeed by its outcome."""

    broken_for_links: bool = False
    shared: str = "register"
    failures: tuple[str, ...] = ()

    async def search(
        self, collection: Collection, query: DenseQuery | LexicalQuery, *, scope: Scope, where: Filter, limit: int
    ) -> list[Hit]:
        if where.links:
            self.filters.append(where)
            if self.broken_for_links:
                raise IndexUnavailable("The index is down.")
            links = links_of([self.shared])
            found = set(links) & set(where.links) and SHARING not in where.not_targets
            return [Hit(SHARING, 1, "", CandidateKind.EXPERIENCE, 1.0, links)] if found else []
        if where.outcomes:
            self.filters.append(where)
            return [Hit(each, 1, "", CandidateKind.EXPERIENCE, 1.0) for each in self.failures[:limit]]
        return await super().search(collection, query, scope=scope, where=where, limit=limit)


def _memory(**given: object) -> Linked:
    memory = Linked(strategy=LINKED, hits={Collection.DETAIL: ["experience/a"]})
    for name, value in given.items():
        setattr(memory, name, value)
    memory.holds(experience("a"), experience("b", draft(text="How it is filled.")))
    return memory


async def test_a_record_that_shares_a_concept_is_a_candidate_and_names_it_r15() -> None:
    answer = await _memory().answer()
    assert [each.ref for each in answer.candidates] == ["experience/a", SHARING]
    (why,) = answer.candidates[1].reason
    assert (why.route, why.fields) == (Route.CONCEPT_LINKS, ("concept: register",))


async def test_a_concept_of_the_objective_needs_no_first_hit() -> None:
    answer = await _memory(hits={}, shared="printing").answer()
    assert [each.ref for each in answer.candidates] == [SHARING]
    assert answer.candidates[0].reason[0].fields == ("concept: printing",)


async def test_concepts_of_a_text_that_the_caller_may_not_see_are_not_followed_r10() -> None:
    for hidden in ("withdrawn", "not_permitted"):
        memory = _memory(**{hidden: {"experience/a"}})
        assert (await memory.answer()).candidates == ()
        assert not any("concept: register" in where.links for where in memory.filters)


async def test_failed_links_are_named_and_take_nothing_else_with_them_r15() -> None:
    answer = await _memory(broken_for_links=True).answer()
    assert [each.ref for each in answer.candidates] == ["experience/a"]
    assert "detail by concept_links: The index is down." in answer.not_read
    assert [report.route for report in ended(answer, RouteState.FAILED)] == [Route.CONCEPT_LINKS]


async def test_a_strategy_without_links_asks_nothing_more() -> None:
    memory = _memory(strategy=DATA_INVESTIGATION)
    assert Route.CONCEPT_LINKS not in [report.route for report in (await memory.answer()).routes]
    assert not any(where.links for where in memory.filters)


async def test_successes_do_not_crowd_a_failure_about_the_same_thing_out_r5() -> None:
    many = [experience(f"{number:02}") for number in range(50)]
    failed = experience("failed", draft(Outcome.FAILED, text="A restart didn't help."))
    memory = Linked(
        strategy=CONTRASTING, hits={Collection.DETAIL: [record.target for record in many]}, failures=(failed.target,)
    )
    memory.asked = {"tokens": 4000}
    answer = await memory.holds(*many, failed).answer()

    *others, last = answer.candidates
    assert (last.ref, last.contrast) == (failed.target, "shown to contrast: failed")
    assert last.extract.startswith("Outcome: failed. Not a fix.")
    assert [match.route for match in last.reason] == [Route.CONTRAST]
    assert {each.contrast for each in others} == {""}
    assert len(answer.candidates) == CONTRASTING.results
    plain = await Linked(strategy=DATA_INVESTIGATION, hits=memory.hits).holds(*many, failed).answer()
    assert failed.target not in [each.ref for each in plain.candidates]


async def test_every_outcome_but_success_stands_apart_whichever_route_found_it_r5() -> None:
    records = [experience("fixed"), *(experience(outcome, draft(outcome)) for outcome in NOT_SUCCEEDED)]
    memory = Linked(strategy=CONTRASTING, hits={Collection.DETAIL: [each.target for each in reversed(records)]})
    answer = await memory.holds(*records).answer()
    assert [each.contrast for each in answer.candidates] == [
        "",
        *(f"shown to contrast: {outcome.replace('_', ' ')}" for outcome in reversed(NOT_SUCCEEDED)),
    ]


async def test_failures_do_not_crowd_the_one_success_out_either_r5() -> None:
    failures = [experience(f"{number:02}", draft(Outcome.FAILED)) for number in range(30)]
    found = [*(each.target for each in failures), "experience/fixed"]
    memory = Linked(strategy=CONTRASTING, hits={Collection.DETAIL: found})
    answer = await memory.holds(experience("fixed"), *failures).answer()
    assert answer.candidates[0].ref == "experience/fixed"
    assert len(answer.candidates) == CONTRASTING.results


async def test_a_contrast_that_the_index_cannot_give_is_read_from_the_record_r16() -> None:
    failed = experience("failed", draft(Outcome.FAILED))
    memory = Memory(
        strategy=CONTRASTING, broken={Collection.DETAIL: IndexUnavailable("Down.")}, in_record=[failed.target]
    )
    answer = await memory.holds(failed).answer()
    assert [each.contrast for each in answer.candidates] == ["shown to contrast: failed"]
    assert any(Outcome.SUCCEEDED not in lookup.outcomes for lookup in memory.lookups)
    assert all(each.validity.state is ValidityState.OK for each in answer.candidates)
