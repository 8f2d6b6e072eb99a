"""Names of people, where letters write them: greetings, signatures, header lines, forms of address.

There is no dictionary of names: a name in the middle of a sentence is found only when it stands in one of these
places too (`contracts.masking.spread_names`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from activities.personal_data.name_words import ANNOTATIONS, NO_NAMES
from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

_UPPER = r"[^\W\d_a-zà-öø-ÿß]"
_WORD = rf"{_UPPER}[^\W\d_]{{0,30}}(?:['\u2019-][^\W\d_]{{1,30}}){{0,3}}"
_INITIAL = rf"{_UPPER}\."
_SMALL = (
    r"(?:(?:von|van|vom|zu|zur|de|der|den|dem|la|le|da|do|dos|das|di|del|della|bin|ibn|al|el|af|av|ter|ten|y|e)"
    r"[ ]){0,3}"
)
NAME = rf"(?:{_INITIAL}|{_WORD})(?:[ ]{{1,2}}{_SMALL}(?:{_INITIAL}|{_WORD})){{0,4}}"
_TWO = rf"(?:{_INITIAL}|{_WORD})(?:[ ]{{1,2}}{_SMALL}(?:{_INITIAL}|{_WORD})){{1,4}}"
_LAST_FIRST = rf"{_WORD},[ ]{_WORD}(?:[ ](?:{_WORD}|{_INITIAL}))?"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Mx|Miss|Dr|Prof|Herr|Frau|Hr|Fr|Señora?|Sra?|Monsieur|Madame|Mme|Mlle"
    r"|Signora?|Dhr|Mevr|Sir|Professor|Doctor)"
)
_TITLED = re.compile(rf"(?<![\w.-]){_TITLE}(?:\.[ ]?|[ ])(?:{_TITLE}\.?[ ])?(?P<name>{NAME})")

_HELLO = (
    r"(?:hi|hello|hey|dear|hiya|good[ ](?:morning|afternoon|evening|day)|morning|greetings|hallo|guten[ ](?:tag"
    r"|morgen|abend)"
    r"|sehr[ ]geehrter?|liebe[rs]?|moin|servus|bonjour|bonsoir|salut|ch[eè]re?|hola|buen[oa]s[ ](?:d[ií]as"
    r"|tardes)|estimad[oa]|querid[oa]"
    r"|ciao|buongiorno|gentile|car[oa]|hej|hei|beste|geachte|olá|prezad[oa]|cześć|szanown[ya])"
)
_GREETING = re.compile(
    rf"(?:^|(?<=[.!?:][ ]))[> \t]{{0,8}}(?i:{_HELLO})(?i:[ ]there)?,?[ ]{{1,2}}"
    rf"(?:{_TITLE}\.?[ ]{{1,2}})?(?P<name>{NAME})"
    rf"(?:[ ]?(?:,|&|/|and|und|et|y)[ ](?P<second>{NAME}))?(?=[ ]{{0,2}}(?:[,!:;.\u2013\u2014-]|$))",
    re.MULTILINE,
)
_GREETING_WITHIN = re.compile(
    rf"(?<![\w-])(?:Hi|Hello|Dear|Hey|Hallo|Hola|Bonjour)[ ](?:{_TITLE}\.?[ ])?(?P<name>{NAME})(?=[,!])"
)
_SAYING = re.compile(
    rf"(?<![\w.])(?P<name>{_TWO})[ ](?:said|suggested|mentioned|commented|asked|proposed|told|replied"
    rf"|pointed[ ]out)(?!\w)"
)
_SMALL_GREETING = re.compile(
    r"^[> \t]{0,8}(?i:hi|hello|hey|dear|hallo|hola|hej)[ ]{1,2}(?P<name>[a-zà-öø-ÿ]{3,20})(?=[ ]?(?:,|!|$))",
    re.MULTILINE,
)
_SIGNED_LINE = re.compile(rf"[> \t-]{{0,8}}(?:{_TITLE}\.?[ ])?(?P<name>{NAME})[ ]{{0,3}}(?:[,.|(]|$)")
_SMALL_SIGNED = re.compile(r"[> \t-]{0,8}(?P<name>[a-zà-öø-ÿ]{3,20})[ ]{0,2}[.!]?$")
_SAME_LINE = re.compile(
    rf"^[> \t]{{0,8}}(?:.{{0,400}}[.!?][ ])?(?i:(?:(?:kind|best|warm|many)[ ])?(?:regards|wishes)"
    rf"|(?:many[ ])?thanks|thank[ ]you|cheers|thx|br|rgds"
    rf"|sincerely|mfg|lg|grüße|cordialement|saludos)[ ]{{0,2}}(?:,|-|\u2013"
    rf"|\u2014)[ ]{{0,2}}(?P<name>{NAME})[ ]{{0,2}}[.!]?[ ]{{0,3}}$",
    re.MULTILINE,
)
_FIELD = re.compile(
    rf"^[> \t*|-]{{0,8}}(?i:from|to|cc|bcc|reply-to|sender|sent[ ]by|report(?:ed[ ]by|er)|assign(?:ee|ed[ ]to)"
    rf"|author(?:ed[ ]by)?|committer"
    rf"|signed-off-by|reviewed-by|acked-by|tested-by|co-authored-by|suggested-by|von|an|para"
    rf"|contact(?:[ ](?:person|name))?|name|full[ ]name"
    rf"|customer(?:[ ]name)?|client[ ]name|caller|user(?:[ ]?name)?|employee(?:[ ]name)?|request(?:ed[ ](?:by"
    rf"|for)|or|er)|on[ ]behalf[ ]of|attn"
    rf"|attention|submitted[ ]by|created[ ]by|owner|manager|approver|approved[ ]by|payee|payer|account[ ]holder"
    rf"|holder|patient|insured)"
    rf"[ ]{{0,2}}[:=][ ]{{0,3}}[\"']?(?:{_TITLE}\.?[ ])?(?P<name>{_LAST_FIRST}"
    rf"|{_TWO})(?=[\"']?[ ]{{0,3}}(?:[<(\[,;|/\ufffc]|$))",
    re.MULTILINE,
)
_BESIDE_MAIL = re.compile(
    rf"(?<![\w.])[\"']?(?P<name>{_LAST_FIRST}|{NAME})[\"']?[ ]{{1,2}}[<(\[](?:mailto:)?[\w.+%-]{{1,64}}@", re.MULTILINE
)
_BESIDE_WALL = re.compile(rf"(?<![\w.])[\"']?(?P<name>{_LAST_FIRST}|{_TWO})[\"']?[ ]{{1,2}}\ufffc")
_TOLD = re.compile(
    rf"(?<![\w-])(?i:my[ ]name[ ]is|this[ ]is|i[ ]am|i'm|contact(?:[ ]person)?(?:[ ]is)?|please[ ]contact"
    rf"|ask[ ]for|(?:sp[eo]a?ke?n?|talk(?:ed)?)[ ](?:to|with)"
    rf"|call(?:ed)?[ ](?:from|by)|on[ ]behalf[ ]of|(?:reported|requested|raised|approved|confirmed|escalated"
    rf"|suggested|written|handled|submitted)"
    rf"[ ]by|colleagues?|customer|employee|thanks[ ]to|courtesy[ ]of|cc|attn|c/o|regards|signed|payer"
    rf"|holder)[ :]{{1,2}}(?:{_TITLE}\.?[ ])?(?P<name>{_TWO})(?![\w(:/=-]|\.\w)"
)
_WROTE = re.compile(
    rf"(?P<name>{_LAST_FIRST}|{_TWO})(?:[ ]?[<(][^<>()\n]{{1,100}}[>)])?[ ](?:wrote|schrieb|a[ ]écrit|escribió"
    rf"|ha[ ]scritto|said|commented)[ ]{{0,2}}:"
)
_MENTION = re.compile(
    r"(?:^[> \t]{0,8}|(?<=\bcc[ ])|(?<=\bcc:[ ])|(?<=thanks[ ])|(?<=\bping[ ])|(?<=\bhi[ ])|(?<=\bby[ ])"
    r"|(?<=\bask[ ]))"
    r"(?P<name>@[a-z][a-z0-9]{1,20}(?:[._-][a-z0-9]{1,20}){0,3})(?=[ ]?[,:!?]|[ ][a-z]|$)",
    re.MULTILINE | re.IGNORECASE,
)
_JOB = re.compile(
    r"(?i)\b(?:ltd|gmbh|inc|llc|plc|ag|corp|s\.a|b\.v|team|department|dept|desk|support|services?|head of"
    r"|manager|engineer|officer|director|group|university|works)\b"
)


_IN_SENTENCES = (_SAYING, _TOLD, _BESIDE_WALL)
"""Where other capitalised words stand too: a name has two words there."""


def names(reading: Reading) -> Iterator[Place]:
    """Yield names."""
    text = reading.text
    for pattern in (
        _GREETING,
        _GREETING_WITHIN,
        _SMALL_GREETING,
        _SAYING,
        _SAME_LINE,
        _FIELD,
        _BESIDE_MAIL,
        _TOLD,
        _WROTE,
        _TITLED,
    ):
        for match in pattern.finditer(text):
            yield from _named(match, "name", least=1 + (pattern in _IN_SENTENCES))
            if pattern is _GREETING and match["second"]:
                yield from _named(match, "second")
    for match in _MENTION.finditer(text):
        if match["name"].lower() not in ANNOTATIONS and (match["name"].islower() or re.search(r"\d", match["name"])):
            yield Place(*match.span("name"), PersonalDataKind.NAME, Certainty.LIKELY)
    for signature in reading.signatures:
        yield from _signed(text, signature.start, signature.end)


def _signed(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the name in the first line of a signature that says something."""
    at = start
    while at < end:
        line_end = text.find("\n", at, end)
        line_end = end if line_end < 0 else line_end
        line = text[at:line_end]
        if line.strip():
            match = _SIGNED_LINE.match(line)
            if match is None and (at - start) < 3:
                match = _SMALL_SIGNED.match(line)
            if match is not None:
                yield from _named(match, "name", at)
            return
        at = line_end + 1


