"""National identity, tax and social-security numbers, by their check digits.

Taken by their form and check alone (the form is rare enough): Spanish DNI and NIE, Italian codice fiscale, Finnish
HETU, French NIR, Swiss AHV, Belgian national number and Brazilian CPF in their written form, Swedish personnummer
with its sign, Mexican CURP, British NINO and United States SSN and ITIN in their written form.

Taken only where a word nearby says what it is: Dutch BSN, German tax id, Polish PESEL, Danish CPR, Norwegian
fødselsnummer, Czech and Slovak rodné číslo, Bulgarian EGN, Austrian, Irish, Portuguese, Romanian and South African
numbers, Indian Aadhaar and PAN, Canadian SIN, Australian TFN, Turkish, Chilean and Argentine numbers.

A number right after such a word, or after "passport" or "driving licence", is taken as likely even when its check
digits are wrong: a mistyped number still points at somebody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stdnum import verhoeff
from stdnum.ar import cuit
from stdnum.at import vnr
from stdnum.au import tfn
from stdnum.be import nn
from stdnum.bg import egn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.ch import ssn as ahv
from stdnum.cl import rut
from stdnum.cz import rc
from stdnum.de import idnr
from stdnum.dk import cpr
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.ie import pps
from stdnum.it import codicefiscale
from stdnum.mx import curp
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import pesel
from stdnum.pt import nif
from stdnum.ro import cnp
from stdnum.se import personnummer
from stdnum.tr import tckimlik
from stdnum.za import idnr as za_idnr

from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind


@dataclass(frozen=True)
class _Number:
    form: re.Pattern[str]
    checks: tuple[Callable[[str], bool], ...]
    needs_word: bool = False


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.+/-])(?:{pattern})(?![\w]|[-.]\w)", re.IGNORECASE)


def _is_ssn(number: str) -> bool:
    """Numbers that were once printed as samples count too: people use them."""
    area, group, serial = re.split(r"[- ]", number)
    return area not in ("000", "666") and group != "00" and serial != "0000"


def _is_nino(number: str) -> bool:
    compact = re.sub(r"[ -]", "", number).upper()
    return compact[:2] not in ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")


def _is_aadhaar(number: str) -> bool:
    return verhoeff.is_valid(re.sub(r"[ -]", "", number))


def _is_dated(number: str) -> bool:
    """Return whether a DNI's digits are a day: eight digits with a letter are more often that."""
    return bool(re.match(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])", number))


def _always(_: str) -> bool:
    return True


