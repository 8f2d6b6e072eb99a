"""Addresses of machines: told apart from versions, which are written alike and must stay."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from activities.personal_data.machine_names import machine_names
from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_V4 = re.compile(rf"(?<![\w.])(?<![^\d\s]-)(?:{_OCTET}\.){{3}}{_OCTET}(?![\w]|\.\d|-[A-Za-z])")
_NOBODY = re.compile(r"127\.|0\.0\.0\.0$|255\.|8\.8\.(?:8\.8|4\.4)$|169\.254\.169\.254$|1\.1\.1\.1$|22[4-9]\.|23\d\.")
"""Loop-back, wildcard, mask, multicast, public resolvers and clouds' metadata: the same on every"
" machine."""

_BEFORE_ADDRESS = re.compile(r"(?:://|@|/|\\\\|\bip-?addr(?:ess)?=|\bip=|\bhost=|\bserver=)$", re.IGNORECASE)
_AFTER_ADDRESS = re.compile(r":\d{1,5}(?!\d|\.\d)|/(?:[89]|[12]\d|3[0-2])(?!\d|\.\d)")
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
    r"|dst|rhost|box|vms?|laptop|jump-?host|bastion|blocked|denied|banned|dhcp|lease|nat|iptables|intruder"
    r"|attack(?:er|s)?|log-?ins?[ ]from|scan(?:ned|s)?|whois|static|rack|cidr|range"
)
_WORDS = re.compile(
    rf"(?<![A-Za-z])(?:(?P<version>{_VERSION_WORD})|(?P<address>{_ADDRESS_WORD}))(?![a-z])", re.IGNORECASE
)
_RANGE = re.compile(
    rf"\bfrom\s{{1,3}}(?:{_OCTET}\.){{3}}{_OCTET}\s{{1,3}}to\s{{1,3}}(?:{_OCTET}\.){{3}}{_OCTET}(?![\w.]*\d)"
)
_PRODUCT = re.compile(r"[A-Za-z][\w)]*[/-]$|\bv$")
_ENDS_PRODUCT = frozenset("/-v")
_ENDS_FORM = frozenset("/@\\=")
"""Last characters of what the two patterns before find."""
_NEAR = 60
_GAP = re.compile(r"(?:[ ](?:is|was|at|on|to|from|of|with|for|the|a))?[\s:=(\[/\"'`#<>{,-]{0,6}")
_STRONG = re.compile(
    r"ip(?:v4)?(?:[ -]?addr(?:ess(?:es)?)?)?|ping(?:ed|ing)?|ssh|telnet|ftp|rdp|subnet|gateway|dns|cidr|inet"
    r"|traceroute|cidr|whois|dhcp|nslookup",
    re.IGNORECASE,
)
"""Words that nothing but an address follows."""
_WORD_OF_TIME = re.compile(
    r"(?:.*[^A-Za-z])?(?:after|since|before|until|till|than|as[ ]of|prior[ ]to|in|with|onto|through|by|and|or|using)"
    r"[ ](?:the[ ])?",
    re.IGNORECASE | re.DOTALL,
)
_PRODUCT_BEFORE = re.compile(r"[A-Z][\w.+-]{0,40}|[a-z][\w.]{0,20}[-_\d][\w.-]{0,20}")
_SENTENCE_WORDS = "the at on from to our its it is use see try for also then now and but that this i we a an was via hi"
_NO_PRODUCTS = frozenset(_SENTENCE_WORDS.split())
"""Words that begin a sentence, and name no product."""
_TO = re.compile(r"\b(?:to|from)\b")
_LINE = 400
_KEPT = 4096

_V6 = re.compile(
    r"(?<![\w:.])\[?(?P<address>(?:[0-9a-f]{0,4}:){2,7}(?:[0-9a-f]{0,4}|(?:\d{1,3}\.){3}\d{1,3}))(?:%\w{1,16})?(?![\w:]|\.\w)",
    re.IGNORECASE,
)
_MAC = re.compile(
    r"(?<![\w:.-])(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})(?![\w]|[:.-]\w)",
    re.IGNORECASE,
)
_MAC_WORD = re.compile(r"mac|hwaddr|ether|physical|bssid|address|lladdr", re.IGNORECASE)


def network_addresses(reading: Reading) -> Iterator[Place]:
    """Yield IPv4, IPv6 and MAC addresses, and the names of machines."""
    text = reading.text
    yield from _v4_addresses(reading)
    if ":" in text or "-" in text or "." in text:
        for match in _V6.finditer(text):
            if _is_v6(match["address"]):
                yield Place(*match.span("address"), PersonalDataKind.NETWORK_ADDRESS, Certainty.CHECKED)
        for match in _MAC.finditer(text):
            if match[1] or _MAC_WORD.search(reading.before(match.start(), 30)):
                yield Place(match.start(), match.end(), PersonalDataKind.NETWORK_ADDRESS, Certainty.CHECKED)
    yield from machine_names(reading)


def _v4_addresses(reading: Reading) -> Iterator[Place]:
    """Yield IPv4 addresses; numbers that nothing stands near go by what their like in the text are."""
    matches = [match for match in _V4.finditer(reading.text) if not _NOBODY.match(match[0])]
    if not matches:
        return
    neighbours = _Neighbours(reading)
    verdicts = [neighbours.verdict(match) for match in matches]
    like: dict[bool, set[str]] = {True: set(), False: set()}
    for match, verdict in zip(matches, verdicts, strict=True):
        if verdict is not None:
            like[verdict is not _Version.IS].update((match[0], _prefix(match[0])))
    for match, verdict in zip(matches, verdicts, strict=True):
        certainty = verdict if isinstance(verdict, Certainty) else None
        if verdict is None and _is_address(match[0], like[True], like[False], neighbours.stands_as_version(match)):
            certainty = Certainty.LIKELY
        if certainty is not None:
            yield Place(match.start(), match.end(), PersonalDataKind.NETWORK_ADDRESS, certainty)


