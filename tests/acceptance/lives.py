"""Lives of experiences, sent by people who repeat themselves and contradict each other.

What a life must have come to is computed here from the API's answers alone, by a table of this module's own.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.client import CaseloreClient
from contracts.casefile import CaseRecord
from contracts.errors import CaseloreError, Unavailable
from contracts.experience import Draft
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeCommand, ChangeKind, ReviewDecision
from contracts.views import CommandView
from deploy.importing import experience_id, proposal_of
from tests.acceptance.office import fresh
from tests.acceptance.samples import rewritten

GIVEN_UP = 240.0
"""Seconds after which a command counts as never settled."""
_REVIEWS: Mapping[tuple[Stage, str], Stage] = {
    (Stage.CURATOR_REVIEW, "accept"): Stage.OWNER_REVIEW,
    (Stage.OWNER_REVIEW, "accept"): Stage.PUBLISHED,
    (Stage.CURATOR_REVIEW, "return"): Stage.RETURNED,
    (Stage.OWNER_REVIEW, "return"): Stage.RETURNED,
    (Stage.CURATOR_REVIEW, "reject"): Stage.REJECTED,
    (Stage.OWNER_REVIEW, "reject"): Stage.REJECTED,
}


@dataclass
class People:
    """Clients of everybody who acts: two for each role, so that they can contradict each other."""

    proposer: CaseloreClient
    curators: tuple[CaseloreClient, CaseloreClient]
    owners: tuple[CaseloreClient, CaseloreClient]
    successors: Sequence[str]
    """Published experiences that take over from others."""
    counts: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True)
class Sent:
    """A decision or change that somebody sends, as often as it takes."""

    client: CaseloreClient
    what: ReviewDecision | ChangeCommand

    @property
    def id(self) -> str:
        return self.what.decision_id if isinstance(self.what, ReviewDecision) else self.what.command_id

    @property
    def event(self) -> str:
        return self.what.verdict.value if isinstance(self.what, ReviewDecision) else self.what.kind.value

    async def once(self) -> CommandView:
        """Send it once; the server may hold the answer for a moment."""
        if isinstance(self.what, ReviewDecision):
            return await self.client.decide(self.what)
        return await self.client.change(self.what, wait=2)


@dataclass
class Standing:
    """Where an experience has to stand."""

    stage: Stage = Stage.CURATOR_REVIEW
    current: int | None = None
    suspended: bool = False
    drafts: tuple[Draft, ...] = ()

    def after(self, sent: Sent) -> Standing | None:
        """Return what `sent` makes of it; None when it can't be applied here."""
        what, event = sent.what, sent.event
        if isinstance(what, ReviewDecision):
            to = _REVIEWS.get((self.stage, event)) if what.stage is self.stage else None
            if to is None or what.digest != self.drafts[-1].digest():
                return None
            if to is Stage.PUBLISHED:
                return Standing(to, len(self.drafts), False, self.drafts)
            if to is Stage.REJECTED and self.current is not None:
                return Standing(Stage.PUBLISHED, self.current, False, self.drafts)
            return Standing(to, self.current, self.suspended, self.drafts)
        if event in ("retire", "supersede"):
            ended = Stage.RETIRED if event == "retire" else Stage.SUPERSEDED
            is_open = self.current is not None and self.stage not in (Stage.RETIRED, Stage.SUPERSEDED)
            return Standing(ended, None, False, self.drafts) if is_open else None
        allowed = Stage.RETURNED if event == "resubmit" else Stage.PUBLISHED
        if self.stage is not allowed or what.draft is None:
            return None
        hidden = self.suspended or what.suspend
        return Standing(Stage.CURATOR_REVIEW, self.current, hidden, (*self.drafts, what.draft))


