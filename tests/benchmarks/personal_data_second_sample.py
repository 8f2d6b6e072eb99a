"""The second 200 lines, drawn when the rules stood, from records that nobody had looked at.

The rules were mended after the first sample was measured, and looked at half of the records meanwhile. These lines
come from the other half, without the first sample's records, by another seed and other strata: what may be an address,
a number or a secret (`strong`, rare), what has a mark of one (`mark`), numbers, and lines with none of that.

A label is put where the line holds a value of a structured kind as a person reads it: an address of one machine or
network (not loop-back, not a public site or service), a name of one machine, a mail address, a telephone number, an
account, a national number, or a secret that opens something; and names and postal addresses, reported apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from pathlib import Path

from tests.benchmarks.personal_data_sample import FILES, Line, lines

QUOTAS = {
    ("hadoop", "strong"): 62,
    ("hadoop", "mark"): 40,
    ("hadoop", "number"): 30,
    ("hadoop", "plain"): 13,
    ("seamonkey", "strong"): 26,
    ("seamonkey", "mark"): 28,
    ("seamonkey", "number"): 16,
    ("seamonkey", "plain"): 8,
    ("sip", "strong"): 18,
    ("sip", "mark"): 8,
    ("sip", "plain"): 7,
    ("endava", "strong"): 6,
    ("endava", "plain"): 8,
}
_STRONG = re.compile(
    r"""(?<![\d.\w/-])(?<!Monkey\ )(?<!version\ )(?!2\.53)\d{1,3}(?:\.\d{1,3}){3}(?![\d.\w])
      | [\w.]@[\w-]+\.[a-z]{2,} | %40 | \w\ ?[(\[]at[)\]]\ ?\w
      | (?<![\w.])[a-z][a-z0-9-]*\d[\w.-]*:\d{3,5}\b | ://[^/\s:]+:\d{2,5}\b | \w@[\w-]+[ :][~/\w]*\]?[$#]
      | \+\d[\d ().-]{8,} | (?<![\d.-])0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}(?![\d-]) | \(\d{3}\)\ ?\d{3}-\d{4}
      | \b(?:password|passwd|pwd|secret|token|api.?key|access.?key)[\w.]*["']?\ {0,2}[=:]\ {0,2}["']?[\w/+]
      | \b(?:server|host|machine|hostname|node|vm|pc|laptop)\ [\w-]*[a-zA-Z-]\d+\b
      | \b[A-Z-]+\d+\ (?:[Ss]erver|[Hh]ost|[Mm]achine|PC)\b
      | \b(?:[0-9a-fA-F]{1,4}:){4,}[0-9a-fA-F] | \\\\\\\\\w+\\\w
      | \b[a-z-]*\d[\w-]*\.(?:[a-z0-9-]+\.)*(?:internal|local|corp|lan)\b
      | \b(?:tel|phone|mobile|fax)\b.{0,15}\d{3} | \b[A-Z]{2}\d{2}\ ?[A-Z0-9]{4}\ ?\d{4}""",
    re.VERBOSE,
)
_MARK = re.compile(
    r"\w@\w|:\d{4,5}\b|password|passwd|token|secret|credential|\d{1,3}(?:\.\d{1,3}){3}"
    r"|\b(?:server|host|node)\b.{0,20}\d|\d{3}[ -]\d{3}"
)
_NUMBER = re.compile(r"\d{6,}|\d+\.\d+\.\d+|[0-9a-f]{16,}|\d:\d\d:\d\d")
_FRAME = re.compile(r"^[\s|]*at [\w.$/]+\(")
_TOKENS = re.compile(r"<[a-z_]{1,20}>")


def is_unseen(record: str) -> bool:
    """Return whether a record is of the half that was not looked at while the rules were written."""
    return hashlib.sha256(f"split {record}".encode()).digest()[0] % 2 == 1


def chosen(data: Path, without: Collection[str]) -> list[Line]:
    """Return the sample, in order; of equal lines only one is taken, of one record four at most.

    Args:
        data: The folder of the data.
        without: Records of the first sample.
    """
    strata: dict[tuple[str, str], list[tuple[str, Line, str]]] = {}
    for line, text in lines(data):
        if line.record in without or not is_unseen(line.record):
            continue
        bare = _TOKENS.sub("", text)
        if _FRAME.match(text):
            continue  # of a stack trace; there are so many
        kinds = (("strong", _STRONG), ("mark", _MARK), ("number", _NUMBER))
        kind = next((kind for kind, pattern in kinds if pattern.search(bare)), "plain")
        source = next(source for source in FILES if line.record.startswith(source))
        rank = hashlib.sha256(f"second\n{line.record}\n{line.field}\n{line.start}".encode()).hexdigest()
        strata.setdefault((source, kind), []).append((rank, line, re.sub(r"\d+", "0", text)))
    sample: list[Line] = []
    for stratum, quota in QUOTAS.items():
        shapes: set[str] = set()
        records: dict[str, int] = {}
        for _, line, shape in sorted(strata.get(stratum, [])):
            if shape not in shapes and records.get(line.record, 0) < 4 and len(shapes) < quota:
                shapes.add(shape)
                records[line.record] = records.get(line.record, 0) + 1
                sample.append(line)
    return sorted(sample)
