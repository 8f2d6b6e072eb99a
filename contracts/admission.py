"""Admission: what is checked in a draft before people review it, and the findings that they are shown (R5, R6).

The checks are deterministic and see the draft, facts about its case papers, and where a finder took something for
personal data. A finding names a place, never the text in it, so that it makes no copy of what may have to be erased.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from pydantic import Field, computed_field

from contracts.articles import AnyDraft
from contracts.draft_fields import TextField, paths_of, text_fields
from contracts.experience import Draft, KnowledgeUnit, Limits
from contracts.labels import Outcome, UnitKind
from contracts.masking import PLACEHOLDER
from contracts.model import Model
from contracts.personal_data import Certainty, PersonalData, PersonalDataKind
from contracts.validity import version_key


class Check(StrEnum):
    """What is looked at."""

    SPAN_PAPER = "span_paper"
    """A source span names a paper of the case."""
    SPAN_PLACE = "span_place"
    """A source span lies inside its paper."""
    UNIT_SOURCE = "unit_source"
    """A unit has a source span."""
    PRESCRIPTION_PROOF = "prescription_proof"
    """A prescription comes from a success with execution and proof papers (R5)."""
    SUCCESS_WORDING = "success_wording"
    """What did not succeed isn't worded as a fix (R5)."""
    PLACEHOLDER = "placeholder"
    """A placeholder is one that the case's masked text declares."""
    PERSONAL_DATA = "personal_data"
    """Likely personal data (R6)."""
    CREDENTIAL = "credential"
    """A password, key or token (R6)."""
    BOUND_UNREADABLE = "bound_unreadable"
    """A bound of the limits is a version that others compare with (R17, R22)."""
    BOUNDS_INVERTED = "bounds_inverted"
    """Something lies inside the bounds of the limits (R17, R22)."""


class Severity(StrEnum):
    """What a finding asks for, most urgent first."""

    MUST_FIX = "must_fix"
    """Text or labels must change before anybody can accept."""
    MUST_RESOLVE = "must_resolve"
    """It must change, or a reviewer dismisses it with a reason."""
    NOTICE = "notice"
    """To be known; it holds nothing up."""


SEVERITIES: Mapping[Check, Severity] = {
    Check.SPAN_PAPER: Severity.MUST_FIX,
    Check.SPAN_PLACE: Severity.MUST_FIX,
    Check.UNIT_SOURCE: Severity.NOTICE,
    Check.PRESCRIPTION_PROOF: Severity.MUST_FIX,
    Check.SUCCESS_WORDING: Severity.MUST_RESOLVE,
    Check.PLACEHOLDER: Severity.MUST_FIX,
    Check.PERSONAL_DATA: Severity.MUST_RESOLVE,
    Check.CREDENTIAL: Severity.MUST_FIX,
    Check.BOUND_UNREADABLE: Severity.MUST_FIX,
    Check.BOUNDS_INVERTED: Severity.MUST_FIX,
}
FROM_TEXT_ALONE = frozenset({Check.BOUND_UNREADABLE, Check.BOUNDS_INVERTED})
"""Checks that follow from a draft's fields: made again wherever findings are read, and not stored."""

_WORDS: Mapping[Check, tuple[str, str]] = {
    Check.SPAN_PAPER: ("The span names a paper that the case doesn't have.", "the id of a paper of this case"),
    Check.SPAN_PLACE: ("The span ends after its paper does.", "characters of that paper"),
    Check.UNIT_SOURCE: ("The unit names no place in a case paper.", "a span, where a paper supports it"),
    Check.PRESCRIPTION_PROOF: (
        "A prescription needs a succeeded result with an execution and a proof paper.",
        "a proposition, or a case result that records both papers",
    ),
    Check.SUCCESS_WORDING: (
        "This did not succeed, and is worded as if it had.",
        "words that say what was observed, or a dismissal with a reason",
    ),
    Check.PLACEHOLDER: (
        "The placeholder is none that this case's masked text uses.",
        "a placeholder of the case, or plain words",
    ),
    Check.PERSONAL_DATA: (
        "This reads like personal data.",
        "a text without it, or a dismissal that says why it is none",
    ),
    Check.CREDENTIAL: ("This reads like a password, key or token.", "a text without it"),
    Check.BOUND_UNREADABLE: (
        "No version compares with this bound, so that nothing is ever inside it.",
        "a version such as 7.4 or 2.0-rc1, or no bound and the words in the note",
    ),
    Check.BOUNDS_INVERTED: (
        "Nothing lies inside these bounds.",
        "a lowest version that is not above the highest, and an exact one between them",
    ),
}


