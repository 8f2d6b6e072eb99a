"""Erasure from end to end: canaries in every field, then looked for in everything that is left (R11)."""

from __future__ import annotations

import asyncio
import subprocess
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client

from activities.records.audit_verification import AuditVerifier
from api.client import CaseloreClient
from contracts.erased_text import ERASED
from contracts.erasure import ErasureReceipt, ErasureRequest, ErasureState, ErasureTarget
from contracts.errors import CaseloreError, InvalidField, NotPermitted
from contracts.lifecycle import Stage
from contracts.retrieval import Answer
from deploy.embedded.cluster import postgres_programs
from deploy.runtime import Runtime
from deploy.settings import Settings
from deploy.wiring import connect_temporal
from tests.acceptance.canaried import Canaried, Words, through_everything
from tests.acceptance.house import PATIENCE, House, open_house
from tests.acceptance.office import Office, by_ref, fresh, running_office, settings_in
from tests.acceptance.samples import case
from tests.canaries import files_with, texts_with
from workflows.histories import TemporalHistories

SUBJECT = f"kanarivogel{uuid.uuid4().hex[:8]}"
OTHER = case("clean", "Ordinary blank page", "Ordinary words about a blank page.")
SOUTH = case("south", f"Seen by {SUBJECT}", f"What {SUBJECT} saw in the south.", tenant="south")


@dataclass
class Whole:
    """A whole runtime in this process, with everything that it keeps."""

    runtime: Runtime
    office: Office
    settings: Settings
    temporal: Client

    async def erase(self, **fields: object) -> ErasureReceipt:
        values = {"erasure_id": fresh(), "tenant_id": "north", "reason": "Request 7", "at_most": 10_000, **fields}
        request = ErasureRequest.model_validate(values)
        receipt = await self.office.admin.erase(request, wait=30)
        for _ in range(300):
            if receipt.state is not ErasureState.RUNNING:
                break
            await asyncio.sleep(0.2)
            receipt = await self.office.admin.get_erasure(request.erasure_id)
        return receipt

    async def ask(self, words: str, *, tenant: str = "north") -> Answer:
        return await self.office.ask(words, tenant=tenant, results=50)

    async def dump(self) -> str:
        """Return the whole database as text, by PostgreSQL's own program."""
        url = (self.runtime.addresses.owner_database_url or "").replace("postgresql+psycopg:", "postgresql:")
        command = [str(postgres_programs() / "pg_dump"), "--dbname", url, "--inserts"]
        ran = await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True, text=True)
        return ran.stdout

    async def lines_with(self, *words: str) -> list[str]:
        lines = (await self.dump()).splitlines()
        return await asyncio.to_thread(lambda: [line[:120] for line in lines if texts_with([line], *words)])

    async def histories(self) -> list[str]:
        """Return all that Temporal's API tells of every workflow."""
        ids = {execution.id async for execution in self.temporal.list_workflows("")}
        kept = TemporalHistories(self.temporal)
        return [words for id_ in sorted(ids) async for words in kept.words(id_)]

    async def files(self, *words: str) -> list[tuple[str, str]]:
        """Return each file of the runtime that holds a word, but for PostgreSQL's own and the model's."""
        found = await asyncio.to_thread(files_with, self.settings.data_dir, *words)
        return [each for each in found if not each[1].startswith(("postgres/", "models/"))]


@pytest_asyncio.fixture(scope="module", name="whole")
async def fixture_whole(folder: Path) -> AsyncIterator[Whole]:
    settings = settings_in(folder / "whole")
    async with running_office(settings) as (runtime, office):
        await office.publish(OTHER, SOUTH)
        yield Whole(runtime, office, settings, await connect_temporal(settings, runtime.addresses))


async def _canaried(whole: Whole, words: Words) -> Canaried:
    return await through_everything(whole.office, "north", words, other_case=await whole.office.case_id(OTHER))


async def test_r11_an_erased_case_is_in_no_store_any_more(whole: Whole) -> None:
    words = Words()
    canaried = await _canaried(whole, words)
    assert len(words.given) > 150
    missing = _missing(words, await whole.dump())
    assert missing == [], "every word has to be somewhere, or the test shows nothing"
    assert texts_with([repr(await _found(whole, canaried))], words.beginning)
    south = await whole.ask("title symptom synopsis", tenant="south")
    ref = f"experience/{canaried.experience_id}"
    assert ref in by_ref(south)

    receipt = await whole.erase(case_id=canaried.case_id)

    assert receipt.state is ErasureState.DONE, (receipt.why, [store.note for store in receipt.stores])
    assert await whole.lines_with(words.beginning) == []
    assert await whole.files(words.beginning) == []
    assert texts_with(await whole.histories(), words.beginning) == []
    assert texts_with([receipt.model_dump_json()], words.beginning) == []
    assert {store.store for store in receipt.stores} == {"records", "index", "histories", "caches", "files"}
    assert [store.left for store in receipt.stores] == [0] * 5
    for tenant in ("north", "south"):
        assert ref not in by_ref(await whole.ask("title symptom synopsis", tenant=tenant))
    again = by_ref(await whole.office.agents["south"].get_retrieval(south.request_id))
    assert again[ref].extract == ERASED
    use = await whole.office.agents["north"].get_retrieval(canaried.request_id)
    assert use.request_id == canaried.request_id
    view = await whole.office.cast.proposer.get_experience(canaried.experience_id)
    assert view.stage is Stage.RETIRED
    assert {revision.draft.title for revision in view.revisions} == {ERASED}
    handle = whole.temporal.get_workflow_handle(f"experience/{canaried.experience_id}")
    await asyncio.wait_for(handle.result(), 20)  # its lifecycle was told, and has ended
    assert (await AuditVerifier(whole.runtime.parts.database).verify()).broken is None


