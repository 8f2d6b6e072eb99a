"""The queries of every request can use an index, under the policies of the role that runs them.

A policy that calls for a look at every row, or a condition that may not be tried before the policy, shows here
long before a table is big enough to be slow: with sequential scans disabled, a plan that still has one
knows no other way.
"""

from __future__ import annotations

import re
from typing import Any, cast

import pytest
from sqlalchemy import text

from activities.records import candidate_rows, experience_rows, feedback_counts, outbox, retrievals, review_queue
from activities.records.rows import CASE
from contracts.labels import CandidateKind, Outcome
from contracts.outbox import Topic
from tests.records.world import World

EXPERIENCE, CASE_ID = "an experience", "a case"
"""Stand for ids that are there: what is never reached shows nothing."""
BIG = (
    "cases", "experiences", "revisions", "origins", "projections", "outbox", "case_papers", "feedback_outcomes",
    "feedback_totals",
)  # fmt: skip
_SCAN = re.compile(r"(Seq|Index|Index Only) Scan(?: Backward)?(?: using \w+)? on (\w+)")
SCOPE: dict[str, Any] = {"tenants": ["acme"], "cases": [CASE_ID]}
LOOKUP: dict[str, Any] = {"text": "blank page", "domains": ["data"], "outcomes": list(Outcome), **SCOPE}
ASKER = {"who": "ann", "narrowed": None, "limit": 10}
AS_CALLER: dict[str, tuple[str, dict[str, Any]]] = {
    "view": (experience_rows.VIEW, {"id": EXPERIENCE}),
    "tasks": (
        review_queue.TASKS,
        {
            **dict.fromkeys(("domain", "stage", "due_before", "claimed", "after_urgency", "after_due", "after_id")),
            "limit": 50,
        },
    ),
    "resolve": (candidate_rows._PUBLISHED.text, {"ids": [EXPERIENCE]}),
    "recheck": (retrievals._SEEN.text, {"case": [CASE_ID], "experience": [EXPERIENCE], "article": [CASE_ID]}),
    "case": (f"{CASE} WHERE c.id = CAST(:id AS uuid)", {"id": CASE_ID}),
    "papers": ("SELECT * FROM case_papers WHERE case_id = CAST(:id AS uuid)", {"id": CASE_ID}),
    "revisions": ("SELECT * FROM revisions WHERE experience_id = CAST(:id AS uuid)", {"id": EXPERIENCE}),
}  # fmt: skip
AS_SYSTEM: dict[str, tuple[str, dict[str, Any]]] = {
    "registry by origin": (
        retrievals._ORIGIN.text,
        {"source": "desk", "external_id": "X-7", "tenant": None, **ASKER, **SCOPE},
    ),
    "registry by objects": (retrievals._OBJECTS.text, {"refs": ["doc/X-7"], "tenant": None, **ASKER, **SCOPE}),
    "full text of experiences": (retrievals._CANONICAL[CandidateKind.EXPERIENCE].format(pending=""), LOOKUP),
    "full text of cases": (retrievals._CANONICAL[CandidateKind.CASE].format(pending=""), LOOKUP),
    "feedback": (
        feedback_counts._COUNTS.text,
        {"refs": [f"experience/{CASE_ID}"], "asker": "ann", "enough": 3, **SCOPE},
    ),
    "watermarks": (outbox._WATERMARKS.text, {}),
    **{
        f"claim {topic}": (
            outbox.claim_sql(topic),
            {"topic": topic, "limit": 10, "lease": "30 s"},
        )
        for topic in Topic
    },
}