class Finding(Model):
    """One thing that admission found, with its place; `id` is the same each time the same draft is examined."""

    id: str
    check: Check
    field: str
    """Path in the draft, such as `title`, `units[0].text` or `synopsis.symptom_tags[2]`."""
    start: int = Field(default=0, ge=0)
    """First character in that field."""
    end: int = Field(default=0, ge=0)
    """After the last one; the same as `start` when the field as a whole is meant."""
    kind: PersonalDataKind | None = None
    certainty: Certainty | None = None

    @computed_field
    @property
    def severity(self) -> Severity:
        """What the finding asks for."""
        return SEVERITIES[self.check]

    @computed_field
    @property
    def message(self) -> str:
        """What is the matter, in a sentence without any of the draft's words."""
        sentence = _WORDS[self.check][0]
        if self.kind is None or self.check is Check.CREDENTIAL:
            return sentence
        return f"{sentence[:-1]}: {self.kind.replace('_', ' ')}, {self.certainty}."

    @computed_field
    @property
    def accepted(self) -> str:
        """What would be taken instead."""
        return _WORDS[self.check][1]


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """What the record says about the case that a draft comes from."""

    papers: Mapping[str, int]
    """Characters of each paper of the case, by its id."""
    has_execution: bool
    """The case result names an execution paper."""
    has_proof: bool
    """The case result names a proof paper."""
    placeholders: frozenset[str] = frozenset()
    """What the case's masked texts declare; a draft may use no other (see `contracts.masking`)."""


NO_CASE = CaseEvidence(papers={}, has_execution=False, has_proof=False)
"""What there is for a text that comes from no case: an article."""


def examine_draft(
    draft: AnyDraft, evidence: CaseEvidence, personal_data: Mapping[str, Sequence[PersonalData]]
) -> tuple[Finding, ...]:
    """Return everything that admission finds in a draft, in the order of the draft's fields.

    An article claims no outcome and rests on no case: it is looked through for personal data, placeholders and limits
    that nothing meets.

    Args:
        draft: What is proposed.
        evidence: What the record says about its case.
        personal_data: Places that the finder found, by the path of the field.
    """
    found: list[Finding] = []
    for field in text_fields(draft):
        for place in personal_data.get(field.path, ()):
            check = Check.CREDENTIAL if place.kind is PersonalDataKind.CREDENTIAL else Check.PERSONAL_DATA
            found.append(_finding(check, field.path, field.key, place.start, place.end, place.kind, place.certainty))
        found += [
            _finding(Check.PLACEHOLDER, field.path, field.key, match.start(), match.end())
            for match in PLACEHOLDER.finditer(field.text)
            if match.group() not in evidence.placeholders
        ]
    found += examine_bounds(draft)
    if isinstance(draft, Draft):
        found += _wordings(draft)
        for position, unit in enumerate(draft.units):
            found += _unit_findings(position, unit, evidence)
    order = {path: number for number, path in enumerate(paths_of(draft))}
    found.sort(key=lambda finding: (order.get(finding.field, len(order)), finding.start, finding.check))
    return tuple({finding.id: finding for finding in found}.values())


def examine_bounds(draft: AnyDraft) -> tuple[Finding, ...]:
    """Return which limits of a draft, and of its units, no request can ever meet (R17, R22)."""
    found = list(_bounds_findings("limits", "limits", draft.limits))
    if isinstance(draft, Draft):
        for position, unit in enumerate(draft.units):
            found += _bounds_findings(f"units[{position}].limits", f"units[{unit.id!r}].limits", unit.limits)
    return tuple(found)


