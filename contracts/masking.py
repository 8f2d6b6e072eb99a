"""Masking: personal data gives way to placeholders that stay the same within a case (R6).

A placeholder is a word and a number in brackets, such as `[person 1]`:

    name              person      national_id       id
    mail              mail        postal_address    address
    phone             phone       network_address   machine
    bank_account      account     credential        secret
    card              card

One value has one placeholder within its case, in every spelling that `normalised` folds together, and across
revisions; another case numbers its own. A shorter form of one name only ("Alex" beside "Alex Sample-Person") is the
same person; where two names share it, it stays a third.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from pydantic import Field

from contracts.cases import Paper
from contracts.labels import PaperKind
from contracts.model import Model
from contracts.personal_data import Certainty, PersonalData, PersonalDataKind

WORDS: Mapping[PersonalDataKind, str] = {
    PersonalDataKind.NAME: "person",
    PersonalDataKind.MAIL: "mail",
    PersonalDataKind.PHONE: "phone",
    PersonalDataKind.BANK_ACCOUNT: "account",
    PersonalDataKind.CARD: "card",
    PersonalDataKind.NATIONAL_ID: "id",
    PersonalDataKind.POSTAL_ADDRESS: "address",
    PersonalDataKind.NETWORK_ADDRESS: "machine",
    PersonalDataKind.CREDENTIAL: "secret",
}
"""The word of each kind's placeholders."""

PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(WORDS.values())}) [1-9]\d{{0,5}}\]")
"""What a placeholder looks like."""

_TITLE_WORDS = (
    "mr mrs ms miss mx sir madam dr prof professor herr frau hr fr señor señora sr sra monsieur madame mme m"
    " signor signora dhr mevr dipl ing mag"
)
_TITLES = frozenset(_TITLE_WORDS.split())
_COMMON_WORDS = (
    "will mark may bill grant rose art june april august sunny summer faith hope grace joy page case chase rich frank"
    " long short young old king west north south east best good white black brown green gray grey wood field stone"
    " baker cook major head team support service desk office help von van der den del los las the and for from with"
    " not new test user admin data max min van gene rob pat chip drew miles guy dean bishop price banks bell ball"
    " hall hill lake rivers ford park parks street root port host key lock code"
)
_NOT_DISTINCTIVE = frozenset(_COMMON_WORDS.split())
"""Words of names that are words of their own too: alone they don't tell who is meant."""
_Sought = tuple[re.Pattern[str], PersonalDataKind]
_TELLING = 8
"""Characters from which a value is hardly written by chance."""
_PHONE_DIGITS = 9
"""Last digits that a number is known by: with and without country code it is one."""


class Value(Model):
    """One value of a case, folded to its normal spelling. Never stored as it is."""

    kind: PersonalDataKind
    normal: str
    shorter: tuple[str, ...] = ()
    """For a name: shorter forms in the same text that mean this one."""
    parts: tuple[str, ...] = ()
    """For a name: its distinctive words, by which it is recognised later."""


class MaskedPlace(Model):
    """Where personal data stood in the original, and what stands for it."""

    field: str
    """`title`, `text`, `papers.<id>.title` or `papers.<id>.text`."""
    start: int
    end: int
    kind: PersonalDataKind
    certainty: Certainty
    placeholder: str


class CaseTexts(Model):
    """A case's texts as they are kept, read as the caller."""

    case_id: str
    revision: int
    title: str
    text: str
    papers: tuple[Paper, ...] = ()
    papers_left_out: int = 0


class SanitisedPaper(Model):
    """A paper of the case with personal data masked."""

    id: str
    kind: PaperKind
    title: str
    text: str


class SanitisedCase(Model):
    """A case's texts with personal data masked: what an experience is drafted from (R6)."""

    case_id: str
    revision: int
    """Of the case, as it was read."""
    title: str
    text: str
    """The newly written part of the body, or the body itself."""
    papers: tuple[SanitisedPaper, ...] = ()
    papers_left_out: int = Field(default=0, ge=0)
    """Older papers that one answer has no room for."""
    places: tuple[MaskedPlace, ...] = ()
    """Every masked place, by field and in order; offsets are of the original text."""


def placeholder(kind: PersonalDataKind, number: int) -> str:
    """Return the placeholder of a kind and number."""
    return f"[{WORDS[kind]} {number}]"


