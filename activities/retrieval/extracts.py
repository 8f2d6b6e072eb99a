"""Extracts: the approved words of a record, labelled so that no cut can make a failure read as a fix (R5)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from contracts.articles import sections
from contracts.candidates import CandidateRecord
from contracts.cases import Case, Effort
from contracts.experience import Draft, KnowledgeUnit
from contracts.projection import outcome_label, unit_text
from contracts.retrieval import RetrievalRequest, ValidityState
from contracts.validity import judge_limits


@dataclass(frozen=True, slots=True)
class Words:
    """What a candidate may show: a label that is never cut, and text that may be."""

    label: str
    text: str
    best: int = 0
    """Where the part begins that was found; shown first where the whole has no room."""

    def __len__(self) -> int:
        return len(self.whole())

    def whole(self) -> str:
        """Return everything, uncut."""
        return "\n".join(filter(None, [self.label, self.text]))


def words(record: CandidateRecord, request: RetrievalRequest, *, detail: bool, section: int = 0) -> Words:
    """Return what the record says: the synopsis, and with `detail` the text behind it.

    Args:
        record: The target as the record holds it now.
        request: What its units' own limits are held against.
        detail: Whether technical text and case bodies may be shown (spec section 3).
        section: Of an article's text: the one that was found.
    """
    if record.draft is not None:
        lines = _synopsis(record.draft, record.owner)
        if detail:
            lines += [effort_line(record.draft.effort), *(_unit(unit, request) for unit in record.draft.units)]
        return Words(outcome_label(record.draft.outcome), _joined(lines))
    if record.case is not None:
        lines = _case(record.case, record.owner)
        return Words("", _joined([*lines, record.case.body.strip() if detail else ""]))
    if not detail:
        return Words("", _joined([f"Owner: {record.owner}"]))
    text = record.text.strip()
    return Words("", text, begin_of(text, section))


def begin_of(text: str, section: int) -> int:
    """Return where a section begins in its article; 0 when it can't be told."""
    parts = sections(text)
    if not 0 < section < len(parts):
        return 0
    # Parts are the text's own words in order; only the blanks between their paragraphs may differ.
    begin = 0
    for before, part in pairwise(parts[: section + 1]):
        least = len(before) - 2 * before.count("\n\n")
        begin = text.find(part.partition("\n\n")[0], begin + max(1, least))
        if begin < 0:
            return 0
    return begin


def effort_line(effort: Effort | None) -> str:
    """Return the recorded hours, work and waiting and changed scope apart (R19); "" when none are recorded."""
    if effort is None:
        return ""
    hours = (
        ("estimated", effort.estimate_hours),
        ("active", effort.active_hours),
        ("waiting", effort.waiting_hours),
    )
    line = "Effort: " + ", ".join(
        f"{name} {'not recorded' if value is None else f'{value:g} h'}" for name, value in hours
    )
    if effort.estimate_hours is not None and effort.active_hours is not None:
        line += f", active against estimate {effort.active_hours - effort.estimate_hours:+g} h"
    scope = effort.changed_scope.strip()
    return f"{line}. Changed scope: {scope or 'none recorded'}"


def _synopsis(draft: Draft, owner: str) -> list[str]:
    synopsis = draft.synopsis
    return [
        f"Request type: {synopsis.request_type}",
        f"Route: {synopsis.route}",
        f"Disposition: {synopsis.disposition}",
        f"Owner: {owner}",
        synopsis.text,
    ]


def _unit(unit: KnowledgeUnit, request: RetrievalRequest) -> str:
    validity = judge_limits(unit.limits, request)
    doubt = "" if validity.state is ValidityState.OK else f"Revalidate: {'; '.join(validity.reasons)}."
    return _joined([doubt, unit_text(unit)])


def _case(case: Case, owner: str) -> list[str]:
    facts = case.facts
    waiting = f", waiting on {case.waiting_on}" if case.waiting_on.strip() else ""
    named = (
        ("Request type", facts.request_type),
        ("Product", facts.product),
        ("System", facts.system),
        ("Symptoms", ", ".join(facts.symptom_tags)),
        ("Owner", owner),
    )
    return [f"Case: {case.state}{waiting}", *(f"{name}: {value}" for name, value in named if value.strip())]


def _joined(parts: list[str]) -> str:
    return "\n".join(part for part in parts if part)
