"""Credentials: by the prefixes and forms of known issuers, and by the word before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

_KNOWN = re.compile(
    r"""(?<![A-Za-z0-9_])(?:
        (?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}
      | gh[pousr]_[A-Za-z0-9]{20,255} | github_pat_[A-Za-z0-9_]{20,255} | glpat-[\w-]{20,64}
      | xox[abeoprs]-[A-Za-z0-9-]{10,250} | AIza[\w-]{35} | ya29\.[\w-]{20,250}
      | (?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,128} | sk-(?:ant-|proj-)?[\w-]{20,200} | whsec_[A-Za-z0-9]{16,64}
      | SG\.[\w-]{16,32}\.[\w-]{16,64} | npm_[A-Za-z0-9]{36} | pypi-[\w-]{40,250} | dop_v1_[a-f0-9]{64}
        | hf_[A-Za-z]{30,40}
      | eyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,2000})?
    )(?![A-Za-z0-9_])""",
    re.VERBOSE,
)
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BLOCK = 20_000
_IN_URL = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,24}://(?P<secret>[^\s/:@\"'<>\ufffc]{0,128}:[^\s/@\"'<>\ufffc]{1,200})@"
)
_HEADER = re.compile(
    r"(?<![\w-])(?:authorization|proxy-authorization|x-api-key|x-auth-token|cookie"
    r"|set-cookie)[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
    r"(?:(?:bearer|basic|digest|negotiate|token|apikey)\s{1,2})?(?P<secret>[^\s\"',;\ufffc]{8,4000})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?<![\w-])bearer\s{1,2}(?P<secret>[\w.~+/-]{20,4000}={0,2})", re.IGNORECASE)
_VALUE = r"(?P<quote>[\"'`]?)(?P<secret>[^\s\"'`\ufffc]{4,512})"
_PASSWORD = re.compile(
    rf"(?:pass(?:word|wd|phrase|code)|pwd|kennwort|passwort|contraseña|mot[ ]de[ ]passe|wachtwoord"
    rf"|(?<![a-z])(?:pw|pin)(?=[ ]?[:=]))"
    rf"(?![\w.-])[\"']?(?P<sign>\s{{0,3}}(?::=|=>|[:=])\s{{0,3}}|[ ](?:is|was|ist)(?:[ ]now)?[ :]{{1,2}}){_VALUE}",
    re.IGNORECASE,
)
_KEY = re.compile(
    rf"(?:api[ _-]?key|access[ _-]?key(?:[ _-]?id)?|secret(?:[ _-]?access)?(?:[ _-]?key)?|client[ _-]?secret"
    rf"|auth[ _-]?token|access[ _-]?token"
    rf"|refresh[ _-]?token|account[ _-]?key|private[ _-]?key|shared[ _-]?access[ _-]?(?:key|signature)"
    rf"|(?<![a-z])token|j?session[ _-]?id|sid|sig)"
    rf"(?![\w.-])[\"']?(?P<sign>\s{{0,3}}(?::=|=>|[:=])\s{{0,3}}|[ ](?:is|was)(?:[ ]now)?[ :]{{1,2}}){_VALUE}",
    re.IGNORECASE,
)
_BARE_PASSWORD = re.compile(
    r"(?<![\w-])(?:password|passwd|pwd|passwort)[ ]{1,2}(?P<secret>[^\s\"'`,;\ufffc]{6,64})", re.IGNORECASE
)
_ALGORITHM = re.compile(r"(?:sha|md|base|utf|aes|rsa|v|pbkdf|win|x)-?\d+", re.IGNORECASE)
_FLAG = re.compile(rf"(?<![\w-])--?(?:password|passwd|pwd|pass|token|secret|api-key)[ =]{{1,2}}{_VALUE}", re.IGNORECASE)
_NO_SECRET = re.compile(
    r"(?:null|none|nil|true|false|yes|no|empty|blank|required|optional|string|text|value|undefined|incorrect"
    r"|invalid|wrong|correct|expired"
    r"|expires|reset|changed|missing|default|prompt|unknown|hidden|redacted|masked|removed|secret|password"
    r"|passwd|token|new|your\w*|my\w*"
    r"|the|not|set|unset|field|input|x{3,}|\*{2,}\S*|\.{2,}\S*|-{2,}\S*|•+|#+|stored|saved|encrypted|protected"
    r"|same|also|asked|being)[.,;:!?)\]]*$",
    re.IGNORECASE,
)
_NOT_A_VALUE = re.compile(r"[$%{<(\[*@&|]|/|~|file:|https?:|jceks:|\\\\")
_IN_CODE = re.compile(r"^[A-Za-z_]\w*=\w|\(|\)|=>|->|::|^\w+(?:\.[A-Za-z_]\w*)+;?$|^new$|^this\.|^[A-Z_]{3,}[;,)]*$")
_TRAILING = re.compile(r"[,;.!?)}\]>]+$")


def credentials(reading: Reading) -> Iterator[Place]:
    """Yield passwords, keys and tokens."""
    text = reading.text
    for match in _KNOWN.finditer(text):
        yield _place(*match.span(), Certainty.CHECKED)
    yield from _key_blocks(text)
    for match in _IN_URL.finditer(text):
        if not re.fullmatch(r"[^:]*:(?:\d{2,5}|[$%{*].*|x+|password|pass)", match["secret"]):
            yield _place(*match.span("secret"), Certainty.CHECKED)
    for pattern in (_HEADER, _BEARER):
        for match in pattern.finditer(text):
            if _is_value(match["secret"]) and _is_mixed(match["secret"]):
                yield _place(*match.span("secret"), Certainty.CHECKED)
    yield from _named_secrets(text)


def _named_secrets(text: str) -> Iterator[Place]:
    """Yield what stands after a word that says what it is."""
    for pattern in (_PASSWORD, _FLAG):
        for match in pattern.finditer(text):
            if _is_password(match):
                yield _named(match)
    for match in _KEY.finditer(text):
        if _is_value(match["secret"]) and _is_mixed(match["secret"]) and len(match["secret"]) >= 8:
            yield _named(match)
    for match in _BARE_PASSWORD.finditer(text):
        secret = match["secret"]
        if _is_value(secret) and _is_mixed(secret) and not _ALGORITHM.match(secret):
            yield _place(*match.span("secret"), Certainty.LIKELY)


def _key_blocks(text: str) -> Iterator[Place]:
    for begin in _BEGIN.finditer(text):
        end = _END.search(text, begin.end(), begin.end() + _KEY_BLOCK)
        yield _place(begin.start(), end.end() if end else min(len(text), begin.end() + _KEY_BLOCK), Certainty.CHECKED)


def _place(start: int, end: int, certainty: Certainty) -> Place:
    return Place(start, end, PersonalDataKind.CREDENTIAL, certainty)


def _named(match: re.Match[str]) -> Place:
    secret = match["secret"]
    trailing = _TRAILING.search(secret)
    size = len(secret) - (len(trailing[0]) if trailing and not match["quote"] and "!" not in trailing[0] else 0)
    return _place(match.start("secret"), match.start("secret") + max(size, 1), Certainty.LIKELY)


def _is_value(secret: str) -> bool:
    return not (_NO_SECRET.match(secret) or _NOT_A_VALUE.match(secret) or _IN_CODE.search(secret))


def _is_mixed(secret: str) -> bool:
    """Return whether letters and digits are mixed as words don't mix them."""
    return any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))


def _is_password(match: re.Match[str]) -> bool:
    """Return whether what follows the word can be one; after a blank it must look like none of the language."""
    secret = match["secret"]
    if not _is_value(secret):
        return False
    sign = match.groupdict().get("sign")
    is_close = match["quote"] != "" or (sign is not None and "=" in sign and " " not in sign)
    return is_close or any(not character.isalpha() for character in _TRAILING.sub("", secret).replace("-", ""))
