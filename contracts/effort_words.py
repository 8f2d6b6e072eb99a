"""Effort in words, the same for agents and on a terminal (R19)."""

from __future__ import annotations

from contracts.effort import ComparedEffort, EffortRange, EffortSummary


def summary_lines(effort: EffortSummary) -> list[str]:
    """Return the ranges, how many items they rest on, and what they aren't; active and waiting hours have no sum."""
    figures = (("Active hours", effort.active), ("Waiting hours", effort.waiting), ("Active/estimate", effort.error))
    lines = [f"{name}: {range_words(figure)}" for name, figure in figures]
    if effort.revalidate:
        lines.append(f"Counted, and to be checked again before they compare: {effort.revalidate}")
    if effort.apart:
        lines.append(f"Shown and not counted: {len(effort.apart)}")
    return [*lines, effort.not_given]


def range_words(figure: EffortRange) -> str:
    """Return a range with its sample, or why there is none."""
    found = figure.quantiles
    if found is None:
        return figure.withheld
    return (
        f"p10 {found.p10:g}, p50 {found.p50:g}, p90 {found.p90:g} from {figure.n} items, {found.least:g} to"
        f" {found.most:g}; {found.covers:.0%} of such work lies from p10 to p90, on average"
    )


def own_words(effort: ComparedEffort) -> str:
    """Return one item's own hours and whether they count, without its words on changed scope."""
    figures = (
        ("estimated", effort.estimate_hours),
        ("active", effort.active_hours),
        ("waiting", effort.waiting_hours),
    )
    hours = "; ".join(f"{name} {value:g} h" for name, value in figures if value is not None)
    return f"effort, {effort.comparison.replace('_', ' ')}: {hours or 'no hours recorded'}"