def _bounds_findings(path: str, key: str, limits: Limits) -> Iterator[Finding]:
    # An exact schema alone is a label; beside a range it has to compare with it.
    exact = "schema_version" if limits.schema_from.strip() or limits.schema_to.strip() else ""
    for names in (("version_from", "", "version_to"), ("schema_from", exact, "schema_to")):
        stated = [name for name in names if name and getattr(limits, name).strip()]
        keys = {name: version_key(getattr(limits, name)) for name in stated}
        for name in stated:
            if keys[name] is None:
                yield _finding(Check.BOUND_UNREADABLE, f"{path}.{name}", f"{key}.{name}")
        read = [(name, version) for name, version in keys.items() if version is not None]
        for (_, low), (name, high) in pairwise(read):
            if high < low:
                yield _finding(Check.BOUNDS_INVERTED, f"{path}.{name}", f"{key}.{name}")


def _unit_findings(position: int, unit: KnowledgeUnit, evidence: CaseEvidence) -> Iterator[Finding]:
    path, key = f"units[{position}]", f"units[{unit.id!r}]"
    if unit.kind is UnitKind.PRESCRIPTION and not (
        unit.outcome is Outcome.SUCCEEDED and evidence.has_execution and evidence.has_proof
    ):
        yield _finding(Check.PRESCRIPTION_PROOF, f"{path}.kind", f"{key}.kind")
    if not unit.spans:
        yield _finding(Check.UNIT_SOURCE, f"{path}.spans", f"{key}.spans")
    for number, span in enumerate(unit.spans):
        length = evidence.papers.get(span.paper_id)
        place = f".spans[{number}]"
        if length is None:
            yield _finding(Check.SPAN_PAPER, f"{path}{place}.paper_id", f"{key}{place}.paper_id")
        elif span.end > length:
            yield _finding(Check.SPAN_PLACE, f"{path}{place}.end", f"{key}{place}.end")


_SUCCESS = re.compile(
    r"\b(?:fixed|resolved|solved|cured|repaired|remedied|rectified|corrected)\s+(?:it\s+|this\s+|that\s+)?"
    r"(?:by|with|through|via)\b"
    r"|\b(?:the|a|working|permanent|final)\s+(?:fix|solution|remedy|cure)(?:\s+(?:is|was)\b|\s*:)"
    r"|\b(?:this|that|which|it)\s+(?:has\s+)?(?:fixed|fixes|resolved|resolves|solved|solves|cured|cures)\b"
    r"|\b(?:can|could)\s+be\s+(?:fixed|resolved|solved|cured)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|nor|no|cannot|without|hardly|nothing)|n['\u2019]t)\b[^.;:!?]{0,40}$", re.IGNORECASE
)
_BEFORE = 60
"""Characters before a wording in which a denial is looked for."""


def _wordings(draft: Draft) -> Iterator[Finding]:
    """Return where what did not succeed is worded as a fix: in units by their own outcome, elsewhere by the draft's."""
    for field in text_fields(draft):
        if not _claims(draft, field):
            continue
        for match in _SUCCESS.finditer(field.text):
            if not _DENIED.search(field.text[max(0, match.start() - _BEFORE) : match.start()]):
                yield _finding(Check.SUCCESS_WORDING, field.path, field.key, match.start(), match.end())


def _claims(draft: Draft, field: TextField) -> bool:
    """Whether a field's words are about something that did not succeed."""
    unit = re.match(r"units\[(\d+)\]", field.path)
    outcome = draft.outcome if unit is None else draft.units[int(unit.group(1))].outcome
    return outcome is not Outcome.SUCCEEDED


def _finding(
    check: Check,
    path: str,
    key: str,
    start: int = 0,
    end: int = 0,
    kind: PersonalDataKind | None = None,
    certainty: Certainty | None = None,
) -> Finding:
    parts = (check.value, key, str(start), str(end), kind or "")
    name = hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:24]
    return Finding(id=f"{check}-{name}", check=check, field=path, start=start, end=end, kind=kind, certainty=certainty)


def still_holds(earlier: AnyDraft, later: AnyDraft, path: str) -> bool:
    """Whether the field at `path` of the later draft has the very same text in the earlier one.

    A reviewer's word about a text holds for that text only; the field is looked up by its unit's id.
    """
    wanted = next((field for field in text_fields(later) if field.path == path), None)
    if wanted is None:
        return False
    return any(field.key == wanted.key and field.text == wanted.text for field in text_fields(earlier))
