"""A file's steps: published, indexed, asked for, retired, followed, while the index falls behind and catches up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts.experience import Limits
from contracts.lifecycle import Stage
from contracts.retrieval import Citation, CitationVerdict, MemoryUse
from contracts.review import ChangeKind
from tests.hard.runtime import House
from tests.records.world import draft, new_id


async def steps(house: House, check: Mapping[str, Any]) -> str:
    """Carry out the file's steps in order."""
    course = _Course(house)
    for number, step in enumerate(house.file.steps, 1):
        action = getattr(course, f"do_{step['do']}", None)
        assert action is not None, f"step {number}: there is no step {step['do']!r}"
        try:
            await action(step)
        except AssertionError as error:
            raise AssertionError(f"step {number} ({step['at']} {step['do']}): {error}") from error
    return f"{len(house.file.steps)} steps; {'; '.join(course.seen)}"


class _Course:
    def __init__(self, house: House) -> None:
        self.house = house
        self.ids: dict[str, str] = {}
        self.citing: dict[str, str] = {}
        """The case that cited an article."""
        self.seen: list[str] = []

    async def do_publish(self, step: Mapping[str, Any]) -> None:
        content = draft(
            title=step["text"][:80], text=step["text"], limits=Limits(schema_version=step["requires"]["schema"])
        )
        self.ids[step["article"]] = await self.house.world.published(content)

    async def do_index(self, step: Mapping[str, Any]) -> None:
        await self.house.project()
        view = await self.house.world.experiences.view("ann", self.ids[step["article"]])
        assert view.searchable, "it is not searchable"

    async def do_query(self, step: Mapping[str, Any]) -> None:
        world = self.house.world
        case_id = await world.open_case(body=step["text"]) if not self.citing else None
        if case_id is not None:
            await self.house.project()
        answer = await self.house.ask("ann", step["text"], profile="data-agent", case_id=case_id)
        found = {each.ref.partition("/")[2]: each for each in answer.candidates}
        for name in step.get("expect_contains", []):
            assert self.ids[name] in found, f"{name} is not among {len(found)} candidates"
        for name in step.get("expect_absent", []):
            assert self.ids[name] not in found, f"{name} came back"
        lag = [mark for mark in answer.watermarks if not mark.is_current]
        if "expect_lag_visible" in step:
            assert bool(lag) is step["expect_lag_visible"], f"lag {lag}"
            assert not lag or answer.not_read, "the lag is not told"
        names = [name for name, key in self.ids.items() if key in found]
        self.seen.append(f"{step['at']} {names or 'none of them'}{', lag told' if lag else ''}")
        if case_id is not None:
            for name in names:
                chosen = Citation(
                    ref=found[self.ids[name]].ref,
                    revision=found[self.ids[name]].revision,
                    verdict=CitationVerdict.CHOSEN,
                    why="The row is missing.",
                )
                use = MemoryUse(
                    decision_id=new_id(), request_id=answer.request_id, summary="Write the row.", citations=(chosen,)
                )
                await world.memory.decide("ann", use)
                self.citing[name] = case_id

    async def do_retire(self, step: Mapping[str, Any]) -> None:
        await self.house.world.change(self.ids[step["article"]], ChangeKind.RETIRE)

    async def do_index_delete_fails(self, step: Mapping[str, Any]) -> None:
        self.house.index.is_broken = True
        await self.house.project()
        marks = await self.house.world.projections.watermarks()
        assert any(not mark.is_current for mark in marks), f"the delete of {step['article']} did not fail"

    async def do_index_catch_up(self, _: Mapping[str, Any]) -> None:
        self.house.index.is_broken = False
        await self.house.project()

    async def do_open_old_case_citing(self, step: Mapping[str, Any]) -> None:
        name = step["article"]
        papers = self.house.world.rows(
            "SELECT text FROM case_papers WHERE case_id = %s AND kind = 'memory_use'", self.citing[name]
        )
        assert any(self.ids[name] in paper for (paper,) in papers), "the case does not cite it"
        view = await self.house.world.experiences.view("ann", self.ids[name])
        assert view.stage is Stage.RETIRED, f"it is marked {view.stage}"
        assert view.revisions[0].draft.units[0].text, "its text is gone"
        self.seen.append(f"the citing case opens {name}, marked {view.stage}")
