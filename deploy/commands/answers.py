"""An answer on a terminal: each candidate with its labels, why it was found, its limits and how to cite it (R15)."""

from __future__ import annotations

import textwrap

from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from contracts.effort_words import own_words, summary_lines
from contracts.feedback_words import earlier_use
from contracts.labels import CandidateKind, ValidityState
from contracts.retrieval import Answer, Candidate
from deploy.commands.drafts import limits_line

_STYLES = {"succeeded": "green", "failed": "red", "rejected_route": "yellow", "unverified": "yellow"}
_VALIDITY = {
    ValidityState.OK: ("within its limits", "green"),
    ValidityState.REVALIDATE: ("revalidate", "yellow"),
    ValidityState.OUT_OF_RANGE: ("out of range", "red"),
}


def answer_panel(answer: Answer, *, title: str, objective: str, profile_id: str, most: int, text: int = 0) -> Panel:
    """Return an answer as a panel.

    Args:
        answer: What was answered.
        title: Above it.
        objective: What was asked.
        profile_id: Who asked; "" leaves it out.
        most: Candidates shown; the others are counted.
        text: Characters of each candidate's text; 0 shows none.
    """
    parts: list[Text] = [Text(objective, style="italic"), Text()]
    for candidate in answer.candidates[:most]:
        parts += _candidate(candidate, text)
    if len(answer.candidates) > most:
        parts.append(Text(f"and {len(answer.candidates) - most} more to weigh", style="dim"))
    if answer.abstained:
        parts.append(Text("abstained: nothing here can be used as it is", style="yellow"))
        parts.append(Text("broaden the search for a reason, or consult the domain that may know", style="yellow"))
        parts += [
            Text(f"nearest: {each.ref} revision {each.revision}: {_short('; '.join(each.why), 150)}", style="dim")
            for each in answer.nearest
        ]
    if answer.effort is not None:
        parts += [Text(line) for line in summary_lines(answer.effort)]
    marks = ", ".join(
        f"{mark.collection} {mark.position}" + (f" ({mark.pending} pending)" if mark.pending else "")
        for mark in answer.watermarks
    )
    parts.append(Text(f"watermarks: {marks}", style="dim"))
    parts += [Text(f"note: {note}", style="dim") for note in answer.notes]
    parts += [Text(f"not read: {source}", style="yellow") for source in answer.not_read]
    subtitle = " · ".join(filter(None, (profile_id, f"{answer.strategy_id} v{answer.strategy_version}")))
    return Panel(Group(*parts), title=Text(title), title_align="left", subtitle=Text(subtitle), subtitle_align="left")


def _candidate(candidate: Candidate, text: int) -> list[Text]:
    head = Text(f"{candidate.rank}. ", style="bold")
    head.append(candidate.title, style="bold")
    labels = Text("   ")
    if candidate.kind is CandidateKind.CASE:
        labels.append(f"live case, {candidate.state}", style="cyan")
    elif candidate.outcome is not None:
        labels.append(candidate.outcome.replace("_", " "), style=_STYLES[candidate.outcome])
        labels.append(f", proof {candidate.proof_level}")
    if not candidate.is_current:
        labels.append(f" · {candidate.state}", style="red")
    labels.append(f" · {candidate.owner or 'no domain yet'} · ")
    words, style = _VALIDITY[candidate.validity.state]
    labels.append(words, style=style)
    if candidate.far:
        labels.append(f", {candidate.far}", style="yellow")
    if candidate.validity.reasons:
        labels.append(f"\n   {_short('; '.join(candidate.validity.reasons), 150)}", style="dim")
    limits = limits_line(candidate.limits)
    why = ", ".join(f"{match.route} #{match.rank}" for match in candidate.reason)
    lines = [head, labels, Text(f"   found by {why}", style="dim")]
    if candidate.effort is not None:
        lines.append(Text(f"   {own_words(candidate.effort)}"))
    if said := earlier_use(candidate.feedback):
        lines.append(Text(f"   {said}", style="dim"))
    if limits:
        lines.append(Text(f"   limits: {limits}", style="dim"))
    lines.append(Text(f"   cite as {candidate.ref} revision {candidate.revision}", style="dim"))
    if text and candidate.extract:
        lines.append(Text(textwrap.indent(_short(candidate.extract, text), "   ")))
    return [*lines, Text()]


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
