"""Bank accounts and payment cards, by their check digits or by the words before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from stdnum import iban, luhn
from stdnum.exceptions import ValidationError
from stdnum.us import rtn

from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ .-]?[A-Za-z0-9])")
_LONGEST = 34
_GAP = frozenset(" -./\n")
_ACCOUNT = re.compile(
    r"""(?<![\w-])(?:
        (?:bank[ ]?)?account[ ]{0,2}(?:no|nr|number|num|\#)\b\.? | bank[ ]account | a/c(?:[ ](?:no|number))?\.?
      | (?:savings|current|checking|giro|payee|payer|payment|beneficiary|deposit)[ ]account
      | account(?=[ ]?[:\#=]) | (?:to|from|into)[ ](?:(?:the|my|our|his|her|their)[ ])?account(?=[ ]\d{7})
      | acc\.?[ ](?:no|nr|number)\b\.? | acct\.?(?:[ ]{0,2}(?:no|nr|number|\#)\b)?\.? | kontonummer
      | (?:bank|giro)?konto(?:verbindung)? | konto(?:-?nr)?\.? | kto(?:\.?-?[ ]?nr)?\.?
      | iban | nrb | clabe | cbu | ccc | numer[ ](?:konta|rachunku) | compte
      | (?:n[º°o.]{1,3}[ ]de[ ])?conta | (?:numero[ ]di[ ])?conto
      | tilinumero | bankgiro | plusgiro | (?:bank)?rekening | rekeningnummer
      | num[ée]ro[ ]de[ ]compte | (?:n[úu]mero[ ]de[ ])?cuenta | bankleitzahl | blz | sort[ -]?code | bsb
      | routing(?:[ ](?:no|number|transit[ ]number))? | aba(?:[ ](?:no|number))?
    )[ ]{0,2}(?:is[ ]|:|=|\#|,)?[ ]{0,3}
    (?P<number>[A-Za-z]{2}[0-9]{2}(?:[ .-]?(?=[A-Za-z]{0,3}[0-9])[A-Za-z0-9]{4}){2,7}(?:[ .-]?[0-9]{1,4})?
      |[0-9](?:[ ./-]?[0-9]){5,25})(?![\w-]|[./]\d)""",
    re.VERBOSE | re.IGNORECASE,
)
_AFTER_CODE = re.compile(
    r"""(?<![\w-])(?:sort[ -]?code|blz|bankleitzahl|bsb|routing(?:[ ]number)?)[ :=#]{0,3}[0-9](?:[ -]?[0-9]){5,8}
        [ ,;/]{1,3}(?:(?:and[ ])?(?:account|acct|konto|a/c)[ .:]{0,3}(?:(?:no|nr|number)[ .:]{0,3})?)?
        (?P<number>[0-9](?:[ -]?[0-9]){5,11})(?![\w-])""",
    re.VERBOSE | re.IGNORECASE,
)
_BIC = re.compile(
    r"(?<![\w-])(?:bic|swift)(?:[ /-]{1,2}(?:bic|swift|code))?[ ]?[:=]?[ ]{0,3}"
    r"(?P<number>[A-Za-z]{6}[A-Za-z0-9]{2}(?:[A-Za-z0-9]{3})?)(?!\w)",
    re.IGNORECASE,
)
_IFSC = re.compile(r"(?<![\w-])ifsc(?:[ ]?code)?[ ]?[:=]?[ ]{0,3}(?P<number>[A-Z]{4}0[A-Z0-9]{6})(?!\w)", re.IGNORECASE)
_ROUTING = re.compile(r"routing|aba", re.IGNORECASE)

_CARD = re.compile(r"(?<![\w.+/=-])[2-6]\d(?:[ .\-]{0,2}\d){10,17}(?![\w]|[-.]\d)")
_CARD_IN_PLACE = re.compile(r"(?<=[=/\[\"'])[2-6]\d{12,18}(?!\w|[-.]\d)")
_CARD_WORD = re.compile(
    r"\b(?:credit|debit|visa|master\s?card|amex|american express|maestro|diners|discover|jcb|unionpay|card|cards|cc"
    r"|karte|kreditkarte|carte|tarjeta|pan|ccn)\b",
    re.IGNORECASE,
)
_ISSUERS: tuple[tuple[re.Pattern[str], frozenset[int]], ...] = tuple(
    (re.compile(prefix), frozenset(lengths))
    for prefix, lengths in (
        (r"4", (13, 16, 19)),
        (r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720", (16,)),
        (r"3[47]", (15,)),
        (r"36|38|30[0-5]|39", (14, 16)),
        (r"6011|64[4-9]|65|62", (16, 17, 18, 19)),
        (r"35(?:2[89]|[3-8])", (16,)),
        (r"50|5[6-8]|6", (12, 13, 14, 15, 16, 17, 18, 19)),
    )
)
_PLAIN_LENGTHS = frozenset((15, 16))
"""Lengths at which a number with good check digits is taken for a card without a word that says so."""
_ALONE = re.compile(r"\d{13,19}(?=[ ])|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?=[ ])")
_GROUPED = re.compile(r"\d{4}([ .-]{1,2})\d{4}\1\d{4}\1\d{1,7}|\d{4}([ .-]{1,2})\d{6}\2\d{4,5}")


def bank_accounts(reading: Reading) -> Iterator[Place]:
    """Yield IBANs by their check digits, and other numbers by the words before them."""
    text = reading.text
    for match in _IBAN.finditer(text):
        end = _iban_end(text, match.start())
        if end is not None:
            yield Place(match.start(), end, PersonalDataKind.BANK_ACCOUNT, Certainty.CHECKED)
    for pattern in (_ACCOUNT, _AFTER_CODE, _BIC, _IFSC):
        for match in pattern.finditer(text):
            start, end = match.span("number")
            if sum(map(str.isdigit, match["number"])) < 6 and pattern is _ACCOUNT:
                continue
            if reading.looks_alike(start, end) or (pattern is _BIC and match["number"].islower()):
                continue
            is_checked = bool(_ROUTING.search(match[0])) and rtn.is_valid(match["number"])
            certainty = Certainty.CHECKED if is_checked else Certainty.LIKELY
            yield Place(start, end, PersonalDataKind.BANK_ACCOUNT, certainty)


@cache
def _length(country: str) -> int | None:
    """Return how many characters an IBAN of a country has; None when it has none."""
    found = iban._ibandb.info(country + "00")[0][1].get("bban", "")
    return sum(int(size) for size in re.findall(r"(\d+)!", found)) + 4 if found else None


def _iban_end(text: str, start: int) -> int | None:
    """Return where an IBAN that starts here ends; None when its check digits or its form are wrong."""
    length = _length(text[start : start + 2].upper())
    if length is None:
        return None
    written: list[str] = []
    for place in range(start, min(len(text), start + 2 * _LONGEST)):
        character = text[place]
        if character.isascii() and character.isalnum():
            written.append(character)
        elif character not in _GAP or not text[place - 1].isalnum():
            return None
        if len(written) == length:
            is_whole = place + 1 == len(text) or not text[place + 1].isalnum()
            return place + 1 if is_whole and iban.is_valid("".join(written), check_country=False) else None
    return None


def cards(reading: Reading) -> Iterator[Place]:
    """Yield payment card numbers: an issuer's prefix, its length, and good check digits."""
    text = reading.text
    for pattern in (_CARD, _CARD_IN_PLACE):
        for match in pattern.finditer(text):
            number = _card(reading, match)
            if number:
                yield Place(match.start(), match.start() + len(number), PersonalDataKind.CARD, Certainty.CHECKED)


def _card(reading: Reading, match: re.Match[str]) -> str:
    """Return the card's number, without other digits that follow it in the line; "" when there is none."""
    alone = _ALONE.match(match[0])
    for number in (match[0], *([alone[0]] if alone and alone[0] != match[0] else [])):
        end = match.start() + len(number)
        digits = "".join(filter(str.isdigit, number))
        if len(set(digits)) < 2 or not _has_issuer(digits) or not _checks(digits):
            continue
        if reading.looks_alike(match.start(), end):
            continue
        is_named = _CARD_WORD.search(reading.before(match.start(), 60)) or _CARD_WORD.search(reading.after(end, 20))
        is_plain = len(digits) in _PLAIN_LENGTHS and (number.isdigit() or _GROUPED.fullmatch(number))
        if is_named or (is_plain and _is_known_plain(digits)):
            return number
    return ""


def _checks(digits: str) -> bool:
    try:
        luhn.validate(digits)
    except ValidationError:
        return False
    return True


def _has_issuer(digits: str) -> bool:
    return any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in _ISSUERS)


def _is_known_plain(digits: str) -> bool:
    """Without a word, only the issuers of the first six rules: the last one covers too much."""
    return any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in _ISSUERS[:-1])
