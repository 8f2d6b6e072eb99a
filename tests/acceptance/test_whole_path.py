"""Real reports through the whole path: delivered, reviewed twice, published, projected, found (R5, R9, R23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.casefile import CaseRecord
from contracts.identity import Domain, Tenant
from contracts.index import Stored
from contracts.labels import CaseState, Collection, Outcome
from contracts.lifecycle import Stage
from contracts.projection import outcome_label
from contracts.retrieval import OriginRef
from deploy.importing import ImportReport, bounded, proposal_of
from deploy.runtime import Runtime
from tests.acceptance.office import Office, by_ref, ref_of, running_office, settings_in, stored
from tests.conversion.hadoop import DOMAIN, PRODUCT, TENANT, convert, read_reports

PROPOSED = {Outcome.SUCCEEDED: 70, Outcome.REJECTED_ROUTE: 25, Outcome.UNVERIFIED: 25}
OPEN = 80
LOOKED_FOR = 40
LONGEST = 300
"""Characters of a report's body: embedding long texts is most of an import's time."""
PROFILE = "development-specialist"

pytestmark = pytest.mark.timeout(240)


@dataclass
class Imported:
    runtime: Runtime
    office: Office
    proposed: list[CaseRecord]
    left_open: list[CaseRecord]
    report: ImportReport


@pytest_asyncio.fixture(scope="module")
async def imported(folder: Path, shared_data: Path) -> AsyncIterator[Imported]:
    cases = [record for record in convert(read_reports(shared_data)) if len(record.body) <= LONGEST]
    proposed = [record for outcome, count in PROPOSED.items() for record in _with_outcome(cases, outcome)[:count]]
    left_open = _with_outcome(cases, None)[:OPEN]
    async with running_office(
        settings_in(folder),
        tenants=[Tenant(id=TENANT.id, name=TENANT.name)],
        domains=[Domain(id=DOMAIN.id, name=DOMAIN.name), Domain(id="root", name="Root")],
    ) as (runtime, office):
        report = await office.publish(*proposed, *left_open)
        yield Imported(runtime, office, proposed, left_open, report)


async def test_counts_reconcile(imported: Imported) -> None:
    """R1, R23: what was sent, what became of it and what is searchable are the same cases."""
    report, figures = imported.report, await imported.office.admin.figures()
    count = sum(PROPOSED.values())
    assert report.arrivals == {"opened": count + OPEN}
    assert (report.results, report.proposed, report.published, report.rejected) == (count, count, count, 0)
    assert figures.stages == {Stage.PUBLISHED: count}
    assert (figures.searchable, figures.dead) == (count, 0)
    assert all(mark.pending == 0 and mark.position == mark.head for mark in await imported.office.admin.watermarks())


async def test_every_published_revision_is_in_the_index_as_it_was_reviewed(imported: Imported) -> None:
    """R9: one point in each collection, of the reviewed text and nothing else."""
    held = await stored(imported.runtime)
    wanted = sorted((ref_of(record), 1, proposal_of(record).draft.digest()) for record in imported.proposed)
    for collection in (Collection.ROUTING, Collection.DETAIL):
        assert sorted(_identity(held[collection])) == wanted
    states = Counter(each.payload.state for each in held[Collection.CASES])
    assert states == {CaseState.COMPLETED.value: len(imported.proposed), CaseState.OPEN.value: OPEN}


async def test_a_published_report_is_found_by_its_own_title(imported: Imported) -> None:
    """R15, R20: through a retrieval workflow, among the candidates, with the revision to cite."""
    step = len(imported.proposed) // LOOKED_FOR
    sample = imported.proposed[::step][:LOOKED_FOR]
    missing = [
        record.subject for record, found in zip(sample, await _found(imported.office, sample), strict=True) if not found
    ]
    assert not missing, f"{len(missing)} of {len(sample)} not found by their own title: {missing}"


async def test_what_did_not_succeed_is_labelled_everywhere(imported: Imported) -> None:
    """R5: in the record, in each index, in every answer's candidate and text."""
    failed = {
        ref_of(record): record.result.outcome
        for record in imported.proposed
        if record.result is not None and record.result.outcome is not Outcome.SUCCEEDED
    }
    assert len(failed) == PROPOSED[Outcome.REJECTED_ROUTE] + PROPOSED[Outcome.UNVERIFIED]
    held = await stored(imported.runtime)
    for collection in (Collection.ROUTING, Collection.DETAIL):
        labels = {each.payload.target: each.payload.outcome for each in held[collection]}
        assert {target: labels[target] for target in failed} == failed

    seen: set[str] = set()
    for record in [record for record in imported.proposed if ref_of(record) in failed][:: len(failed) // 10]:
        answer = await imported.office.ask(
            record.subject, tenant=TENANT.id, profile=PROFILE, product=PRODUCT, version=record.facts.version
        )
        for candidate in answer.candidates:
            if candidate.ref not in failed:
                assert candidate.kind == "case" or candidate.outcome is Outcome.SUCCEEDED
                continue
            seen.add(candidate.ref)
            label = outcome_label(failed[candidate.ref])
            assert candidate.outcome is failed[candidate.ref]
            assert candidate.extract.startswith(label)
            assert label in candidate.validity.reasons
    assert len(seen) >= 10


async def test_r3_an_open_case_is_found_before_anything_was_learned_from_it(imported: Imported) -> None:
    """First by its identity, and by its words: as a case, with its state, never as experience."""
    record = imported.left_open[0]
    ref = f"case/{await imported.office.case_id(record)}"
    origin = OriginRef(source=record.source, external_id=record.external_id)
    same = (await imported.office.ask("anything", tenant=TENANT.id, profile="root-support", origin=origin)).candidates[
        0
    ]
    assert (same.ref, same.state, same.outcome) == (ref, CaseState.OPEN, None)
    alike = by_ref(await imported.office.ask(record.subject, tenant=TENANT.id, profile="root-support"))[ref]
    assert (alike.state, alike.outcome) == (CaseState.OPEN, None)


async def test_the_same_file_again_changes_nothing(imported: Imported) -> None:
    """R1: a repeated import attaches to what is there."""
    some = [*imported.proposed[:3], *imported.left_open[:2]]
    before = await stored(imported.runtime)
    again = await imported.office.publish(*some)
    assert again.arrivals == {"redelivered": len(some)}
    assert (again.proposed, again.published) == (3, 3)
    assert (await imported.office.admin.figures()).stages == {Stage.PUBLISHED: len(imported.proposed)}
    assert await stored(imported.runtime) == before


async def _found(office: Office, sample: Sequence[CaseRecord]) -> list[bool]:
    async def one(record: CaseRecord) -> bool:
        answer = await office.ask(
            record.subject, tenant=TENANT.id, profile=PROFILE, product=PRODUCT, version=record.facts.version
        )
        found = by_ref(answer).get(ref_of(record))
        return found is not None and found.revision == 1

    return await bounded([lambda record=record: one(record) for record in sample], 4)


def _with_outcome(cases: Sequence[CaseRecord], outcome: Outcome | None) -> list[CaseRecord]:
    return [record for record in cases if (record.result.outcome if record.result else None) is outcome]


def _identity(points: Sequence[Stored]) -> list[tuple[str, int, str]]:
    return [(each.payload.target, each.payload.revision, each.payload.content_hash) for each in points]