def _missing(words: Words, dump: str) -> list[str]:
    """Return the fields whose word is nowhere. Apart, so that no failure shows a whole database."""
    return [field for field, word in zip(words.fields, words.given, strict=True) if word not in dump]


async def _found(whole: Whole, canaried: Canaried) -> Answer:
    return await whole.office.agents["north"].get_retrieval(canaried.request_id)


async def test_r11_an_erased_subject_is_in_no_store_of_its_tenant_and_stays_in_others(whole: Whole) -> None:
    words = Words(fixed=SUBJECT)
    canaried = await _canaried(whole, words)
    ours = len(await whole.lines_with(SUBJECT))
    found = await whole.office.admin.preview_erasure(ErasureTarget(tenant_id="north", subject=(SUBJECT,)))
    assert found.fields > 60
    with pytest.raises(InvalidField, match=f"in {found.fields} fields"):
        await whole.erase(subject=[SUBJECT], at_most=found.fields - 1)

    receipt = await whole.erase(subject=[SUBJECT.upper()], at_most=found.fields)

    assert receipt.state is ErasureState.DONE, (receipt.why, [store.note for store in receipt.stores])
    left = await whole.lines_with(SUBJECT)
    assert ours > len(left) > 0, "the south has its own"
    assert all("south" in line or "experience/" in line or "INSERT INTO public.revisions" in line for line in left)
    preview = await whole.office.admin.preview_erasure(ErasureTarget(tenant_id="north", subject=(SUBJECT,)))
    assert preview.fields == 0
    assert texts_with([receipt.model_dump_json()], SUBJECT, SUBJECT.upper()) == []
    assert texts_with(await whole.histories(), SUBJECT, SUBJECT.upper()) == []
    logs = [each for each in await whole.files(SUBJECT, SUBJECT.upper()) if not each[1].startswith("index/")]
    assert logs == []
    candidates = by_ref(await whole.ask("title symptom synopsis"))
    shown = candidates[f"experience/{canaried.experience_id}"]
    assert SUBJECT not in shown.model_dump_json(), "published experience stays, without the subject"
    clean = await whole.ask(OTHER.experience.synopsis.text if OTHER.experience else "")
    assert any("Ordinary" in candidate.title for candidate in clean.candidates)

    south = await whole.erase(subject=[SUBJECT], tenant_id="south")
    assert south.state is ErasureState.DONE
    assert await whole.lines_with(SUBJECT) == []
    assert await whole.files(SUBJECT) == []
    assert (await AuditVerifier(whole.runtime.parts.database).verify()).broken is None


async def test_the_same_order_again_gives_the_same_receipt(whole: Whole) -> None:
    asked = {"erasure_id": fresh(), "subject": [f"nobody{uuid.uuid4().hex[:8]}"]}
    first = await whole.erase(**asked)
    assert first.state is ErasureState.DONE
    assert await whole.erase(**asked) == first
    assert await whole.office.admin.get_erasure(first.erasure_id) == first


async def test_only_administrators_erase(whole: Whole) -> None:
    target = ErasureTarget(tenant_id="north", subject=(SUBJECT,))
    request = ErasureRequest(**target.model_dump(), erasure_id=fresh(), reason="x")
    for client in (whole.office.cast.owner, whole.office.agents["north"]):
        for attempt in (client.preview_erasure(target), client.erase(request), client.get_erasure(fresh())):
            with pytest.raises(NotPermitted):
                await attempt


@pytest.mark.parametrize("place", ["erasures.remove after", "index.compact after"])
async def test_r11_a_killed_erasure_is_finished_by_the_next_process(folder: Path, place: str) -> None:
    home = folder / place.replace(" ", "-")
    home.mkdir()
    async with open_house(home) as house:
        record = case("killed", f"Seen by {SUBJECT}", f"What {SUBJECT} saw.")
        await house.office.publish(record)
        erasure_id = fresh()
        assert await house.tell(place=place, pid=0, about="") == "armed"
        request = ErasureRequest(
            erasure_id=erasure_id,
            tenant_id="north",
            case_id=await house.office.case_id(record),
            reason="Request 8",
        )
        assert (await house.office.admin.erase(request)).state is ErasureState.RUNNING
        await house.died()
        await house.start()
        receipt = await _ended(house, house.office.admin, erasure_id)
        assert receipt.state is ErasureState.DONE, (receipt.why, [store.note for store in receipt.stores])
        assert house.rows("SELECT count(*) FROM cases WHERE erased_at IS NOT NULL AND title = %s", ERASED) == [(1,)]
        await house.stop()
        assert files_with(house.settings.data_dir / "index", SUBJECT) == []


async def _ended(house: House, admin: CaseloreClient, erasure_id: str) -> ErasureReceipt:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                receipt = await admin.get_erasure(erasure_id)
            except CaseloreError:
                receipt = None
            if receipt is not None and receipt.state is not ErasureState.RUNNING:
                return receipt
            await asyncio.sleep(0.2)
