"""Cases of our own writing, each with a result and an experience to propose."""

from __future__ import annotations

from datetime import UTC, datetime

from contracts.casefile import CaseRecord, ExperienceRecord, PaperRecord, ResultRecord
from contracts.cases import CaseFacts, Effort
from contracts.experience import Draft, KnowledgeUnit, Limits, RoutingSynopsis
from contracts.labels import Outcome, PaperKind, ProofLevel, UnitKind
from deploy.importing import proposal_of

NOW = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
PAPERS = (
    PaperRecord(id="done", kind=PaperKind.EXECUTION, title="Done", text="The step was carried out."),
    PaperRecord(id="shown", kind=PaperKind.PROOF, title="Shown", text="A count before and after agrees."),
)


def case(
    external_id: str,
    title: str,
    text: str,
    *,
    tenant: str = "north",
    domain: str = "data",
    outcome: Outcome = Outcome.SUCCEEDED,
    limits: Limits | None = None,
) -> CaseRecord:
    """Return a completed case whose experience says `text` under `title`.

    The case itself has words of its own, so that what is found by `text` is the experience.
    """
    return CaseRecord(
        tenant=tenant,
        source="desk",
        external_id=external_id,
        occurred_at=NOW,
        subject=f"Request {external_id}",
        body=f"Body of {external_id}, confidential to {tenant}.",
        facts=CaseFacts(domain_id=domain, request_type="question"),
        papers=PAPERS,
        result=ResultRecord(
            outcome=outcome,
            proof_level=ProofLevel.EXECUTED,
            summary="Closed.",
            execution="done",
            proof="shown",
            effort=Effort(estimate_hours=2, active_hours=3, waiting_hours=10),
        ),
        experience=ExperienceRecord(
            title=title,
            synopsis=RoutingSynopsis(
                request_type="question", route=f"{domain.title()}, desk", disposition="Closed", text=text
            ),
            units=(_unit(text, outcome),),
            limits=limits or Limits(),
        ),
    )


def with_concept(record: CaseRecord, concept: str) -> CaseRecord:
    """Return a case whose experience has one concept, this one."""
    assert record.experience is not None
    (unit,) = record.experience.units
    units = (unit.model_copy(update={"concepts": (concept,)}),)
    return record.model_copy(update={"experience": record.experience.model_copy(update={"units": units})})


def rewritten(record: CaseRecord, title: str, text: str) -> Draft:
    """Return the draft of a case's experience with other words."""
    draft = proposal_of(record).draft
    return draft.model_copy(
        update={
            "title": title,
            "synopsis": draft.synopsis.model_copy(update={"text": text}),
            "units": (_unit(text, draft.outcome),),
        }
    )


def _unit(text: str, outcome: Outcome) -> KnowledgeUnit:
    return KnowledgeUnit(
        id="u1",
        kind=UnitKind.PROPOSITION,
        text=text,
        concepts=("observed",),
        outcome=outcome,
        proof_level=ProofLevel.EXECUTED,
    )
