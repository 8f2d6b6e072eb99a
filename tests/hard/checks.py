"""The operations that a file's `checks` may name; each returns what it saw, or says why it does not hold."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from contracts.cases import Case, Disposition
from contracts.index import Stored
from contracts.keys import label_key
from contracts.labels import Collection
from contracts.outbox import Topic
from tests.hard.personal_data import article_contains_all, article_contains_none, index_payload_contains_none
from tests.hard.runtime import House, Refused, texts
from tests.hard.steps import steps

Check = Mapping[str, Any]
Operation = Callable[[House, Check], Awaitable[str]]


async def run_check(house: House, check: Check) -> tuple[bool, str]:
    """Return whether a check holds, and what was seen."""
    operation = OPERATIONS.get(check["op"])
    if operation is None:
        return False, f"there is no operation {check['op']!r}"
    try:
        return True, await operation(house, check)
    except Exception as error:  # a check that can't be carried out doesn't hold
        return False, f"{type(error).__name__}: {error}"


async def case_count(house: House, check: Check) -> str:
    counts = {tenant: len(await house.cases(tenant)) for tenant in house.tenants}
    assert sum(counts.values()) == check["value"], f"{counts}"
    return f"{check['value']} cases"


async def case_count_by_tenant(house: House, check: Check) -> str:
    counts = {tenant: len(await house.cases(tenant)) for tenant in house.tenants}
    assert counts == check["value"], f"{counts}"
    return f"{counts}"


async def case_exists(house: House, check: Check) -> str:
    return f"case {(await house.case(check['case'])).state}"


async def stored_not_contains(house: House, check: Check) -> str:
    """Look at everything that can be read of the case, and that the change is recorded with the raw form kept."""
    case = await house.case(check["case"])
    history = await house.history(case)
    character = chr(check["codepoint"])
    found = [
        text for text in texts([case.model_dump(mode="json"), history.model_dump(mode="json")]) if character in text
    ]
    assert found == [], f"{found}"
    (arrival,) = history.arrivals
    assert arrival.cleaned and arrival.raw_content_id, "the change is not recorded"
    raw = await house.call("GET", f"/v1/contents/{arrival.raw_content_id}", case.origin.tenant_id)
    assert f"\\u{check['codepoint']:04x}" in raw["text"], "the raw form is not kept"
    return f"replaced in {', '.join(change.path for change in arrival.cleaned)}; raw form of {raw['bytes']} bytes kept"


async def stored_contains(house: House, check: Check) -> str:
    case = await house.case(check["case"])
    assert check["text"] in case.body, f"{case.body!r}"
    return f"body holds {check['text']!r}"


async def same_key(house: House, check: Check) -> str:
    keys = {label_key(_label(await house.case(name), check["field"])) for name in check["cases"]}
    assert len(keys) == 1, f"{keys}"
    return f"{len(check['cases'])} cases have the key {keys.pop()!r}"


async def different_key(house: House, check: Check) -> str:
    cases = [await house.case(name) for name in check["cases"]]
    keys = [label_key(_label(case, check["field"])) for case in cases]
    assert len(set(keys)) == len(keys), f"{keys}"
    flagged = [
        name for case in cases for arrival in (await house.history(case)).arrivals for name in arrival.confusable
    ]
    assert flagged, "no label is flagged as confusable"
    return f"{len(keys)} keys; flagged as confusable: {', '.join(map(ascii, flagged))}"


def _label(case: Case, field: str) -> str:
    return case.facts.model_dump()[field]


async def index_truncation_visible(house: House, check: Check) -> str:
    case = await house.case(check["case"])
    assert 0 < case.indexed_bytes < case.body_bytes, f"{case.indexed_bytes} of {case.body_bytes}"
    whole = await house.call("GET", f"/v1/contents/{case.content_id}", case.origin.tenant_id)
    assert hashlib.sha256(whole["text"].encode()).hexdigest() == whole["sha256"], "the kept body is another one"
    assert len(whole["text"].encode()) == whole["bytes"] == case.body_bytes, "the body is not kept whole"
    return f"{case.indexed_bytes} of {case.body_bytes} bytes indexed, the whole kept"


async def no_payload_over(house: House, check: Check) -> str:
    """Intake starts no workflow; what reaches workflows from it are outbox events."""
    largest = house.world.one("SELECT coalesce(max(octet_length(payload::text) + octet_length(key)), 0) FROM outbox")
    assert largest <= check["bytes"], f"{largest} bytes"
    return f"no workflow is started by a delivery; the largest outbox event has {largest} bytes"


async def same_content_hash(house: House, check: Check) -> str:
    digests = {(await house.arrival(name)).digest for name in check["deliveries"]}
    assert len(digests) == 1, f"{digests}"
    return f"one digest {digests.pop()[:12]}"


async def different_content_hash(house: House, check: Check) -> str:
    digests = [(await house.arrival(name)).digest for name in check["deliveries"]]
    assert len(set(digests)) == len(digests), f"{digests}"
    return f"digests {', '.join(found[:12] for found in digests)}"


async def conflict_flagged(house: House, check: Check) -> str:
    arrival = await house.arrival(check["delivery"])
    assert arrival.disposition is Disposition.CONFLICT, arrival.disposition
    case = await house.case(arrival.external_id)
    assert case.body != arrival.body, "the case was overwritten"
    return f"revision {arrival.revision}, content version {arrival.content_version}: kept beside the case's"


async def point_ids_unique_and_stable(house: House, check: Check) -> str:
    first = await _points(house)
    for _ in range(check["rebuilds"]):
        await house.reindexer.rebuild()
        await house.project()
        assert await _points(house) == first, "a rebuild gave other points"
    cases = sum([len(await house.cases(tenant)) for tenant in house.tenants])
    assert len({point.id for point in first}) == len(first) == cases, f"{len(first)} points, {cases} cases"
    return f"{len(first)} points, the same after {check['rebuilds']} rebuilds"


async def _points(house: House) -> list[Stored]:
    return await house.index.stored(Collection.CASES)


async def lookup_by_external_id(house: House, check: Check) -> str:
    case = await house.case(check["value"])
    assert case.origin.external_id == check["value"], case.origin.external_id
    (arrival,) = (await house.history(case)).arrivals
    assert arrival.external_id == check["value"], arrival.external_id
    return f"found {case.origin.external_id!r}"


async def revisions_equal(house: House, check: Check) -> str:
    arrivals = (await house.history(await house.case(check["case"]))).arrivals
    taken = [arrival.revision for arrival in arrivals if arrival.disposition is not Disposition.CONFLICT]
    assert taken == check["value"], f"{taken}"
    reused = [arrival.delivery_id for arrival in arrivals if arrival.delivery_id_reused]
    redelivered = sum(arrival.redeliveries for arrival in arrivals)
    sent = sum(delivery["external_id"] == check["case"] for delivery in house.file.deliveries)
    assert len(arrivals) + redelivered == sent, f"{len(arrivals)} arrivals and {redelivered} redeliveries of {sent}"
    return f"revisions {taken}, {redelivered} redeliveries; delivery ids used again: {reused or 'none'}"


async def workflow_starts(house: House, check: Check) -> str:
    """The registry runs no workflow for a case; what is started for one is its projection, under one key."""
    keys = house.world.rows("SELECT DISTINCT key FROM outbox WHERE topic = %s AND key LIKE 'case/%%'", Topic.INDEX)
    assert len(keys) == check["value"], f"{keys}"
    return f"no workflow runs for a case; projection targets started: {len(keys)}"


async def final_state(house: House, check: Check) -> str:
    case = await house.case(check["case"])
    assert check["value"] in (case.source_state, case.state), f"{case.source_state!r}, {case.state}"
    if case.order_assumed:
        return f"{case.source_state!r} ({case.state}), order assumed"
    return f"{case.source_state!r} ({case.state})"


async def gap_reported(house: House, check: Check) -> str:
    history = await house.history(await house.case(check["case"]))
    assert list(history.gaps.missing) == check["value"], f"{history.gaps}"
    return f"missing {list(history.gaps.missing)}; active {history.hours.active:.2f} h"


async def delivery_refused(house: House, check: Check) -> str:
    (answer,) = house.answers[check["delivery"]]
    assert isinstance(answer, Refused), f"{answer}"
    assert 400 <= answer.status < 500, f"{answer}"
    assert answer.problem["field"], f"{answer.problem}"
    stored = house.world.one("SELECT count(*) FROM arrivals WHERE delivery_id = %s", check["delivery"])
    assert stored == 0, "it was stored"
    return f"{answer}: {answer.problem['detail']}"


async def query_subset_of_allowed(house: House, check: Check) -> str:
    """Ask through the whole engine: both indexes and the record."""
    cases = {
        answer.case_id: name
        for name, answers in house.answers.items()
        for answer in answers
        if not isinstance(answer, Refused)
    }
    seen: list[str] = []
    for query in house.file.also["queries"]:
        answer = await house.ask(await house.person_of(query["tenant"]), query["text"])
        found = {cases[each.ref.partition("/")[2]] for each in answer.candidates if each.kind == "case"}
        assert found <= set(query["allowed"]), f"{query['tenant']}: {found}"
        assert found or not query["allowed"], f"{query['tenant']}: nothing was found"
        assert found or answer.not_read or answer.notes, f"{query['tenant']}: an empty answer without a word"
        seen.append(f"{query['tenant']}: {sorted(found) or 'nothing (' + '; '.join(answer.notes) + ')'}")
    return "; ".join(seen)


OPERATIONS: Mapping[str, Operation] = {
    operation.__name__: operation
    for operation in (
        case_count, case_count_by_tenant, case_exists, stored_not_contains, stored_contains, same_key, different_key,
        index_truncation_visible, no_payload_over, same_content_hash, different_content_hash, conflict_flagged,
        point_ids_unique_and_stable, lookup_by_external_id, revisions_equal, workflow_starts, final_state,
        gap_reported, delivery_refused, query_subset_of_allowed, steps, article_contains_none, article_contains_all,
        index_payload_contains_none,
    )
}  # fmt: skip
