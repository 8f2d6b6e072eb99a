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
        | hf_[A-Za-z0-9]{30,40} | GOCSPX-[\w-]{20,40} | sq0(?:atp|csp)-[\w-]{20,60} | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
      | ATATT3x[\w=-]{20,250} | PMAK-[a-f0-9-]{20,64} | dckr_pat_[\w-]{20,40} | xapp-[\w-]{20,250} | glptt-[a-f0-9]{40}
      | rubygems_[a-f0-9]{48} | key-[0-9a-f]{32} | \d{8,10}:AA[\w-]{33} | AGE-SECRET-KEY-1[A-Z0-9]{50,60}
      | \$(?:2[aby]|5|6|y)\$[\w./$=,]{20,160} | [MN][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}
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
    rf"(?:pass(?:word|wd|phrase|code)|pass?wrd|pwd|psw"
    rf"|kennwort|passwort|contraseña|mot[ ]de[ ]passe|wachtwoord|parola|senha|hasło"
    rf"|(?<![a-z])(?:p/?w|pin(?:[ ]code)?|pass|mdp"
    rf"|(?:one[- ]time|verification|security|2fa|login|access)[ ]code|otp)(?=[ ]?(?:[:=]|is)))"
    rf"(?![\w.-])(?:\d|[ ]?\([a-z ]{{1,16}}\))?[\"']?"
    rf"(?P<sign>\s{{0,3}}(?::=|=>|->|[:=])\s{{0,3}}"
    rf"|[ ](?:(?:has|have|had)[ ]been[ ]|was[ ]|is[ ])?(?:re)?(?:set|changed)[ ]to[ :]{{1,2}}"
    rf"|[ ](?:is|was|ist)(?:[ ]now)?[ :]{{1,2}}){_VALUE}",
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
    r"(?<![\w-])(?:password|passwd|pwd|passwort|kennwort|passphrase|pw|passcode)[ ]{1,2}"
    r"(?P<secret>[^\s\"'`,;\ufffc]{6,64})",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"(?<![\w-])(?:password|passwd|pwd|passwort|kennwort|passphrase)[ ]{0,2}[(\[]"
    r"(?P<secret>[^\s()\[\]\ufffc]{5,64})[)\]]",
    re.IGNORECASE,
)
_ALGORITHM = re.compile(r"(?:sha|md|base|utf|aes|rsa|v|pbkdf|win|x)-?\d+", re.IGNORECASE)
_QUOTED = re.compile(
    r"(?:pass(?:word|phrase|code)|kennwort|passwort)[ ]{0,2}[:=]?[ ]{0,2}(?:is[ ])?"
    r"(?:\"(?P<double>[^\"\n\ufffc]{6,80})\"|'(?P<single>[^'\n\ufffc]{6,80})')",
    re.IGNORECASE,
)
_ELEMENT = re.compile(
    r"[>\ufffc]\s{0,4}(?P<secret>[^<>\s\ufffc]{4,200})\s{0,4}"
    r"</(?:\w{0,20}[:._-])?(?:password|passwd|pwd|secret|apikey|token|secretkey|accesskey)>",
    re.IGNORECASE,
)
_PROPERTY = re.compile(
    r"(?:password|secret|access\.key|account\.key)[^<>\n]{0,120}</name>"
    r"\s{0,40}(?:<value>|\ufffc{7})\s{0,4}(?P<secret>[^<>\s\ufffc]{4,200})\s{0,4}</value>",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?<![\w-])(?:mysql(?:dump|admin)?[ ][^\n]{0,80}?[ ]?-p|curl[ ][^\n]{0,80}?-u[ ]?[\"']?[\w.@-]{1,64}:"
    r"|sshpass[ ]-p[ ]?"
    r"|redis-cli[ ][^\n]{0,80}?-a[ ]|ldap(?:search|modify|add)[ ][^\n]{0,160}?-w[ ])"
    r"[\"']?(?P<secret>[^\s\"'\ufffc]{4,128})",
    re.IGNORECASE,
)
_IDENTIFIED = re.compile(
    r"(?<![\w-])(?:identified[ ]by|with[ ](?:encrypted[ ])?password)[ ]{1,2}"
    r"(?P<quote>[\"'])(?P<secret>[^\"'\n\ufffc]{4,128})(?P=quote)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?<![\w-])(?:login|credentials?|creds|logon|user(?:name)?[ ]?/[ ]?pass(?:word)?|log[ ]?in[ ]with)"
    r"(?:[ ](?:is|are|with))?[ ]?[:=]?[ ]{1,2}"
    r"[\w.@-]{2,40}[ ]?[/:|][ ]?(?P<secret>[^\s/:\"'`,;\ufffc]{5,64})",
    re.IGNORECASE,
)
_HOOK = re.compile(r"hooks\.slack\.com/services/(?P<secret>T\w{6,12}/B\w{6,12}/\w{16,32})")
_FLAG = re.compile(rf"(?<![\w-])--?(?:password|passwd|pwd|pass|token|secret|api-key)[ =]{{1,2}}{_VALUE}", re.IGNORECASE)
_WORDS: dict[re.Pattern[str], tuple[str, ...]] = {
    _HEADER: ("authorization", "api-key", "auth-token", "cookie"),
    _BEARER: ("bearer",),
    _PASSWORD: ("pass", "pwd", "pw", "psw", "p/w", "wort", "woord", "contrase", "parola", "senha", "has", "pin", "mdp",
                "code", "otp"),
    _FLAG: ("-pass", "-pwd", "-token", "-secret", "-api-key"),
    _KEY: ("key", "token", "secret", "signature", "session", "sid", "sig"),
    _BARE_PASSWORD: ("pass", "pwd", "pw", "wort"),
    _IN_BRACKETS: ("pass", "pwd", "wort"),
    _PAIR: ("log", "cred", "user"),
    _QUOTED: ("pass", "wort"),
    _COMMAND: ("mysql", "curl", "sshpass", "redis-cli", "ldap"),
    _IDENTIFIED: ("identified", "with "),
    _HOOK: ("hooks.slack",),
    _ELEMENT: ("</",),
    _PROPERTY: ("</value",),
}  # fmt: skip
"""What a text holds where a pattern matches; most texts hold little of it."""
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
    if "://" in text:
        for match in _IN_URL.finditer(text):
            if not re.fullmatch(r"[^:]*:(?:\d{2,5}|[$%{*].*|x+|password|pass)", match["secret"]):
                yield _place(*match.span("secret"), Certainty.CHECKED)
    for match in _worded(reading, _HEADER, _BEARER):
        if _is_value(match["secret"]) and _is_mixed(match["secret"]):
            yield _place(*match.span("secret"), Certainty.CHECKED)
    yield from _named_secrets(reading)
    yield from _placed_secrets(reading)


def _worded(reading: Reading, *patterns: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the matches of those patterns of which the text holds a word at all."""
    for pattern in patterns:
        if any(word in reading.folded for word in _WORDS[pattern]):
            yield from pattern.finditer(reading.text)


def _named_secrets(reading: Reading) -> Iterator[Place]:
    """Yield what stands after a word that says what it is."""
    for match in _worded(reading, _PASSWORD, _FLAG):
        if _is_password(match):
            yield _named(match)
    for match in _worded(reading, _KEY):
        if _is_value(match["secret"]) and _is_mixed(match["secret"]) and len(match["secret"]) >= 8:
            yield _named(match)
    for match in _worded(reading, _BARE_PASSWORD, _IN_BRACKETS, _PAIR):
        secret = match["secret"]
        if _is_value(secret) and _is_mixed(secret) and not _ALGORITHM.match(secret):
            yield _named(match)


def _placed_secrets(reading: Reading) -> Iterator[Place]:
    """Yield what a command, a file of settings or quotes show to be a secret."""
    for match in _worded(reading, _QUOTED):
        group = "double" if match["double"] else "single"
        if " " in match[group] and not _IN_CODE.search(match[group]) and match[group][0] != " ":
            yield _place(*match.span(group), Certainty.LIKELY)
    for match in _worded(reading, _COMMAND, _IDENTIFIED, _HOOK, _ELEMENT, _PROPERTY):
        if _is_value(match["secret"]):
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
    is_quoted = bool(match.groupdict().get("quote"))
    size = len(secret) - (len(trailing[0]) if trailing and not is_quoted and "!" not in trailing[0] else 0)
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
