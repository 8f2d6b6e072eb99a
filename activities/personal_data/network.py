"""Addresses of machines: told apart from versions, which are written alike and must stay."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_V4 = re.compile(rf"(?<![\w.])(?<![^\d\s]-)(?:{_OCTET}\.){{3}}{_OCTET}(?![\w]|\.\d|-[A-Za-z])")
_NOBODY = re.compile(
    r"127\.|0\.0\.0\.0$|255\.|(?:\d+\.){3}255$|8\.8\.(?:8\.8|4\.4)$|169\.254\.169\.254$|1\.1\.1\.1$|22[4-9]\.|23\d\."
)
"""Loop-back, wildcard, mask, broadcast, multicast, public resolvers and clouds' metadata: the same on every"
" machine."""

_BEFORE_ADDRESS = re.compile(r"(?:://|@|/|\\\\|\bip-?addr(?:ess)?=|\bip=|\bhost=|\bserver=)$", re.IGNORECASE)
_AFTER_ADDRESS = re.compile(r":\d{1,5}(?![\d.])|/(?:[89]|[12]\d|3[0-2])(?![\d.])")
_VERSION_WORD = (
    r"versions?|vers?\.?|v\.?|releases?|rel\.?|upgrad(?:e|ed|ing)|downgrad(?:e|ed|ing)|updat(?:e|ed|ing)"
    r"|patch(?:ed|es)?"
    r"|build|migrat(?:e|ed|ing|ion)|firmware|driver|kernel|jdk|jre|java|sdk|hotfix|service[ ]pack|sp|product|app"
    r"|software|library|plugin|module|installed|schema"
)
_ADDRESS_WORD = (
    r"ip(?:v4)?(?:[ -]?addr(?:ess(?:es)?)?)?|addr(?:ess(?:es)?)?|host(?:s|name)?|servers?|machines?|nodes?"
    r"|ports?|ping(?:ed|ing)?"
    r"|gateway|router|dns|subnet|network|netmask|connect(?:ed|ing|ion|ions)?|remote|clients?|peers?|listen(?:ing|er)?"
    r"|bind|bound|tcp|udp|ssh|telnet|ftp|rdp|vpn|lan|wan|firewall|whitelist(?:ed)?|allow-?list|proxy|localhost"
    r"|datanode|namenode"
    r"|printer|workstation|endpoint|traceroute|nslookup|curl|route|logged[ ]in[ ]from|cidr|inet|access"
    r"|request[ ]from|src"
    r"|dst|rhost"
)
_WORDS = re.compile(
    rf"(?<![A-Za-z])(?:(?P<version>{_VERSION_WORD})|(?P<address>{_ADDRESS_WORD}))(?![a-z])", re.IGNORECASE
)
_RANGE = re.compile(
    rf"\bfrom\s{{1,3}}(?:{_OCTET}\.){{3}}{_OCTET}\s{{1,3}}to\s{{1,3}}(?:{_OCTET}\.){{3}}{_OCTET}(?![\w.]*\d)"
)
_PRODUCT = re.compile(r"[A-Za-z][\w)]*[/-]$|\bv$")
_NEAR = 60
_GAP = re.compile(r"(?:[ ](?:is|was|at|on|to|from|of|with|for|the|a))?[\s:=(\[/\"'`#<>{,-]{0,6}")
_STRONG = re.compile(
    r"ip(?:v4)?(?:[ -]?addr(?:ess(?:es)?)?)?|ping(?:ed|ing)?|ssh|telnet|ftp|rdp|subnet|gateway|dns|cidr|inet"
    r"|traceroute",
    re.IGNORECASE,
)
"""Words that nothing but an address follows."""
_TO = re.compile(r"\b(?:to|from)\b")
_LINE = 400

_V6 = re.compile(
    r"(?<![\w:.])\[?(?P<address>(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{0,4}|(?:\d{1,3}\.){3}\d{1,3}))(?:%\w{1,16})?(?![\w:]|\.\w)",
    re.IGNORECASE,
)
_MAC = re.compile(
    r"(?<![\w:.-])(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})(?![\w]|[:.-]\w)",
    re.IGNORECASE,
)
_MAC_WORD = re.compile(r"mac|hwaddr|ether|physical|bssid|address|lladdr", re.IGNORECASE)
_CLOUD = re.compile(r"(?<![\w.-])ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[a-z0-9-]{1,63}){0,6}(?![\w-])", re.IGNORECASE)
_NAMED_HOST = re.compile(
    r"(?<![\w.-])(?:host(?:[ ]?name)?|server(?:[ ]?name)?|machine|workstation|computer(?:[ ]?name)?"
    r"|node(?:[ ]?name)?)"
    r"(?P<sign>[ ]{0,2}[:=][ ]{0,2}|[ ](?:is|named|called)[ ]"
    r"|[ ])[\"']?(?P<host>[a-z0-9][\w-]{1,62}(?:\.[a-z0-9-]{1,63}){0,6})(?![\w-]|\.\w|\()",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"(?<![\w.@-])[\w.-]{1,32}@(?P<host>[A-Za-z][\w.-]{1,62})(?=[ :][\w.~/-]{1,80}\]?[$#])")
_INTERNAL = re.compile(r"\.(?:local|internal|corp|lan|intranet|localdomain|home|ad|priv)$", re.IGNORECASE)
_HOST_LIKE = re.compile(r"[a-z]{2,}[\w-]*\d|[a-z0-9]+-[a-z0-9-]*\d", re.IGNORECASE)


