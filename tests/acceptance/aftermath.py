"""What record, workflows, index and audit chain must say when everything has come to rest."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from temporalio.client import Client

from activities.embedding.fastembed_model import FastEmbedEmbedder
from activities.index.edge import EdgeIndex
from activities.records.audit_verification import AuditVerifier
from activities.records.database import Database
from contracts.labels import Collection
from deploy.settings import Settings
from deploy.wiring import index_folder
from tests.acceptance.house import House
from tests.acceptance.lives import Life

REST = 120.0
"""Seconds after which something counts as never coming to rest."""
_STANDING = """
SELECT e.id::text, e.stage, e.current_revision, e.suspended, e.revision, r.digest
  FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
"""
_LEFT = "SELECT topic, key, kind, outcome, dead_at IS NOT NULL FROM outbox WHERE delivered_at IS NULL"
_SHOULD_BE_EMPTY = {
    "dead events": "SELECT key, outcome FROM outbox WHERE dead_at IS NOT NULL",
    "pending commands": "SELECT id::text, kind FROM commands WHERE state = 'pending'",
    "commands that took effect twice": "SELECT cause_id::text, count(*) FROM transitions WHERE cause_id IS NOT NULL"
    " AND event <> 'trim' GROUP BY 1 HAVING count(*) > 1",
    "applied commands without effect": "SELECT id::text, kind FROM commands c WHERE state = 'applied'"
    " AND NOT EXISTS (SELECT 1 FROM transitions t WHERE t.cause_id = c.id)",
    "refused commands with an effect": "SELECT id::text, kind FROM commands c WHERE state = 'refused'"
    " AND EXISTS (SELECT 1 FROM transitions t WHERE t.cause_id = c.id)",
    "decisions without their command": "SELECT decision_id::text, verdict FROM review_decisions d WHERE NOT EXISTS"
    " (SELECT 1 FROM commands c WHERE c.id = d.decision_id AND c.state = 'applied')",
    "steps that don't follow each other": "SELECT experience_id::text, seq FROM (SELECT experience_id, seq, from_stage,"
    " lag(to_stage) OVER w AS before, row_number() OVER w AS place FROM transitions"
    " WINDOW w AS (PARTITION BY experience_id ORDER BY seq)) t"
    " WHERE seq <> place OR from_stage IS DISTINCT FROM before",
    "revisions twice or left out": "SELECT experience_id::text, count(*) FROM revisions GROUP BY 1"
    " HAVING count(*) <> max(number) OR count(DISTINCT number) <> count(*)",
    "experiences with two current revisions": "SELECT experience_id::text, count(*) FROM revisions"
    " WHERE state IN ('current', 'suspended') GROUP BY 1 HAVING count(*) > 1",
    "projections that differ from the record": "SELECT key FROM projections p FULL JOIN"
    " (SELECT 'experience/' || experience_id AS key, number, digest FROM revisions WHERE state = 'current') r"
    " USING (key) WHERE coalesce(p.key, r.key) LIKE 'experience/%%'"
    " AND (p.revision, p.content_hash) IS DISTINCT FROM (r.number, r.digest)",
}


async def faults_after(house: House, lives: Sequence[Life]) -> tuple[list[str], str]:
    """Return everything that is not as it has to be, and what the verification of the audit chain said.

    Stops the house: its index is read from the files.
    """
    faults = [f"{life.name}: {fault}" for life in lives for fault in life.faults]
    faults += await _at_rest(house)
    faults += _standings(house, lives)
    for what, query in _SHOULD_BE_EMPTY.items():
        if rows := house.rows(query):
            faults.append(f"{what}: {len(rows)}, first {rows[0]}")
    faults += await _workflows(house, lives)
    await house.stop()
    faults += await _index(house, lives)
    audit, broken = await _audit(house)
    return [*faults, *broken], audit


async def _at_rest(house: House) -> list[str]:
    """Return the events that are still undelivered when nothing more should come."""
    left: list[Any] = []
    for _ in range(int(REST / 0.25)):
        if not (left := house.rows(_LEFT)):
            return []
        await asyncio.sleep(0.25)
    return [f"never delivered: {len(left)}, first {left[0]}"]


def _standings(house: House, lives: Sequence[Life]) -> list[str]:
    """Hold the record against what the answers said."""
    faults: list[str] = []
    found = {name: rest for name, *rest in house.rows(_STANDING)}
    states = dict(house.rows("SELECT id::text, state FROM commands"))
    for life in lives:
        now = life.standing
        wanted = [now.stage, now.current, now.suspended, len(now.drafts), now.drafts[-1].digest()]
        if found.get(life.name) != wanted:
            faults.append(f"{life.name}: stands at {found.get(life.name)}, its answers say {wanted}")
        said = dict.fromkeys(life.applied, "applied") | dict.fromkeys(life.refused, "refused")
        differing = {each for each, state in said.items() if states.get(each) != state}
        # A refusal before anything was stored leaves no command behind.
        differing -= {each for each in differing if each not in states and said[each] == "refused"}
        faults += [f"{life.name}: {each} was {said[each]}, is {states.get(each)}" for each in differing]
    return faults


async def _workflows(house: House, lives: Sequence[Life]) -> list[str]:
    """Hold the workflows' stages, as operators see them, against the record's (R12)."""
    client = await Client.connect(house.services.addresses.temporal_address)
    wanted = {f"experience/{life.name}": life.standing.stage.value for life in lives}
    differing: dict[str, Any] = {}
    for _ in range(40):  # what operators see follows a moment later
        shown: dict[str, str] = {}
        async for execution in client.list_workflows("WorkflowType = 'ExperienceLifecycle'"):
            stages = execution.search_attributes.get("ExperienceStage", [])
            if execution.id not in shown or execution.close_time is None:  # of several runs the one that is under way
                shown[execution.id] = str(stages[0]) if stages else "none"
        differing = {name: (stage, shown.get(name)) for name, stage in wanted.items() if shown.get(name) != stage}
        if not differing:
            return []
        await asyncio.sleep(0.5)
    return [f"workflows at another stage than the record: {len(differing)}, first {next(iter(differing.items()))}"]


async def _index(house: House, lives: Sequence[Life]) -> list[str]:
    """Hold the index's files against what the answers said."""
    settings = house.settings
    wanted = {
        f"experience/{life.name}": (now.current, now.drafts[now.current - 1].digest())
        for life in lives
        if (now := life.standing).current is not None and not now.suspended
    }
    faults: list[str] = []
    index = await _opened(settings)
    try:
        for collection in (Collection.ROUTING, Collection.DETAIL):
            stored = [each.payload for each in await index.stored(collection)]
            ours = [each for each in stored if each.target.removeprefix("experience/") in {life.name for life in lives}]
            held = {each.target: (each.revision, each.content_hash) for each in ours}
            if held != wanted or len(ours) != len(held):
                differing = dict(sorted(held.items() ^ wanted.items())[:1])
                faults.append(f"{collection}: {len(ours)} points for {len(wanted)} experiences, first {differing}")
    finally:
        await index.close()
    return faults


async def _opened(settings: Settings) -> EdgeIndex:
    embedder = await asyncio.to_thread(FastEmbedEmbedder, settings.data_dir / "models", threads=1)
    index = EdgeIndex(index_folder(settings), embedder.model, embedder.dimensions)
    await index.open()
    return index


async def _audit(house: House) -> tuple[str, list[str]]:
    """Return what `caselore audit verify` finds."""
    url = house.services.addresses.system_database_url
    database = Database(url, url)
    try:
        found = await AuditVerifier(database).verify()
    finally:
        await database.close()
    said = json.dumps({"rows": found.rows, "transitions": found.transitions, "decisions": found.decisions})
    return said, [] if found.holds else [f"audit: {found.broken}"]
