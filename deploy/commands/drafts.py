"""A draft on a terminal: its synopsis and units, each under its labels (R5)."""

from __future__ import annotations

from rich.text import Text

from contracts.experience import Draft, KnowledgeUnit, Limits


def draft_lines(draft: Draft) -> list[Text]:
    """Return a draft's words with what they claim, line by line."""
    synopsis = draft.synopsis
    lines = [
        Text(f"{draft.outcome.replace('_', ' ')}, proof {draft.proof_level}", style="bold"),
        Text(f"{synopsis.request_type} → {synopsis.route} → {synopsis.disposition}"),
        Text(synopsis.text),
        Text(f"applies to: {limits_line(draft.limits) or 'no limit set'}", style="dim"),
    ]
    for unit in draft.units:
        lines += [Text(), *_unit(unit)]
    return lines


def limits_line(limits: Limits) -> str:
    """Return where knowledge applies, in one line; "" where nothing is limited."""
    named = (("product", limits.products), ("system", limits.systems), ("environment", limits.environments))
    found = [f"{name} {'/'.join(values)}" for name, values in named if values]
    if limits.version_from or limits.version_to:
        found.append(f"version {limits.version_from or '…'} to {limits.version_to or '…'}")
    if limits.schema_version:
        found.append(f"schema {limits.schema_version}")
    if limits.schema_from or limits.schema_to:
        found.append(f"schemas {limits.schema_from or '…'} to {limits.schema_to or '…'}")
    if limits.note.strip():
        found.append(" ".join(limits.note.split()))
    return ", ".join(found)


def _unit(unit: KnowledgeUnit) -> list[Text]:
    about = unit.intent or ", ".join(unit.concepts)
    lines = [
        Text(
            f"{unit.id}: {unit.kind}, {unit.outcome.replace('_', ' ')}, proof {unit.proof_level}: {about}", style="cyan"
        ),
        Text(unit.text),
    ]
    if unit.use_when:
        lines.append(Text(f"use when: {unit.use_when}", style="dim"))
    if unit.avoid_when:
        lines.append(Text(f"avoid when: {unit.avoid_when}", style="dim"))
    return lines