def declared_placeholders(text: str) -> tuple[str, ...]:
    """Return the placeholders that a text holds, each once, in order of their first place."""
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text)))


def normalised(kind: PersonalDataKind, value: str) -> str:
    """Return the spelling under which a value is the same one."""
    folded = unicodedata.normalize("NFKC", value).casefold()
    folded = "".join(character for character in folded if unicodedata.category(character) != "Cf")
    match kind:
        case PersonalDataKind.NAME:
            return " ".join(_name_words(folded)) or " ".join(folded.split())
        case PersonalDataKind.MAIL:
            return _mail(folded)
        case PersonalDataKind.PHONE:
            digits = "".join(filter(str.isdigit, re.split(r"[^\d\s()./+-]", folded.lstrip("+( "))[0]))
            return digits[-_PHONE_DIGITS:] or folded
        case PersonalDataKind.BANK_ACCOUNT | PersonalDataKind.CARD | PersonalDataKind.NATIONAL_ID:
            return "".join(filter(str.isalnum, folded)) or folded
        case PersonalDataKind.POSTAL_ADDRESS:
            return " ".join(re.findall(r"\w+", folded)) or folded
        case PersonalDataKind.NETWORK_ADDRESS:
            return folded
        case PersonalDataKind.CREDENTIAL:
            return value  # another case of a letter is another secret


def _mail(folded: str) -> str:
    plain = folded.removeprefix("mailto:")
    plain = re.sub(
        r"\s?[(\[{<]\s?(?:at|a|@|ät)\s?[)\]}>]\s?|\s(?:at|@)\s|_at_|\s-at-\s|%(?:25)?40|&#64;|&#x40;|&commat;|\\\\?u0040",
        "@",
        plain,
    )
    return re.sub(r"\s?[(\[{<]\s?(?:dot|\.|punkt|d)\s?[)\]}>]\s?|\sdot\s|_dot_|\s-dot-\s", ".", plain)


def _name_words(folded: str) -> list[str]:
    last, comma, first = folded.partition(",")
    if comma and len(last.split()) == 1 and first.strip():
        folded = f"{first} {last}"
    words = [re.sub(r"['\u2019]s$", "", word).strip(".,;:'\u2019\"") for word in folded.split()]
    return [word for word in words if word and word not in _TITLES]


def spread_names(
    texts: Mapping[str, str], found: Mapping[str, Sequence[PersonalData]]
) -> dict[str, list[PersonalData]]:
    """Return the findings of each text, with those places added where a found value stands again.

    A name found in a greeting or signature is looked for in every text of the case: whole, and by its distinctive
    words where they stand alone. Other values are looked for as they were written, without the word that told what
    they are; addresses of machines are not, since a version may be written alike.
    """
    names, values = _sought_names(texts, found), _sought_values(texts, found)
    places = {field: list(places) for field, places in found.items()}
    for field, text in texts.items():
        again = [
            PersonalData(kind=kind, certainty=Certainty.LIKELY, start=match.start(), end=match.end())
            for pattern, kind in (*values, *names)
            for match in pattern.finditer(text)
        ]
        places[field] = without_overlap([*places.get(field, []), *again])
    return places


def without_overlap(places: Sequence[PersonalData]) -> list[PersonalData]:
    """Return the places in order of the text, leaving out those that reach into one named earlier."""
    kept: list[PersonalData] = []
    ends = 0
    ordered = sorted(enumerate(places), key=lambda each: (each[1].start, each[0]))
    for number, place in ordered:
        if place.start < ends and kept:
            rank = next(index for index, other in enumerate(places) if other is kept[-1])
            if rank < number:
                continue
            kept.pop()
        kept.append(place)
        ends = place.end
    return kept


def _sought_names(texts: Mapping[str, str], found: Mapping[str, Sequence[PersonalData]]) -> list[_Sought]:
    spellings: set[str] = set()
    for text in _written(texts, found, PersonalDataKind.NAME):
        words = [word.strip('.,;:"') for word in text.split()]
        words = [word for word in words if word and word.casefold() not in _TITLES]
        if len(words) > 1:
            spellings.add(r"\s+".join(map(re.escape, words)))
        spellings.update(re.escape(word[0].upper() + word[1:]) for word in words if is_distinctive(word))
    pattern = r"(?<![\w@./\\$-])(?:{})(?![\w@/\\(-]|\.\w)"
    return _alternatives(spellings, pattern, PersonalDataKind.NAME)


