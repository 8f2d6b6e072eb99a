"""A retrieval's answer as a model reads it: how it came about, then candidates to weigh (R15, R16, R20)."""

from __future__ import annotations

from pydantic import Field

from api.mcp.candidates import CandidateView, candidate_lines, candidate_view
from api.mcp.quoting import NOTICE, inline, quoted
from contracts import limits
from contracts.effort import EffortSummary
from contracts.effort_words import summary_lines
from contracts.model import Model
from contracts.retrieval import Answer, RouteState


class NearestView(Model):
    """What came nearest and doesn't apply."""

    ref: str
    revision: int
    quoted_why: tuple[str, ...]


class AnswerView(Model):
    """Candidates to weigh; none of them was chosen, and a score never decides."""

    request_id: str = Field(description="Names this retrieval in every later call.")
    strategy: str
    to_decide: str = Field(description="What you have to decide with these candidates.")
    broadened_from: str | None = Field(default=None, description="The retrieval that this one broadens.")
    abstained: bool = Field(description="Nothing cleared the bar. That is no proof that nothing exists.")
    nearest: tuple[NearestView, ...] = Field(
        default=(), description="When it abstains: what came nearest, and why not."
    )
    not_read: tuple[str, ...] = Field(description="Sources that were not, or not fully, read.")
    failed_routes: tuple[str, ...] = ()
    behind: tuple[str, ...] = Field(default=(), description="Indexes that lag behind the record.")
    omitted_by_permission: int = 0
    withdrawn: int = Field(default=0, description="Found in an index and left out: no longer current.")
    notes: tuple[str, ...] = ()
    effort: EffortSummary | None = None
    notice: str = NOTICE
    candidates: tuple[CandidateView, ...]


def view_of(answer: Answer, guide: str) -> AnswerView:
    """Return the view of an answer.

    Args:
        answer: As it was given and recorded.
        guide: What its strategy leaves to the agent.
    """
    return AnswerView(
        request_id=answer.request_id,
        strategy=f"{answer.strategy_id} v{answer.strategy_version}",
        to_decide=inline(guide, limits.PARAGRAPH),
        broadened_from=None if answer.broadened is None else answer.broadened.request_id,
        abstained=answer.abstained,
        nearest=tuple(
            NearestView(
                ref=each.ref, revision=each.revision, quoted_why=tuple(inline(why, 300) for why in each.why[:5])
            )
            for each in answer.nearest[:5]
        ),
        not_read=tuple(inline(each, 300) for each in answer.not_read),
        failed_routes=tuple(
            f"{report.route} over {report.collection}: {inline(report.why, 300)}"
            for report in answer.routes
            if report.state is RouteState.FAILED
        ),
        behind=tuple(
            f"{mark.collection}: {mark.pending} events pending, {mark.lag_seconds:.0f} s behind"
            for mark in answer.watermarks
            if not mark.is_current
        ),
        omitted_by_permission=answer.omitted_by_permission,
        withdrawn=answer.withdrawn,
        notes=tuple(inline(each, 300) for each in answer.notes),
        effort=answer.effort,
        candidates=tuple(map(candidate_view, answer.candidates)),
    )


def told(view: AnswerView) -> str:
    """Return the view as text; what came out of cases is quoted."""
    count = len(view.candidates)
    lines = [
        f"Retrieval {view.request_id} by {view.strategy}: {count} candidate{'' if count == 1 else 's'} to weigh; "
        "none was chosen for you.",
        f"You decide: {view.to_decide}",
    ]
    if view.broadened_from is not None:
        lines.append(f"It broadens {view.broadened_from}.")
    if view.abstained:
        lines.append("Nothing cleared the bar. Zero hits are no proof that nothing exists.")
    for each in view.nearest:
        lines.append(f"Nearest, and not applicable: {each.ref} revision {each.revision}")
        lines += [line for why in each.quoted_why for line in quoted(why)]
    lines += [f"Not read: {each}" for each in view.not_read]
    lines += [f"Failed: {each}" for each in view.failed_routes]
    lines += [f"Behind: {each}" for each in view.behind]
    lines += [f"Note: {each}" for each in view.notes]
    if view.omitted_by_permission:
        lines.append(f"Left out, for your grants don't cover them: {view.omitted_by_permission}")
    if view.withdrawn:
        lines.append(f"Left out, for they are no longer current: {view.withdrawn}")
    if view.effort is not None:
        lines += summary_lines(view.effort)
    lines.append(view.notice)
    for candidate in view.candidates:
        lines += ["", *candidate_lines(candidate)]
    return "\n".join(lines)