SEED = """
INSERT INTO origins SELECT gen_random_uuid(), 'acme', 'desk', 'X-' || n, 'key ' || n FROM generate_series(1, 3000) n;
INSERT INTO cases (id, tenant_id, origin_id, body, state, opened_at, state_since, object_refs)
  SELECT gen_random_uuid(), tenant_id, id, 'Blank page ' || external_id, 'open', now(), now(),
         ARRAY['doc/' || external_id]
    FROM origins;
INSERT INTO case_results (id, tenant_id, case_id, outcome, proof_level, recorded_by)
  SELECT gen_random_uuid(), tenant_id, id, 'failed', 'reported', 'ann' FROM cases;
INSERT INTO case_papers (id, tenant_id, case_id, kind, digest, author_id)
  SELECT gen_random_uuid(), tenant_id, id, 'evidence', 'd', 'ann' FROM cases;
INSERT INTO experiences (id, tenant_id, case_id, result_id, outcome, domain_id, proposer_id, stage, revision,
                         stage_since)
  SELECT gen_random_uuid(), tenant_id, case_id, id, outcome, 'data', 'ann',
         CASE WHEN random() < 0.02 THEN 'curator_review' ELSE 'published' END, 1, now() FROM case_results;
INSERT INTO revisions (experience_id, number, state, outcome, proof_level, domain_id, title, content, digest, author_id,
                       published_at, searchable)
  SELECT id, 1, CASE stage WHEN 'published' THEN 'current' ELSE 'draft' END, outcome, 'reported', 'data', 'Row',
         '{}', 'd', 'ann', CASE stage WHEN 'published' THEN now() END, 'word ' || id FROM experiences;
INSERT INTO projections (key, revision, content_hash, points) SELECT 'experience/' || id, 1, 'd', 2 FROM experiences;
INSERT INTO outbox (event_id, topic, kind, key, payload, delivered_at)
  SELECT gen_random_uuid(), topic, 'project', 'case/' || id, '{}', CASE WHEN random() < 0.98 THEN now() END
    FROM cases, unnest(ARRAY['index', 'lifecycle']) topic;
ANALYZE;
"""


@pytest.fixture(scope="module", name="full")
def fixture_full(shared: World) -> World:
    """A database with 3,000 of each row, in one tenant that `ann` may see."""
    for statement in SEED.split(";\n"):
        shared.owner.execute(statement.encode())
    return shared


def _real(world: World, value: Any) -> Any:
    """Return a value with the stand-ins replaced by ids of rows that are there."""
    if isinstance(value, list):
        return [_real(world, item) for item in cast("list[Any]", value)]
    if value == EXPERIENCE:
        return world.one("SELECT min(id::text) FROM experiences WHERE stage = 'published'")
    return world.one("SELECT min(id::text) FROM cases") if value == CASE_ID else value


async def whole_scans(world: World, sql: str, values: dict[str, Any], *, as_caller: bool) -> list[str]:
    """Return the lines of the executed plan that scan the whole of a table that grows, or of its index."""
    opened = world.database.as_principal("ann") if as_caller else world.database.as_system()
    async with opened as connection:
        await connection.execute(text("SET LOCAL enable_seqscan = off"))
        bound = {name: _real(world, value) for name, value in values.items() if f":{name}" in sql}
        plan = list((await connection.execute(text(f"EXPLAIN (ANALYZE, COSTS OFF) {sql}"), bound)).scalars())
    return [
        line.strip()
        for line, *details in zip(plan, [*plan[1:], ""], [*plan[2:], "", ""], strict=True)
        if (node := _SCAN.search(line)) and node[2] in BIG and "never executed" not in line
        if "Backward using pk_outbox" not in line  # the newest event of a topic is one of the last
        if node[1] == "Seq" or not any("Index Cond" in detail for detail in details)
    ]


@pytest.mark.parametrize("name", sorted(AS_CALLER))
async def test_what_a_caller_asks_is_found_by_an_index(full: World, name: str) -> None:
    """R4: row-level security is no reason to read every row."""
    assert await whole_scans(full, *AS_CALLER[name], as_caller=True) == []


@pytest.mark.parametrize("name", sorted(AS_SYSTEM))
async def test_what_runs_across_tenants_is_found_by_an_index(full: World, name: str) -> None:
    """R15, R16: searches in a derived scope, watermarks and claims."""
    assert await whole_scans(full, *AS_SYSTEM[name], as_caller=False) == []


async def test_r10_as_many_as_an_answer_looks_at_are_not_joined_by_checking_every_experience(full: World) -> None:
    """Two dozen ids made a scan of the whole table the cheaper plan, at 10,000 experiences already."""
    async with full.database.as_principal("ann") as connection:
        ids = await connection.execute(text("SELECT experience_id::text FROM revisions ORDER BY 1 LIMIT 25"))
        values = {"ids": list(ids.scalars())}
        sql = f"EXPLAIN (ANALYZE, COSTS OFF) {candidate_rows._PUBLISHED.text}"
        plan = list((await connection.execute(text(sql), values)).scalars())
    executed = [line for line in plan if "never executed" not in line]
    assert [line for line in executed if "Seq Scan on experiences" in line] == []


async def test_a_search_that_the_policies_forbid_to_push_down_is_noticed(full: World) -> None:
    """Why full text and object references are looked up in a derived scope: as the caller they read every row."""
    sql = "SELECT id FROM cases WHERE object_refs && CAST(:refs AS text[])"
    assert await whole_scans(full, sql, {"refs": ["doc/X-7"]}, as_caller=True) != []