def _sought_values(texts: Mapping[str, str], found: Mapping[str, Sequence[PersonalData]]) -> list[_Sought]:
    sought: list[_Sought] = []
    for kind in PersonalDataKind:
        if kind not in (PersonalDataKind.NAME, PersonalDataKind.NETWORK_ADDRESS):
            written = {re.escape(text) for text in _written(texts, found, kind) if len(text) >= _TELLING}
            sought += _alternatives(written, r"(?<!\w)(?:{})(?!\w)", kind)
    return sought


def _written(
    texts: Mapping[str, str], found: Mapping[str, Sequence[PersonalData]], kind: PersonalDataKind
) -> list[str]:
    return [
        texts[field][place.start : place.end]
        for field, places in found.items()
        for place in places
        if place.kind is kind
    ]


def _alternatives(spellings: set[str], pattern: str, kind: PersonalDataKind) -> list[_Sought]:
    """Return one pattern for all spellings, the longest first; none when there is nothing to look for."""
    longest_first = sorted(spellings, key=lambda each: (-len(each), each))
    return [(re.compile(pattern.replace("{}", "|".join(longest_first))), kind)] if spellings else []


def is_distinctive(word: str) -> bool:
    """Return whether a word of a name tells by itself who is meant."""
    return len(word) >= 3 and word[0].isalpha() and word.casefold() not in _NOT_DISTINCTIVE | _TITLES


def values_of(texts: Mapping[str, str], found: Mapping[str, Sequence[PersonalData]]) -> list[Value]:
    """Return the different values in order of their first place, shorter forms of a name with the whole one."""
    seen: dict[tuple[PersonalDataKind, str], None] = {}
    for field, places in found.items():
        for place in places:
            seen.setdefault((place.kind, normalised(place.kind, texts[field][place.start : place.end])))
    wholes = _whole_names([normal for kind, normal in seen if kind is PersonalDataKind.NAME])
    values: dict[tuple[PersonalDataKind, str], Value] = {}
    for kind, normal in seen:
        if kind is not PersonalDataKind.NAME:
            values[kind, normal] = Value(kind=kind, normal=normal)
            continue
        whole = wholes[normal]
        values[kind, whole] = Value(
            kind=kind,
            normal=whole,
            shorter=tuple(name for name, of in wholes.items() if of == whole and name != whole),
            parts=tuple(word for word in whole.split() if is_distinctive(word)),
        )
    return list(values.values())


def _whole_names(names: Sequence[str]) -> dict[str, str]:
    """Return the one longest name that each name is a part of; itself where there is none, or more than one."""
    words = {name: set(name.split()) for name in names}
    wholes: dict[str, str] = {}
    for name in names:
        longer = [other for other in names if words[name] < words[other]]
        longest = [other for other in longer if not any(words[other] < words[third] for third in longer)]
        wholes[name] = longest[0] if len(longest) == 1 else name
    return wholes


def numbers_of(values: Sequence[Value], numbers: Sequence[int]) -> dict[tuple[PersonalDataKind, str], int]:
    """Return the number of every normal spelling, shorter forms included."""
    known: dict[tuple[PersonalDataKind, str], int] = {}
    for value, number in zip(values, numbers, strict=True):
        known |= {(value.kind, normal): number for normal in (value.normal, *value.shorter)}
    return known


def mask(
    text: str, places: Sequence[PersonalData], numbers: Mapping[tuple[PersonalDataKind, str], int]
) -> tuple[str, list[str]]:
    """Return the text with each place masked, and the placeholder of each place.

    Args:
        text: The original.
        places: Findings in order, without overlap.
        numbers: The number of each value, as `numbers_of` tells.
    """
    masked: list[str] = []
    used: list[str] = []
    at = 0
    for place in places:
        number = numbers[place.kind, normalised(place.kind, text[place.start : place.end])]
        used.append(placeholder(place.kind, number))
        masked += [text[at : place.start], used[-1]]
        at = place.end
    return "".join([*masked, text[at:]]), used