class Life:
    """One experience from its proposal on.

    Args:
        record: Its case, already brought with a result.
        people: Who acts on it.
        seed: Of everything that happens to it.
    """

    def __init__(self, record: CaseRecord, people: People, seed: int) -> None:
        self.name = experience_id(record)
        self.record = record
        self.people = people
        self.chance = random.Random(seed)
        self.standing = Standing(drafts=(proposal_of(record).draft,))
        self.applied: dict[str, Stage] = {}
        """Commands that took effect, and where they led."""
        self.refused: set[str] = set()
        self.faults: list[str] = []

    async def live(self) -> None:
        """Propose, and go on until the end or some point before it."""
        await self._propose()
        for _ in range(12):
            if self.faults or self.chance.random() < 0.06 or not (sent := self._next()):
                return
            await self._step(sent)

    async def _propose(self) -> None:
        deadline = time.monotonic() + GIVEN_UP
        while time.monotonic() < deadline:
            try:
                await self.people.proposer.propose(proposal_of(self.record))
            except Unavailable:
                self.people.counts["not answered"] += 1
                await asyncio.sleep(0.3)
            else:
                self.people.counts["proposed"] += 1
                return
        self.faults.append("the proposal was never taken")

    def _next(self) -> list[Sent]:
        """Return what is sent next, at once: one thing, or two that contradict each other."""
        chance, standing = self.chance, self.standing
        if standing.stage in (Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW):
            reviewers = self.people.curators if standing.stage is Stage.CURATOR_REVIEW else self.people.owners
            verdicts = chance.choices((Event.ACCEPT, Event.RETURN, Event.REJECT), (80, 14, 6), k=2)
            first = chance.randrange(2)
            pair = [self._decision(reviewers[first], verdicts[0]), self._decision(reviewers[1 - first], verdicts[1])]
            return pair if chance.random() < 0.25 else pair[:1]
        if standing.stage is Stage.RETURNED:
            return [self._change(ChangeKind.RESUBMIT)]
        if standing.stage is not Stage.PUBLISHED:
            return []
        kinds = chance.choices((None, ChangeKind.CORRECT, ChangeKind.RETIRE, ChangeKind.SUPERSEDE), (5, 5, 2, 2))
        if kinds[0] is None:
            return []
        sent = [self._change(kinds[0])]
        if chance.random() < 0.2:
            sent.append(self._change(ChangeKind.RETIRE if kinds[0] is ChangeKind.CORRECT else ChangeKind.CORRECT))
        return sent

    def _decision(self, client: CaseloreClient, verdict: Event) -> Sent:
        decision = ReviewDecision(
            decision_id=fresh(),
            experience_id=self.name,
            stage=self.standing.stage,
            digest=self.standing.drafts[-1].digest(),
            verdict=verdict,
            comment="" if verdict is Event.ACCEPT else "Not like this.",
        )
        return Sent(client, decision)

    def _change(self, kind: ChangeKind) -> Sent:
        number, client = len(self.standing.drafts) + 1, self.people.owners[0]
        more: dict[str, Any] = {}
        if kind in (ChangeKind.RESUBMIT, ChangeKind.CORRECT):
            client = self.people.proposer
            text = f"{self.standing.drafts[0].synopsis.text} Text {number}."
            more["draft"] = rewritten(self.record, f"{self.standing.drafts[0].title}, {number}", text)
            more["suspend"] = kind is ChangeKind.CORRECT and self.chance.random() < 0.5
        elif kind is ChangeKind.SUPERSEDE:
            more["superseded_by"] = self.chance.choice(self.people.successors)
        command = ChangeCommand(command_id=fresh(), experience_id=self.name, kind=kind, reason="Found out.", **more)
        return Sent(client, command)

    async def _step(self, sent: list[Sent]) -> None:
        """Send it all at once, some of it twice, and work out where that leads."""
        sending = [each for each in sent for _ in range(2 if self.chance.random() < 0.3 else 1)]
        self.people.counts["sent"] += len(sending)
        self.people.counts["contradictions"] += len(sent) > 1
        outcomes = await asyncio.gather(*(self._send(each) for each in sending))
        said: dict[str, set[str]] = {}
        for each, outcome in zip(sending, outcomes, strict=True):
            said.setdefault(each.id, set()).add(outcome)
        applied: list[Sent] = []
        for each in sent:
            if len(said[each.id]) != 1:
                self.faults.append(f"{each.event} was answered in two ways: {said[each.id]}")
            elif said[each.id] == {"refused"}:
                self.refused.add(each.id)
            else:
                applied.append(each)
        self._take(sent, applied)

    def _take(self, sent: list[Sent], applied: list[Sent]) -> None:
        for order in itertools.permutations(applied):
            now, led = self.standing, dict[str, Stage]()
            for each in order:
                after = now.after(each)
                if after is None:
                    break
                now, led[each.id] = after, after.stage
            else:
                rest = [each for each in sent if each not in applied]
                if any(now.after(each) for each in rest):
                    self.faults.append(f"{[each.event for each in rest]} refused for no reason after {led}")
                self.standing, self.applied = now, self.applied | led
                return
        self.faults.append(f"{[each.event for each in applied]} can't both follow {self.standing.stage}")

    async def _send(self, sent: Sent) -> str:
        """Send until it is known what became of it: `applied` or `refused`."""
        counts, deadline, is_stored = self.people.counts, time.monotonic() + GIVEN_UP, False
        while time.monotonic() < deadline:
            try:
                view = await (sent.client.get_command(sent.id) if is_stored else sent.once())
            except Unavailable:
                counts["not answered"] += 1
                await asyncio.sleep(0.3)
                continue
            except CaseloreError as refusal:
                counts[f"refused, {refusal.type}"] += 1
                return "refused"
            if view.state != "pending":
                counts[f"{view.state}, after a look" if is_stored else view.state] += 1
                return view.state
            counts["202"] += not is_stored
            is_stored = True
            await asyncio.sleep(0.3)
        self.faults.append(f"{sent.event} {sent.id} never settled")
        return "refused"