def network_addresses(reading: Reading) -> Iterator[Place]:
    """Yield IPv4, IPv6 and MAC addresses, and internal host names that are called so."""
    text = reading.text
    neighbours = _Neighbours(reading)
    for match in _V4.finditer(text):
        certainty = None if _NOBODY.match(match[0]) else neighbours.certainty(match)
        if certainty is not None:
            yield Place(match.start(), match.end(), PersonalDataKind.NETWORK_ADDRESS, certainty)
    for match in _V6.finditer(text):
        if _is_v6(match["address"]):
            yield Place(*match.span("address"), PersonalDataKind.NETWORK_ADDRESS, Certainty.CHECKED)
    for match in _MAC.finditer(text):
        if match[1] or _MAC_WORD.search(reading.before(match.start(), 30)):
            yield Place(match.start(), match.end(), PersonalDataKind.NETWORK_ADDRESS, Certainty.CHECKED)
    for match in _CLOUD.finditer(text):
        yield Place(match.start(), match.end(), PersonalDataKind.NETWORK_ADDRESS, Certainty.CHECKED)
    for match in _PROMPT.finditer(text):
        if match["host"] != "localhost":
            yield Place(*match.span("host"), PersonalDataKind.NETWORK_ADDRESS, Certainty.LIKELY)
    for match in _NAMED_HOST.finditer(text):
        host = match["host"].rstrip(".")
        is_product = "." not in host and "-" not in host and not host.islower()  # as in `Server: ProductS3`
        is_host = _HOST_LIKE.match(host) and not is_product and (match["sign"].strip() or "-" in host)
        if _INTERNAL.search(host) or is_host:
            start = match.start("host")
            yield Place(start, start + len(host), PersonalDataKind.NETWORK_ADDRESS, Certainty.LIKELY)


class _Neighbours:
    """The words around four numbers with dots, which tell an address from a version."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        text = reading.text
        self._ranges = [match.span() for match in _RANGE.finditer(text)]
        words = list(_WORDS.finditer(text)) if _V4.search(text) else []
        self._starts = [word.start() for word in words]
        self._ends = [word.end() for word in words]
        self._is_strong = [_STRONG.fullmatch(word[0]) is not None for word in words]
        self._is_version = [word["version"] is not None for word in words]

    def certainty(self, match: re.Match[str]) -> Certainty | None:
        """Return how sure it is that they are an address; None when they are a version."""
        before = self._reading.before(match.start(), _NEAR)
        after = self._reading.after(match.end(), _NEAR // 2)
        if _AFTER_ADDRESS.match(after):
            return Certainty.CHECKED
        if _PRODUCT.search(before):
            return None  # as in Browser/10.0.0.1
        if _BEFORE_ADDRESS.search(before):
            return Certainty.CHECKED
        within = self._within(match.start() - len(before), match.start())
        preceding = self._is_version[within][-1:]
        is_meant = _is_private(match[0]) or _is_wide(match[0])
        if self._is_in_range(match) and preceding != [False]:
            line = len(self._reading.before(match.start(), _LINE)), len(self._reading.after(match.end(), _LINE))
            is_version = any(self._is_version[self._within(match.start() - line[0], match.end() + line[1])])
            return None if is_version or not is_meant else Certainty.LIKELY
        if preceding and not preceding[0]:
            return self._after_address_word(match, within)
        if preceding:
            # These numbers are no version's, unless the word says so right before them.
            is_adjacent = _GAP.fullmatch(self._reading.text[self._ends[within][-1] : match.start()])
            return Certainty.LIKELY if _is_private(match[0]) and not is_adjacent else None
        following = self._is_version[self._within(match.end(), match.end() + len(after))][:1]
        if following:
            return None if following[0] else Certainty.LIKELY
        return Certainty.LIKELY if is_meant else None

    def _after_address_word(self, match: re.Match[str], within: slice) -> Certainty | None:
        """Return how sure it is after a word such as `host`, which may belong to something else in the line."""
        gap = self._reading.text[self._ends[within][-1] : match.start()]
        is_named = _GAP.fullmatch(gap) is not None
        has_version_word = any(self._is_version[within])
        is_strong = self._is_strong[within][-1]
        if is_named and (is_strong or not (has_version_word and _TO.search(gap))):
            return Certainty.CHECKED
        is_small = int(match[0].partition(".")[0]) < 10
        return None if has_version_word or is_small else Certainty.LIKELY

    def _within(self, start: int, end: int) -> slice:
        """Return which words begin between two places."""
        return slice(bisect_left(self._starts, start), bisect_left(self._starts, end))

    def _is_in_range(self, match: re.Match[str]) -> bool:
        at = bisect_right(self._ranges, (match.start(), len(self._reading.text))) - 1
        return at >= 0 and self._ranges[at][1] > match.start()


def _is_private(address: str) -> bool:
    """Return whether these numbers are hardly a version: 10.x is left out, for versions begin with it too."""
    return bool(
        re.match(
            r"192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.", address
        )
    )


def _is_wide(address: str) -> bool:
    """Return whether the numbers are wider than those of versions are."""
    numbers = [int(part) for part in address.split(".")]
    return numbers[0] >= 30 or (numbers[0] >= 10 and max(numbers[1:]) >= 100)


def _is_v6(address: str) -> bool:
    """Return whether it is an address of one machine; `a::b` is more often a name in a program."""
    try:
        parsed = ipaddress.IPv6Address(address)
    except ValueError:
        return False
    groups = [group for group in address.split(":") if group]
    is_written = len(groups) >= 3 and any(character.isdigit() for character in address)
    return is_written and not parsed.is_loopback and not parsed.is_unspecified
