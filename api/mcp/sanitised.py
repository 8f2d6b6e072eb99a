"""The masked text of a case, for drafting: the resource `caselore://cases/{case_id}/sanitised` (R6)."""

from __future__ import annotations

from api.client import CaseloreClient
from api.mcp.quoting import NOTICE, page, quoted
from contracts import limits

CASE_URI = "caselore://cases/{case_id}/sanitised"


async def sanitised_text(client: CaseloreClient, case_id: str) -> str:
    """Return a case's text and newest papers with personal data masked, quoted.

    Raises:
        UnknownCase: There is no such case in the caller's scope.
    """
    case = await client.sanitised(case_id)
    lines = [f"Case {case.case_id} at revision {case.revision}, personal data masked.", NOTICE, "Title:"]
    lines += [*quoted(case.title), "Text:", *quoted(case.text)]
    for paper in case.papers:
        lines += [f"Paper {paper.id}, {paper.kind}:", *quoted(paper.title), *quoted(paper.text)]
    if case.papers_left_out:
        lines.append(f"Older papers that are left out: {case.papers_left_out}")
    part = page(lines, first=1, tokens=limits.TOKENS)
    if part.next_line is not None:
        return f"{part.text}\nCut here: {part.lines - part.next_line + 1} more lines."
    return part.text
