"""What the routes found, kept and read again (R20)."""

from __future__ import annotations

from collections.abc import Sequence

from activities.retrieval.reads import Read
from contracts.candidates import Found, Resolution, RetrievalTask
from contracts.concept_links import kind_of_link
from contracts.labels import CandidateKind
from contracts.rankings import MOST_TARGETS, KeptEarlier, KeptFinding, KeptRanking, Rankings
from contracts.strategy import Route, Strategy


def kept(task: RetrievalTask, reads: Sequence[Read], resolution: Resolution) -> Rankings:
    """Return what has to be kept of the reads to compose their answer again; no text among it (R11)."""
    findings: dict[tuple[str, int, int], int] = {}
    fields: dict[tuple[str, ...], int] = {}
    rankings: list[KeptRanking] = []
    for read in reads:
        places: list[tuple[int, int]] = []
        near: list[bool | None] = []
        for found in read.found:
            finding = (found.target, found.revision, found.section)
            if finding not in findings and len(findings) == MOST_TARGETS:
                continue
            place = findings.setdefault(finding, len(findings))
            places.append((place, fields.setdefault(_named_only(read.route, found.fields), len(fields))))
            near.append(found.near)
        if places:
            rankings.append(
                KeptRanking(
                    step=read.number,
                    route=read.route,
                    weight=read.weight,
                    why=read.why,
                    near=None if near[0] is None else near.count(True),  # what is nearest comes first
                    found=tuple(place for place, _ in places),
                    matched=tuple(field for _, field in places),
                )
            )
    published = {
        target: record for target, record in resolution.records.items() if record.kind is not CandidateKind.CASE
    }
    return Rankings(
        domain_id=task.profile.domain_id,
        findings=tuple(KeptFinding(ref=ref, revision=revision, section=section) for ref, revision, section in findings),
        fields=tuple(fields),
        rankings=tuple(rankings),
        not_permitted=tuple(sorted(resolution.not_permitted)),
        cases={
            target: record.revision
            for target, record in sorted(resolution.records.items())
            if record.kind is CandidateKind.CASE
        },
        resolved=tuple(published[ref].revision if ref in published else 0 for ref, _, _ in findings),
        earlier={
            target: tuple(KeptEarlier(ref=each.ref, revision=each.revision) for each in record.supersedes)
            for target, record in sorted(published.items())
            if record.supersedes
        },
    )


def reads_of(strategy: Strategy, rankings: Rankings) -> list[Read]:
    """Return the reads that `kept` was given, without those that found nothing."""
    return [
        Read(
            number=ranking.step,
            step=strategy.steps[ranking.step - 1],
            route=ranking.route,
            weight=ranking.weight,
            why=ranking.why,
            found=tuple(
                Found(
                    finding.ref,
                    finding.revision,
                    rankings.fields[matched],
                    finding.section,
                    near=None if ranking.near is None else rank < ranking.near,
                )
                for rank, (finding, matched) in enumerate(
                    (rankings.findings[place], matched)
                    for place, matched in zip(ranking.found, ranking.matched, strict=True)
                )
            ),
        )
        for ranking in rankings.rankings
    ]


def _named_only(route: Route, fields: tuple[str, ...]) -> tuple[str, ...]:
    """Return the matched fields without the words of a concept or intent."""
    return tuple(kind_of_link(field) for field in fields) if route is Route.CONCEPT_LINKS else fields
