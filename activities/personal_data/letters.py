"""Where a letter is signed: the lines after a closing one. Much that is personal stands there and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CLOSING = re.compile(
    r"""^[> \t]{0,8}(?:
        (?:(?:with|my|kind(?:est)?|best|warm(?:est)?|many|friendly)[ ]){0,3}(?:regards|wishes|greetings)
      | (?:yours[ ])?(?:sincerely|faithfully|truly)(?:[ ]yours)? | respectfully
      | (?:many[ ]|kind[ ])?thanks(?:[ ](?:a[ ]lot|so[ ]much|in[ ]advance|and[ ](?:kind[ ]|best[ ])?regards|again))?
      | thank[ ]you(?:[ ](?:so[ ]much|very[ ]much|in[ ]advance|and[ ](?:kind[ ]|best[ ])?regards))? | thx | cheers
      | best | br | rgds | kr | tia | warmly | sent[ ]from[ ]my[ ]\w{1,20}
      | (?:mit[ ])?(?:freundlichen?|viele|beste|liebe|schöne|herzliche)[ ]gr(?:ü|ue)(?:ß|ss)en? | mfg | lg | vg
      | (?:bien[ ])?cordialement | bien[ ]à[ ](?:vous|toi) | sincères[ ]salutations
      | (?:un[ ])?(?:cordial[ ])?saludos?(?:[ ]cordial(?:es)?)? | atentamente | cordiali[ ]saluti | distinti[ ]saluti
      | met[ ]vriendelijke[ ]groet(?:en)? | mvg | (?:med[ ])?vänlig[ ]hälsning | med[ ]venlig[ ]hilsen | mvh
      | atenciosamente | cumprimentos | z[ ]poważaniem | pozdrawiam
      | --[ ]?
    )[ ]{0,3}[,.!;-]{0,3}[ ]{0,3}$""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_LINES = 12


@dataclass(frozen=True)
class Signature:
    """The lines after a closing line, up to a gap of two blank lines."""

    start: int
    end: int


def signatures(text: str) -> Iterator[Signature]:
    """Yield where letters are signed, in order; they don't overlap."""
    until = 0
    for closing in _CLOSING.finditer(text):
        if closing.start() < until:
            continue
        start = end = closing.end() + 1
        blank = lines = 0
        while lines < _LINES and blank < 2 and end < len(text):
            line_end = text.find("\n", end)
            line_end = len(text) if line_end < 0 else line_end
            blank = 0 if text[end:line_end].strip() else blank + 1
            end = line_end + 1
            lines += 1
        end = min(end, len(text))
        if start < end:
            until = end
            yield Signature(start, end)
