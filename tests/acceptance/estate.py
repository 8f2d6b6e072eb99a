"""Twelve tenants with awkward names on one Caselore, each with an agent and one of everything that has an id."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import text

from api.client import CaseloreClient
from contracts.cases import CaseFacts, CaseLink, CaseLinkKind
from contracts.consultation import Consultation
from contracts.experience import Proposal
from contracts.identity import Domain, Grant, Principal, Profile, Tenant
from contracts.labels import PrincipalKind
from contracts.lifecycle import Event, Stage
from contracts.retrieval import Answer, FreshCheck, MemoryUse, RetrievalRequest
from contracts.review import ChangeCommand, ChangeKind, ReviewDecision
from deploy.administrator_key import administrator_key
from deploy.cast import Cast, engage
from deploy.runtime import Runtime, running
from deploy.searchable import until_searchable
from tests.acceptance.foreign_requests import Asked, Holdings, fresh
from tests.acceptance.office import settings_in
from tests.api.world import delivery, draft, verified

NAMES = (
    "a",
    "A",  # case
    "a:b",  # with source "c" as "a" with "b:c", where keys are joined
    " a",
    "\u00a0a",  # another blank
    "caf\u00e9",
    "cafe\u0301",  # the same in another normal form
    "o'brien\"--",
    "a%_",  # matches most others, as a pattern
    "a/b",
    "x" * 200,
    "\U0001f469\u200d\U0001f692",  # a joined emoji
)
ORIGINS = (("c", "d"), ("b:c", "d"), ("b", "c:d"))
"""Source and external id of every tenant's cases."""
TABLES = (
    "arrivals", "cases", "case_states", "case_papers", "case_results", "case_links", "contents", "experiences",
    "revisions", "transitions", "commands", "review_decisions", "memory_uses", "verdicts", "fresh_checks",
    "retrieval_requests", "broadenings", "consultations", "consultation_briefs", "consultation_replies", "feedbacks",
)  # fmt: skip
WORDS = "Renewal letters are not printed"
PROFILE = "investigator"
DOMAINS = (Domain(id="data", name="Data"), Domain(id="templates", name="Templates"))
"""The agents work for the first and consult the second."""


@dataclass(frozen=True)
class Member:
    """A tenant's one agent, what the tenant has, and a word that only its texts hold."""

    key: str
    client: CaseloreClient
    holdings: Holdings
    cases: tuple[str, ...]
    word: str

    def secrets(self) -> list[str]:
        return [self.word, *self.cases, *self.holdings.ids()]


