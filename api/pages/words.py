"""Labels of the record in the words of the pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from contracts.articles import AnyDraft
from contracts.experience import Draft
from contracts.labels import Outcome, ProofLevel
from contracts.lifecycle import Stage

_OUTCOMES: Mapping[str, str] = {
    Outcome.SUCCEEDED: "Succeeded",
    Outcome.FAILED: "Failed",
    Outcome.REJECTED_ROUTE: "Rejected route",
    Outcome.UNVERIFIED: "Unverified",
}
_STAGES: Mapping[str, str] = {
    Stage.CURATOR_REVIEW: "Curator review",
    Stage.OWNER_REVIEW: "Owner review",
    Stage.RETURNED: "Returned",
    Stage.PUBLISHED: "Published",
    Stage.REJECTED: "Rejected",
    Stage.RETIRED: "Retired",
    Stage.SUPERSEDED: "Superseded",
}
_EVENTS: Mapping[str, str] = {
    "accept": "accepted",
    "return": "returned with comments",
    "reject": "rejected",
    "resubmit": "resubmitted",
    "correct": "correction asked for",
    "retire": "retired",
    "supersede": "superseded",
    "revise": "edited in review",
    "reinstate": "reinstatement asked for",
    "propose": "proposed",
    "remind": "deadline passed, reminder",
    "escalate": "nobody answered, escalated",
    "trim": "declined units left out",
}
_PROOF: Mapping[str, str] = {
    ProofLevel.NONE: "no proof",
    ProofLevel.REPORTED: "reported",
    ProofLevel.EXECUTED: "executed",
    ProofLevel.VERIFIED: "verified",
}
_FIELDS: Mapping[str, str] = {
    "title": "Title",
    "domain_id": "Domain",
    "outcome": "Outcome",
    "proof_level": "Proof level",
    "kind": "Kind",
    "text": "Text",
    "concepts": "Concepts",
    "intent": "Intent",
    "use_when": "Use when",
    "avoid_when": "Avoid when",
    "spans": "Source",
    "paper_id": "Paper",
    "start": "From character",
    "end": "To character",
    "limits": "Limits",
    "products": "Products",
    "systems": "Systems",
    "environments": "Environments",
    "version_from": "Lowest version",
    "version_to": "Highest version",
    "version": "Versions",
    "schema_version": "Schema version",
    "schema_from": "Lowest schema version",
    "schema_to": "Highest schema version",
    "note": "Note",
    "synopsis": "Synopsis",
    "request_type": "Request type",
    "symptom_tags": "Symptoms",
    "product": "Product",
    "system": "System",
    "route": "Route",
    "disposition": "Disposition",
    "effort": "Effort",
    "estimate_hours": "Estimate (hours)",
    "active_hours": "Active hours",
    "waiting_hours": "Waiting hours",
    "changed_scope": "Changed scope",
    "body": "Text",
    "sources": "Sources",
    "locator": "Name or address",
    "references": "References",
    "units": "Units",
}
_STEP = re.compile(r"^(\w+)(?:\[([^\]]*)\])?$")


def phrase(label: object) -> str:
    """Return a label of a closed word list in plain words."""
    text = str(getattr(label, "value", label))
    return text.replace("_", " ")


def stage_words(stage: object) -> str:
    """Return the name of a stage."""
    return _STAGES.get(str(stage), phrase(stage))


def outcome_words(outcome: object) -> str:
    """Return an outcome in words."""
    return _OUTCOMES.get(str(outcome), phrase(outcome))


def proof_words(level: object) -> str:
    """Return a proof level in words."""
    return _PROOF.get(str(level), phrase(level))


def event_words(event: object) -> str:
    """Return what happened, in words."""
    return _EVENTS.get(str(event), phrase(event))


def field_words(path: str, draft: AnyDraft | None = None) -> str:
    """Return a path of a draft in words: `units[0].text` as "Unit u1, text".

    Args:
        path: With positions, or with the ids of units.
        draft: Tells the ids of its units.
    """
    said: list[str] = []
    for step in re.split(r"\.(?![^\[]*\])", path):
        found = _STEP.match(step)
        name, at = (found[1], found[2]) if found else (step, None)
        if name == "units" and at is not None:
            said.append(f"Unit {_unit_id(at, draft)}")
            continue
        words = _FIELDS.get(name, phrase(name))
        said.append(f"{words} {int(at) + 1}" if at is not None and at.isdecimal() else words)
    return ", ".join([said[0], *(each[:1].lower() + each[1:] for each in said[1:])])


def _unit_id(at: str, draft: AnyDraft | None) -> str:
    if at.isdecimal() and isinstance(draft, Draft) and int(at) < len(draft.units):
        return draft.units[int(at)].id
    return str(int(at) + 1) if at.isdecimal() else at.strip("'\"")


def place(path: str) -> str:
    """Return the anchor of a field on its page."""
    return "at-" + re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")


def figure(value: float) -> str:
    """Return a recorded or reckoned number to three places at most."""
    return f"{round(value, 3):g}"


def moment(at: datetime | None) -> str:
    """Return a time in UTC, to the minute."""
    return "" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def day(at: datetime | None) -> str:
    """Return a date in UTC."""
    return "" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d")


def span_of(length: timedelta) -> str:
    """Return a length of time in its largest whole unit."""
    seconds = abs(length.total_seconds())
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "less than a minute"


def seconds_words(seconds: float) -> str:
    """Return a time in seconds as a person says it."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return span_of(timedelta(seconds=seconds))


def due_words(due_at: datetime | None, now: datetime) -> str:
    """Return when a deadline is, against now."""
    if due_at is None:
        return "no further deadline"
    return f"due in {span_of(due_at - now)}" if due_at > now else f"due {span_of(now - due_at)} ago"
