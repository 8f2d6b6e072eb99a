"""A record in use: one database with its adapters, and the people and cases that tests need."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import psycopg

from activities.records.arrivals import Arrivals
from activities.records.broadenings import Broadenings
from activities.records.cases import Cases
from activities.records.consultations import ConsultationsTable
from activities.records.database import Database
from activities.records.experiences import Experiences
from activities.records.feedbacks import Feedbacks
from activities.records.identities import Identities
from activities.records.lifecycle import LifecycleTable
from activities.records.memory_use import MemoryUses
from activities.records.outbox import OutboxTable
from activities.records.projections import ProjectionsTable
from activities.records.retrievals import RetrievalsTable
from contracts.cases import CaseFacts, CaseResult, Delivery, Effort, Origin, Paper, Receipt
from contracts.experience import Draft, KnowledgeUnit, Proposal, RoutingSynopsis, SourceSpan
from contracts.identity import Domain, Grant, Principal, Profile, RoleInDomain, Tenant
from contracts.labels import DomainRole, Outcome, PaperKind, PrincipalKind, ProofLevel, UnitKind
from contracts.lifecycle import Event, Stage
from contracts.outbox import Topic
from contracts.review import (
    ChangeCommand,
    ChangeKind,
    CommandMessage,
    CommandOutcome,
    DecisionMessage,
    ReviewDecision,
    Snapshot,
)
from contracts.strategies import SHIPPED
from deploy.embedded.postgres import DatabaseUrls

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NOTHINGS_ID = "00000000-0000-4000-8000-000000000000"
"""No row has it."""


def new_id() -> str:
    return str(uuid.uuid4())


def new_word() -> str:
    """Return a word that stands nowhere else: letters alone, since full text reads `48493e1b` as a number and `b`."""
    return "w" + "".join(chr(ord("b") + int(digit, 16)) for digit in uuid.uuid4().hex[:12])


def draft(**changes: Any) -> Draft:
    """Return a draft about a missing register row; units follow its outcome and proof level."""
    outcome = changes.get("outcome", Outcome.SUCCEEDED)
    proof_level = changes.get("proof_level", ProofLevel.VERIFIED)
    text = changes.pop("text", "The register row was missing; adding it printed the document.")
    span_paper = changes.pop("span_paper", None)  # of the case: admission refuses any other
    values: dict[str, Any] = {
        "title": "Missing register row",
        "domain_id": "data",
        "outcome": outcome,
        "proof_level": proof_level,
        "synopsis": RoutingSynopsis(
            request_type="printing", symptom_tags=("blank page",), route="data", disposition="repaired", text=text
        ),
        "units": (
            KnowledgeUnit(
                id="u1",
                kind=UnitKind.PROPOSITION,
                text=text,
                concepts=("register",),
                spans=(SourceSpan(paper_id=span_paper, start=0, end=5),) if span_paper else (),
                outcome=outcome,
                proof_level=proof_level,
            ),
        ),
    }
    return Draft(**{**values, **changes})


class World:
    """The adapters on one database, with a tenant `acme`, its agent `ann` and two reviewers of each domain.

    `ann` proposes; `cora` and `carl` are curators, `otto` and `olga` owners of every domain.
    """

    def __init__(self, urls: DatabaseUrls) -> None:
        self.urls = urls
        self.database = Database(urls.app, urls.system)
        self.identities = Identities(self.database)
        self.arrivals = Arrivals(self.database)
        self.cases = Cases(self.database)
        self.experiences = Experiences(self.database)
        self.lifecycle = LifecycleTable(self.database)
        self.outbox = OutboxTable(self.database)
        self.projections = ProjectionsTable(self.database)
        self.retrievals = RetrievalsTable(self.database)
        self.memory = MemoryUses(self.database)
        self.broadenings = Broadenings(self.database)
        self.consultations = ConsultationsTable(self.database)
        self.feedbacks = Feedbacks(self.database)
        self.owner = psycopg.connect(libpq(urls.owner), autocommit=True)

    async def close(self) -> None:
        self.owner.close()
        await self.outbox.close()
        await self.database.close()

    async def settle_in(self) -> None:
        for domain in ("data", "development"):
            await self.identities.add_domain(Domain(id=domain, name=domain))
        await self.tenant("acme")
        await self.principal("ann", "acme")
        for name, role in (
            ("cora", DomainRole.CURATOR),
            ("carl", DomainRole.CURATOR),
            ("otto", DomainRole.OWNER),
            ("olga", DomainRole.OWNER),
        ):
            await self.principal(name)
            for domain in ("data", "development"):
                await self.identities.give_role(RoleInDomain(principal_id=name, domain_id=domain, role=role))
        for strategy in SHIPPED:
            await self.identities.add_strategy(strategy)
        await self.profile("data-agent", "ann")

    # Reading what is there

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return rows as the owner sees them: everything."""
        return self.owner.execute(sql.encode(), values).fetchall()

    def projected(self) -> dict[str, tuple[int, str]]:
        """Return revision and content hash of every key that was recorded as projected."""
        return {
            key: (number, held)
            for key, number, held in self.rows("SELECT key, revision, content_hash FROM projections")
        }

    def one(self, sql: str, *values: Any) -> Any:
        """Return the only value of the only row."""
        ((value,),) = self.rows(sql, *values)
        return value

    def tables(self) -> list[str]:
        return [
            name
            for (name,) in self.rows(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
                " AND relname <> 'alembic_version' ORDER BY relname"
            )
        ]

    def everything(self) -> dict[str, list[str]]:
        """Return every row of every table, to compare before and after."""
        return {
            table: sorted(text for (text,) in self.rows(f"SELECT t::text FROM {table} t")) for table in self.tables()
        }

    # People

    async def tenant(self, name: str) -> None:
        await self.identities.add_tenant(Tenant(id=name, name=name))

    async def principal(self, name: str, *tenants: str) -> str:
        await self.identities.add_principal(Principal(id=name, kind=PrincipalKind.PERSON, name=name))
        for tenant in tenants:
            await self.grant(name, tenant)
        return name

    async def grant(
        self, name: str, tenant: str, *, case_id: str | None = None, expires_at: datetime | None = None
    ) -> None:
        await self.identities.grant(
            Grant(principal_id=name, tenant_id=tenant, case_id=case_id, purpose="work", expires_at=expires_at)
        )

    async def profile(
        self, profile_id: str, *principals: str, strategy: str = "data-investigation", domain: str = "data"
    ) -> None:
        await self.identities.add_profile(
            Profile(id=profile_id, domain_id=domain, strategy_id=strategy, strategy_version=1, principals=principals)
        )

    # Cases

    async def deliver(
        self,
        external_id: str,
        *,
        by: str = "ann",
        tenant: str = "acme",
        revision: int | None = 1,
        body: str = "The document prints a blank page.",
        subject: str = "Blank page",
        at: datetime = NOON,
        facts: CaseFacts | None = None,
    ) -> Receipt:
        delivery = Delivery(
            origin=Origin(tenant_id=tenant, source="desk", external_id=external_id),
            revision=revision,
            delivery_id=new_id(),
            occurred_at=at,
            received_at=NOON,
            subject=subject,
            body=body,
            facts=facts,
        )
        return await self.arrivals.receive(by, delivery)

    async def open_case(
        self, *, by: str = "ann", tenant: str = "acme", body: str = "", facts: CaseFacts | None = None
    ) -> str:
        receipt = await self.deliver(f"T-{new_id()[:8]}", by=by, tenant=tenant, facts=facts, body=body or "It fails.")
        return receipt.case_id

    async def result(
        self,
        case_id: str,
        *,
        by: str = "ann",
        outcome: Outcome = Outcome.SUCCEEDED,
        effort: Effort | None = None,
    ) -> CaseResult:
        """Record a verified result with its papers."""
        execution = Paper(id=new_id(), kind=PaperKind.EXECUTION, title="Repair", text="The row was added.")
        proof = Paper(id=new_id(), kind=PaperKind.PROOF, title="Check", text="The document printed.")
        result = CaseResult(
            id=new_id(),
            case_id=case_id,
            outcome=outcome,
            proof_level=ProofLevel.VERIFIED,
            summary="Printed.",
            execution_paper_id=execution.id,
            proof_paper_id=proof.id,
            effort=effort,
        )
        await self.cases.record_result(by, result, [execution, proof])
        return result

    # Experiences

    async def propose(self, content: Draft | None = None, *, by: str = "ann", tenant: str = "acme") -> str:
        """Propose the draft from a fresh case with a verified result of its outcome and effort."""
        content = content or draft()
        case_id = await self.open_case(by=by, tenant=tenant)
        result = await self.result(case_id, by=by, outcome=content.outcome, effort=content.effort)
        proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=content)
        await self.experiences.propose(by, proposal)
        return proposal.experience_id

    async def store_decision(
        self, experience_id: str, who: str, verdict: Event = Event.ACCEPT, **changes: Any
    ) -> DecisionMessage:
        """Store a decision on what stands now, and return the message that carries it."""
        now = await self.lifecycle.load(experience_id)
        values: dict[str, Any] = {
            "decision_id": new_id(),
            "stage": now.stage,
            "digest": now.digest,
            "comment": "Seen.",
            **changes,
        }
        decision = ReviewDecision(experience_id=experience_id, verdict=verdict, **values)
        await self.experiences.decide(who, decision)
        return DecisionMessage(
            decision_id=decision.decision_id,
            stage=decision.stage,
            digest=decision.digest,
            verdict=verdict,
            reviewer_id=who,
        )

    async def decide(self, experience_id: str, who: str, verdict: Event = Event.ACCEPT, **changes: Any) -> Snapshot:
        message = await self.store_decision(experience_id, who, verdict, **changes)
        after, duplicate = await self.lifecycle.record_decision(experience_id, message)
        assert not duplicate
        return after

    async def published(self, content: Draft | None = None, *, by: str = "ann", tenant: str = "acme") -> str:
        experience_id = await self.propose(content, by=by, tenant=tenant)
        await self.decide(experience_id, "cora")
        after = await self.decide(experience_id, "otto")
        assert after.stage is Stage.PUBLISHED
        return experience_id

    async def store_command(
        self, experience_id: str, kind: ChangeKind, *, by: str = "otto", **fields: Any
    ) -> CommandMessage:
        command = ChangeCommand(
            command_id=fields.pop("command_id", new_id()),
            experience_id=experience_id,
            kind=kind,
            reason="It has to change.",
            **fields,
        )
        await self.experiences.command(by, command)
        return CommandMessage(command_id=command.command_id)

    async def change(self, experience_id: str, kind: ChangeKind, *, by: str = "otto", **fields: Any) -> CommandOutcome:
        message = await self.store_command(experience_id, kind, by=by, **fields)
        return await self.lifecycle.apply_command(experience_id, message)

    def revision_states(self, experience_id: str) -> list[str]:
        """Return the state of each revision, oldest first."""
        sql = "SELECT state FROM revisions WHERE experience_id = %s ORDER BY number"
        return [state for (state,) in self.rows(sql, experience_id)]

    def index_events(self, key: str) -> int:
        return self.one("SELECT count(*) FROM outbox WHERE topic = %s AND key = %s", Topic.INDEX, key)


def libpq(url: str) -> str:
    """Return an SQLAlchemy address as libpq wants it."""
    return url.replace("postgresql+psycopg://", "postgresql://")


def changed(after: dict[str, list[str]], before: dict[str, list[str]]) -> list[str]:
    """Return the tables whose rows differ."""
    return [table for table in after if after[table] != before[table]]
