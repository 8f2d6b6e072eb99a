"""Postal addresses, in the order in which some languages write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

_CAP = r"[^\W\d_a-zà-öø-ÿß][\w'\u2019.-]{0,30}"
_WORDS = rf"{_CAP}(?:[ ]{_CAP}){{0,3}}"
_NAMED = r"[^\W\d_a-zà-öø-ÿß][^\W\d_]{0,30}(?:['\u2019.-][^\W\d_]{1,20}){0,3}(?!\w)"
_TOWN_NAME = rf"{_NAMED}(?:[ ]{_NAMED}){{0,3}}"
_POSTCODE = (
    r"(?:[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2}|[A-Z]{2}[ ]\d{5}(?:-\d{4})?|(?:[A-Z]{1,2}-)?\d{4,5}(?:[ ]?[A-Z]{2})?(?!\d))"
)
_TOWN = rf"(?:,?[ ]?\n?[ ]?(?:{_POSTCODE},?[ ])?{_TOWN_NAME}(?:,?[ ]{_POSTCODE})?|,?[ ]{_POSTCODE})"
_ROOM = r"(?:(?:Apt|Suite|Unit|Flat|Floor|Ste|Room)\.?[ ]?\#?\w{1,6}|\d{1,2}(?:st|nd|rd|th)[ ]floor)"
_REST = rf"(?:[ ]?,[ ]?{_ROOM})?(?:,{_TOWN}){{0,3}}"
_STREETS = (
    re.compile(
        rf"""(?<![\w.,:/#-])\d{{1,5}}[A-Za-z]?(?:[-/]\d{{1,4}})?,?[ ](?:(?:N|S|E|W|North|South|East
          |West)\.?[ ])?{_CAP}(?:[ ]{_CAP}){{0,3}}?[ ]
        (?:Street|St|Road|Rd|Avenue|Ave|Av|Lane|Ln|Drive|Dr|Boulevard|Blvd|Way|Court|Ct|Place|Pl|Square|Sq
          |Terrace|Close|Crescent
          |Highway|Hwy|Parkway|Pkwy|Row|Gardens|Mews|Quay|Embankment|Alley|Walk|Circle|Trail|Green
            |Hill)\b\.?{_REST}""",
        re.VERBOSE,
    ),
    re.compile(
        rf"""(?<![\w.-])(?:{_CAP}[ -]){{0,3}}{_CAP}?(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|ring|ufer|damm
          |chaussee|straat|laan|plein|gracht)
        [ ]\d{{1,4}}[ ]?[a-z]?(?![\w.])(?:,?[ ]?\n?[ ]?(?:[A-Z]{{1,2}}-)?\d{{4,5}}(?:[ ][A-Z]{{2}})?[ ]{_WORDS})?""",
        re.VERBOSE,
    ),
    re.compile(
        rf"""(?<![\w.-])(?:{_CAP}[ ]){{0,2}}(?:Straße|Strasse|Weg|Platz|Allee|Ring
          |Damm)[ ]\d{{1,4}}[ ]?[a-z]?(?![\w.])
        (?:,?[ ]?\n?[ ]?(?:[A-Z]{{1,2}}-)?\d{{4,5}}[ ]{_WORDS})?""",
        re.VERBOSE,
    ),
    re.compile(
        rf"""(?<![\w.-])\d{{1,4}}(?:[ ]?(?:bis|ter))?,?[ ](?i:rue|avenue|av\.|boulevard|bd|place|chemin|allée
          |impasse|quai|cours|route)[ ]
        (?:(?:de|du|des|la|le|les|l'|d')[ ]?){{0,3}}{_WORDS}(?:,?[ ]?\n?[ ]?\d{{5}}[ ]{_WORDS})?""",
        re.VERBOSE,
    ),
    re.compile(
        rf"""(?<![\w.-])(?:Calle|C/|Avda\.?|Avenida|Plaza|Paseo|Via|Viale|Piazza|Corso|Rua|Travessa|ul\.|ulica
          |al\.)[ ]?
        (?:(?:de|del|la|las|los|el|di|da|do|dos|della)[ ]){{0,3}}{_WORDS},?[ ](?:n[º°.]{{1,2}}[ ]?)?\d{{1,4}}(?![\w.])
        (?:,[ ]\w{{1,3}}[ºª°][ ]?\w{{0,3}})?(?:,?[ ]?\n?[ ]?(?:\d{{2}}-\d{{3}}|\d{{5}}
          |\d{{4}}-\d{{3}})[ ]{_WORDS})?""",
        re.VERBOSE,
    ),
    re.compile(
        r"(?<![\w.-])(?:P\.?[ ]?O\.?[ ]?Box|Postfach|Apartado(?:[ ]de[ ]correos)?|Boîte[ ]postale"
        r"|B\.?P\.)[ ]\d[\d ]{0,8}",
        re.IGNORECASE,
    ),
)
_TOWN_LINE = re.compile(
    rf"(?<![\w.,/-])(?:(?:[A-Z]{{1,2}}-)?\d{{4,5}}[ ]{_WORDS}"
    rf"|{_WORDS},?[ ](?:[A-Z]{{2}}[ ]\d{{5}}(?:-\d{{4}})?|[A-Z]{{1,2}}\d[A-Z\d]?[ ]\d[A-Z]{{2}}))(?!\w)"
)
_CUE = re.compile(
    r"(?<![\w-])(?:(?:home|postal|mailing|delivery|billing|shipping|street|office|private"
    r"|residential)[ ]address|address|adresse|anschrift"
    r"|dirección|indirizzo|lives[ ]at|living[ ]at|resid(?:es|ing)[ ]at|ship(?:ped)?[ ]to"
    r"|deliver(?:ed)?[ ]to)[ ]?[:=]?[ ]?\n?$",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"[\s,.;]+$")


def postal_addresses(reading: Reading) -> Iterator[Place]:
    """Yield streets with numbers, and towns with codes in signatures or after a word such as `address`."""
    text = reading.text
    for pattern in _STREETS:
        for match in pattern.finditer(text):
            yield _place(text, match.start(), match.end())
    for match in _TOWN_LINE.finditer(text):
        if _CUE.search(text[max(0, match.start() - 40) : match.start()]):
            yield _place(text, match.start(), match.end())
    for signature in reading.signatures:
        for match in _TOWN_LINE.finditer(text, signature.start, signature.end):
            yield _place(text, match.start(), match.end())


def _place(text: str, start: int, end: int) -> Place:
    trailing = _TRAILING.search(text[start:end])
    end -= len(trailing[0]) if trailing else 0
    return Place(start, end, PersonalDataKind.POSTAL_ADDRESS, Certainty.LIKELY)
