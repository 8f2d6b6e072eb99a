"""Searching for words in every way that there is: each profile, each source, each index, and the record's full text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contracts.casefile import CaseRecord
from contracts.errors import ScopeNotAcknowledged
from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis
from contracts.index import Filter, LexicalQuery, Scope
from contracts.labels import Collection, Outcome, ProofLevel, UnitKind
from contracts.lifecycle import Event, Stage
from contracts.retrieval import Answer, OriginRef
from contracts.review import ReviewDecision
from contracts.views import CommandView
from deploy.cast import PROFILES
from deploy.importing import proposal_of
from deploy.runtime import Runtime
from tests.acceptance.crew import Crew
from tests.acceptance.office import Office, fresh

TENANTS = ("north", "south")


@dataclass
class Standing:
    """A running Caselore, its people, and its workers to stop and start."""

    runtime: Runtime
    office: Office
    crew: Crew

    async def ask_all(self, objective: str, *, tenants: Sequence[str] = TENANTS, **given: Any) -> list[Answer]:
        """Return the answers of every profile, for each tenant's agent."""
        return [
            await self.office.ask(objective, tenant=tenant, profile=profile, results=50, tokens=8000, **given)
            for tenant in tenants
            for profile in PROFILES
        ]

    async def said(self, words: Sequence[str], *, record: CaseRecord | None = None) -> set[str]:
        """Return those of `words` that any answer holds, whoever asks and whatever it is read from.

        With a record the questions name its origin, too, so that the registry is read.
        """
        origin = None if record is None else OriginRef(source=record.source, external_id=record.external_id)
        texts = [answer.model_dump_json() for answer in await self.ask_all(" ".join(words), origin=origin)]
        index = self.runtime.parts.index
        await index.close()  # now everything is read from the record, by full text
        try:
            texts += [answer.model_dump_json() for answer in await self.ask_all(" ".join(words), origin=origin)]
        finally:
            await index.open()
        return {word for word in words if any(word in text.lower() for text in texts)}

    async def indexed(self, words: Sequence[str]) -> set[str]:
        """Return those of `words` that any index holds: their full text and every payload."""
        scope, found = Scope(tenants=frozenset(TENANTS)), set[str]()
        for collection in Collection:
            payloads = [each.payload.model_dump_json() for each in await self.runtime.parts.index.stored(collection)]
            for word in words:
                hits = await self.runtime.parts.index.search(
                    collection, LexicalQuery(word), scope=scope, where=Filter(), limit=5
                )
                if hits or any(word in payload for payload in payloads):
                    found.add(word)
        return found

    async def propose(self, record: CaseRecord, content: Draft) -> str:
        """Bring the case and propose `content` from its result; return the experience's id."""
        await self.office.bring(record.model_copy(update={"experience": None}), is_reviewed=False)
        proposal = proposal_of(record).model_copy(update={"draft": content})
        await self.office.cast.proposer.propose(proposal)
        return proposal.experience_id

    async def decide(self, name: str, stage: Stage, digest: str, verdict: Event = Event.ACCEPT, **more: Any) -> None:
        """Decide as the stage's reviewer; an owner who is shown a difference in scope acknowledges it."""
        try:
            await self.attempt(name, stage, digest, verdict, **more)
        except ScopeNotAcknowledged:
            shown = await self.office.cast.owner.scope_difference(name)
            await self.attempt(name, stage, digest, verdict, acknowledged_scope=shown.digest, **more)

    async def attempt(
        self, name: str, stage: Stage, digest: str, verdict: Event = Event.ACCEPT, **more: Any
    ) -> CommandView:
        """Decide as the stage's reviewer, as things are."""
        cast = self.office.cast
        client = cast.curator if stage is Stage.CURATOR_REVIEW else cast.owner
        decision = ReviewDecision(
            decision_id=fresh(),
            experience_id=name,
            stage=stage,
            digest=digest,
            verdict=verdict,
            comment="" if verdict is Event.ACCEPT else "Not like this.",
            **more,
        )
        view = await client.decide(decision, wait=20)
        assert view.state == "applied", view
        return view

    async def accept(self, name: str, content: Draft) -> None:
        """Let curator and owner accept a draft."""
        await self.decide(name, Stage.CURATOR_REVIEW, content.digest())
        await self.decide(name, Stage.OWNER_REVIEW, content.digest())


def full_of(record: CaseRecord, word: str, *, limits: Limits | None = None, units: int = 1, **unit: Any) -> Draft:
    """Return a draft for the record's case with `word` in every text that it has."""
    outcome, proof = Outcome.SUCCEEDED, ProofLevel.EXECUTED
    return Draft(
        title=f"{word} in the title",
        domain_id="data",
        outcome=outcome,
        proof_level=proof,
        synopsis=RoutingSynopsis(
            request_type=f"{word} question",
            symptom_tags=(f"{word} tag",),
            route=f"Data, {word}",
            disposition=f"Closed, {word}",
            text=f"The synopsis says {word}.",
        ),
        units=tuple(
            KnowledgeUnit(
                id=f"u{number}",
                kind=UnitKind.PROPOSITION,
                text=f"Unit {number} says {word}.",
                concepts=(f"{word} concept",),
                use_when=f"When {word} shows.",
                outcome=outcome,
                proof_level=proof,
            ).model_copy(update=unit)
            for number in range(1, units + 1)
        ),
        limits=limits or Limits(),
        effort=proposal_of(record).draft.effort,
    )
