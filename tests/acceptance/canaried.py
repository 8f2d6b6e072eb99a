"""A case that has been through everything, with a word of its own in every field that takes a text."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from api.client import CaseloreClient
from contracts.broadening import Broadening
from contracts.cases import BodyFormat, CaseFacts, CaseLink, CaseLinkKind, CaseResult, Delivery, Effort, Origin, Paper
from contracts.consultation import Consultation, ConsultReply
from contracts.experience import Draft, KnowledgeUnit, Limits, Proposal, RoutingSynopsis, SourceSpan
from contracts.feedback import CandidateOutcome, Feedback, Usefulness
from contracts.identity import Grant
from contracts.labels import CaseState, Outcome, PaperKind, ProofLevel, UnitKind
from contracts.lifecycle import Event, Stage
from contracts.retrieval import (
    CheckOutcome,
    CheckResult,
    Citation,
    CitationVerdict,
    FreshCheck,
    MemoryUse,
    OriginRef,
    RetrievalRequest,
)
from contracts.review import ChangeCommand, ChangeKind, Dismissal, FieldComment, ReviewDecision
from tests.acceptance.office import Office, fresh
from tests.acceptance.samples import NOW

Word = Callable[[str], str]


@dataclass
class Words:
    """Gives a word for each field: another one each time, with the same beginning, or one and the same."""

    fixed: str = ""

    def __post_init__(self) -> None:
        self.beginning = self.fixed or f"cnr{uuid.uuid4().hex[:8]}"
        self.given: list[str] = []
        self.fields: list[str] = []

    def __call__(self, field: str) -> str:
        word = self.fixed or f"{self.beginning}x{len(self.given):03d}"
        self.given.append(word)
        self.fields.append(field)
        return f"{field} {word}"


@dataclass(frozen=True)
class Canaried:
    """What came of it."""

    case_id: str
    experience_id: str
    request_id: str
    draft: Draft


def _draft(say: Word, paper_id: str) -> Draft:
    return Draft(
        title=say("title"),
        domain_id="data",
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
        synopsis=RoutingSynopsis(
            request_type=say("type"),
            symptom_tags=(say("symptom"),),
            product=say("product"),
            system=say("system"),
            route=say("route"),
            disposition=say("disposition"),
            text=say("synopsis"),
        ),
        units=(
            KnowledgeUnit(
                id=say("unit"),
                kind=UnitKind.PRESCRIPTION,
                text=say("text"),
                concepts=(say("concept"),),
                intent=say("intent"),
                use_when=say("use"),
                avoid_when=say("avoid"),
                limits=Limits(products=(say("limit"),), note=say("note")),
                spans=(SourceSpan(paper_id=paper_id, start=0, end=4),),
                outcome=Outcome.SUCCEEDED,
                proof_level=ProofLevel.VERIFIED,
            ),
        ),
        limits=Limits(
            products=(say("product"),),
            systems=(say("system"),),
            environments=(say("environment"),),
            schema_version=say("schema"),
            note=say("note"),
        ),
        effort=Effort(estimate_hours=1, active_hours=2, changed_scope=say("changed")),
    )


async def through_everything(office: Office, tenant: str, say: Word, *, other_case: str) -> Canaried:
    """Take a case with a word in every field through every route of the public API."""
    proposer, agent = office.cast.proposer, office.agents[tenant]
    external_id = say("EXT")
    case_id = await _deliver(proposer, tenant, say, external_id)
    case = await proposer.get_case(case_id)
    await proposer.change_state(
        case_id, CaseState.WAITING, expected_revision=case.revision, at=NOW, waiting_on=say("waiting")
    )
    papers = [
        Paper(id=fresh(), kind=kind, title=say("title"), text=say("text"))
        for kind in (PaperKind.EXECUTION, PaperKind.PROOF, PaperKind.EVIDENCE)
    ]
    result = CaseResult(
        id=fresh(),
        case_id=case_id,
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
        summary=say("summary"),
        execution_paper_id=papers[0].id,
        proof_paper_id=papers[1].id,
        effort=Effort(estimate_hours=1, active_hours=2, changed_scope=say("changed")),
    )
    await proposer.record_result(result, papers)
    await office.admin.put_grant(
        Grant(principal_id="stand-in-owner", tenant_id=tenant, case_id=case_id, purpose=say("purpose"))
    )
    link = CaseLink(
        id=fresh(), case_id=case_id, other_case_id=other_case, kind=CaseLinkKind.RELATED, reason=say("alike")
    )
    await proposer.link_cases(link)
    await proposer.remove_link(link.id, say("not alike"))
    experience_id, draft = fresh(), _draft(say, papers[0].id)
    await proposer.propose(Proposal(experience_id=experience_id, result_id=result.id, draft=draft))
    draft = await _reviewed(office, say, experience_id, draft, papers[0].id)
    await office.searchable()
    request_id = await _used(agent, say, tenant, case_id, experience_id, external_id)
    await _consulted(office, agent, say, request_id)
    return Canaried(case_id, experience_id, request_id, draft)


async def _deliver(client: CaseloreClient, tenant: str, say: Word, external_id: str) -> str:
    def delivery(revision: int, **given: Any) -> Delivery:
        return Delivery(
            origin=Origin(tenant_id=tenant, source="desk", external_id=external_id),
            revision=revision,
            delivery_id=say("delivery"),
            occurred_at=NOW,
            received_at=NOW,
            subject=say("subject"),
            state=say("state"),
            attributes={say("key"): {say("inner"): [say("value"), "\x00" + say("raw")]}},
            facts=CaseFacts(
                domain_id="data",
                request_type=say("type"),
                symptom_tags=(say("symptom"),),
                product=say("product"),
                system=say("system"),
                environment=say("environment"),
                version=say("version"),
                object_refs=(say("object"),),
            ),
            **given,
        )

    first = await client.deliver(delivery(1, body=f"{say('body')}\n\n> {say('quoted')}"))
    html = f"<p>{say('html')}</p><blockquote>{say('quoted')}</blockquote>"
    await client.deliver(delivery(2, body=html, body_format=BodyFormat.HTML))
    await client.deliver(delivery(3, body=f"{say('large')} {'x ' * 110_000} {say('end')}"))
    return first.case_id


async def _reviewed(office: Office, say: Word, experience_id: str, draft: Draft, paper_id: str) -> Draft:
    """Take a proposal through a return, a resubmission, both reviews and a correction; return what is current."""
    curator, owner, proposer = office.cast.curator, office.cast.owner, office.cast.proposer

    async def decide(client: CaseloreClient, stage: Stage, of: Draft, verdict: Event) -> None:
        sheet = await client.review_sheet(experience_id)
        decision = ReviewDecision(
            decision_id=fresh(),
            experience_id=experience_id,
            stage=stage,
            digest=of.digest(),
            verdict=verdict,
            comment=say("comment"),
            comments=(FieldComment(field="title", text=say("remark")),),
            dismissed=tuple(
                Dismissal(finding_id=listed.finding.id, reason=say("dismissed"))
                for listed in sheet.admission.findings
                if listed.finding.severity == "must_resolve"
            ),
        )
        await client.decide(decision, wait=20)

    async def change(kind: ChangeKind, new: Draft) -> None:
        command = ChangeCommand(
            command_id=fresh(), experience_id=experience_id, kind=kind, reason=say("reason"), draft=new
        )
        await proposer.change(command, wait=20)

    await decide(curator, Stage.CURATOR_REVIEW, draft, Event.RETURN)
    for kind in (ChangeKind.RESUBMIT, ChangeKind.CORRECT):
        draft = _draft(say, paper_id)
        await change(kind, draft)
        await decide(curator, Stage.CURATOR_REVIEW, draft, Event.ACCEPT)
        if kind is ChangeKind.CORRECT:
            await decide(owner, Stage.OWNER_REVIEW, draft, Event.RETURN)
        else:
            await decide(owner, Stage.OWNER_REVIEW, draft, Event.ACCEPT)
    return draft


async def _used(
    agent: CaseloreClient, say: Word, tenant: str, case_id: str, experience_id: str, external_id: str
) -> str:
    """Ask about it, read it, cite it and settle a check, for the case itself."""
    request = RetrievalRequest(
        request_id=fresh(),
        profile_id="data-specialist",
        purpose=say("purpose"),
        objective=f"title symptom synopsis {say('objective')}",
        tenant_id=tenant,
        case_id=case_id,
        origin=OriginRef(source="desk", external_id=external_id),
        product=say("product"),
        system=say("system"),
        environment=say("environment"),
        version=say("version"),
        schema_version=say("schema"),
        object_refs=(say("object"),),
    )
    answer = await agent.retrieve(request)
    ref = f"experience/{experience_id}"
    shown = next(candidate for candidate in answer.candidates if candidate.ref == ref)
    await agent.read(request.request_id, ref, shown.revision)
    check = say("check")
    use = MemoryUse(
        decision_id=fresh(),
        request_id=request.request_id,
        summary=say("summary"),
        citations=(Citation(ref=ref, revision=shown.revision, verdict=CitationVerdict.CHOSEN, why=say("why")),),
        checks=(FreshCheck(check_id=check, text=say("look")),),
    )
    await agent.record_use(use)
    await agent.settle_check(
        CheckResult(decision_id=use.decision_id, check_id=check, outcome=CheckOutcome.HELD, note=say("held"))
    )
    outcome = CandidateOutcome(ref=ref, revision=shown.revision, usefulness=Usefulness.HELPED, note=say("turned out"))
    await agent.give_feedback(Feedback(feedback_id=fresh(), decision_id=use.decision_id, outcomes=(outcome,)))
    await agent.broaden(request.request_id, Broadening(request_id=fresh(), reason=say("too narrow"), every_domain=True))
    return request.request_id


async def _consulted(office: Office, agent: CaseloreClient, say: Word, request_id: str) -> None:
    """Ask another domain, and have its owner answer."""
    asked = Consultation(consultation_id=fresh(), domain_id="development", brief=say("brief"), reason=say("why asked"))
    await agent.consult(request_id, asked)
    await office.cast.owner.reply(asked.consultation_id, ConsultReply(reply_id=fresh(), text=say("reply")))
