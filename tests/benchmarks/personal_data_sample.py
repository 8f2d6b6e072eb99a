"""The 200 lines that the personal-data finder is measured on, chosen by rule from public data beside the repository.

Lines are drawn by the lowest hash in strata: lines with something that may be personal data, lines with numbers that
only look like it, and lines with neither. The first are far more frequent here than in the data, so counts on the
sample say how often the finder is right about such lines, not how often they occur.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILES = {
    "hadoop": ("duplicates_hadoop_reports.jsonl", "body"),
    "seamonkey": ("duplicates_seamonkey_reports.jsonl", "body"),
    "endava": ("routing_tickets.jsonl", "body"),
    "sip": ("effort_sip_tasks.jsonl", "summary"),
}
"""File and field by the beginning of a record's id."""
QUOTAS = {
    ("hadoop", "likely"): 52,
    ("hadoop", "number"): 25,
    ("hadoop", "plain"): 7,
    ("seamonkey", "likely"): 45,
    ("seamonkey", "number"): 20,
    ("seamonkey", "plain"): 8,
    ("endava", "likely"): 12,
    ("endava", "plain"): 6,
    ("sip", "likely"): 14,
    ("sip", "number"): 6,
    ("sip", "plain"): 5,
}
_LIKELY = re.compile(
    r"""[\w.]@[\w.] | @\w+ | \+\d[\d .()-]{7,} | \b(?:tel|phone|mobile|fax)\b.{0,15}\d
      | \b(?:Hi|Hello|Dear|Hey)\ +[A-Z][a-z] | (?:regards|thanks|cheers),?\ +[A-Z][a-z]+
      | \b(?:Mr|Mrs|Ms|Dr)\b\.?\ [A-Z]
      | \b(?:[Bb]y|[Ff]rom|[Tt]hanks|[Cc]c|to|with|per)\ [A-Z][a-z]+\ [A-Z][a-z]+
      | (?:password|passwd|secret|token|api.?key)\W{0,4}[=:] | (?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])
      | \b[a-z]+://[^/\s]*@ | \b(?:host|server|node)\w*\W{1,3}[a-z]+[-\w]*\d
      | \b[0-9a-f]{2}(?::[0-9a-f]{2}){5} | (?:[0-9a-f]{1,4}:){4} | \b\d{1,5}\ [A-Z][a-z]+\ (?:Street|St|Road|Rd|Ave)
      | [A-Z][a-z]+(?:'s)?\ (?:said|wrote|suggested|pointed|reported|mentioned|asked|commented)\b
      | ^(?:From|To|Cc|Author|Reporter|Name|Reply-To|Sender)\b.*: | /(?:home|Users|user)/\w+
      | \b(?:dear|hi|hello)\ [a-z]+\ .*\b(?:regards|address|phone)\b""",
    re.VERBOSE,
)
_NUMBER = re.compile(
    r"\d{4}[- ]\d{4}|\d{7,}|[0-9a-f]{8}-[0-9a-f]{4}|\d+\.\d+\.\d+\.\d+|\d{3}-\d{3}-\d{4}|[0-9a-f]{16,}"
    r"|0x[0-9a-f]{6,}|v\d+\.\d+"
)
_TOKENS = re.compile(r"<(?:email|user|ip|person)>")


@dataclass(frozen=True, order=True)
class Line:
    """A line of a record's field."""

    record: str
    field: str
    start: int
    end: int


def lines(data: Path) -> Iterator[tuple[Line, str]]:
    """Yield the lines of all files with their text, short and long ones left out."""
    for name, field in FILES.values():
        with (data / name).open(encoding="utf-8") as file:
            for row in map(json.loads, file):
                at = 0
                for text in (row[field] or "").split("\n"):
                    if 12 <= len(text) <= 400:
                        yield Line(row["id"], field, at, at + len(text)), text
                    at += len(text) + 1


def chosen(data: Path) -> list[Line]:
    """Return the sample, in order; of equal lines only one is taken."""
    strata: dict[tuple[str, str], list[tuple[str, Line, str]]] = {}
    for line, text in lines(data):
        bare = _TOKENS.sub("", text)
        kind = "likely" if _LIKELY.search(bare) else "number" if _NUMBER.search(bare) else "plain"
        source = next(source for source in FILES if line.record.startswith(source))
        rank = hashlib.sha256(f"{line.record}\n{line.field}\n{line.start}".encode()).hexdigest()
        strata.setdefault((source, kind), []).append((rank, line, re.sub(r"\d+", "0", text)))
    sample: list[Line] = []
    for stratum, quota in QUOTAS.items():
        seen: set[str] = set()
        for _, line, shape in sorted(strata[stratum]):
            if shape not in seen and len(seen) < quota:
                seen.add(shape)
                sample.append(line)
    return sorted(sample)