def _named(match: re.Match[str], group: str, offset: int = 0, least: int = 1) -> Iterator[Place]:
    """Yield the group as a name, without what stands around it and is none; nothing when that is everything."""
    start, end = match.span(group)
    name = match[group]
    words = [(word.start(), word.end(), word[0]) for word in re.finditer(r"\S+", name)]
    while words and _is_no_name(words[-1][2]):
        words.pop()
    while words and _is_no_name(words[0][2]):
        words.pop(0)
    if len(words) < least or any(_is_no_name(word) for _, _, word in words):
        return
    if least > 1 and all(word.isupper() for _, _, word in words):
        return  # as in AWS SDK
    start, end = start + words[0][0], start + words[-1][1]
    cut = match.string[start:end].rstrip(",;:")
    if _JOB.search(cut) or (len(cut) < 3 and not cut.isalpha()) or (cut.isupper() and len(words) == 1 and len(cut) < 5):
        return
    yield Place(offset + start, offset + start + len(cut), PersonalDataKind.NAME, Certainty.LIKELY)


def _is_no_name(word: str) -> bool:
    bare = word.strip(".,;:'\"").casefold()
    is_joined = (
        any(character.isupper() for character in word[1:])
        and not word.isupper()
        and not re.search(r"['\u2019-]|^Ma?c", word)
    )
    return bare in NO_NAMES or is_joined
