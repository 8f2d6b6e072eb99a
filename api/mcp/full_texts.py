"""A candidate's whole text as lines: labels of ours, and quoted material."""

from __future__ import annotations

from api.bodies import ReadText
from api.mcp.candidates import limits_line
from api.mcp.quoting import listed, quoted
from contracts.experience import Draft, KnowledgeUnit


def lines_of(title: str, full: ReadText) -> list[str]:
    """Return the lines of what was read.

    Args:
        title: For what carries none in its own text.
        full: An experience's draft, or the text of a case or an article.
    """
    if full.draft is not None:
        return _experience(full.draft)
    return ["Title:", *quoted(title), "Text:", *quoted(full.text or "")]


def _experience(draft: Draft) -> list[str]:
    synopsis = draft.synopsis
    lines = [f"Outcome {draft.outcome}, proof {draft.proof_level}. Title:", *quoted(draft.title)]
    if limits := limits_line(draft.limits):
        lines += quoted(f"Limits: {limits}")
    lines += ["Request type, route and what became of it:"]
    lines += [*quoted(synopsis.request_type), *quoted(synopsis.route), *quoted(synopsis.disposition)]
    lines += ["Synopsis:", *quoted(synopsis.text)]
    if synopsis.symptom_tags:
        lines += ["Symptoms:", *quoted(listed(synopsis.symptom_tags, 30))]
    for unit in draft.units:
        lines += _unit(unit)
    if draft.effort is not None:
        hours = draft.effort.model_dump(exclude={"changed_scope"}, exclude_none=True)
        lines.append("Effort: " + ("; ".join(f"{name} {value:g}" for name, value in hours.items()) or "none recorded"))
        if draft.effort.changed_scope:
            lines += ["Changed scope:", *quoted(draft.effort.changed_scope)]
    return lines


def _unit(unit: KnowledgeUnit) -> list[str]:
    lines = [f"A {unit.kind}, outcome {unit.outcome}, proof {unit.proof_level}:", *quoted(unit.text)]
    for name, text in (("Intent", unit.intent), ("Use when", unit.use_when), ("Avoid when", unit.avoid_when)):
        if text:
            lines += [f"{name}:", *quoted(text)]
    if limits := limits_line(unit.limits):
        lines += quoted(f"Limits of this statement: {limits}")
    return lines