_NUMBERS = (
    _Number(_form(r"\d{8}[ -]?[A-HJ-NP-TV-Z]"), (lambda number: dni.is_valid(number) and not _is_dated(number),)),
    _Number(_form(r"[XYZ][ -]?\d{7}[ -]?[A-Z]"), (nie.is_valid,)),
    _Number(_form(r"[A-Z]{3} ?[A-Z]{3} ?\d\w[A-Z]\d\w ?[A-Z]\w{3}[A-Z]"), (codicefiscale.is_valid,)),
    _Number(_form(r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]"), (hetu.is_valid, personnummer.is_valid)),
    _Number(_form(r"(?:19|20)\d{6}[-+]\d{4}"), (personnummer.is_valid,)),
    _Number(_form(r"[12] ?\d\d ?[0-9]\d ?\d[0-9AB] ?\d{3} ?\d{3} ?\d\d"), (nir.is_valid,)),
    _Number(_form(r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d\d"), (ahv.is_valid,)),
    _Number(_form(r"\d\d\.\d\d\.\d\d-\d{3}[.-]\d\d"), (nn.is_valid,)),
    _Number(_form(r"\d{3}\.\d{3}\.\d{3}-\d\d"), (cpf.is_valid,)),
    _Number(_form(r"[A-Z]{4}\d{6}[HM][A-Z]{5}\w\d"), (curp.is_valid,)),
    _Number(_form(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]"), (_is_nino,)),
    _Number(_form(r"\d{3}([- ])\d\d\1\d{4}"), (_is_ssn,)),
    _Number(_form(r"\d{9}|\d{4}[. ]?\d\d[. ]?\d{3}|\d{3}[. -]?\d{3}[. -]?\d{3}"),
            (bsn.is_valid, sin.is_valid, tfn.is_valid, nif.is_valid, rc.is_valid), True),
    _Number(_form(r"\d{2}[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}|\d{11}|\d{6} ?\d{5}|\d{2}\.\d{2}\.\d{2} \d{3}\.\d\d"),
            (idnr.is_valid, pesel.is_valid, fodselsnummer.is_valid, nn.is_valid, cpf.is_valid, tckimlik.is_valid,
             cuit.is_valid), True),
    _Number(_form(r"\d{6}[-/ ]?\d{4}|\d{6}/\d{3}|\d{4} ?\d{6}"),
            (cpr.is_valid, rc.is_valid, egn.is_valid, vnr.is_valid, personnummer.is_valid, _is_dated), True),
    _Number(_form(r"\d{13}|\d{6} ?\d{4} ?\d{3}"), (za_idnr.is_valid, cnp.is_valid), True),
    _Number(_form(r"\d{4}[ -]?\d{4}[ -]?\d{4}"), (_is_aadhaar,), True),
    _Number(_form(r"\d{7}[A-W][ABHWTX]?"), (pps.is_valid,), True),
    _Number(_form(r"[A-Z]{5}\d{4}[A-Z]"), (_always,), True),
    _Number(_form(r"\d{1,2}\.?\d{3}\.?\d{3}-?[0-9K]|\d\d-\d{8}-\d"), (rut.is_valid, cuit.is_valid), True),
)  # fmt: skip

_WORDS = r"""(?:
    national[ ](?:id(?:entity|entification)?|insurance|register|number)(?:[ ](?:card|no|nr|number))?
  | identity[ ](?:card|number|no|document) | id[ -]?card | personal[ ](?:id|code|number|identity[ ](?:code|number))
  | citizen[ ](?:id|number) | social[ ](?:security|insurance) | tax(?:payer)?[ -]?(?:id(?:entification)?|file
    |number|no)
  | ssn | nino | n\.?i\.?[ ]number | itin | bsn | burgerservicenummer | sofinummer
    | steuer-?(?:id(?:entifikationsnummer)?|nummer)
  | identifikationsnummer | idnr | id-nr | ausweis(?:nummer|-?nr)? | sozialversicherungs?nummer | svnr | ahv
  | pesel | codice[ ]fiscale | person(?:al)?nummer | personnr | f[øo]dselsnummer | cpr | hetu | henkilötunnus
    | dni | nie | nif
  | num[ée]ro[ ](?:de[ ])?(?:sécu(?:rité[ ]sociale)?|national) | sécurité[ ]sociale | nir | insee
  | registre[ ]national | rijksregister(?:nummer)? | nrn | rodné[ ]číslo | rodne[ ]cislo | egn | cnp | cnic
  | aadh?aar | uidai | pan(?:[ ](?:card|number|no))? | sin | social[ ]insurance | tfn | cpf | curp | rut
    | cuit | cuil | pps(?:n|[ ](?:no|number))?
  | passport | reisepass | passeport | pasaporte | driv(?:ing|er'?s?)[ ]licen[cs]e | führerschein | tc[ ]kimlik
)"""
_WORD = re.compile(rf"(?<![\w-]){_WORDS}(?!\w)", re.VERBOSE | re.IGNORECASE)
_NAMED = re.compile(
    rf"""(?<![\w-]){_WORDS}(?!\w)(?:[ ]?(?:no|nr|number|num|id|code|card|\#)\b)?\.?
        (?:[ ](?:is|was|on[ ](?:the[ ])?\w{{1,12}}))?[ ]{{0,2}}[:=#]?[ ]{{0,2}}
        (?P<number>(?=[A-Za-z -]{{0,4}}[0-9])[A-Za-z0-9](?:[ ./-]?[A-Za-z0-9]){{5,17}})(?![\w-])""",
    re.VERBOSE | re.IGNORECASE,
)
_NEAR = 60
_TAIL = re.compile(r"(?:[ ./-][A-Za-z]{1,18})+$")


def national_ids(reading: Reading) -> Iterator[Place]:
    """Yield national numbers."""
    text = reading.text
    has_word = _WORD.search(text) is not None
    for number in _NUMBERS:
        if number.needs_word and not has_word:
            continue
        for match in number.form.finditer(text):
            if reading.looks_alike(*match.span()):
                continue
            if number.needs_word and not _is_named(reading, match):
                continue
            if any(check(match[0]) for check in number.checks):
                yield Place(match.start(), match.end(), PersonalDataKind.NATIONAL_ID, Certainty.CHECKED)
    if has_word:
        for match in _NAMED.finditer(text):
            start, end = match.span("number")
            end -= len(found[0]) if (found := _TAIL.search(match["number"])) else 0
            digits = sum(map(str.isdigit, text[start:end]))
            is_code = digits >= 2 and re.fullmatch(r"(?=[A-Z0-9]*[A-Z])[A-Z0-9]{7,10}", text[start:end])
            if (digits >= 5 or is_code) and not reading.looks_alike(start, end):
                yield Place(start, end, PersonalDataKind.NATIONAL_ID, Certainty.LIKELY)


def _is_named(reading: Reading, match: re.Match[str]) -> bool:
    return bool(
        _WORD.search(reading.before(match.start(), _NEAR)) or _WORD.search(reading.after(match.end(), _NEAR // 2))
    )
