"""Turns incident logs into deliveries out of order: `python -m tests.conversion.incidents DATA OUT`.

A revision of the log is a delivery; its texts are neutral labels. What intake has to make of them is known beforehand:
some deliveries are repeated (part of them under another delivery id), of some a second content with the same revision
is made up, and the whole is shuffled. The seed decides which.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from contracts.cases import Delivery, Origin

FILE = "effort_incident_states.jsonl"
TENANT = "incident-log"
SOURCE = "incidents"
REPEATED = 0.20
RENAMED = 0.50
"""Part of the repeated deliveries that come under another delivery id."""
CHANGED = 0.05
_TRANSIT = timedelta(seconds=5)


@dataclass(frozen=True)
class Expected:
    """What has to stand at the end for one incident."""

    external_id: str
    revision: int
    """The highest."""
    state: str
    """Of the highest revision, in the log's word."""
    sent: int
    revisions: int
    contents: int
    """Different contents over all revisions: each is attached once, and none is lost."""
    missing: int
    """Revisions between the lowest and the highest that never come."""

    @property
    def conflicts(self) -> int:
        """Contents that came under a revision that had one already."""
        return self.contents - self.revisions

    @property
    def duplicates(self) -> int:
        """Deliveries of a content that was there already."""
        return self.sent - self.contents


@dataclass
class Replayed:
    """Deliveries in the order in which they are sent, and what is expected of them."""

    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    expected: list[Expected] = field(default_factory=list[Expected])

    def totals(self) -> dict[str, int]:
        """Return the counts that a replay has to report: attached and late ones together."""
        contents = sum(each.contents for each in self.expected)
        conflicts = sum(each.conflicts for each in self.expected)
        return {
            "lines": len(self.deliveries),
            "opened": len(self.expected),
            "attached or late": contents - conflicts - len(self.expected),
            "conflicts": conflicts,
            "redelivered": sum(each.duplicates for each in self.expected),
            "refused": 0,
        }


def read_incidents(data: Path) -> list[dict[str, Any]]:
    """Return the incidents of the data folder, in its order."""
    return [json.loads(line) for line in (data / FILE).read_text(encoding="utf-8").split("\n") if line.strip()]


def cut_short(incidents: Iterable[dict[str, Any]], *, seed: int) -> list[dict[str, Any]]:
    """Return the incidents as they stood at some time, so that they don't all end as closed."""
    chance = random.Random(seed)
    return [
        {**incident, "revisions": sorted(incident["revisions"])[: chance.randint(1, len(incident["revisions"]))]}
        for incident in incidents
    ]


def replayed(incidents: Iterable[dict[str, Any]], *, seed: int) -> Replayed:
    """Return the deliveries of the incidents, repeated, changed and shuffled by `seed`."""
    chance = random.Random(seed)
    found = Replayed()
    for incident in incidents:
        sent = [delivery for row in _rows(incident) for delivery in _sent(incident, row, chance)]
        found.deliveries += sent
        found.expected.append(_expected(sent))
    chance.shuffle(found.deliveries)
    return found


def lines(deliveries: Iterable[Delivery]) -> Iterable[str]:
    """Return the lines of a delivery file."""
    return (json.dumps(delivery.model_dump(mode="json")) for delivery in deliveries)


def _rows(incident: dict[str, Any]) -> list[list[Any]]:
    """Return the log's rows, each once; a counter with several rows keeps them if they end in one state.

    The log can't say which of two states under its highest counter was the last one, so neither can a test.
    """
    rows = [list(row) for row in {tuple(row): None for row in incident["revisions"]}]
    highest = max(row[0] for row in rows)
    last = [row for row in rows if row[0] == highest]
    return [row for row in rows if row[0] != highest or row[1] == last[-1][1]]


def _sent(incident: dict[str, Any], row: Sequence[Any], chance: random.Random) -> list[Delivery]:
    first = _delivery(incident, row)
    sent = [first]
    if chance.random() < REPEATED:
        name = f"{first.delivery_id}-again" if chance.random() < RENAMED else first.delivery_id
        sent.append(first.model_copy(update={"delivery_id": name}))
    if chance.random() < CHANGED:
        update = {"delivery_id": f"{first.delivery_id}-changed", "body": f"{first.body}\nReworded by the sender."}
        sent.append(first.model_copy(update=update))
    return sent


def _delivery(incident: dict[str, Any], row: Sequence[Any]) -> Delivery:
    revision, state, at, reassignments, reopens, group = row
    occurred = datetime.fromisoformat(at).replace(tzinfo=UTC)
    return Delivery(
        origin=Origin(tenant_id=TENANT, source=SOURCE, external_id=incident["id"]),
        revision=revision,
        delivery_id=f"{incident['id']}-{revision}-{state}-{at}",
        occurred_at=occurred,
        received_at=occurred + _TRANSIT,
        subject=f"{incident['category']}, {incident['subcategory']}",
        body=(
            f"{state} since {at}. Group {group or 'none'}, {incident['symptom'] or 'no symptom'}."
            f" Reassigned {reassignments} times, reopened {reopens} times."
        ),
        state=state,
    )


def _expected(sent: Sequence[Delivery]) -> Expected:
    revisions = {delivery.revision or 0: delivery for delivery in sent}
    highest = max(revisions)
    contents = Counter((delivery.revision, delivery.state, delivery.body) for delivery in sent)
    return Expected(
        external_id=sent[0].origin.external_id,
        revision=highest,
        state=revisions[highest].state,
        sent=len(sent),
        revisions=len(revisions),
        contents=len(contents),
        missing=highest - min(revisions) + 1 - len(revisions),
    )


def main() -> None:
    """Write the delivery file of a data folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder that holds the incident log")
    parser.add_argument("out", type=Path, help="delivery file to write")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    found = replayed(read_incidents(given.data), seed=given.seed)
    with given.out.open("w", encoding="utf-8") as out:
        for line in lines(found.deliveries):
            out.write(line + "\n")
    print(json.dumps(found.totals(), indent=2))


if __name__ == "__main__":
    main()
