"""Telephone numbers: by the world's numbering plans, and by the word that stands before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import phonenumbers

from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

REGIONS = ("GB", "US", "DE", "FR", "ES", "IT", "NL", "PL", "SE", "BE", "CH", "AT", "IN", "AU", "BR")
"""Numbering plans that a number without country code is tried in."""
_VERSION = re.compile(r"(?<![\d.])(?:\d\.\d+|\d+\.\d)\.\d+|\d\.\d\b(?!\.)|\.\d{5,}")
"""Numbers with dots of which one is a single digit, as in `16.0.4266`."""
_V4 = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_PARSED = 1_500
"""Numbers with a country code of one text that are tried in its plan; further ones go by their form alone."""
_TRIES = 300
"""Numbers of one text that are tried in every plan; further ones go by their word alone."""

_EXTENSION = r"(?:[ ,;]{0,2}(?:ext\.?|extn\.?|extension|x|durchwahl|poste)[ .:]{0,2}\d{1,6}(?!\d))?"
_INTERNATIONAL = re.compile(
    rf"(?<![\w+/=.])\(?(?:\+|(?<![-:])00(?=[1-9]))[ ]?\d(?:[ ]?[-./()]?[ ]?[(]?\d){{6,16}}(?![\w]){_EXTENSION}",
    re.IGNORECASE,
)
_NUMBER = rf"[(]?\d(?:[ ]{{0,2}}[-./()]{{0,2}}[ ]?[(]?\d){{5,14}}(?![\w]){_EXTENSION}"
_WORD = (
    r"(?:t[eé]l(?:e(?:phone|fon|fono|foon|fonnummer|fax|x)?|éfono|éphone)?|phone|ph|mob(?:ile|il|iel|ilnummer)?|móvil"
    r"|cell(?:phone|ular)?"
    r"|tlf|tfno|gsm|natel|celular|telemóvel|puh|rufnr|callback|text(?:[ ]me)?"
    r"|viber|signal"
    r"|(?:my|our|your|his|her|their|contact|emergency|home|work|private|day|evening|mobile)(?=[ ](?:number|no|nr))"
    r"|fax|call(?:[ ](?:me|us|him|her))?(?:[ ]back)?|landline|handy|handynummer|rufnummer|whatsapp"
    r"|ring(?:[ ](?:me|us))?(?:[ ]back)?|reach(?:able"
    r"|ed)?(?:[ ]me)?|hotline|sms"
    r"|dial(?:[ ]in)?"
    r"|direct(?:[ ](?:line|dial))?|office|switchboard|portable|durchwahl|cellulare|kontakt|pager)"
)
_CUED = re.compile(
    rf"(?<![A-Za-z0-9-]){_WORD}(?:[ _-]?(?:no|nr|number|num|\#)\b)?\.?(?:[ ](?:is|on|at|me|under|number|no))?"
    rf"(?:[ ]?/[ ]?(?:fax|mobile|cell|whatsapp))?(?:[ ]?\([A-Za-z ]{{1,12}}\))?"
    rf"[\"']?[ \t]{{0,3}}[:.=#]{{0,2}}[ \t]{{0,3}}[\"']?(?P<number>\+?{_NUMBER})",
    re.IGNORECASE,
)
_SIGNED = re.compile(rf"(?<![\w+/=.,:\[-])(?:[TMPFOC][ ]?[:.][ ]?)?(?P<number>{_NUMBER})", re.IGNORECASE)
_AREA_CODE = re.compile(
    rf"(?<![\w+/=.)\]])(?P<number>\(0?\d{{2,5}}\)[ ]?[-/]?[ ]?\d{{2,5}}(?:[ -]\d{{2,5}}){{1,3}}(?![\w(.-]){_EXTENSION})"
)
_DASHED = re.compile(rf"(?<![\w+/=.:-])(?P<number>(?:1[-. ])?\d{{3}}([-. ])\d{{3}}\2\d{{4}}(?![\w-]|\.\d){_EXTENSION})")
_WORD_BEFORE = re.compile(rf"{_WORD}\W{{0,4}}$", re.IGNORECASE)
_LAST_GROUP = re.compile(r"[^\d]{1,4}\d{1,4}$")
_CUTS = 3
"""Spellings of one number that are tried: whole, then without the last groups."""
_EXTENSION_PART = re.compile(rf"{_EXTENSION}$", re.IGNORECASE)


def phone_numbers(reading: Reading) -> Iterator[Place]:
    """Yield telephone numbers with their extensions."""
    yield from _international(reading)
    plans = _Plans()
    text = reading.text
    yield from _cued(reading, plans)
    for match in _AREA_CODE.finditer(text):
        if 8 <= _digits(match["number"]) <= 14 and not reading.looks_alike(*match.span("number")):
            yield _place(match, plans.certainty(match["number"]) or Certainty.LIKELY)
    for match in _DASHED.finditer(text):
        if not reading.looks_alike(*match.span("number")) and plans.is_valid(match["number"], "US"):
            yield _place(match, Certainty.LIKELY)
    for signature in reading.signatures:
        for match in _SIGNED.finditer(text, signature.start, signature.end):
            number = match["number"]
            if _digits(number) < 8 or reading.looks_alike(*match.span("number")):
                continue
            if number.startswith(("0", "(")) and plans.certainty(number):
                yield _place(match, Certainty.LIKELY)


def _cued(reading: Reading, plans: _Plans) -> Iterator[Place]:
    """Yield numbers after a word such as `phone`, without a version that follows them."""
    text = reading.text
    for match in _CUED.finditer(text):
        start, end = match.start("number"), match.end("number")
        if version := _VERSION.search(text, start, end):
            end = start + len(text[start : version.start()].rpartition(" ")[0].rstrip())
        number = text[start:end]
        if _V4.fullmatch(number):
            continue
        if 6 <= _digits(number) <= 15 and not reading.looks_alike(start, end):
            certainty = plans.certainty(number) or Certainty.LIKELY
            yield Place(start, end, PersonalDataKind.PHONE, certainty)


def _international(reading: Reading) -> Iterator[Place]:
    for count, match in enumerate(_INTERNATIONAL.finditer(reading.text)):
        start = match.start() + (match[0].startswith("(") and ")" not in match[0])
        if reading.looks_alike(start, match.end()):
            continue
        number = reading.text[start : match.end()]
        is_plus = number.lstrip("(").startswith("+")
        if count >= _PARSED:
            if is_plus and 9 <= _digits(number) <= 15:
                yield Place(start, match.end(), PersonalDataKind.PHONE, Certainty.LIKELY)
            continue
        whole = _parsed(number)
        if whole is None:
            continue
        known = _known_part(number)
        if known:
            # Digits in one row after 00 are more often a number of something else.
            if is_plus or not number.isdigit() or _WORD_BEFORE.search(reading.before(start, 20)):
                yield Place(start, start + len(known), PersonalDataKind.PHONE, Certainty.CHECKED)
        elif is_plus and _digits(number) >= 9 and phonenumbers.is_possible_number(whole):
            yield Place(start, match.end(), PersonalDataKind.PHONE, Certainty.LIKELY)


def _known_part(number: str) -> str:
    """Return the number, or its beginning where other digits follow it, as a numbering plan knows it; else ""."""
    for _ in range(_CUTS):
        parsed = _parsed(number)
        if parsed is not None and phonenumbers.is_valid_number(parsed):
            return number
        number = _LAST_GROUP.sub("", number)
        if _digits(number) < 7:
            break
    return ""


def _parsed(number: str) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(re.sub(r"^(\(?)00", r"\1+", number), None)
    except phonenumbers.NumberParseException:
        return None


class _Plans:
    """Tries numbers in the numbering plans, a bounded number of times."""

    def __init__(self) -> None:
        self._left = _TRIES

    def certainty(self, number: str) -> Certainty | None:
        """Return checked when some plan knows the number."""
        if self._left <= 0:
            return None
        self._left -= 1
        return Certainty.CHECKED if any(self._tried(number, region) for region in REGIONS) else None

    def is_valid(self, number: str, region: str) -> bool:
        """Return whether a plan knows the number."""
        self._left -= 1
        return self._left > 0 and self._tried(number, region)

    @staticmethod
    def _tried(number: str, region: str) -> bool:
        try:
            return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
        except phonenumbers.NumberParseException:
            return False


def _digits(number: str) -> int:
    """Return how many digits a number has without its extension."""
    return sum(character.isdigit() for character in _EXTENSION_PART.sub("", number))


def _place(match: re.Match[str], certainty: Certainty) -> Place:
    return Place(match.start("number"), match.end("number"), PersonalDataKind.PHONE, certainty)
