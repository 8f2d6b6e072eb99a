"""Names of single machines: by a port, a prompt, a share's path, an internal suffix, or a word such as `server`.

Public sites and services are nobody's machine. What has a number at its end is more often a version, a step or a
format than a machine; so a bare name counts only where its form or place is a machine's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from activities.personal_data.machine_words import ATTRIBUTES, NO_MACHINES, NO_NAMES, ROLES, SHORT_PRODUCTS, TOPS
from activities.personal_data.reading import Place, Reading
from contracts.personal_data import Certainty, PersonalDataKind

_LABELS = r"[a-z0-9][\w-]{0,62}(?:\.[a-z0-9-]{1,63}){0,6}"
_CLOUD = re.compile(r"(?<![\w.-])ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[a-z0-9-]{1,63}){0,6}(?![\w-])", re.IGNORECASE)
_NAMED = re.compile(
    r"(?<![\w.-])(?:host(?:[ _-]?name)?|server(?:[ _-]?name)?|machine(?:[ _-]?name)?|workstation"
    r"|computer(?:[ _-]?name)?|node(?:[ _-]?name)?)"
    rf"(?P<sign>[\"']?[ ]{{0,2}}[:=][ ]{{0,2}}|[ ](?:is|named|called)[ ]|[ ])[\"'`]?(?P<host>{_LABELS})"
    r"(?P<port>:\d{2,5})?(?![\w-]|\.\w|\()",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"(?<![\w-])(?:(?:an?|the|our|my|new|old|this|that|one|another)[ ](?:[a-z]{2,12}[ ])?(?P<thing>box|server|host"
    r"|machine|vm|node|laptop|pc|computer|workstation|desktop|instance|printer)[ ]|host|machine|computer)"
    rf"(?:named|called)[ ]['\"`]?(?P<host>{_LABELS})(?![\w(])",
    re.IGNORECASE,
)
_CUE = r"(?:server|host|machine|node|workstation|computer|laptop|desktop|pc|box|vm)"
_FORM = r"[A-Za-z][A-Za-z0-9]{0,15}(?:-[A-Za-z0-9]{1,15}){0,4}"
_AFTER_CUE = re.compile(rf"(?<![\w.-])(?i:{_CUE}s?)[ ]['\"`]?(?P<host>{_FORM})(?![\w(=/-]|[.:]\w)")
_BEFORE_CUE = re.compile(rf"(?<![\w./:@$-])(?P<host>{_FORM})[ ](?i:{_CUE})(?![\w(=/-]|\.\w)")
_LISTED = re.compile(rf"(?<![\w./:@$-])(?P<host>{_FORM})(?=(?:,|,?[ ](?i:and|&|or)|/)[ ]?(?P<next>{_FORM})(?![\w-]))")
_LISTED_AFTER = re.compile(
    rf"(?<![\w./:@$-])(?P<next>{_FORM})(?:[ ](?i:{_CUE}))?(?:,|,?[ ](?i:and|&|or)|/)[ ]?(?P<host>{_FORM})(?![\w(=/-])"
)
_SOUGHT = 100
"""Machines of one text that are looked for where nothing tells what they are."""
_PROMPT = re.compile(r"(?<![\w.@-])[\w.-]{1,32}@(?P<host>[A-Za-z0-9][\w.-]{1,62})(?=[ :][\w.~/-]{1,80}\]?[ ]?[$#])")
_COMMAND = re.compile(
    r"(?<![\w.-])(?:ssh|scp|sftp|rsync|mosh|telnet|ping|nslookup|traceroute|tracert|mstsc)[ ](?:-\w[ ][^\s]{1,40}[ ])?"
    rf"(?:(?P<user>[\w.-]{{1,32}})@)?(?P<host>{_LABELS})(?![\w(@-])",
    re.IGNORECASE,
)
_PORTED = re.compile(
    r"(?:(?<![\w.:/$#%@\\-])|(?<=://)|(?<=@))"
    r"(?P<host>[A-Za-z][A-Za-z0-9-]{1,62}(?:\.[A-Za-z0-9-]{1,63}){0,6}):(?P<port>\d{2,5})(?![\w:]|\.\d|-\d)"
)
_IN_URL = re.compile(
    r"(?<![\w])(?:https?|s?ftp|ssh|rdp|vnc|ldaps?|smb|nfs|telnet)://(?:[^\s/@\ufffc]{1,64}@)?"
    r"(?P<host>[a-z][a-z0-9-]{1,62})(?![\w.:-])",
    re.IGNORECASE,
)
_BESIDE_ADDRESS = re.compile(
    r"(?<![\w./-])(?P<host>[A-Za-z][\w-]{1,62}(?:\.[A-Za-z0-9-]{1,63}){0,6})/(?=(?:\d{1,3}\.){3}\d{1,3}:\d)"
)
_SHARE = re.compile(r"(?<![\w\\:])\\\\(?P<host>[A-Za-z][\w-]{2,62}(?:\.[A-Za-z0-9-]{1,63}){0,6})\\(?=[\w$])")
_SUFFIXED = re.compile(
    r"(?<![\w.@/$-])(?P<host>(?:[a-z0-9-]{1,63}\.){1,6}(?:local|internal|corp|lan|intranet|localdomain|priv))"
    r"(?![\w-]|\.\w|\()",
    re.IGNORECASE,
)

_INTERNAL = re.compile(r"\.(?:local|internal|corp|lan|intranet|localdomain|home|ad|priv)$", re.IGNORECASE)
_OWN_SUFFIX = re.compile(r"\.(?:local|lan|intranet|localdomain|corp)$")
_HOST_LIKE = re.compile(r"[a-z]{2,}[\w-]*\d|[a-z0-9]+-[a-z0-9-]*\d", re.IGNORECASE)
_SURE_ROLES = frozenset(("host", "node", "server", "srv"))
_KNOWN_PORTS = frozenset((22, 23, 25, 53, 80, 88, 110, 135, 139, 143, 389, 443, 445, 465, 514, 587, 636, 993, 995))
_PORTS = range(1024, 65536)
_YEARS = range(1900, 2100)
_EVERYBODYS_PORTS = frozenset((80, 443))


def machine_names(reading: Reading) -> Iterator[Place]:
    """Yield the names of machines."""
    text = reading.text
    for match in _CLOUD.finditer(text):
        yield Place(match.start(), match.end(), PersonalDataKind.NETWORK_ADDRESS, Certainty.CHECKED)
    named: set[str] = set()
    for sign, pattern, is_machine in _WAYS:
        if sign in text:
            for match in pattern.finditer(text):
                if is_machine(match):
                    host = match["host"].rstrip(".-")
                    yield _place(match.start("host"), match.start("host") + len(host))
                    if len(named) < _SOUGHT and len(host) > 3 and any(map(str.isdigit, host)):
                        named.add(host)
    if named:
        yield from _again(text, named)


def _again(text: str, named: set[str]) -> Iterator[Place]:
    """Yield where machines that were found are named again, without what told what they are."""
    longest_first = sorted(map(re.escape, named), key=lambda each: (-len(each), each))
    for match in re.finditer(rf"(?<![\w.-])(?:{'|'.join(longest_first)})(?![\w(-]|\.\w)", text):
        yield _place(match.start(), match.end())
    for pattern in (_LISTED, _LISTED_AFTER):
        for match in pattern.finditer(text):
            if match["next"] in named and is_machine_name(match["host"]):
                yield _place(*match.span("host"))


def _place(start: int, end: int) -> Place:
    return Place(start, end, PersonalDataKind.NETWORK_ADDRESS, Certainty.LIKELY)


def _is_elsewhere(match: re.Match[str]) -> bool:
    return match["host"].lower() != "localhost" and not match["host"].isdigit()


def _is_suffixed(match: re.Match[str]) -> bool:
    labels = match["host"].split(".")
    is_numbered = any(map(str.isdigit, labels[0])) and not labels[0].isdigit() and match["host"].islower()
    is_own = len(labels) > 2 and bool(_OWN_SUFFIX.search(match["host"])) and labels[0] not in TOPS
    if match["host"].endswith("cluster.local"):
        return bool(re.search(r"-\d{1,4}$", labels[0]))  # one of a set; other such names are services
    return is_numbered or is_own


def _is_reached(match: re.Match[str]) -> bool:
    host, user = match["host"], match["user"]
    if host == "localhost" or user in ("git", "hg"):
        return False
    return user is not None or bool(_INTERNAL.search(host)) or is_machine_name(host)


def _is_named(match: re.Match[str]) -> bool:
    host = match["host"].rstrip(".-")
    is_product = "." not in host and "-" not in host and not host.islower()  # as in `Server: ProductS3`
    is_host = _HOST_LIKE.match(host) and not is_product and (match["sign"].strip() or "-" in host)
    is_domain = match["port"] and host.rpartition(".")[2].lower() in TOPS
    return bool(_INTERNAL.search(host) or is_host or is_domain)


def _is_called(match: re.Match[str]) -> bool:
    host = match["host"].rstrip(".-")
    is_sure = match["thing"] is not None or _HOST_LIKE.match(host) is not None
    return is_sure and len(host) > 2 and host.lower() not in NO_NAMES


def _is_formed_before(match: re.Match[str]) -> bool:
    """A word such as `server` after it lets a name be short, as in `HQ1 Server`."""
    name = match["host"]
    is_short = re.fullmatch(r"[A-Z]{2,3}\d{1,2}", name) is not None
    return is_machine_name(name) or (
        is_short and name.rstrip("0123456789").casefold() not in NO_MACHINES | SHORT_PRODUCTS
    )


def _is_formed(match: re.Match[str]) -> bool:
    return is_machine_name(match["host"])


def is_machine_name(name: str) -> bool:
    """Return whether a name of one label has a form that hardly anything but a machine has."""
    if not any(map(str.isdigit, name)) or not (name.islower() or name.isupper()):
        return False
    parts = name.casefold().split("-")
    stems = [part.rstrip("0123456789") for part in parts]
    if parts[0] in NO_MACHINES or any(
        stem in NO_MACHINES and stem != part for stem, part in zip(stems, parts, strict=True)
    ):
        return False
    number = parts[-1][len(stems[-1]) :]
    if number.startswith("0") and number != "0":
        return len(number) < 6 and any(stems)
    if not stems[-1] and len(parts) > 1:  # as in `worker-3`; not `HADOOP-16661`
        return len(number) < 4 and name.islower() and (len(parts) > 2 or stems[0] in ROLES)
    if stems[-1] in ROLES and number:
        return True
    if len(parts) > 1:
        return name.isupper() and bool(number) and len(number) < 4 and all(stem.isalpha() for stem in stems)
    return name.isupper() and len(stems[0]) >= 4 and stems[0].isalpha() and 0 < len(number) < 3


def _is_ported(host: str, port: int) -> bool:
    """Return whether a name before a colon and a number is a machine with its port."""
    labels = host.split(".")
    is_port = port in _KNOWN_PORTS or (port in _PORTS and port not in _YEARS)
    if not is_port:
        return False
    if len(labels) > 1:
        is_public = labels[0] == "www" or (port in _EVERYBODYS_PORTS and not any(map(str.isdigit, labels[0])))
        if host != host.lower() or labels[0] in TOPS:
            return False
        return bool(_INTERNAL.search(host)) or (labels[-1] in TOPS and not is_public)
    if is_machine_name(host):
        return True
    parts = host.casefold().split("-")
    stem = parts[-1].rstrip("0123456789")
    if host != host.lower() or stem in NO_MACHINES or stem in ATTRIBUTES or stem.isdigit():
        return False
    if len(parts) > 1:
        is_numbered = any(map(str.isdigit, host))
        return any(part.rstrip("0123456789") in (ROLES if is_numbered else _SURE_ROLES) for part in parts)
    return stem != parts[0] and len(stem) > 1 and port in _PORTS


def _is_with_port(match: re.Match[str]) -> bool:
    return _is_ported(match["host"], int(match["port"]))


_WAYS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
    (":", _PORTED, _is_with_port),
    ("://", _IN_URL, _is_formed),
    ("/", _BESIDE_ADDRESS, _is_elsewhere),
    ("\\\\", _SHARE, _is_elsewhere),
    (".", _SUFFIXED, _is_suffixed),
    ("@", _PROMPT, _is_elsewhere),
    (" ", _COMMAND, _is_reached),
    ("", _NAMED, _is_named),
    ("ed ", _CALLED, _is_called),
    (" ", _AFTER_CUE, _is_formed),
    (" ", _BEFORE_CUE, _is_formed_before),
)
"""What a text must hold for a pattern to match at all, the pattern, and whether a match is a machine."""