class _Version(Enum):
    """Four numbers that are no address."""

    IS = "version"


@lru_cache(_KEPT)
def _prefix(address: str) -> str:
    return ".".join(address.split(".")[:2])


def _is_address(address: str, addresses: set[str], versions: set[str], stands_as_version: bool) -> bool:
    """Return whether numbers that no word stands near are a machine's.

    They are what the same numbers are elsewhere in the text, or else what the same network's are; versions begin with
    10 too, so that alone those numbers are a machine's unless they stand as a version does.
    """
    if address in addresses or address in versions:
        return address not in versions
    if stands_as_version or _prefix(address) in versions:
        return False
    return _prefix(address) in addresses or address.startswith("10.")


class _Neighbours:
    """The words around four numbers with dots, which tell an address from a version."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        text = reading.text
        self._ranges = [match.span() for match in _RANGE.finditer(text)]
        words = list(_WORDS.finditer(text))
        self._starts = [word.start() for word in words]
        self._ends = [word.end() for word in words]
        self._is_strong = [_STRONG.fullmatch(word[0]) is not None for word in words]
        self._is_version = [word["version"] is not None for word in words]

    def verdict(self, match: re.Match[str]) -> Certainty | _Version | None:
        """Return how sure it is that they are an address, or that they are a version; None when nothing tells."""
        before = self._reading.before(match.start(), _NEAR)
        after = self._reading.after(match.end(), _NEAR // 2)
        if _AFTER_ADDRESS.match(after):
            return Certainty.CHECKED
        last = before[-1:]
        if last in _ENDS_PRODUCT and _PRODUCT.search(before[-40:]):
            return _Version.IS  # as in Browser/10.0.0.1
        if last in _ENDS_FORM and _BEFORE_ADDRESS.search(before[-12:]):
            return Certainty.CHECKED
        is_meant = _is_private(match[0]) or _is_wide(match[0])
        if not self._starts and not self._ranges:
            return Certainty.LIKELY if is_meant else None
        within = self._within(match.start() - len(before), match.start())
        preceding = self._is_version[within][-1:]
        if self._is_in_range(match) and preceding != [False]:
            line = len(self._reading.before(match.start(), _LINE)), len(self._reading.after(match.end(), _LINE))
            is_version = any(self._is_version[self._within(match.start() - line[0], match.end() + line[1])])
            return _Version.IS if is_version or not is_meant else Certainty.LIKELY
        is_no_version = _is_private(match[0]) or _is_very_wide(match[0])
        if preceding and not preceding[0]:
            return self._after_address_word(match, within)
        if preceding:
            # These numbers are no version's, unless the word says so right before them.
            is_adjacent = _GAP.fullmatch(self._reading.text[self._ends[within][-1] : match.start()])
            return Certainty.LIKELY if is_no_version and not is_adjacent else _Version.IS
        following = self._is_version[self._within(match.end(), match.end() + len(after))][:1]
        if following:
            return _Version.IS if following[0] and not is_no_version else Certainty.LIKELY
        return Certainty.LIKELY if is_meant else None

    def stands_as_version(self, match: re.Match[str]) -> bool:
        """Return whether they follow a product's name or a word of time, or end in 0 as no machine does."""
        if match[0].endswith(".0"):
            return True
        before = self._reading.before(match.start(), _NEAR)
        word = before[:-1].rpartition(" ")[2] if before.endswith(" ") else ""
        if not word or word.casefold() in _NO_PRODUCTS:
            return False
        return bool(_WORD_OF_TIME.fullmatch(before[-12:]) or _PRODUCT_BEFORE.fullmatch(word))

    def _after_address_word(self, match: re.Match[str], within: slice) -> Certainty | _Version | None:
        """Return how sure it is after a word such as `host`, which may belong to something else in the line."""
        gap = self._reading.text[self._ends[within][-1] : match.start()]
        is_named = _GAP.fullmatch(gap) is not None
        has_version_word = any(self._is_version[within])
        is_strong = self._is_strong[within][-1]
        if is_named and (is_strong or not (has_version_word and _TO.search(gap))):
            return Certainty.CHECKED
        if _is_private(match[0]) or _is_very_wide(match[0]):
            return Certainty.LIKELY
        is_small = int(match[0].partition(".")[0]) < 10
        if has_version_word:
            return _Version.IS
        return None if is_small else Certainty.LIKELY

    def _within(self, start: int, end: int) -> slice:
        """Return which words begin between two places."""
        return slice(bisect_left(self._starts, start), bisect_left(self._starts, end))

    def _is_in_range(self, match: re.Match[str]) -> bool:
        at = bisect_right(self._ranges, (match.start(), len(self._reading.text))) - 1
        return at >= 0 and self._ranges[at][1] > match.start()


@lru_cache(_KEPT)
def _is_private(address: str) -> bool:
    """Return whether these numbers are hardly a version: 10.x is left out, for versions begin with it too."""
    return bool(
        re.match(
            r"192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.", address
        )
    )


@lru_cache(_KEPT)
def _is_very_wide(address: str) -> bool:
    """Return whether the numbers are those of no version at all."""
    numbers = [int(part) for part in address.split(".")]
    return numbers[0] >= 30 and sum(number >= 100 for number in numbers) > 1


@lru_cache(_KEPT)
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