@dataclass
class Estate:
    runtime: Runtime
    admin: CaseloreClient
    http: httpx.AsyncClient
    members: list[Member]

    async def send(self, member: Member, asked: Asked) -> httpx.Response:
        # One id for all: answers are compared to the byte, and a refusal repeats the id of its request.
        headers = {"Authorization": f"Bearer {member.key}", "X-Request-ID": "one-and-the-same"}
        return await self.http.request(asked.method, asked.path, json=asked.body, params=asked.query, headers=headers)

    def is_next(self, member: Member, other: Member) -> bool:
        """Whether `other` follows `member`, in a ring."""
        return (self.members.index(member) + 1) % len(self.members) == self.members.index(other)

    def is_before(self, member: Member, other: Member) -> bool:
        """Whether a pair is looked at in this order, when it is looked at one way: all pairs once, and the ring."""
        at, other_at = self.members.index(member), self.members.index(other)
        return at < other_at or self.is_next(member, other)

    async def rows(self) -> dict[str, int]:
        """Return how many rows there are of everything that a request may add."""
        async with self.runtime.parts.database.as_system() as connection:
            known = set((await connection.execute(text("SELECT tablename FROM pg_tables"))).scalars())
            return {
                table: (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one()
                for table in TABLES
                if table in known
            }


@asynccontextmanager
async def running_estate(folder: Path) -> AsyncGenerator[Estate]:
    """Run a Caselore, add the tenants, and have each agent work a little."""
    settings = settings_in(folder)
    async with running(settings) as runtime, AsyncExitStack() as stack:
        http = runtime.addresses.http
        admin = await stack.enter_async_context(CaseloreClient(http, administrator_key(settings.data_dir) or ""))
        tenants = [Tenant(id=name, name=f"Tenant {number}") for number, name in enumerate(NAMES)]
        cast = await engage(stack, admin, http, tenants=tenants, domains=DOMAINS)
        people = [f"agent-{number}" for number in range(len(NAMES))]
        keys: list[str] = []
        for person, name in zip(people, NAMES, strict=True):
            agent = Principal(id=person, kind=PrincipalKind.AGENT, name=person)
            keys.append(await admin.put_principal(agent, issue_key=True) or "")
            await admin.put_grant(Grant(principal_id=person, tenant_id=name, purpose="support"))
        await admin.put_profile(
            Profile(
                id=PROFILE,
                domain_id="data",
                strategy_id="data-investigation",
                strategy_version=1,
                principals=tuple(people),
            )
        )
        clients = [await stack.enter_async_context(CaseloreClient(http, key)) for key in keys]
        started = [await _cases(client, name) for client, name in zip(clients, NAMES, strict=True)]
        await until_searchable(admin, seconds=60)
        members = [
            await _work(cast, name, key, client, *begun)
            for name, key, client, begun in zip(NAMES, keys, clients, started, strict=True)
        ]
        raw = await stack.enter_async_context(httpx.AsyncClient(base_url=http, timeout=45))
        yield Estate(runtime, admin, raw, members)


async def _cases(client: CaseloreClient, tenant: str) -> tuple[tuple[str, ...], str]:
    """Deliver the same three requests as every other tenant, but for a word of its own."""
    word = f"word{uuid.uuid4().hex}"
    cases: list[str] = []
    for source, external_id in ORIGINS:
        sent = delivery(
            tenant,
            origin={"tenant_id": tenant, "source": source, "external_id": external_id},
            subject=WORDS,
            body=f"{WORDS}, says {word}.",
            attributes={"note": f"\x00 {word}"},  # so that what came is kept by reference, too
            facts=CaseFacts(domain_id="data", object_refs=("OBJECT-1",)),
        )
        cases.append((await client.deliver(sent)).case_id)
    return tuple(cases), word


async def _work(cast: Cast, tenant: str, key: str, client: CaseloreClient, cases: tuple[str, ...], word: str) -> Member:
    """Do everything on the cases that leaves an id behind."""
    result, papers = verified(cases[0])
    await client.record_result(result, papers)
    proposed, experience = draft(title=f"Letters, says {word}"), fresh()
    await client.propose(Proposal(experience_id=experience, result_id=result.id, draft=proposed))
    decision = ReviewDecision(
        decision_id=fresh(),
        experience_id=experience,
        stage=Stage.CURATOR_REVIEW,
        digest=proposed.digest(),
        verdict=Event.RETURN,
        comment="Once more.",
    )
    await cast.curator.decide(decision, wait=20)
    change = ChangeCommand(
        command_id=fresh(), experience_id=experience, kind=ChangeKind.RESUBMIT, reason="Done.", draft=proposed
    )
    await client.change(change, wait=20)
    answer = await ask(client)
    use = MemoryUse(
        decision_id=fresh(),
        request_id=answer.request_id,
        summary="Count first.",
        checks=(FreshCheck(check_id="count", text="How many letters?"),),
    )
    await client.record_use(use)
    link = CaseLink(
        id=fresh(), case_id=cases[0], other_case_id=cases[1], kind=CaseLinkKind.RELATED, reason=f"Alike, says {word}."
    )
    await client.link_cases(link)
    consultation = Consultation(
        consultation_id=fresh(), domain_id="templates", brief="What keeps letters back?", reason=f"It is {word}."
    )
    await client.consult(answer.request_id, consultation)
    history = await client.arrivals(cases[0])
    holdings = Holdings(
        tenant=tenant,
        case=cases[0],
        other_case=cases[1],
        execution=papers[0].id,
        proof=papers[1].id,
        result=result.id,
        experience=experience,
        digest=proposed.digest(),
        review=decision.decision_id,
        change=change.command_id,
        retrieval=answer.request_id,
        use=use.decision_id,
        candidate=answer.candidates[0].ref if answer.candidates else f"case/{cases[0]}",  # a test says what is missing
        link=link.id,
        content=history.arrivals[0].raw_content_id or "",
        consultation=consultation.consultation_id,
    )
    return Member(key, client, holdings, cases, word)


async def ask(client: CaseloreClient, **given: Any) -> Answer:
    request = RetrievalRequest(
        request_id=fresh(), profile_id=PROFILE, purpose="acceptance", objective=WORDS, results=50, **given
    )
    return await client.retrieve(request)
