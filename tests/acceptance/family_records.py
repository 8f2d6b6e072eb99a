"""What the cases of the case family are built of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from contracts.casefile import CaseRecord, ExperienceRecord, PaperRecord, ResultRecord
from contracts.cases import CaseFacts, Effort
from contracts.experience import KnowledgeUnit, Limits, RoutingSynopsis, SourceSpan
from contracts.labels import Outcome, PaperKind, ProofLevel, UnitKind

FIRST_DAY = datetime(2026, 2, 2, 8, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Edition:
    """The family for one product: the same mechanisms under other names."""

    product: str
    prefix: str
    """Of the cases' numbers in their source."""
    tenant: str = "north"

    def external_id(self, number: int) -> str:
        """Return the id of a request in its source."""
        return f"{self.prefix}-{number}"


def completed(
    edition: Edition,
    number: int,
    domain: str,
    subject: str,
    body: str,
    *,
    papers: tuple[PaperRecord, ...],
    title: str,
    synopsis: RoutingSynopsis,
    units: tuple[KnowledgeUnit, ...],
    limits: Limits,
    outcome: Outcome = Outcome.SUCCEEDED,
    effort: Effort | None = None,
) -> CaseRecord:
    """Return a completed case with an experience to propose; a success is verified."""
    succeeded = outcome is Outcome.SUCCEEDED
    return CaseRecord(
        tenant=edition.tenant,
        source="desk",
        external_id=edition.external_id(number),
        occurred_at=FIRST_DAY + timedelta(days=number),
        subject=subject,
        body=body,
        facts=CaseFacts(domain_id=domain, request_type=synopsis.request_type, product=edition.product),
        papers=papers,
        result=ResultRecord(
            outcome=outcome,
            proof_level=ProofLevel.VERIFIED if succeeded else ProofLevel.EXECUTED,
            summary=synopsis.disposition,
            execution="done",
            proof="shown" if succeeded else None,
            effort=effort,
        ),
        experience=ExperienceRecord(title=title, synopsis=synopsis, units=units, limits=limits),
    )


def paper(name: str, kind: PaperKind, title: str, text: str) -> PaperRecord:
    """Return a paper of a case."""
    return PaperRecord(id=name, kind=kind, title=title, text=text)


def synopsis(edition: Edition, request_type: str, route: str, disposition: str, text: str) -> RoutingSynopsis:
    """Return a synopsis that says what root may read."""
    return RoutingSynopsis(
        request_type=request_type, product=edition.product, route=route, disposition=disposition, text=text
    )


def fact(
    name: str, text: str, concept: str, paper: PaperRecord, quote: str, outcome: Outcome = Outcome.SUCCEEDED
) -> KnowledgeUnit:
    """Return a proposition with the place in a paper that it rests on."""
    start = paper.text.index(quote)
    return KnowledgeUnit(
        id=name,
        kind=UnitKind.PROPOSITION,
        text=text,
        concepts=(concept,),
        spans=(SourceSpan(paper_id=paper.id, start=start, end=start + len(quote)),),
        outcome=outcome,
        proof_level=ProofLevel.EXECUTED,
    )


def repair(name: str, text: str, intent: str, *, use_when: str, avoid_when: str) -> KnowledgeUnit:
    """Return a prescription with the conditions that tell it from its neighbours."""
    return KnowledgeUnit(
        id=name,
        kind=UnitKind.PRESCRIPTION,
        text=text,
        intent=intent,
        use_when=use_when,
        avoid_when=avoid_when,
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
    )
