"""Feedback in words, the same for agents, on pages and on a terminal (R15, R21)."""

from __future__ import annotations

from contracts.feedback import CandidateFeedback, UsefulnessCounts


def earlier_use(feedback: CandidateFeedback) -> str:
    """Return how it turned out for the reader's own side and in all organisations; "" when nothing was said."""
    own = _counted(feedback.own)
    everywhere = "" if feedback.everywhere is None else _counted(feedback.everywhere)
    if not own:
        return f"Earlier use in all organisations, which moves no rank: {everywhere}" if everywhere else ""
    more = f"; in all organisations: {everywhere}" if everywhere else ""
    return f"Earlier use, which moves no rank: {own}{more}"


def _counted(counts: UsefulnessCounts) -> str:
    said = (("helped", counts.helped), ("misled", counts.misled), ("did not apply", counts.not_applicable))
    return ", ".join(f"{word} {count:,}" for word, count in said if count)
