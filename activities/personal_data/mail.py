"""Mail addresses, also where the sign is written as a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

_LOCAL = r"[^\W_](?:(?:[\w.'*+~-]|%2[BbDdEe7]|%5[Ff]){0,62}[\w+~-])?"
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_PLAIN = re.compile(
    rf"""(?:(?<![\w.+%-])|(?<=%[0-9a-f]{{2}})|(?<=%25[0-9a-f]{{2}})|(?<=u00[0-9a-f]{{2}}))(?:mailto:)?(?P<address>
        (?:{_LOCAL}|"[^"\s]{{1,62}}")(?:@|%40|%2540|&\#64;|&\#x40;|&commat;|u0040|\\u0040)
        (?:{_LABEL}(?:\.{_LABEL}){{0,6}}\.(?P<top>[^\W\d_]{{2,24}}|xn--[a-z0-9-]{{2,40}})|\[[0-9a-f.:]{{3,45}}\])
    )(?![\w@])(?!-\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_SPELT = re.compile(
    r"""(?<![\w.+-])(?P<address>
        [a-z0-9][\w.+-]{0,62}
        (?:\s?[(\[{<]\s?(?:at|a|@|ät)\s?[)\]}>]\s?|\s(?:at|@)\s|_at_|\s-at-\s)
        (?:[a-z0-9-]{1,62}(?:\s?[(\[{<]\s?(?:dot|\.|punkt|d)\s?[)\]}>]\s?|\sdot\s|_dot_|\s-dot-\s|\.)){1,5}
        (?P<top>[a-z]{2,24})
    )(?![\w@-])""",
    re.VERBOSE | re.IGNORECASE,
)
_WRITTEN_OUT = re.compile(r"[(\[{<]|\sdot\s|\s@\s|_dot_|\s-dot-\s", re.IGNORECASE)
_SIGN = re.compile(r"@|%40|%2540|&#64;|&#x40;|&commat;|u0040", re.IGNORECASE)
_MESSAGE = re.compile(r"(?=[^@%.]{0,8}[A-Z0-9])[\w+%=-]{40,}(?:@|%40)|[\w-]{1,40}\.javamail\.", re.IGNORECASE)
"""Ids of messages, as a mail archive's links hold them; nobody's address."""
_FILE_ENDS = (
    "png jpg jpeg gif svg ico js ts css html htm xml json java class jar py rb sh log txt conf cfg yml yaml pdf"
    " so dll exe zip gz xhtml properties md"
)
_FILES = frozenset(_FILE_ENDS.split())
"""Ends of file names, as in `icon@2x.png`; none of them is a top-level domain that people write from."""
_SERVICES = frozenset(("git", "hg", "svn"))
"""Accounts of a service, as in `git@host:path`; nobody's address."""


def mail_addresses(reading: Reading) -> Iterator[Place]:
    """Yield mail addresses, whole."""
    text = reading.text
    if _SIGN.search(text):
        for match in _PLAIN.finditer(text):
            top = (match["top"] or "").lower()
            local = match["address"].partition("@")[0].lower()
            if (
                top in _FILES
                or _MESSAGE.match(match["address"])
                or (local in _SERVICES and text[match.end() : match.end() + 1] in (":", "/"))
            ):
                continue
            yield Place(match.start("address"), match.end("address"), PersonalDataKind.MAIL, Certainty.CHECKED)
    for match in _SPELT.finditer(text):
        if match["top"].lower() not in _FILES and _WRITTEN_OUT.search(match["address"]):
            yield Place(match.start("address"), match.end("address"), PersonalDataKind.MAIL, Certainty.LIKELY)
